"""What a handler sees of the request that it serves, and what on_ready hands out for the time between requests."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from octet_extension._cancellation import Cancellation
from octet_extension._generated.services import Services
from octet_extension._memory import Memory, Owner, owner_of

if TYPE_CHECKING:
    from octet_extension._agreement import Agreement
    from octet_extension._connection import Request
    from octet_extension._dialect import Dialect
    from octet_extension._dynamic_tools import DynamicTools
    from octet_extension._generated.feature_wire import (
        ArtifactMediaTypeValue,
        NotificationLevelValue,
        OutputStreamValue,
    )

__all__ = ["Call", "CommandCall", "HookCall", "Link", "Scope", "Session", "current"]

_T = TypeVar("_T")
# Terminal escape sequences, and control characters but tab and line feed.
_CONTROL: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-Z\\-_]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")

current: ContextVar[Scope] = ContextVar("octet_scope")
"""The request that this thread or task is serving."""


class Link(Protocol):
    """The way from a scope to its session. The runtime is one."""

    memory: Memory
    dialect: Dialect

    def agreement(self) -> Agreement:
        """Returns what was agreed at initialize."""
        ...

    def ask(self, scope: Scope | None, service: str, members: Mapping[str, object], *, typed: bool = True) -> object:
        """Sends a request on behalf of a scope, or of the session, and waits."""
        ...

    def tell(self, scope: Scope | None, service: str, members: Mapping[str, object]) -> None:
        """Sends a notification."""
        ...

    def invoke(self, scope: Scope | None, service: str, members: Mapping[str, object]) -> object:
        """Sends for a service by its name; arguments and result are JSON."""
        ...

    def report(self, request: Request, event: Mapping[str, object]) -> None:
        """Sends progress."""
        ...

    def after(self, scope: Scope, function: Callable[[Scope], object]) -> None:
        """Has a function run when the request of a scope was answered."""
        ...

    def dynamic_tools(self) -> DynamicTools:
        """Returns the tools that come and go."""
        ...

    def catch_up(self, mark: int) -> None:
        """Waits for the handlers of notifications."""
        ...


class _Caller:
    """Sends for the services of one scope, or of the session."""

    __slots__ = ("_link", "_scope")

    def __init__(self, link: Link, scope: Scope | None) -> None:
        self._link = link
        self._scope = scope

    def ask(self, service: str, members: Mapping[str, object]) -> object:
        return self._link.ask(self._scope, service, members)

    def tell(self, service: str, members: Mapping[str, object]) -> None:
        self._link.tell(self._scope, service, members)


def show(link: Link, scope: Scope | None, message: str, level: NotificationLevelValue, title: str | None) -> None:
    """Shows a message to the person, as plain text: control characters are taken out."""
    heading = {} if title is None else {"title": _CONTROL.sub("", title)}
    members = {"level": level, "message": _CONTROL.sub("", message), **heading}
    link.tell(scope, "notifications.show", members)


class Session:
    """The session between requests: what on_ready hands out, to be kept for as long as the extension runs.

    Its services are those that belong to no request. The methods may be used from any thread.
    """

    def __init__(self, link: Link) -> None:
        self._link = link

    @property
    def services(self) -> Services:
        """The services of the host, by noun. Those that belong to a request raise NoParent here."""
        return Services(_Caller(self._link, None))

    def invoke(self, service: str, arguments: Mapping[str, object] | None = None) -> object:
        """Sends for a service by its name, "presentation.update"; arguments and result are JSON."""
        return self._link.invoke(None, service, arguments or {})

    @property
    def api(self) -> str:
        """The API version."""
        return self._link.agreement().api

    @property
    def features(self) -> frozenset[str]:
        """What was negotiated: features, or on API 0.3 capabilities."""
        return self._link.agreement().features

    @property
    def concurrency(self) -> int:
        """How many requests of the host may be live at once."""
        return self._link.agreement().concurrency

    @property
    def flags(self) -> Mapping[str, object]:
        """The command-line flags of the extension with their values, defaults included."""
        return self._link.agreement().flags

    @property
    def workspace(self) -> str:
        """The root of the workspace."""
        return self._link.agreement().workspace

    @property
    def host(self) -> Mapping[str, object]:
        """State of the host at initialize."""
        return self._link.agreement().host

    @property
    def dynamic_tools(self) -> DynamicTools:
        """The tools that come and go while the session runs."""
        return self._link.dynamic_tools()

    def notify(self, message: str, *, level: NotificationLevelValue = "info", title: str | None = None) -> None:
        """Shows a message to the person. Raises NotNegotiated where the manifest or the wire has none."""
        show(self._link, None, message, level, title)


class Scope:
    """One request of the host. Its methods may be used from any thread.

    While the request is live, services belong to it; after() gives the way to go on once it was answered.
    """

    def __init__(self, request: Request, link: Link) -> None:
        self.live = request
        self.cancellation = Cancellation()
        """Says whether somebody still waits for the answer."""
        self.link = link
        self.mark = 0
        """How many notifications came before it. For the runtime."""

    @property
    def services(self) -> Services:
        """The services of the host, by noun: scope.services.composer.set("text").

        Each method waits for the host. In a coroutine: await asyncio.to_thread(...).
        """
        return Services(_Caller(self.link, self))

    def invoke(self, service: str, arguments: Mapping[str, object] | None = None) -> object:
        """Sends for a service by its name, "composer.set"; arguments and result are JSON."""
        return self.link.invoke(self, service, arguments or {})

    @property
    def request_id(self) -> str | int:
        """The id of the request."""
        return self.live.id

    @property
    def context(self) -> Mapping[str, object]:
        """Where the request comes from, as the host sent it; empty if that was no object."""
        return self.live.invocation.context

    @property
    def workspace(self) -> str:
        """The root of the workspace."""
        found = self.context.get("workspace")
        return found if isinstance(found, str) else self.live.agreement.workspace

    @property
    def execution_scope(self) -> str | None:
        """The id of the tool execution, where there is one."""
        found = self.context.get("execution_scope")
        return found if isinstance(found, str) else None

    @property
    def owner(self) -> Owner | None:
        """The session, instance and generation that the request belongs to: the key of all state, whole or not."""
        return owner_of(self.context.get("resource_owner"))

    @property
    def host(self) -> Mapping[str, object]:
        """State of the host: session, model, skills."""
        found = self.context.get("host")
        return found if isinstance(found, Mapping) else self.live.agreement.host

    @property
    def flags(self) -> Mapping[str, object]:
        """The command-line flags of the extension with their values, defaults included."""
        return self.live.agreement.flags

    @property
    def api(self) -> str:
        """The API version of the session."""
        return self.live.agreement.api

    @property
    def features(self) -> frozenset[str]:
        """What was negotiated: features, or on API 0.3 capabilities."""
        return self.live.agreement.features

    @property
    def dynamic_tools(self) -> DynamicTools:
        """The tools that come and go while the session runs."""
        return self.link.dynamic_tools()

    def memory(self, factory: Callable[[], _T], name: str = "") -> _T:
        """Returns what is kept for exactly this owner under a name, made by factory when it is first asked for.

        It is dropped when another instance or generation of the session shows up, and when the session has settled
        if the extension hears of that. Requests without an owner share one value.
        """
        return self.link.memory.value(self.owner, self.host.get("session_id"), name, factory)

    def catch_up(self) -> None:
        """Waits until the handlers of notifications have had everything that came before this request."""
        self.link.catch_up(self.mark)

    def after(self, function: Callable[[Scope], object]) -> None:
        """Has a function run once this request was answered, in a thread of its own, given this scope.

        What belongs to an answered request is sent from there: services then name the request and its owner. It
        does not run when the request was cancelled or answered with an error. What it raises goes to standard error;
        at the end of the session its cancellation is set.
        """
        self.link.after(self, function)

    # --- progress

    def progress(
        self, message: str, *, current: int | None = None, total: int | None = None, unit: str | None = None
    ) -> None:
        """Says how far the work is: done units, units in all, and what a unit is.

        A host that shows no progress gets none. Raises NotNegotiated on API 0.1 and 0.3, which have no progress.
        """
        numbers = {"current": current, "total": total, "unit": unit}
        self.link.report(self.live, self.link.dialect.status_event(message, numbers))

    def output(self, data: str | bytes, *, stream: OutputStreamValue | None = None) -> None:
        """Passes on output of the work as it appears, in chunks that the host can show; stdout unless told.

        Bytes travel as base64. Raises NotNegotiated like progress.
        """
        for event in self.link.dialect.output_events(data, stream):
            self.link.report(self.live, event)

    def decorate(self, label: str, detail: str | None = None) -> None:
        """Sets a label beside the work, in place of the last one. Raises NotNegotiated like progress."""
        self.link.report(self.live, self.link.dialect.decoration_event(label, detail))

    def notify(self, message: str, *, level: NotificationLevelValue = "info", title: str | None = None) -> None:
        """Shows a message to the person. Raises NotNegotiated where the manifest or the wire has none."""
        show(self.link, self, message, level, title)

    # --- cancellation

    @property
    def cancelled(self) -> bool:
        """Whether the request was answered without its handler: cancelled, or ended with the session."""
        return self.cancellation.cancelled

    @property
    def cancel_reason(self) -> str:
        """Why the request was cancelled; empty if it was not."""
        return self.cancellation.reason

    def raise_if_cancelled(self) -> None:
        """Raises CallCancelled when the request was cancelled."""
        self.cancellation.raise_if_cancelled()

    def wait_cancelled(self, timeout: float | None = None) -> bool:
        """Waits until the request is cancelled, at most timeout seconds. Reports whether it was.

        This is how a handler pauses. It blocks, so a coroutine awaits asyncio.sleep instead, which a cancellation
        interrupts.
        """
        return self.cancellation.wait(timeout)


class Call(Scope):
    """One call of a tool."""

    @property
    def tool(self) -> str:
        """The name the tool was called by."""
        return self.live.invocation.tool

    @property
    def revision(self) -> int | None:
        """The epoch of the catalog that the call belongs to, where the tools of the session come and go."""
        return self.live.invocation.revision

    def publish(self, data: bytes, mime_type: ArtifactMediaTypeValue) -> str:
        """Hands media to the host and returns its artifact id, for an ImagePart or AudioPart of the result.

        Source: feature 11.8.
        """
        from octet_extension._generated.feature_wire import ArtifactData  # noqa: PLC0415 - no other wire has media

        inline = ArtifactData(data=b64encode(data).decode("ascii"))
        import hashlib  # noqa: PLC0415 - few extensions publish

        digest = hashlib.sha256(data).hexdigest()
        return self.services.artifacts.publish(mime_type, len(data), digest, data=inline).artifact_id


class CommandCall(Scope):
    """One use of a command."""

    @property
    def name(self) -> str:
        """The name of the command."""
        return str(self.live.invocation.arguments.get("name", ""))


class HookCall(Scope):
    """One run of a hook."""

    @property
    def hook(self) -> str:
        """The name of the hook."""
        return str(self.live.invocation.arguments.get("hook", ""))
