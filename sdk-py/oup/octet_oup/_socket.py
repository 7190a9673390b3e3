"""A server behind a WebSocket: where it is, and who asks."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from octet_oup._generated import oup_wire
from octet_oup._link import Link, Opener

__all__ = ["NORMAL", "REFUSED", "RESTART", "TOO_BIG", "SocketOpener", "address"]

_PROTOCOL: Final = dict(oup_wire.TABLE_PROTOCOL)
_SCHEMES: Final = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}

NORMAL, REFUSED, TOO_BIG, RESTART = (int(code) for code, _, _ in oup_wire.TABLE_CLOSE_CODES)
"""The codes that servers close with: an ordinary end, a refused credential, a frame over the bound, a restart."""


def address(url: str) -> str:
    """Returns the address of the protocol at a server, for one that names the host alone. Raises ValueError."""
    parts = urlsplit(url)
    scheme = _SCHEMES.get(parts.scheme)
    if scheme is None or not parts.netloc:
        raise ValueError(f"{url!r} is no address of a server: write ws://HOST:PORT or wss://HOST")
    path = parts.path if parts.path.strip("/") else _PROTOCOL["websocket_path"]
    return urlunsplit((scheme, parts.netloc, path, parts.query, ""))


@dataclasses.dataclass(frozen=True, slots=True)
class SocketOpener(Opener):
    """Connects to a server. The token goes into a header, and is never shown."""

    url: str = ""
    token: str = dataclasses.field(default="", repr=False)
    features: Sequence[str] = ()

    async def open(self) -> Link:
        """Connects and shakes hands. Raises AuthError where the credential is refused, else Disconnected."""
        from octet_oup._websocket import open_socket  # noqa: PLC0415 - it takes long to load, and stdio needs none

        headers = {_PROTOCOL["feature_header"]: ",".join(self.features)} if self.features else {}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        return await open_socket(self.url, headers)
