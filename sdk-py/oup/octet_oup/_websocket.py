"""One WebSocket as a link. Loaded when the first one is opened: a client over standard streams goes without."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from octet_oup._errors import AuthError, Disconnected
from octet_oup._generated import oup_wire
from octet_oup._link import Link, LinkClosed

__all__ = ["open_socket"]

_REFUSALS: Final = frozenset(int(status) for status, _ in oup_wire.TABLE_HTTP_REFUSALS)
_CLOSE_WAIT: Final = 5.0  # seconds for the closing handshake
_AHEAD: Final = 16  # messages that are read before somebody asks for them
_FAULTS: Final = frozenset((1002, 1003, 1007, 1009))  # RFC 6455: what this side closes with when the peer is wrong


async def open_socket(url: str, headers: Mapping[str, str]) -> Link:
    """Connects and shakes hands. Raises AuthError where the credential is refused, else Disconnected."""
    try:
        socket = await connect(
            url,
            additional_headers=headers,
            open_timeout=oup_wire.CLIENT_CONNECT_TIMEOUT_MS / 1000,
            close_timeout=_CLOSE_WAIT,
            ping_interval=None,  # the protocol has a ping and a silence of its own
            max_size=oup_wire.MAX_TEXT_FRAME_BYTES,
            max_queue=_AHEAD,
            compression=None,
        )
    except InvalidStatus as fault:
        status = fault.response.status_code
        kind = AuthError if status in _REFUSALS else Disconnected
        raise kind(f"the server refused the connection with status {status}") from None
    except (OSError, InvalidHandshake, InvalidURI, EOFError) as fault:
        raise Disconnected(f"the server cannot be reached: {str(fault) or type(fault).__name__}") from None
    return _Socket(socket)


class _Socket:
    """A WebSocket as a link."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._closing: asyncio.Task[None] | None = None

    async def receive(self) -> bytes:
        while True:
            try:
                message = await self._socket.recv()
            except ConnectionClosed as ended:
                raise _closed(ended) from None
            if isinstance(message, str):  # the protocol has no binary messages
                return message.encode()

    async def send(self, frame: bytes) -> None:
        try:
            await self._socket.send(frame, text=True)
        except ConnectionClosed as ended:
            raise _closed(ended) from None

    async def close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._socket.close())
        await asyncio.shield(self._closing)


def _closed(ended: ConnectionClosed) -> LinkClosed:
    told, said = ended.rcvd, ended.sent
    if told is not None and (said is None or ended.rcvd_then_sent):
        reason = f" ({told.reason})" if told.reason else ""
        return LinkClosed(f"the server closed the connection with {int(told.code)}{reason}", code=int(told.code))
    if said is not None and int(said.code) in _FAULTS:
        return LinkClosed(f"the server sent what a WebSocket must not carry: {said.reason}", fault=True)
    if said is not None:
        return LinkClosed("the client closed the connection")
    return LinkClosed("the connection broke")
