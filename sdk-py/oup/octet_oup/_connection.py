"""JSON-RPC over one link: requests find their answers, everything else is handed on in order."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, cast

from octet_oup import _errors
from octet_oup._clock import Clock
from octet_oup._envelope import EnvelopeFault, classify
from octet_oup._errors import Disconnected, OupError, ProtocolError, TimedOut
from octet_oup._frames import FrameFault, read_line
from octet_oup._generated import _json, oup_wire
from octet_oup._generated._json import Violation
from octet_oup._link import Link, LinkClosed

__all__ = ["Connection", "Json"]

Json = Mapping[str, object]

_JSONRPC: Final = dict(oup_wire.TABLE_PROTOCOL)["jsonrpc"]
_log = logging.getLogger("octet_oup")


@dataclasses.dataclass(slots=True)
class _Call:
    method: str
    answer: asyncio.Future[object]
    at_once: Callable[[object], None] | None
    """Runs before the next frame is looked at."""


class Connection:
    """One link and what is asked over it. Whoever owns it runs serve and closes the link."""

    def __init__(self, link: Link, clock: Clock) -> None:
        self.link = link
        self.heard_at = clock.now()
        """When the last frame came."""
        self._clock = clock
        self._calls: dict[str, _Call] = {}
        self._issued = 0
        self._ended: OupError | None = None
        self.changed: Callable[[], None] = lambda: None
        """Is told when a request begins to wait."""

    @property
    def waiting(self) -> bool:
        """Whether a request has no answer yet."""
        return bool(self._calls)

    async def call(
        self,
        method: str,
        params: Json,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - in the time of the clock
        at_once: Callable[[object], None] | None = None,
    ) -> object:
        """Sends a request and returns its result as JSON.

        Raises ServerError, TimedOut, Disconnected, ProtocolError, and ValueError for a frame over the bound.
        """
        if self._ended is not None:
            raise _again(self._ended)
        self._issued += 1
        request = f"c{self._issued}"
        frame = spell({"jsonrpc": _JSONRPC, "id": request, "method": method, "params": params})
        answer: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._calls[request] = _Call(method, answer, at_once)
        alarm = None
        if timeout is not None:
            late = TimedOut(f"{method} has no answer after {timeout:g} s: whether it was carried out is unknown")
            alarm = self._clock.call_later(timeout, lambda: _settle(answer, late))
        self.changed()
        try:
            await self._send(frame, method)
            return await answer
        finally:
            self._calls.pop(request, None)
            if alarm is not None:
                alarm.cancel()
            if answer.done() and not answer.cancelled():
                answer.exception()  # it was looked at: nobody else will

    async def tell(self, method: str, params: Json) -> None:
        """Sends a notification. Raises Disconnected."""
        if self._ended is not None:
            raise _again(self._ended)
        await self._send(spell({"jsonrpc": _JSONRPC, "method": method, "params": params}), method)

    async def _send(self, frame: bytes, method: str) -> None:
        try:
            await self.link.send(frame)
        except LinkClosed as ended:
            raise Disconnected(ended.reason, in_flight=(method,), close_code=ended.code) from None

    async def serve(self, take: Callable[[str, Json], Awaitable[None]]) -> OupError:
        """Reads until the link ends, and returns why. Notifications are handed to take, one after another."""
        try:
            while True:
                frame = await self.link.receive()
                self.heard_at = self._clock.now()
                told = self._read(frame)
                if told is not None:
                    await take(*told)
        except LinkClosed as ended:
            return ProtocolError(ended.reason) if ended.fault else Disconnected(ended.reason, close_code=ended.code)
        except (FrameFault, EnvelopeFault) as fault:
            return ProtocolError(f"the server sent a frame that is wrong: {fault}")

    def _read(self, frame: bytes) -> tuple[str, Json] | None:
        value = read_line(frame)
        if _asks(value):
            _log.warning("the server sent the request %.80r; servers ask nothing", value["method"])
            return None
        try:
            kind = classify(value)
        except EnvelopeFault as fault:
            one = value.get("id")
            if not _fails(value) or not isinstance(one, str | None):
                raise
            call = None if one is None else self._calls.get(one)
            if call is None:
                _log.warning("the server failed nothing that is waited for, with an error that is none: %s", fault)
            else:
                _settle(call.answer, ProtocolError(f"{call.method} was answered with an error that is none: {fault}"))
            return None
        if kind == "notification":
            params = value.get("params")
            return cast(str, value["method"]), cast(Json, params) if isinstance(params, dict) else {}
        self._answer(value)
        return None

    def _answer(self, value: Json) -> None:
        call = self._calls.get(cast(str, value["id"])) if value["id"] is not None else None
        if call is None:
            if value["id"] is None:
                _log.warning("the server could not read a frame: %.400r", value.get("error"))
            return  # late, repeated, or never asked: none of it is an error
        if "error" in value:
            error = oup_wire.ErrorObject.from_json(value["error"])
            _settle(call.answer, _errors.answered(call.method, error))
            return
        result = value["result"]
        refusal = _refusal(result)
        if refusal is not None:
            _settle(call.answer, _errors.refused(call.method, refusal))
            return
        if call.at_once is not None and not call.answer.done():
            try:
                call.at_once(result)
            except OupError as fault:
                _settle(call.answer, fault)
                return
        if not call.answer.done():
            call.answer.set_result(result)

    def end(self, why: OupError) -> None:
        """Fails everything that waits."""
        if self._ended is not None:
            return
        self._ended = why
        methods = tuple(call.method for call in self._calls.values())
        for call in list(self._calls.values()):
            _settle(call.answer, _again(why, methods))


def _asks(value: Json) -> bool:
    """Whether a frame is a request, which no server of the protocol sends: OUP-FRAME-038."""
    method = value.get("method")
    alone = "result" not in value and "error" not in value
    return value.get("jsonrpc") == _JSONRPC and "id" in value and alone and isinstance(method, str) and method != ""


def _fails(value: Json) -> bool:
    """Whether a frame is an error, whatever it says: OUP-FRAME-039."""
    kinds = [name for name in ("method", "result", "error") if name in value]
    return value.get("jsonrpc") == _JSONRPC and "id" in value and kinds == ["error"]


def spell(message: Json) -> bytes:
    """Returns a message as a frame. Raises ValueError for one over the bound, and for what is no JSON."""
    frame = _json.encode(message)
    bound = oup_wire.MAX_TEXT_FRAME_BYTES
    if len(frame) > bound:
        raise ValueError(
            f"{message['method']} would have {len(frame)} bytes, and {bound} are allowed: send less at once"
        )
    return frame


def _settle(answer: asyncio.Future[object], fault: Exception) -> None:
    if not answer.done():
        answer.set_exception(fault)


def _again(why: OupError, in_flight: tuple[str, ...] = ()) -> OupError:
    """Returns a fresh exception for each one that is told why the connection ended."""
    if isinstance(why, Disconnected):
        return type(why)(why.reason, in_flight=in_flight, close_code=why.close_code)
    return ProtocolError(str(why)) if isinstance(why, ProtocolError) else why


def _refusal(result: object) -> oup_wire.UnsupportedResult | None:
    """Reads a success that says nothing but that its method is not supported."""
    if not isinstance(result, dict) or list(result) != ["unsupported"]:
        return None
    try:
        return oup_wire.UnsupportedResult.from_json(result)
    except Violation:
        return None
