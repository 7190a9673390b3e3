"""The extension: what an author registers, and the way to serve it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NoReturn, TypeVar

from octet_extension import _stdio
from octet_extension._agreement import Wishes
from octet_extension._ambient import Ambient
from octet_extension._connection import Connection
from octet_extension._dialect import Dialect
from octet_extension._errors import LocalProtocolError
from octet_extension._generated import VERSION_VARIABLE, WIRE_VERSIONS
from octet_extension._registration import ALL, checked_uses
from octet_extension._runtime import Runtime
from octet_extension._tools import Handler, Tool, make_tool

__all__ = ["API_VERSIONS", "CURRENT_API", "Extension"]

_CANONICAL_VERSIONS: Final = WIRE_VERSIONS["canonical_wire"]
_FEATURE_VERSIONS: Final = WIRE_VERSIONS["feature_wire"]
CURRENT_API: Final = _FEATURE_VERSIONS[-1]
"""The API version that new extensions declare."""
API_VERSIONS: Final = tuple(sorted((*_FEATURE_VERSIONS, *_CANONICAL_VERSIONS)))
"""The API versions that an extension can be written for."""

EXIT_OK: Final = 0
EXIT_FAULT: Final = 1
EXIT_WRONG_API: Final = 2
_EXIT_INTERRUPTED: Final = 130
_EXIT_SECONDS: Final = 0.5  # with the grace of the handlers, less than a host waits for the exit

_Function = TypeVar("_Function", bound=Handler)


class Extension(Ambient):
    """What an extension offers, for one API version.

    api (or api_version) must be the api_version of the manifest; without it the version that the host announces in
    the environment holds, else the current one. concurrency (or max_concurrent_requests) lowers the number of requests
    that the host may have running at once. uses lists the features whose services the extension calls, "all" for
    every one; what registrations need is added by itself. An extension that names its version api_version and lists
    nothing gets what the methods of this class need: artifacts, policy, secrets, agents, tools that come and go.
    supported_features lists what may be selected at all, beside the features that no session goes without.
    """

    def __init__(  # noqa: PLR0913 - one keyword for each choice, two of them with two names
        self,
        *,
        api: str | None = None,
        api_version: str | None = None,
        concurrency: int | None = None,
        max_concurrent_requests: int | None = None,
        uses: str | Iterable[str] | None = None,
        supported_features: Iterable[str] | None = None,
    ) -> None:
        version = api or api_version or _announced()
        bound = concurrency if concurrency is not None else max_concurrent_requests
        if version not in API_VERSIONS:
            raise LocalProtocolError(f"api {version!r} is not an API version: use one of {', '.join(API_VERSIONS)}")
        if bound is not None and bound < 1:
            raise LocalProtocolError(f"concurrency must be at least 1, got {bound}")
        super().__init__(_dialect(version))
        self._api = version
        self._concurrency = bound
        self._uses = checked_uses(self.dialect, uses)
        if uses is None and api_version is not None:
            self._uses = self.dialect.own_features()
        limit = checked_uses(self.dialect, supported_features)
        self._limit = None if limit is None or ALL in limit else frozenset(limit)
        if uses is None and limit is not None:
            self._uses = limit
        self._tools: dict[str, Tool] = {}
        self.runtime_commands = False
        """Whether the commands may differ from those of the manifest, where the host takes that."""

    @property
    def api(self) -> str:
        """The API version."""
        return self._api

    @property
    def api_version(self) -> str:
        """The API version."""
        return self._api

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools, in the order in which they were added."""
        return tuple(self._tools)

    @property
    def commands(self) -> tuple[str, ...]:
        """The names of the commands, in the order in which they were added."""
        return tuple(self._commands)

    def tool(  # noqa: PLR0913 - one keyword for each member of a definition
        self,
        description: str | None = None,
        *,
        name: str | None = None,
        parameters: Mapping[str, object] | None = None,
        output: object = None,
        output_schema: Mapping[str, object] | None = None,
        prompt_snippet: str | None = None,
        prompt_guidelines: Iterable[str] = (),
        composition: Mapping[str, object] | None = None,
        operation: Mapping[str, object] | None = None,
        constrained_sampling: object = None,
    ) -> Callable[[_Function], _Function]:
        """Registers the decorated function as a tool.

        The function's name, docstring and type hints give the tool's name, description and schema unless they
        are given here. A parameter with the hint Call receives the call. output declares the type of the
        structured result: a type, or a schema; a return type that is neither text nor ToolResult does the same.
        A function of bare (args) or (arguments, context) takes its arguments as a dict.

        The last five are for API 0.4; a host that does not take one of them sees the tool without it.

        Raises LocalProtocolError when the function cannot be a tool of this API version.
        """
        extras: dict[str, object] = {
            "prompt_snippet": prompt_snippet,
            "prompt_guidelines": list(prompt_guidelines) or None,
            "composition": composition,
            "operation": operation,
            "constrained_sampling": constrained_sampling,
        }

        def register(function: _Function) -> _Function:
            self.add_tool(
                make_tool(
                    function,
                    name=name,
                    description=description,
                    parameters=parameters,
                    output=output if output_schema is None else output_schema,
                    extras={key: value for key, value in extras.items() if value is not None},
                )
            )
            return function

        return register

    def add_tool(self, tool: Tool) -> None:
        """Registers a tool that make_tool made."""
        if tool.name in self._tools:
            raise LocalProtocolError(f"tool {tool.name!r} is there already: give one of the two another name")
        self.dialect.check_tool(tool)
        self._tools[tool.name] = tool

    def contributes(self) -> dict[str, object]:
        """Returns what a manifest must say of the registrations, as its contributions."""
        lists: dict[str, object] = {"tools": self.tools, "commands": self.commands}
        for key, names in self._declared().items():
            lists[key] = bool(names) if key in {"context", "menu"} else names
        return lists

    def connect(self) -> Connection:
        """Returns a fresh session without any input or output."""
        return Connection(self.dialect, self._wishes(), dict(self._endpoints))

    def _wishes(self) -> Wishes:
        tools = list(self._tools.values())
        features = [*self._selected(self._uses), *(name for tool in tools for name in self.dialect.tool_features(tool))]
        if self.runtime_commands:
            features.extend(self.dialect.runtime_command_features())
        return Wishes(
            tools=tools,
            commands=list(self._commands.values()),
            features=[name for name in features if self._limit is None or name in self._limit],
            limit=self._limit,
            events=frozenset(self._listeners),
            shortcuts=list(self._shortcuts.values()),
            declared=self._declared(),
            concurrency=self._concurrency,
        )

    def runtime(self, read: Callable[[], bytes], write: Callable[[bytes], None], log: Callable[[str], None]) -> Runtime:
        """Returns a fresh session over a reader and a writer."""
        self._log_line = log
        runtime = Runtime(
            self.connect(),
            read,
            write,
            log,
            listeners=self._listeners,
            shortcuts=self._shortcuts,
            on_ready=tuple(self._ready),
            on_shutdown=tuple(self._leaving),
        )
        self._link = runtime.courier
        return runtime

    def run(self) -> NoReturn:
        """Serves standard input and output until the host ends the session, then exits.

        The status is 0 after shutdown or the end of input, 1 when the session failed, 2 when the host started
        the extension for another API version.
        """
        wanted = os.environ.get(VERSION_VARIABLE)
        if wanted is not None and wanted != self._api:
            _log(f"{VERSION_VARIABLE} is {wanted!r} and this extension speaks {self._api!r}: correct the manifest")
            sys.exit(EXIT_WRONG_API)
        pipes = _stdio.claim()
        runtime = self.runtime(pipes.read, pipes.write, _log)
        runtime.guard_forks(pipes.close)
        try:
            status = EXIT_OK if runtime.run() else EXIT_FAULT
        except KeyboardInterrupt:
            status = _EXIT_INTERRUPTED
        # Threads that the author started are joined on the way out; one that does not end must not keep the process.
        guard = threading.Timer(_EXIT_SECONDS, os._exit, (status,))
        guard.daemon = True
        guard.start()
        sys.exit(status)


def _announced() -> str:
    """Returns the version that the host announces, if it is one; run refuses any other."""
    wanted = os.environ.get(VERSION_VARIABLE, CURRENT_API)
    return wanted if wanted in API_VERSIONS else CURRENT_API


def _dialect(api: str) -> Dialect:
    """Loads the wire of an API version, and no other: its models take most of the time of a start."""
    if api in _CANONICAL_VERSIONS:
        from octet_extension._canonical_dialect import CanonicalDialect  # noqa: PLC0415

        return CanonicalDialect(api)
    from octet_extension._feature_dialect import FeatureDialect  # noqa: PLC0415

    return FeatureDialect(api)


def _log(text: str) -> None:
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"octet-extension: {text}\n")
        sys.stderr.flush()
    except (OSError, ValueError):  # nobody reads it
        return
