"""The tools of the showcase."""

import base64
import dataclasses
import threading
from collections.abc import Callable, Mapping
from typing import Annotated

from showcase_record import Record, canonical

from octet_extension import (
    Call,
    CallCancelled,
    Catalog,
    Extension,
    Field,
    HostError,
    InvalidParams,
    MalformedResult,
    NoParent,
    NotNegotiated,
    Scope,
    Session,
    ToolError,
    ToolResult,
    make_tool,
)
from octet_extension.api_v04 import METHOD_NOTIFICATION

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg=="
"""A picture of one grey pixel, as it travels."""
With = dict[str, object] | None
PATIENCE = 10.0


@dataclasses.dataclass
class Letters:
    """What count finds."""

    letters: int


class Counter:
    """A number that grows."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._value = 0

    def next(self) -> int:
        """Returns the next number."""
        with self._lock:
            self._value += 1
            return self._value


def about(name: str) -> str:
    """Describes a thing of the showcase."""
    return f"Showcase: {name}."


def failure(fault: Exception) -> str:
    """Says in one line what went wrong."""
    match fault:
        case HostError():
            return f"HostError {fault.code} {fault.message}"
        case NotNegotiated():
            return f"NotNegotiated {fault.method}"
        case NoParent():
            return f"NoParent {fault.method}"
        case InvalidParams():
            return f"Invalid {fault.pointer} {fault.violation}"
        case MalformedResult():
            return f"Malformed {fault.pointer} {fault.violation}"
        case CallCancelled():
            return "Cancelled"
    return str(fault)


def outcome(scope: Scope, service: str, arguments: With) -> str:
    """Calls a service by its name and returns its result. Raises ToolError with what went wrong."""
    try:
        return canonical(scope.invoke(service, arguments))
    except Exception as fault:
        raise ToolError(failure(fault)) from fault


def add_tools(ext: Extension, record: Record) -> None:
    """Adds the tools of every API version."""
    latest = ext.api == "0.4"

    def use(call: Call, service: str, arguments: With) -> str:
        return outcome(call, service, arguments)

    composition = {"mode": "on", "inline_budget": 1000} if latest else None
    ext.tool(about("use"), name="use", parameters=SERVICE, composition=composition)(_with_service(use))
    ext.tool(about("child"), name="child", parameters=SERVICE)(_with_service(use))

    def later(call: Call, service: str, arguments: With) -> str:
        def report(scope: Scope) -> None:
            try:
                text = outcome(scope, service, arguments)
            except ToolError as fault:
                text = str(fault)
            if ext.api == "0.3":  # it has no notification
                record.note(METHOD_NOTIFICATION, {"level": "info", "title": "later", "message": text})
            else:
                scope.services.notifications.show(text, level="info", title="later")

        call.after(report)
        return "later"

    ext.tool(about("later"), name="later", parameters=SERVICE)(_with_service(later))

    @ext.tool(about("wait"))
    def wait(call: Call) -> str:
        call.wait_cancelled()
        call.raise_if_cancelled()
        return "never"

    @ext.tool(about("fail"))
    def fail(message: str) -> str:
        raise ValueError(message)

    @ext.tool(about("refuse"))
    def refuse(message: str) -> str:
        raise ToolError(message)

    @ext.tool(about("print"), name="print")
    def print_(text: str) -> str:
        print(text)  # noqa: T201 - that is what it shows
        return "printed"

    @ext.tool(about("big"))
    def big(bytes: Annotated[int, Field(minimum=0)]) -> str:  # noqa: A002 - the name of the argument
        return "x" * bytes

    operation = {"id": "remember", "resource_inputs": [], "resource_outputs": []} if latest else None

    @ext.tool(about("remember"), operation=operation)
    def remember(call: Call) -> str:
        return str(call.memory(Counter).next())

    @ext.tool(about("seen"))
    def seen(call: Call) -> str:
        call.catch_up()
        return record.take()

    _add_count(ext, latest=latest)


SERVICE = {
    "type": "object",
    "properties": {"service": {"type": "string"}, "with": {"type": "object"}},
    "required": ["service"],
    "additionalProperties": False,
}


def _with_service(run: Callable[[Call, str, With], str]) -> Callable[[Call, dict[str, object]], str]:
    """Makes a tool of a function of call, service and arguments: "with" is no name that a parameter can have."""

    def tool(call: Call, given: dict[str, object]) -> str:
        arguments = given.get("with")
        return run(call, str(given["service"]), arguments if isinstance(arguments, dict) else None)

    return tool


def _add_count(ext: Extension, *, latest: bool) -> None:
    snippet, guidelines = ("Count letters.", ["Prefer count to guessing."]) if latest else (None, [])
    output = None if ext.api == "0.1" else Letters

    @ext.tool(about("count"), output=output, prompt_snippet=snippet, prompt_guidelines=guidelines)
    def count(word: str) -> ToolResult:
        text = f"{len(word)} letters"
        return ToolResult(text) if output is None else ToolResult(text, structured=Letters(len(word)))


def add_feature_tools(ext: Extension) -> None:
    """Adds the tools of the feature wire."""
    kept: list[Session] = []
    arrived = threading.Event()

    @ext.on_ready
    def keep(session: Session) -> None:
        kept.append(session)
        arrived.set()

    @ext.tool(about("report"))
    def report(call: Call) -> str:
        if call.api != "0.1":  # it has no progress; hosts of the others that take none get none
            call.progress("1 of 2", current=1, total=2, unit="files")
            call.output("done\n")
            call.decorate("Indexing")
        return "ok"

    @ext.tool(about("media"))
    def media(call: Call) -> ToolResult:
        try:
            artifact = call.publish(base64.b64decode(DOT), "image/png")
        except Exception as fault:
            raise ToolError(failure(fault)) from fault
        image: Mapping[str, object] = {
            "type": "image",
            "artifact_id": artifact,
            "mime_type": "image/png",
            "alt": "grey dot",
        }
        return ToolResult(["one pixel", image])

    def change(run: Callable[[], Catalog]) -> str:
        try:
            catalog = run()
        except Exception as fault:
            raise ToolError(failure(fault)) from fault
        return f"epoch {catalog.revision}: {', '.join(sorted(catalog.tools))}"

    @ext.tool(about("learn"))
    def learn(call: Call, name: str) -> str:
        def learned(call: Call) -> str:
            return f"{name} in epoch {call.revision}"

        return change(lambda: call.dynamic_tools.register(make_tool(learned, name=name, description=about(name))))

    @ext.tool(about("forget"))
    def forget(call: Call, name: str) -> str:
        return change(lambda: call.dynamic_tools.unregister(name))

    @ext.tool(about("ready"))
    def ready() -> str:
        if not arrived.wait(PATIENCE):
            raise ToolError("the session is not open")
        try:
            kept[-1].notify("ready", level="success")
        except Exception as fault:
            raise ToolError(failure(fault)) from fault
        return "shown"
