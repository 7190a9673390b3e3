"""What happens in a session, as objects to match on. A kind that this package does not know comes as Unknown."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar, cast

from octet_oup._generated import oup_wire as wire
from octet_oup._generated._json import Violation
from octet_oup._generated._models import UnionShape
from octet_oup._generated._shapes import ABSENT, Absent
from octet_oup._generated.oup_calls import Heard, read_notification
from octet_oup._tolerant import tolerant

__all__ = [
    "ApprovalCancelled",
    "ApprovalDecided",
    "ApprovalRequested",
    "BackgroundEnded",
    "Event",
    "FileAttached",
    "Gap",
    "Message",
    "Notified",
    "PlanUpdated",
    "Progress",
    "QuestionRequested",
    "ReasoningDelta",
    "SteerDropped",
    "TextDelta",
    "ToolEnded",
    "ToolProgress",
    "ToolStarted",
    "TurnEnded",
    "TurnStarted",
    "Unknown",
    "UserMessage",
    "Warned",
]

T = TypeVar("T")

TERMINAL: Final = next(
    variant.tag
    for variant in cast(UnionShape, wire.EnvelopePayload.SHAPE).variants
    if variant.model is wire.TurnTerminalPayload
)
"""The type of the payload that ends a stream."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened. turn_id is empty where it belongs to no turn, cursor None where it shows none."""

    turn_id: str = ""
    cursor: wire.Cursor | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(Event):
    """The turn began."""

    timestamp: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage(Event):
    """What the user said: the input of the turn, or a steer that the turn has taken."""

    text: str
    files: Sequence[wire.FileRef] = ()
    client_message_id: str = ""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta(Event):
    """A piece of the answer, to be added to its segment."""

    text: str
    segment: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDelta(Event):
    """A piece of reasoning."""

    text: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Message(Event):
    """A segment of the answer, whole: it replaces the pieces of that segment."""

    text: str
    segment: str
    meta: wire.MessageMeta | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted(Event):
    """A tool was called. arguments is for showing alone, and may be cut."""

    call_id: str
    name: str
    arguments: str = ""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgress(Event):
    """A tool says how far it is."""

    call_id: str
    message: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnded(Event):
    """A call ended. status is complete, error, skipped (it was denied), aborted, or a newer word."""

    call_id: str
    status: str
    error: str = ""
    reason: str = ""
    output: str = ""
    duration_ms: int | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FileAttached(Event):
    """A file was made. path is a handle of the server."""

    path: str
    mime: str
    size_bytes: int
    owner: wire.AttachmentOwner | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(Event):
    """The turn is over.

    outcome is completed, errored, interrupted, rate_limited, or a newer word; unknown for a turn that the server has
    lost. usage is None where the total is not known. recovered says that the end itself was lost, and this is what
    the server told about the turn when it was asked.
    """

    outcome: str
    error: wire.TurnFailure | None = None
    usage: wire.TokenUsage | None = None
    recovered: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundEnded(Event):
    """Work in the background that the turn had begun is done; the turn itself may be long over."""

    task_id: str
    content: str
    data: wire.SpawnCompleteData


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequested(Event):
    """A tool waits for a decision."""

    request: wire.ApprovalRequestedEvent


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalDecided(Event):
    """A request was decided, here or elsewhere, or by a decision that is remembered."""

    approval_id: str
    decision: str
    data: wire.ApprovalDecidedEvent


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalCancelled(Event):
    """A request is no longer waited for."""

    approval_id: str
    reason: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRequested(Event):
    """The agent asks, and the turn waits."""

    request: wire.UserQuestionRequestedEvent


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Progress(Event):
    """How far the turn is, for showing."""

    metadata: wire.ProgressMetadata


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PlanUpdated(Event):
    """The plan, whole: it replaces the one before."""

    plan: wire.Plan


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SteerDropped(Event):
    """Steers that the turn did not take."""

    inputs: Sequence[wire.InputItem]
    reason: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Warned(Event):
    """Something that a person may want to know."""

    code: str
    message: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Gap(Event):
    """Events are missing here, or would be without what the client has done about it.

    reason is replay_lossy (the server had to drop), cursor_expired or cursor_invalid (the server keeps nothing from
    that position on), or sequence (numbers of a stream are missing). hydrated is the state of the session, complete
    up to the cursor of this event; the stream goes on behind it. It is None where replayed is true: then what was
    missing follows, and nothing is lost.
    """

    reason: str
    dropped: int | None = None
    hydrated: wire.SessionHydrateResult | None = None
    replayed: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Notified(Event):
    """Any other notification of the protocol. data is the model of its method."""

    method: str
    data: Heard


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(Event):
    """A notification, or an envelope, that this package cannot read. params is as sent."""

    method: str
    params: Mapping[str, object]
    kind: str = ""
    """The type of the payload of an envelope."""


@dataclasses.dataclass(frozen=True, slots=True)
class Identity:
    """What tells one envelope from another."""

    thread_id: str
    turn_id: str
    seq: int
    cursor: wire.Cursor | None


def optional(value: T | Absent | None) -> T | None:
    """Returns a member, None where it is absent: both mean the same in what a server sends."""
    return None if value is ABSENT else value


def identity(params: Mapping[str, object]) -> Identity | None:
    """Reads what an envelope is called, also of one whose payload cannot be read. None where it has no name."""
    thread, turn, seq = params.get("thread_id"), params.get("turn_id"), params.get("seq")
    if not (isinstance(thread, str) and isinstance(turn, str) and type(seq) is int):
        return None
    cursor = params.get("cursor")
    try:
        return Identity(thread, turn, seq, None if cursor is None else wire.Cursor.from_json(cursor))
    except Violation:
        return Identity(thread, turn, seq, None)


def notification(method: str, params: Mapping[str, object]) -> Event:  # noqa: PLR0911 - a case a kind
    """Reads a notification that is no envelope."""
    named = params.get("turn_id")
    turn = named if isinstance(named, str) else ""
    try:
        data = tolerant(lambda value: read_notification(method, value), params)
    except Violation:
        return Unknown(turn_id=turn, method=method, params=params)
    match data:
        case None:
            return Unknown(turn_id=turn, method=method, params=params)
        case wire.TurnStartedEvent():
            return TurnStarted(turn_id=turn, timestamp=data.timestamp)
        case wire.TurnSteerDroppedEvent():
            return SteerDropped(turn_id=turn, inputs=data.inputs, reason=data.reason)
        case wire.ApprovalRequestedEvent():
            return ApprovalRequested(turn_id=turn, request=data)
        case wire.ApprovalDecidedEvent():
            return ApprovalDecided(turn_id=turn, approval_id=data.approval_id, decision=data.decision, data=data)
        case wire.ApprovalCancelledEvent():
            return ApprovalCancelled(turn_id=turn, approval_id=data.approval_id, reason=data.reason)
        case wire.UserQuestionRequestedEvent():
            return QuestionRequested(turn_id=turn, request=data)
        case wire.ProgressUpdatedEvent():
            return Progress(turn_id=turn, metadata=data.metadata)
        case wire.PlanUpdatedEvent():
            return PlanUpdated(turn_id=turn, plan=data.plan)
        case wire.WarningEvent():
            return Warned(turn_id=turn, code=data.code, message=data.message)
        case _:
            return Notified(turn_id=turn, method=method, data=data)


def envelope(name: Identity, params: Mapping[str, object]) -> Event:
    """Reads an envelope, whether it names its session or not."""
    payload = params.get("payload")
    if not isinstance(payload, dict):
        return Unknown(turn_id=name.turn_id, cursor=name.cursor, method=wire.METHOD_PROJECTION_ENVELOPE, params=params)
    try:
        read = tolerant(wire.EnvelopePayload.from_json, payload)
    except Violation:
        return _newer(name, params, payload)
    message = params.get("client_message_id")
    return _told(name, read, message if isinstance(message, str) else "")


def _told(name: Identity, payload: wire.EnvelopePayload, message: str) -> Event:  # noqa: PLR0911 - a case a kind
    turn, cursor = name.turn_id, name.cursor
    match payload:
        case wire.AssistantDeltaPayload(data=data):
            return TextDelta(turn_id=turn, cursor=cursor, text=data.text, segment=data.assistant_segment_id)
        case wire.ReasoningDeltaPayload(data=data):
            return ReasoningDelta(turn_id=turn, cursor=cursor, text=data.text)
        case wire.AssistantPersistedPayload(data=data):
            return Message(
                turn_id=turn, cursor=cursor, text=data.text, segment=data.assistant_segment_id, meta=data.meta
            )
        case wire.UserMessagePayload(data=data):
            files = optional(data.files) or ()
            return UserMessage(turn_id=turn, cursor=cursor, text=data.text, files=files, client_message_id=message)
        case wire.ToolStartPayload(data=data):
            shown = optional(data.arguments_preview) or ""
            return ToolStarted(turn_id=turn, cursor=cursor, call_id=data.tool_call_id, name=data.name, arguments=shown)
        case wire.ToolProgressPayload(data=data):
            return ToolProgress(turn_id=turn, cursor=cursor, call_id=data.tool_call_id, message=data.message)
        case wire.ToolEndPayload(data=data):
            return ToolEnded(
                turn_id=turn,
                cursor=cursor,
                call_id=data.tool_call_id,
                status=data.status,
                error=optional(data.error) or "",
                reason=optional(data.reason) or "",
                output=optional(data.output_preview) or "",
                duration_ms=optional(data.duration_ms),
            )
        case wire.FileAttachedPayload(data=data):
            return FileAttached(
                turn_id=turn,
                cursor=cursor,
                path=data.path,
                mime=data.mime,
                size_bytes=data.size_bytes,
                owner=data.attachment_owner,
            )
        case wire.TurnTerminalPayload(data=data):
            failure, usage = optional(data.error), optional(data.token_usage)
            return TurnEnded(turn_id=turn, cursor=cursor, outcome=data.outcome, error=failure, usage=usage)
        case wire.SpawnCompletePayload(data=data):
            parent = data.parent_turn_id
            return BackgroundEnded(turn_id=parent, cursor=cursor, task_id=data.task_id, content=data.content, data=data)
    raise AssertionError(payload)


def _newer(name: Identity, params: Mapping[str, object], payload: Mapping[str, object]) -> Event:
    """Reads what an envelope with a newer word says: an end is an end, whatever the word for it."""
    kind, data = payload.get("type"), payload.get("data")
    members = data if isinstance(data, dict) else {}
    turn, cursor = name.turn_id, name.cursor
    if kind == TERMINAL:
        outcome = members.get("outcome")
        return TurnEnded(
            turn_id=turn,
            cursor=cursor,
            outcome=outcome if isinstance(outcome, str) else "",
            error=_maybe(wire.TurnFailure.from_json, members.get("error")),
            usage=_maybe(wire.TokenUsage.from_json, members.get("token_usage")),
        )
    call, status = members.get("tool_call_id"), members.get("status")
    if isinstance(call, str) and isinstance(status, str):
        return ToolEnded(turn_id=turn, cursor=cursor, call_id=call, status=status)
    return Unknown(
        turn_id=turn,
        cursor=cursor,
        method=wire.METHOD_PROJECTION_ENVELOPE,
        params=params,
        kind=kind if isinstance(kind, str) else "",
    )


def _maybe(read: Callable[[object], T], value: object) -> T | None:
    try:
        return None if value is None else read(value)
    except Violation:
        return None
