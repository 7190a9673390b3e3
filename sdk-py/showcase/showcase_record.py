"""What the host told and asked since somebody looked."""

import json
import threading
from collections.abc import Mapping


def canonical(value: object) -> str:
    """Returns JSON data in its one spelling."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


class Record:
    """A list of methods and parameters."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[tuple[str, Mapping[str, object]]] = []

    def note(self, method: str, params: Mapping[str, object]) -> None:
        """Keeps one message."""
        with self._lock:
            self._entries.append((method, params))

    def take(self) -> str:
        """Returns what was kept as canonical JSON, and forgets it."""
        with self._lock:
            entries, self._entries = self._entries, []
        return canonical(entries)
