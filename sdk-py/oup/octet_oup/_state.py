"""What the state of a session, read as a whole, holds of one turn."""

from __future__ import annotations

from collections.abc import Sequence

from octet_oup._events import Message, optional
from octet_oup._generated import oup_wire as wire

__all__ = ["envelopes_of", "rows_of"]


def envelopes_of(state: wire.SessionHydrateResult, turn_id: str | None = None) -> Sequence[wire.BareEnvelope]:
    """Returns the envelopes of a turn, or all of them, by stream and number; one may stand in several lists."""
    snapshot = optional(state.projection_snapshot)
    lists = (
        state.replayed_envelopes,
        state.replayed_tool_envelopes,
        state.replayed_projection_envelopes,
        state.projection_envelopes,
        None if snapshot is None else snapshot.envelopes,
    )
    merged = {(one.thread_id, one.seq): one for found in lists for one in optional(found) or ()}
    return [one for _, one in sorted(merged.items()) if turn_id in (None, one.turn_id)]


def rows_of(state: wire.SessionHydrateResult, turn_id: str) -> Sequence[Message]:
    """Returns what a turn has answered so far, for a state that has no envelopes of it."""
    if envelopes_of(state, turn_id):
        return ()
    return [
        Message(turn_id=turn_id, text=row.content, segment=f"row {row.seq}")
        for row in optional(state.messages) or ()
        if optional(row.turn_id) == turn_id and row.role == wire.MessageRole.ASSISTANT and row.content
    ]
