"""Hosts for tests: an extension in memory, or as a process, through the real frames of its API version.

    from octet_extension.testing import TestHost

    def test_count():
        with TestHost(ext) as host:
            assert host.call("count", text="a b").text == "2 words"

The host side is strict: whatever the extension writes is judged, and a fault is raised as RemoteProtocolError
by the call that waits for it.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Final

from octet_extension._errors import RemoteProtocolError
from octet_extension._extension import Extension
from octet_extension._generated import canonical_wire, feature_wire
from octet_extension._generated.feature_wire import (
    Notification,
    ProgressDecoration,
    ProgressOutput,
    ProgressStatus,
)
from octet_extension._host_answers import HostRequest, Sent, ServiceHandler
from octet_extension._host_session import PATIENCE, CallResult, HostSession, PendingCall
from octet_extension._host_side import Setting

__all__ = [
    "CallResult",
    "HostRequest",
    "Notification",
    "PendingCall",
    "ProcessHost",
    "ProgressDecoration",
    "ProgressOutput",
    "ProgressStatus",
    "Sent",
    "TestHost",
]

_CHUNK: Final = 1 << 16


class TestHost(HostSession):
    """Runs an extension in memory, in threads of its own, exactly as under a real host.

    features are the features or capabilities to offer, all that the API version knows unless told. notifications,
    confirmations, presentation and flags are what the manifest declares; contributes replaces members of it, which
    otherwise fit what the extension registered. services answer what the extension asks of its host, by their names,
    {"composer.get": lambda params: {"text": "hello"}}; they may be added later with serve.
    """

    __test__ = False  # a class for tests, not of tests

    def __init__(  # noqa: PLR0913 - one keyword for each thing that a host decides
        self,
        extension: Extension,
        *,
        features: Iterable[str] | None = None,
        notifications: bool = True,
        confirmations: bool = True,
        presentation: bool = True,
        services: Mapping[str, ServiceHandler] | None = None,
        contributes: Mapping[str, object] | None = None,
        flags: Mapping[str, object] | None = None,
        workspace: str = "/workspace",
        concurrency: int = feature_wire.MAX_CONCURRENT_REQUESTS,
        max_frame_bytes: int = canonical_wire.MAX_FRAME_BYTES,
    ) -> None:
        super().__init__(
            Setting(
                api=extension.api,
                contributes={
                    **extension.contributes(),
                    "notifications": notifications,
                    "confirmations": confirmations,
                    "presentation": presentation,
                    **(contributes or {}),
                },
                features=None if features is None else tuple(features),
                flags=flags or {},
                workspace=workspace,
                concurrency=concurrency,
                max_frame_bytes=max_frame_bytes,
            ),
            services or {},
        )
        self.log: list[str] = []
        """What the extension said to people."""
        self._input: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._runtime = extension.runtime(self._input.get, self.arrived, self.log.append)
        self._thread = threading.Thread(target=self._serve, name="test-host", daemon=True)

    def _launch(self) -> None:
        self._thread.start()

    def send_bytes(self, data: bytes) -> None:
        """Sends bytes as they are."""
        if data:
            self._input.put(data)

    def end_input(self) -> None:
        """Ends the input of the extension."""
        self._input.put(b"")

    def _join(self) -> None:
        self._thread.join(PATIENCE)

    def _serve(self) -> None:
        self.ended(orderly=self._runtime.run())


class ProcessHost(HostSession):
    """Starts the extension of a directory as a process, as its manifest says.

    It checks no manifest and fences nothing: it is for a test of one's own extension.
    """

    def __init__(
        self,
        directory: str | Path,
        *,
        environment: Mapping[str, str] | None = None,
        features: Iterable[str] | None = None,
        services: Mapping[str, ServiceHandler] | None = None,
    ) -> None:
        self._directory = Path(directory).resolve()
        with (self._directory / "extension.toml").open("rb") as file:
            manifest = tomllib.load(file)
        contributes = manifest.get("contributes", {})
        entrypoint = manifest["entrypoint"]
        super().__init__(
            Setting(
                api=manifest["api_version"],
                contributes=contributes,
                features=None if features is None else tuple(features),
                flags={flag["name"]: flag["default"] for flag in contributes.get("flags", ())},
                workspace=str(self._directory),
                concurrency=feature_wire.MAX_CONCURRENT_REQUESTS,
                max_frame_bytes=canonical_wire.MAX_FRAME_BYTES,
            ),
            services or {},
        )
        self._command = [str(self._directory / entrypoint["command"]), *entrypoint.get("args", ())]
        self._environment = environment
        self._log = ""
        self._errors: IO[bytes]
        self._process: subprocess.Popen[bytes]
        self._reader = threading.Thread(target=self._read, name="process-host", daemon=True)

    @property
    def log(self) -> str:
        """What the extension has written to standard error."""
        if not self._errors.closed:
            self._errors.seek(0)
            self._log = self._errors.read().decode("utf-8", "replace")
        return self._log

    @property
    def status(self) -> int | None:
        """The exit status, or None while the process runs."""
        return self._process.poll()

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The process, once it is started."""
        return self._process

    def _launch(self) -> None:
        # The interpreter that runs the test is found first, so that "env python3" has the same packages.
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        with contextlib.ExitStack() as undo:
            errors = undo.enter_context(tempfile.TemporaryFile())
            self._process = subprocess.Popen(  # noqa: S603 - the command of the author's own manifest
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=self._directory,
                env={**os.environ, "PATH": path, **(self._environment or {})},
            )
            undo.pop_all()  # it lives as long as the process
        self._errors = errors
        self._reader.start()

    def send_bytes(self, data: bytes) -> None:
        """Sends bytes as they are."""
        if self._process.stdin is None:
            return
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except OSError as fault:
            raise RemoteProtocolError(f"the extension reads no more: {fault}") from None

    def end_input(self) -> None:
        """Ends the input of the extension."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):  # what the process did not read is lost with it
                self._process.stdin.close()

    def _join(self) -> None:
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise
        finally:
            self._reader.join(PATIENCE)
            self._log = self.log
            self._errors.close()

    def _read(self) -> None:
        out = self._process.stdout
        if out is None:
            return
        with out:
            while data := os.read(out.fileno(), _CHUNK):
                self.arrived(data)
            self.arrived(b"")
        self.ended(orderly=self._process.wait() == 0)
