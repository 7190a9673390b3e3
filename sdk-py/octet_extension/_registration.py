"""What an author registers besides tools: commands, hooks, contributions, events, keys."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from octet_extension import _answers
from octet_extension._agreement import CommandSpec
from octet_extension._dialect import Dialect
from octet_extension._endpoints import Endpoint, Listener, Shortcut
from octet_extension._errors import LocalProtocolError
from octet_extension._generated._rows import Method
from octet_extension._generated.events import Events
from octet_extension._generated.hooks import Hooks
from octet_extension._results import plain
from octet_extension._scope import CommandCall, HookCall, Scope, Session
from octet_extension._signature import MODEL, PAYLOAD, SCOPE, Plan, plan_of
from octet_extension._source import Source

__all__ = ["ALL", "Registration", "checked_uses"]

_Function = TypeVar("_Function", bound=Callable[..., object])
ALL: Final = "all"
_WHOLE: Final = (SCOPE, PAYLOAD, MODEL)

if TYPE_CHECKING:
    from octet_extension._generated import canonical_wire
    from octet_extension._migration import Adapter

    _SessionAnswer = canonical_wire.SessionHookResult | Mapping[str, object] | None
    _Started = TypeVar(
        "_Started",
        bound=Callable[[canonical_wire.SessionStart], _SessionAnswer | Awaitable[_SessionAnswer]]
        | Callable[[HookCall, canonical_wire.SessionStart], _SessionAnswer | Awaitable[_SessionAnswer]],
    )
    _Ended = TypeVar(
        "_Ended",
        bound=Callable[[canonical_wire.SessionEnd], _SessionAnswer | Awaitable[_SessionAnswer]]
        | Callable[[HookCall, canonical_wire.SessionEnd], _SessionAnswer | Awaitable[_SessionAnswer]],
    )


class SessionHooks(Hooks):
    """The hooks, and those of API 0.3 around a session."""

    __slots__ = ()

    def session_start(self, handler: _Started) -> _Started:
        """The extension is bound to a session. The answer is noted and stops nothing. Source: canonical 5.8."""
        self._registrar.add_hook("session_start", handler)
        return handler

    def session_end(self, handler: _Ended) -> _Ended:
        """The session has ended for the extension. The answer is noted and stops nothing. Source: canonical 5.8."""
        self._registrar.add_hook("session_end", handler)
        return handler


class Registration:
    """The handlers of an extension for everything that is no tool.

    A handler is a plain function or a coroutine function. It takes the payload of its request as JSON or, with a hint,
    as a model of octet_extension.api_v03 or api_v04; a parameter with the hint of a scope receives the request itself.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._endpoints: dict[str, dict[str, Endpoint]] = {}
        self._commands: dict[str, CommandSpec] = {}
        self._listeners: dict[str, list[Listener]] = {}
        self._shortcuts: dict[str, Shortcut] = {}
        self._adapter: Adapter | None = None
        self._ready: list[Callable[[Session], object]] = []
        self._leaving: list[Listener] = []
        self._implied: list[str] = []
        self._log_line: Callable[[str], None] = lambda text: None  # noqa: ARG005 - a session sets it
        for served in dialect.served_without_handler():
            self._endpoints[served[0].name] = {"": served[1]}

    # --- commands

    def command(
        self,
        description: str | None = None,
        *,
        name: str | None = None,
        usage: str | None = None,
    ) -> Callable[[_Function], _Function]:
        """Registers the decorated function as a command.

        It takes the list of arguments and returns the text to show, a CommandExecuteResult, or a dict like one.
        """

        def register(function: _Function) -> _Function:
            command = str(getattr(function, "__name__", "")) if name is None else name
            where = f"command {command!r}"
            text = (description or inspect.getdoc(function) or "").strip()
            if not text:
                raise LocalProtocolError(f"{where} needs a description: give one, or write a docstring")
            row = self._row(self.dialect.command_method, where)
            self._add(row, command, function, CommandCall, _answers.command, typed=False, where=where)
            self._commands[command] = CommandSpec(command, text, usage)
            return function

        return register

    # --- hooks and events

    @property
    def hooks(self) -> SessionHooks:
        """The hooks, typed: @ext.hooks.before_prompt."""
        return SessionHooks(self)

    @property
    def events(self) -> Events:
        """The notifications of the host, typed: @ext.events.turn_started."""
        return Events(self)

    def hook(self, name: str) -> Callable[[_Function], _Function]:
        """Registers the decorated function for a hook by its name; the payload without a hint comes as a dict."""

        def register(function: _Function) -> _Function:
            self._add_hook(name, function, typed=False)
            return function

        return register

    def add_hook(self, name: str, handler: Callable[..., object]) -> None:
        """Takes the handler of a hook; the payload without a hint comes as its model."""
        self._add_hook(name, handler, typed=True)

    def advise(self, name: str, handler: Callable[..., object]) -> None:
        """Takes the handler of a hook that may return its one word bare; the payload comes as a dict."""
        plan = tuple(PAYLOAD if what == MODEL else what for what in plan_of(handler, (Scope,), name, typed=False))
        self._add_hook(name, handler, typed=False, plan=plan)

    def _add_hook(self, name: str, handler: Callable[..., object], *, typed: bool, plan: Plan | None = None) -> None:
        where = f"hook {name!r}"
        hook = self.dialect.hooks.get(name)
        if hook is None or self.dialect.api not in hook.versions:
            versions = "" if hook is None else f": use one of {', '.join(hook.versions)}"
            raise LocalProtocolError(f"API {self.dialect.api} has no {where}{versions}")
        row = self._row(self.dialect.hook_method, where)
        judge = functools.partial(self.dialect.own_hook, hook)

        def shape(returned: object) -> object:
            return judge(_answers.hook(returned, where, None if plan is None else name))

        self._add(row, name, handler, HookCall, shape, typed=typed, where=where, plan=plan)
        if hook.feature != "-":
            self._implied.append(hook.feature)

    def add_event(self, verb: str, handler: Callable[..., object]) -> None:
        """Takes the handler of a notification of the host; the parameters without a hint come as their model."""
        self._add_event(verb, handler, typed=True)

    def listen(self, verb: str, handler: Callable[..., object]) -> None:
        """Takes the handler of a notification of the host; the parameters without a hint come as a dict."""
        self._add_event(verb, handler, typed=False)

    def _add_event(self, verb: str, handler: Callable[..., object], *, typed: bool) -> None:
        where = f"event {verb!r}"
        row = self.dialect.service(f"events.{verb}")
        if row is None or not self.dialect.has(row.name):
            versions = "" if row is None else f": use one of {', '.join(row.versions)}"
            raise LocalProtocolError(f"API {self.dialect.api} has no {where}{versions}")
        plan = plan_of(handler, (Session,), where, typed=typed)
        self._listeners.setdefault(row.name, []).append(Listener(handler, plan))
        self._imply(row)

    # --- contributions

    def context(self, function: _Function) -> _Function:
        """Registers the decorated function for what it adds to a prompt: one contribution, or a list."""
        return self._serve("context", function, Scope, _answers.contributions)

    def status(self, surface: str) -> Callable[[_Function], _Function]:
        """Registers the decorated function for the text of a surface: status, header or footer; None for nothing."""

        def register(function: _Function) -> _Function:
            row = self._row(self.dialect.collectors["status"], f"status {surface!r}")
            shape = functools.partial(_answers.status, surface)
            self._add(row, surface, function, Scope, shape, typed=False, where=f"status {surface!r}")
            return function

        return register

    def menu(self, function: _Function) -> _Function:
        """Registers the decorated function for the menu of the extension."""
        return self._serve("menu", function, Scope, _answers.menu)

    def renderer(self, tool: str) -> Callable[[_Function], _Function]:
        """Registers the decorated function to show what a tool did: a text, or a list of segments."""

        def register(function: _Function) -> _Function:
            row = self._row(self.dialect.collectors["renderer"], f"renderer {tool!r}")
            self._add(row, tool, function, Scope, _answers.segments, typed=False, where=f"renderer {tool!r}")
            return function

        return register

    def autocomplete(self, function: _Function) -> _Function:
        """Registers the decorated function to complete what a person types: UiAutocompleteCompleteResult or None.

        The host asks after services.autocomplete.register(revision) was admitted.
        """
        return self._serve("autocomplete", function, Scope, _answers.completion, typed=True)

    def intercept(self, function: _Function) -> _Function:
        """Registers the decorated function to see terminal input first; it returns what takes its place, as a text."""
        return self._serve("intercept", function, Scope, _answers.replacement, typed=True)

    def dispose(self, function: _Function) -> _Function:
        """Registers the decorated function to free resources: ResourceDisposeParams in, ResourceDisposeResult out.

        Nothing returned means that all of them are freed, and so it is without a function.
        """
        row = self._row(self.dialect.collectors["dispose"], "dispose")
        plan = plan_of(function, (Scope,), "dispose", typed=True)
        self._endpoints.pop(row.name, None)
        freeing = functools.partial(_answers.dispose, function, plan)
        self._add(row, "", freeing, Scope, plain, typed=False, where="dispose", plan=_WHOLE)
        return function

    def shortcut(self, id: str, key: str, description: str) -> Callable[[_Function], _Function]:  # noqa: A002 - its name on the wire
        """Registers the decorated function for a key; it takes nothing, or the session.

        The key is asked for before the session opens. The host may refuse it: the function then never runs.
        """

        def register(function: _Function) -> _Function:
            row = self.dialect.service("shortcuts.register")
            if row is None or not self.dialect.has(row.name):
                raise LocalProtocolError(f"API {self.dialect.api} has no shortcuts")
            if id in self._shortcuts:
                raise LocalProtocolError(f"shortcut {id!r} is there already: give one of the two another id")
            plan = plan_of(function, (Session,), f"shortcut {id!r}", typed=True)
            self._shortcuts[id] = Shortcut(id, key, description, function, plan)
            self._imply(row)
            return function

        return register

    # --- API 0.3

    def migration_detect(self, function: _Function) -> _Function:
        """Registers the decorated function to look for another program's set-up: MigrationDetectResult.

        It may take a Source, which reads below the source root. A root that is no directory of its own is refused
        in its place; an answer that names a file outside, twice, behind a link or not there does not go out.
        """
        return self._migrate("migration_detect", function)

    def migration_import(self, function: _Function) -> _Function:
        """Registers the decorated function to read such a set-up: MigrationImportResult.

        It may take a Source as migration_detect does, and is asked for nothing but what that has reported.
        """
        return self._migrate("migration_import", function)

    def _migrate(self, what: str, function: _Function) -> _Function:
        from octet_extension._migration import Adapter  # noqa: PLC0415 - no other wire has migrations

        row = self._row(self.dialect.collectors.get(what), what)
        plan = plan_of(function, (Scope,), what, typed=True)
        self._adapter = self._adapter or Adapter(self.dialect.own_result)
        serve = self._adapter.serve(row, function, plan)
        self._add(row, "", serve, Source, plain, typed=False, where=what, plan=_WHOLE)
        return function

    def provider_stream(self, function: _Function) -> _Function:
        """Registers the decorated generator to provide a model: it yields kind and payload of each event.

        What it does until the first event decides whether the stream is accepted: ToolError refuses it. Events are
        numbered and sent once the host knows that the stream is accepted; cancelling the stream closes the generator.
        """
        from octet_extension._provider_stream import Streams  # noqa: PLC0415 - no other wire has streams

        row = self._row(self.dialect.collectors.get("provider_stream"), "provider_stream")
        plan = plan_of(function, (Scope,), "provider_stream", typed=True)
        streams = Streams(function, plan, self._say)
        self._add(row, "", streams.serve, Scope, plain, typed=False, where="provider_stream", plan=_WHOLE)
        self.listen("provider_cancel", streams.cancel)
        return function

    # --- the session

    def on_ready(self, function: _Function) -> _Function:
        """Registers the decorated function to be called with the session once it is open, in a thread of its own."""
        self._ready.append(function)
        return function

    def on_shutdown(self, function: _Function) -> _Function:
        """Registers the decorated function to be called before the extension leaves.

        It takes the parameters of the shutdown, or nothing. Live requests are answered by then. The functions run in
        order, also where the input ends without shutdown, and the host is answered when they are done or a second is
        over. They cannot ask the host for anything.
        """
        plan = plan_of(function, (Session,), "on_shutdown", typed=False)
        self._leaving.append(Listener(function, plan))
        return function

    # --- inside

    def _row(self, method: str | None, where: str) -> Method:
        row = None if method is None else self.dialect.methods.get(method)
        if row is None or not self.dialect.has(row.name):
            raise LocalProtocolError(f"{where}: API {self.dialect.api} has nothing like it: use another API version")
        return row

    def _serve(
        self,
        what: str,
        function: _Function,
        scope: type[Scope],
        shape: Callable[[object], object],
        *,
        typed: bool = False,
    ) -> _Function:
        row = self._row(self.dialect.collectors.get(what), what)
        self._add(row, "", function, scope, shape, typed=typed, where=what)
        return function

    def _add(  # noqa: PLR0913 - what a handler is, what it serves, and how its answer is shaped
        self,
        row: Method,
        name: str,
        handler: Callable[..., object],
        scope: type[Scope],
        shape: Callable[[object], object],
        *,
        typed: bool,
        where: str,
        plan: Plan | None = None,
    ) -> None:
        plan = plan_of(handler, (Scope,), where, typed=typed) if plan is None else plan
        served = self._endpoints.setdefault(row.name, {})
        if name in served:
            raise LocalProtocolError(f"{where} is there already: one function serves it")

        def answer(returned: object) -> object:
            return self.dialect.own_result(row, shape(returned))

        served[name] = Endpoint(handler, plan, scope, answer, inspect.iscoroutinefunction(handler))
        self._imply(row)

    def _say(self, text: str) -> None:
        """Tells people something, the way the newest session does."""
        self._log_line(text)

    def _imply(self, row: Method) -> None:
        feature = self.dialect.gate_feature(row)
        if feature:
            self._implied.append(feature)

    def _declared(self) -> dict[str, tuple[str, ...]]:
        """Returns what the manifest should list, by its key."""
        names = {key: self._endpoints.get(method, {}) for key, method in self.dialect.declared_by.items()}
        return {key: tuple(served) for key, served in names.items()}

    def _selected(self, uses: tuple[str, ...] | None) -> tuple[str, ...]:
        """Returns the features to select where they are offered."""
        known = self.dialect.features(hooks=self.dialect.hook_method in self._endpoints)
        wanted = known if ALL in (uses or ()) else tuple(uses or ())
        return tuple(dict.fromkeys([*self._implied, *(name for name in wanted if name in known)]))


def checked_uses(dialect: Dialect, uses: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """Returns the names of features that an author lists. Raises LocalProtocolError for an unknown one."""
    if uses is None:
        return None
    names = (uses,) if isinstance(uses, str) else tuple(uses)
    known = dialect.features(hooks=True)
    for name in names:
        if name != ALL and name not in known:
            raise LocalProtocolError(f"API {dialect.api} has no feature {name!r}: see the table of its features")
    return names
