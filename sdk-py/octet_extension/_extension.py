"""The extension: a set of tools, and the way to serve them."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Final, NoReturn, TypeVar

from octet_extension import _stdio
from octet_extension._connection import Connection
from octet_extension._dialect import Dialect
from octet_extension._errors import LocalProtocolError
from octet_extension._feature_dialect import FeatureDialect
from octet_extension._generated import WIRE_VERSIONS, feature_wire
from octet_extension._runtime import Runtime
from octet_extension._tools import Handler, Tool, make_tool

__all__ = ["API_VERSIONS", "CURRENT_API", "Extension"]

_CANONICAL_VERSIONS: Final = WIRE_VERSIONS["canonical_wire"]
CURRENT_API: Final = feature_wire.VERSIONS[-1]
"""The API version that new extensions declare."""
API_VERSIONS: Final = tuple(sorted((*feature_wire.VERSIONS, *_CANONICAL_VERSIONS)))
"""The API versions that an extension can be written for."""

EXIT_OK: Final = 0
EXIT_FAULT: Final = 1
EXIT_WRONG_API: Final = 2
_EXIT_INTERRUPTED: Final = 130
_EXIT_SECONDS: Final = 0.5  # with the grace of the tools, less than a host waits for the exit
_API_VARIABLE: Final = next(row[0] for row in feature_wire.TABLE_WIRE_ENVIRONMENT if row[0].endswith("_API_VERSION"))

_Function = TypeVar("_Function", bound=Handler)


class Extension:
    """A set of tools for one API version.

    api must be the api_version of the manifest. concurrency lowers the number of calls that the host may have
    running at once; without it the host's own bound holds.
    """

    def __init__(self, *, api: str = CURRENT_API, concurrency: int | None = None) -> None:
        if api not in API_VERSIONS:
            raise LocalProtocolError(f"api {api!r} is not an API version: use one of {', '.join(API_VERSIONS)}")
        if concurrency is not None and concurrency < 1:
            raise LocalProtocolError(f"concurrency must be at least 1, got {concurrency}")
        self._api = api
        self._concurrency = concurrency
        self._tools: dict[str, Tool] = {}

    @property
    def api(self) -> str:
        """The API version."""
        return self._api

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools, in the order in which they were added."""
        return tuple(self._tools)

    def tool(
        self,
        description: str | None = None,
        /,
        *,
        name: str | None = None,
        parameters: Mapping[str, object] | None = None,
        output: object = None,
    ) -> Callable[[_Function], _Function]:
        """Registers the decorated function as a tool.

        The function's name, docstring and type hints give the tool's name, description and schema unless they
        are given here. A parameter with the hint Call receives the call. output declares the type of the
        structured result: a type, or a schema; a return type that is neither text nor ToolResult does the same.

        Raises LocalProtocolError when the function cannot be a tool of this API version.
        """

        def register(function: _Function) -> _Function:
            made = make_tool(function, name=name, description=description, parameters=parameters, output=output)
            if made.spec.name in self._tools:
                raise LocalProtocolError(f"tool {made.spec.name!r} is there already: give one of the two another name")
            self._dialect().check_tool(made.spec)
            self._tools[made.spec.name] = made
            return function

        return register

    def _dialect(self) -> Dialect:
        if self._api not in _CANONICAL_VERSIONS:
            return FeatureDialect(self._api)
        # Loaded where it is needed: the models of the other wire would double the time a start takes.
        from octet_extension._canonical_dialect import CanonicalDialect  # noqa: PLC0415

        return CanonicalDialect(self._api)

    def connect(self) -> Connection:
        """Returns a fresh session without any input or output."""
        specs = [tool.spec for tool in self._tools.values()]
        return Connection(self._dialect(), specs, concurrency=self._concurrency)

    def runtime(self, read: Callable[[], bytes], write: Callable[[bytes], None], log: Callable[[str], None]) -> Runtime:
        """Returns a fresh session over a reader and a writer."""
        return Runtime(self.connect(), dict(self._tools), read, write, log)

    def run(self) -> NoReturn:
        """Serves standard input and output until the host ends the session, then exits.

        The status is 0 after shutdown or the end of input, 1 when the session failed, 2 when the host started
        the extension for another API version.
        """
        wanted = os.environ.get(_API_VARIABLE)
        if wanted is not None and wanted != self._api:
            _log(f"{_API_VARIABLE} is {wanted!r} and this extension speaks {self._api!r}: correct the manifest")
            sys.exit(EXIT_WRONG_API)
        pipes = _stdio.claim()
        runtime = self.runtime(pipes.read, pipes.write, _log)
        try:
            status = EXIT_OK if runtime.run() else EXIT_FAULT
        except KeyboardInterrupt:
            status = _EXIT_INTERRUPTED
        # Threads that the author started are joined on the way out; one that does not end must not keep the process.
        guard = threading.Timer(_EXIT_SECONDS, os._exit, (status,))
        guard.daemon = True
        guard.start()
        sys.exit(status)


def _log(text: str) -> None:
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"octet-extension: {text}\n")
        sys.stderr.flush()
    except (OSError, ValueError):  # nobody reads it
        return
