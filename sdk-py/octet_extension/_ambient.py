"""The methods of an extension that act for the request at hand, without naming it.

They are the well-known public surface: a function calls ext.notify or ext.progress wherever it runs. Each stands on
the typed services, and gives and takes plain dicts as on the wire.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from octet_extension._cancellation import Cancellation
from octet_extension._dialect import Dialect
from octet_extension._dynamic_tools import DynamicTools
from octet_extension._errors import LocalProtocolError, NoParent
from octet_extension._log import Log
from octet_extension._registration import Registration
from octet_extension._scope import Link, Scope, current, show
from octet_extension._tools import Tool, make_tool

if TYPE_CHECKING:
    from octet_extension._generated.feature_wire import CacheWarmingActionValue, NotificationLevelValue

__all__ = [
    "Ambient",
    "audio_content",
    "cache_warming_decision",
    "current_cancellation",
    "image_content",
    "persistence_metadata",
    "post_mutation_rescan",
    "text_content",
    "tool_result",
]

_Function = TypeVar("_Function", bound=Callable[..., object])
_Json = dict[str, object]
_NOBODY = Cancellation()


def current_cancellation() -> Cancellation:
    """Returns the token of the request that this thread or task serves; outside of any, one that is never set."""
    scope = current.get(None)
    return _NOBODY if scope is None else scope.cancellation


def text_content(text: str) -> _Json:
    """Returns a text part of a result."""
    return {"type": "text", "text": text}


def image_content(artifact_id: str, mime_type: str, *, alt: str | None = None) -> _Json:
    """Returns an image part of a result."""
    part: _Json = {"type": "image", "artifact_id": artifact_id, "mime_type": mime_type}
    return part if alt is None else {**part, "alt": alt}


def audio_content(artifact_id: str, mime_type: str, *, transcript: str | None = None) -> _Json:
    """Returns a sound part of a result."""
    part: _Json = {"type": "audio", "artifact_id": artifact_id, "mime_type": mime_type}
    return part if transcript is None else {**part, "transcript": transcript}


def tool_result(
    *content: Mapping[str, object] | str,
    structured_content: object = None,
    is_error: bool = False,
    metadata: Mapping[str, object] | None = None,
) -> _Json:
    """Returns a result of parts; a text stands for a text part."""
    parts = [text_content(part) if isinstance(part, str) else dict(part) for part in content]
    result: _Json = {"content": parts, "is_error": is_error}
    if structured_content is not None:
        result["structured_content"] = structured_content
    return result if metadata is None else {**result, "metadata": dict(metadata)}


def persistence_metadata(value: object, public: bool = False) -> _Json:
    """Returns the answer of before_persistence that stores a value beside what the model said."""
    return {"persistence_metadata": {"value": value, "public": public}}


def post_mutation_rescan(resource_ids: Iterable[str]) -> _Json:
    """Returns the answer of post_mutation that has resources read again."""
    return {"post_mutation": {"action": "request_rescan", "resource_ids": list(resource_ids)}}


def cache_warming_decision(action: CacheWarmingActionValue | None) -> _Json:
    """Returns the answer of cache_warming_decision: warm, stop, or None for no opinion."""
    return {"cache_warming_decision": action}


class Ambient(Registration):
    """An extension as its handlers see it."""

    log = Log()
    """Writes to standard error: ext.log.info("settled", turn=3)."""

    _link: Link | None

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect)
        self._link = None

    # --- where we are

    @property
    def cancellation(self) -> Cancellation:
        """The token of the request at hand."""
        return current_cancellation()

    @property
    def request_id(self) -> str | int | None:
        """The id of the request at hand; None outside of any."""
        scope = current.get(None)
        return None if scope is None else scope.request_id

    @property
    def negotiated_features(self) -> frozenset[str]:
        """What was negotiated: features, or on API 0.3 capabilities."""
        return self._session().agreement().features

    @property
    def negotiated_concurrency(self) -> int:
        """How many requests of the host may be live at once."""
        return self._session().agreement().concurrency

    def _session(self) -> Link:
        scope = current.get(None)
        link = self._link if scope is None else scope.link
        if link is None:
            raise LocalProtocolError("no session is running: call this from a handler")
        return link

    def _scope(self) -> Scope:
        scope = current.get(None)
        if scope is None:
            raise NoParent("no request is being served here: call this from a handler, in its own thread")
        return scope

    def _ask(self, service: str, members: Mapping[str, object]) -> _Json:
        return cast("_Json", self._session().invoke(current.get(None), service, _present(members)))

    # --- people

    def notify(self, message: str, level: NotificationLevelValue = "info", title: str | None = None) -> None:
        """Shows a message to the person."""
        show(self._session(), current.get(None), message, level, title)

    def confirm(
        self, prompt: str, *, detail: str | None = None, destructive: bool = False, default: bool = False
    ) -> bool:
        """Asks the person for a yes. Where nobody can answer, that is a no."""
        members = {"prompt": prompt, "detail": detail, "destructive": destructive, "default": default}
        return bool(self._ask("confirmations.ask", members)["confirmed"])

    def request_input(self, prompt: str, *, secret: bool = False) -> str | None:
        """Asks the person for a text; None where nobody gives one."""
        return cast("str | None", self._ask("input.ask", {"prompt": prompt, "secret": secret})["value"])

    def progress(
        self,
        event: Mapping[str, object] | str | None = None,
        *,
        message: str | None = None,
        current: int | None = None,
        total: int | None = None,
        unit: str | None = None,
    ) -> None:
        """Says how far the request at hand is, or reports an event as it is."""
        scope = self._scope()
        if isinstance(event, Mapping):
            self._session().report(scope.live, dict(event))
        else:
            scope.progress(message or event or "", current=current, total=total, unit=unit)

    def progress_decoration(self, label: str, detail: str | None = None) -> None:
        """Sets a label beside the request at hand."""
        self._scope().decorate(label, detail)

    def publish_presentation(
        self, snapshot: Mapping[str, object], *, resource_owner: Mapping[str, object] | None = None
    ) -> None:
        """Shows what the extension is about: for the request at hand, for an owner, or for the whole process."""
        members: _Json = {"snapshot": snapshot}
        if resource_owner is not None:
            self._session().tell(None, "presentation.update", {**members, "resource_owner": resource_owner})
        else:
            self._session().tell(current.get(None), "presentation.update", members)

    presentation = publish_presentation

    # --- services

    def publish_artifact(
        self,
        *,
        mime_type: str,
        data: bytes | None = None,
        path: str | None = None,
        size: int | None = None,
        sha256: str | None = None,
    ) -> str:
        """Hands media to the host and returns its artifact id."""
        members: _Json = {"mime_type": mime_type, "path": path, "size": size, "sha256": sha256}
        if data is not None:
            inline = {"encoding": "base64", "data": b64encode(data).decode("ascii")}
            members |= {"data": inline, "size": len(data), "sha256": _digest(data)}
        return str(self._ask("artifacts.publish", members)["artifact_id"])

    def evaluate_policy(self, intent: Mapping[str, object], *, approval_token: str | None = None) -> _Json:
        """Asks the host whether an action may be taken."""
        return self._ask("policy.evaluate", {"intent": intent, "approval_token": approval_token})

    def get_secret(self, name: str) -> str:
        """Returns a secret that the manifest names."""
        return str(self._ask("secrets.get", {"name": name})["value"])

    def spawn_agent(  # noqa: PLR0913 - one keyword for each bound of a child
        self,
        *,
        task_name: str,
        message: str,
        idempotency_key: str,
        tools: Sequence[str],
        max_depth: int,
        max_concurrent_children: int,
        max_turns: int | None,
        max_output_bytes: int,
        timeout_ms: int | None,
        max_tokens: int | None = None,
        max_cost_microdollars: int | None = None,
        profile: str | None = None,
        fingerprint: str | None = None,
        model_selection: Mapping[str, object] | None = None,
    ) -> _Json:
        """Starts a child agent. None for a bound inherits that of the parent."""
        policy: _Json = {
            "tools": list(tools),
            "max_depth": max_depth,
            "max_concurrent_children": max_concurrent_children,
            "max_turns": max_turns,
            "max_tokens": max_tokens,
            "max_cost_microdollars": max_cost_microdollars,
            "max_output_bytes": max_output_bytes,
            "timeout_ms": timeout_ms,
        }
        if model_selection is not None:
            policy["model_selection"] = model_selection
        members = {
            "task_name": task_name,
            "profile": profile,
            "fingerprint": fingerprint,
            "message": message,
            "idempotency_key": idempotency_key,
            "policy": policy,
        }
        return self._ask("agents.spawn", members)

    def send_agent_message(self, target: str, message: str) -> _Json:
        """Sends a message to a child agent."""
        return self._ask("agents.message", {"target": target, "message": message})

    def follow_up_agent(self, target: str, message: str) -> _Json:
        """Gives a child agent more to do."""
        return self._ask("agents.follow_up", {"target": target, "message": message})

    def list_agents(self) -> _Json:
        """Lists the child agents."""
        return self._ask("agents.list", {})

    def list_agent_models(self, *, query: str | None = None, limit: int | None = None) -> _Json:
        """Lists the models that a child agent may run on."""
        return self._ask("agents.models", {"query": query, "limit": limit})

    def wait_agents(self, *, timeout_ms: int | None = None) -> _Json:
        """Waits until a child agent needs attention."""
        return self._ask("agents.wait", {"timeout_ms": timeout_ms})

    def interrupt_agent(self, target: str) -> _Json:
        """Interrupts a child agent and its own."""
        return self._ask("agents.interrupt", {"target": target})

    # --- tools that come and go

    @property
    def dynamic_tools(self) -> DynamicTools:
        """The tools that come and go while the session runs."""
        return self._session().dynamic_tools()

    @property
    def tool_catalog_revision(self) -> int:
        """The epoch of the tools that is in force."""
        return self.dynamic_tools.revision

    def register_tool(
        self,
        handler: Callable[..., object] | None = None,
        *,
        name: str | None = None,
        description: str | None = None,
        parameters: Mapping[str, object] | None = None,
        output_schema: Mapping[str, object] | None = None,
    ) -> _Json:
        """Adds a tool to the running session, or puts it in place of one with the same name."""
        return self.register_tools(
            [
                {
                    "handler": handler,
                    "name": name,
                    "description": description,
                    "parameters": parameters,
                    "output_schema": output_schema,
                }
            ]
        )

    def register_tools(self, definitions: Sequence[Mapping[str, object] | Tool]) -> _Json:
        """Adds several tools at once, each a Tool or a dict with handler, name, description and schemas."""
        catalog = self.dynamic_tools.register(*(_tool(definition) for definition in definitions))
        return {"revision": catalog.revision, "tools": list(catalog.tools)}

    def unregister_tool(self, *names: str) -> _Json:
        """Takes tools away; names that are not there do no harm."""
        catalog = self.dynamic_tools.unregister(*names)
        return {"revision": catalog.revision, "tools": list(catalog.tools)}

    def on_lifecycle(self, name: str) -> Callable[[_Function], _Function]:
        """Registers the decorated function for a lifecycle event, spelled as on the wire or with an underscore."""

        def register(function: _Function) -> _Function:
            self.listen(name.replace("/", "_"), function)
            return function

        return register

    def cache_warming_decision(self, function: _Function) -> _Function:
        """Registers the decorated function for the hook of this name: it returns warm, stop, or None.

        The payload comes as a dict, whatever the hint says; ext.hooks.cache_warming_decision gives its model.
        """
        self.advise("cache_warming_decision", function)
        return function


def _digest(data: bytes) -> str:
    from hashlib import sha256  # noqa: PLC0415 - few extensions publish

    return sha256(data).hexdigest()


def _present(members: Mapping[str, object]) -> _Json:
    """Leaves out what was not given."""
    return {name: value for name, value in members.items() if value is not None}


def _tool(definition: Mapping[str, object] | Tool) -> Tool:
    if isinstance(definition, Tool):
        return definition
    known = {"name", "description", "parameters", "output_schema", "handler"}
    if not known.issuperset(definition):
        raise LocalProtocolError(
            f"a tool has {', '.join(sorted(known))}, not {', '.join(sorted(set(definition) - known))}"
        )
    handler = definition.get("handler")
    if not callable(handler):
        raise LocalProtocolError("a tool needs a handler: the function that serves it")
    return make_tool(
        handler,
        name=cast("str | None", definition.get("name")),
        description=cast("str | None", definition.get("description")),
        parameters=cast("Mapping[str, object] | None", definition.get("parameters")),
        output=definition.get("output_schema"),
    )
