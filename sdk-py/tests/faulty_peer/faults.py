"""The faults: one broken rule each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tampering import Message, Peer, decoded

_CANCEL: Final = "$/cancelRequest"
_CALL: Final = "tool/call"
_CANCELLED: Final = -32800


@dataclass(frozen=True)
class Fault:
    """One way to be wrong: how the peer differs, as the end of "a peer that ..."."""

    name: str
    rule: str
    doc: str
    plant: Callable[[Peer], None]


# --- what is written


def _lines(change: Callable[[bytes], bytes]) -> Callable[[Peer], None]:
    def plant(peer: Peer) -> None:
        peer.line = change

    return plant


def _messages(change: Callable[[Message], None]) -> Callable[[Peer], None]:
    def plant(peer: Peer) -> None:
        peer.message = change

    return plant


def _results(change: Callable[[Message], None]) -> Callable[[Peer], None]:
    """Changes the results of calls."""

    def see(message: Message) -> None:
        result = message.get("result")
        if isinstance(result, dict) and "content" in result:
            change(result)

    return _messages(see)


def _errors(code: int | None, change: Callable[[Message], None]) -> Callable[[Peer], None]:
    def see(message: Message) -> None:
        error = message.get("error")
        if isinstance(error, dict) and code in {None, error.get("code")}:
            change(error)

    return _messages(see)


def _mark_first(peer: Peer) -> None:
    first = [b"\xef\xbb\xbf"]
    peer.line = lambda line: (first.pop() if first else b"") + line


def _unended_farewell(peer: Peer) -> None:
    def cut(line: bytes) -> bytes:
        return line[:-1] if any(m["method"] == "shutdown" for m in peer.live.values()) else line

    peer.line = cut


def _print_in_stream(peer: Peer) -> None:
    def echo(text: str) -> str:
        os.write(peer.stdout, b"debug: echo was called\n")
        return text

    peer.echo = echo


def _same_sequence(message: Message) -> None:
    if message.get("method") == "$/progress":
        message["params"]["sequence"] = 1


def _late_progress(peer: Peer) -> None:
    def more(asked: Message) -> None:
        if asked["method"] == _CALL:
            event = {"type": "status", "message": "done"}
            params = {"request_id": asked["id"], "sequence": 99, "event": event}
            peer.say({"jsonrpc": "2.0", "method": "$/progress", "params": params})

    peer.written = more


def _answer_twice(peer: Peer) -> None:
    def more(asked: Message) -> None:
        if asked["method"] == _CALL:
            peer.error(asked["id"], -32603, "internal error")

    peer.written = more


def _text_id(message: Message) -> None:
    if "method" not in message and isinstance(message.get("id"), int):
        message["id"] = str(message["id"])


def _behind(method: str, say: Message) -> Callable[[Peer], None]:
    """Writes something behind the answer to a method."""

    def plant(peer: Peer) -> None:
        def more(asked: Message) -> None:
            if asked["method"] == method:
                peer.say({"jsonrpc": "2.0", **say})

        peer.written = more

    return plant


def _drop_answers(method: str) -> Callable[[Peer], None]:
    def plant(peer: Peer) -> None:
        def see(message: Message) -> None:
            asked = peer.live.get(json.dumps(message.get("id")), {})
            if "method" not in message and asked.get("method") == method:
                message.clear()

        peer.message = see

    return plant


def _null_farewell(peer: Peer) -> None:
    def see(message: Message) -> None:
        if peer.live.get(json.dumps(message.get("id")), {}).get("method") == "shutdown":
            message["result"] = None

    peer.message = see


def _leave_calls(peer: Peer) -> None:
    def see(message: Message) -> None:
        leaving = any(m["method"] == "shutdown" for m in peer.live.values())
        if leaving and message.get("error", {}).get("code") == _CANCELLED:
            message.clear()

    peer.message = see


def _drop_unknown(message: Message) -> None:
    if message.get("error", {}).get("code") == -32601:
        message.clear()


# --- what is read


def _chunks(change: Callable[[bytes], bytes]) -> Callable[[Peer], None]:
    def plant(peer: Peer) -> None:
        peer.chunk = change

    return plant


def _leave(code: int = 3) -> None:
    os._exit(code)


def _first_of_read(data: bytes) -> bytes:
    return data[: data.find(b"\n") + 1] or data


def _decode(data: bytes) -> bytes:
    try:
        data.decode()
    except UnicodeDecodeError:
        _leave()
    return data


def _short_lines(peer: Peer) -> None:
    length = [0]

    def see(data: bytes) -> bytes:
        length[0] += len(data)
        if length[0] > 1 << 16:
            _leave()
        if b"\n" in data:
            length[0] = 0
        return data

    peer.chunk = see


def _refuse_cr(data: bytes) -> bytes:
    if b"}\r\n" in data:
        _leave()
    return data


def _answer_blank(peer: Peer) -> None:
    def see(data: bytes) -> bytes:
        for line in data.split(b"\n")[:-1]:
            if not line.strip():
                peer.error(None, -32700, "parse error")
        return data

    peer.chunk = see


def _invalid_byte(data: bytes) -> bytes:
    for line in data.split(b"\n")[:-1]:
        try:
            line.decode()
        except UnicodeDecodeError:
            _leave()
    return data


def _malformed(act: Callable[[], None], *, drop: bool) -> Callable[[Peer], None]:
    def plant(peer: Peer) -> None:
        def see(data: bytes) -> bytes:
            if data.endswith(b"\n") and data.strip() and data.count(b"\n") == 1 and decoded(data) is None:
                act()
                return b"" if drop else data
            return data

        peer.chunk = see

    return plant


def _requests(see: Callable[[Peer, Message], bool]) -> Callable[[Peer], None]:
    """Looks at what comes in, and says whether the SDK gets to see it."""

    def plant(peer: Peer) -> None:
        peer.request = lambda message: see(peer, message)

    return plant


def _is_request(message: Message) -> bool:
    return "id" in message and "method" in message


def _fold_case(peer: Peer) -> None:
    def see(data: bytes) -> bytes:
        lines = data.splitlines(keepends=True) if data.endswith(b"\n") else []
        messages = [decoded(line) for line in lines]
        if not lines or None in messages:
            return data
        folded = [{name.lower(): value for name, value in message.items()} for message in messages if message]
        return b"".join(json.dumps(message).encode() + b"\n" for message in folded)

    peer.chunk = see


def _any_version(peer: Peer) -> None:
    asked: list[str] = []

    def see(data: bytes) -> bytes:
        message = decoded(data) or {}
        if message.get("method") == "initialize" and not asked:
            asked.append(message["params"]["api_version"])
            message["params"]["api_version"] = "0.4"
            return json.dumps(message).encode() + b"\n"
        return data

    def say(message: Message) -> None:
        if "api_version" in message.get("result", {}):
            message["result"]["api_version"] = asked[0]

    peer.chunk = see
    peer.message = say


def _answer_notices(peer: Peer, message: Message) -> bool:
    if "id" not in message and "method" in message and message["method"] != _CANCEL:
        peer.error(None, -32600, "invalid request")
    return True


def _used_id(peer: Peer) -> None:
    running: set[str] = set()

    def see(message: Message) -> bool:
        if not _is_request(message):
            return True
        spelled = json.dumps(message["id"])
        if spelled in running:
            return False
        running.add(spelled)
        return True

    def settled(asked: Message) -> None:
        running.discard(json.dumps(asked["id"]))

    peer.request, peer.written = see, settled


def _call_behind_call(peer: Peer, message: Message) -> bool:
    calls = [m for m in peer.live.values() if m["method"] == _CALL]
    return message.get("method") != _CALL or len(calls) < 3


def _cancels(see: Callable[[Peer, object], bool]) -> Callable[[Peer], None]:
    """Looks at cancellations: the id that is named."""

    def look(peer: Peer, message: Message) -> bool:
        params = message.get("params")
        if message.get("method") == _CANCEL and isinstance(params, dict):
            return see(peer, params.get("id"))
        return True

    return _requests(look)


def _stray_cancel(peer: Peer, named: object) -> bool:
    if json.dumps(named) not in peer.live:
        peer.error(named, _CANCELLED, "request cancelled")
    return True


def _remember_cancel(peer: Peer) -> None:
    named: set[str] = set()

    def see(message: Message) -> bool:
        if message.get("method") == _CANCEL:
            named.add(json.dumps(message["params"].get("id")))
        elif _is_request(message) and json.dumps(message["id"]) in named:
            peer.error(message["id"], _CANCELLED, "request cancelled")
            return False
        return True

    peer.request = see


def _cancel_at_once(peer: Peer) -> None:
    def see(data: bytes) -> bytes:
        messages = [decoded(line) or {} for line in data.splitlines()]
        named = [m.get("params", {}).get("id") for m in messages if m.get("method") == _CANCEL]
        if not named or len(messages) < 2:
            return data
        kept = [m for m in messages if m.get("method") != _CALL or m.get("id") not in named]
        return b"".join(json.dumps(m).encode() + b"\n" for m in kept)

    peer.chunk = see


def _cancel_every(peer: Peer) -> None:
    def see(data: bytes) -> bytes:
        if _CANCEL.encode() not in data:
            return data
        others = [m["id"] for m in peer.live.values() if m["method"] == _CALL]
        more = [{"jsonrpc": "2.0", "method": _CANCEL, "params": {"id": other}} for other in others]
        return data + b"".join(json.dumps(m).encode() + b"\n" for m in more)

    peer.chunk = see


# --- what handlers do


def _echoing(act: Callable[[Peer], None]) -> Callable[[Peer], None]:
    """Does something in the echo."""

    def plant(peer: Peer) -> None:
        def echo(text: str) -> str:
            act(peer)
            return text

        peer.echo = echo

    return plant


def _leave_process(peer: Peer) -> None:
    wait = [sys.executable, "-c", "import signal; signal.pause()"]
    subprocess.Popen(wait, stdin=subprocess.DEVNULL, stdout=peer.stdout, start_new_session=True)


def _say_nothing_failed(peer: Peer) -> None:
    peer.fail = lambda: "it failed"


def _hang_after_failure(peer: Peer) -> None:
    failed: list[bool] = []

    def see(message: Message) -> bool:
        call = message.get("params", {}).get("name") if message.get("method") == _CALL else None
        hangs = bool(failed) and call is not None
        failed.extend([True] if call == "fail" else [])
        return not hangs

    peer.request = see


def _stay(peer: Peer) -> None:
    def never(_status: int) -> None:
        threading.Event().wait()

    def more(asked: Message) -> None:
        if asked["method"] == "shutdown":
            threading.Event().wait()

    setattr(os, "_exit", never)  # noqa: B010 - it never returns as the types have it
    setattr(sys, "exit", never)  # noqa: B010
    peer.written = more


def _never_end(peer: Peer) -> None:
    def ended() -> None:
        threading.Event().wait()

    peer.ended = ended


FAULTS: Final = (
    Fault(
        "prints-in-stream", "EXT04-FRAME-001", "prints to the descriptor of its output in a handler", _print_in_stream
    ),
    Fault("byte-order-mark", "EXT04-FRAME-001", "begins its output with a byte order mark", _mark_first),
    Fault("unended-farewell", "EXT04-FRAME-002", "leaves out the line feed of its last frame", _unended_farewell),
    Fault(
        "latin-1",
        "EXT04-FRAME-003",
        "writes in the encoding of its locale",
        _lines(lambda b: b.replace("é".encode(), b"\xe9")),
    ),
    Fault(
        "long-line",
        "EXT04-FRAME-004",
        "answers with more than a line may hold",
        _results(lambda r: r["content"].append({"type": "text", "text": "x" * (1 << 20)})),
    ),
    Fault("dies-of-carriage-return", "EXT04-FRAME-005", "dies of a CR before a line feed", _chunks(_refuse_cr)),
    Fault("answers-blank-lines", "EXT04-FRAME-005", "answers a blank line with parse_error", _answer_blank),
    Fault("line-limit", "EXT04-FRAME-006", "reads lines of at most 64 KiB, as line readers do unasked", _short_lines),
    Fault(
        "splits-at-separator",
        "EXT04-FRAME-007",
        "takes U+2028 for the end of a line",
        _chunks(lambda b: b.replace("\u2028".encode(), b"\n")),
    ),
    Fault(
        "decodes-reads",
        "EXT04-FRAME-007",
        "decodes every read on its own and dies at half a character",
        _chunks(_decode),
    ),
    Fault("one-frame-a-read", "EXT04-FRAME-007", "takes one frame from every read", _chunks(_first_of_read)),
    Fault("cr-lf", "EXT04-FRAME-008", "ends its lines in CR LF", _lines(lambda b: b[:-1] + b"\r\n")),
    Fault("blank-lines", "EXT04-FRAME-008", "writes a blank line behind every frame", _lines(lambda b: b + b"\n")),
    Fault("blanks", "EXT04-FRAME-009", "writes a blank behind every colon", _lines(lambda b: b.replace(b'":', b'": '))),
    Fault("text-ids", "EXT04-ENV-004", "answers under the text of an id", _messages(_text_id)),
    Fault(
        "empty-method",
        "EXT04-ENV-005",
        "takes an empty method name for a response",
        _requests(lambda _, m: m.get("method") != ""),
    ),
    Fault("two-answers", "EXT04-ENV-006", "answers every call twice", _answer_twice),
    Fault(
        "answers-notices", "EXT04-ENV-007", "answers notifications that it does not know", _requests(_answer_notices)
    ),
    Fault("folded-members", "EXT04-ENV-013", "does not tell the cases of members apart", _fold_case),
    Fault("any-version", "EXT04-INIT-004", "answers with whatever version was asked for", _any_version),
    Fault(
        "content-as-text",
        "EXT04-RESULT-001",
        "writes content as a string",
        _results(lambda r: r.update(content="octet")),
    ),
    Fault(
        "no-flag", "EXT04-RESULT-004", "leaves out a flag that is false", _results(lambda r: r.pop("is_error", None))
    ),
    Fault(
        "says-initialized",
        "EXT04-ORDER-005",
        "says that it is initialized, as clients of language servers do",
        _behind("initialize", {"method": "initialized", "params": {}}),
    ),
    Fault("drops-used-ids", "EXT04-ORDER-004", "passes over a request under an id that is in flight", _used_id),
    Fault("progress-in-place", "EXT04-PROG-003", "numbers every progress by one", _messages(_same_sequence)),
    Fault("progress-behind-answer", "EXT04-PROG-002", "reports progress behind the answer", _late_progress),
    Fault(
        "silence-for-unknown", "EXT04-ERR-001", "passes over requests of an unknown method", _messages(_drop_unknown)
    ),
    Fault("dies-of-malformed", "EXT04-ERR-003", "dies of a line that is not JSON", _malformed(_leave, drop=True)),
    Fault(
        "silence-for-malformed",
        "EXT04-ERR-003",
        "passes over a line that is not JSON",
        _malformed(lambda: None, drop=True),
    ),
    Fault("dies-of-a-byte", "EXT04-ERR-003", "dies of one byte that is no UTF-8", _chunks(_invalid_byte)),
    Fault("codes-of-the-web", "EXT04-ERR-005", "uses codes of the web", _errors(-32601, lambda e: e.update(code=404))),
    Fault("ignores-cancel", "EXT04-CANCEL-001", "lets a cancelled call run on", _cancels(lambda *_: False)),
    Fault(
        "cancelled-as-internal",
        "EXT04-CANCEL-002",
        "answers a cancelled call with internal_error",
        _errors(_CANCELLED, lambda e: e.update(code=-32603)),
    ),
    Fault("drops-cancelled", "EXT04-CANCEL-003", "drops a call that the same read cancels", _cancel_at_once),
    Fault(
        "answers-stray-cancel",
        "EXT04-CANCEL-004",
        "answers a cancellation of what does not run",
        _cancels(_stray_cancel),
    ),
    Fault(
        "remembers-cancel",
        "EXT04-CANCEL-005",
        "remembers a cancellation of an id that was never sent",
        _remember_cancel,
    ),
    Fault("cancels-all", "EXT04-CANCEL-006", "cancels every call that runs", _cancel_every),
    Fault(
        "keeps-the-reason",
        "EXT04-CANCEL-009",
        "does not repeat the reason of a cancellation",
        _errors(_CANCELLED, lambda e: e.pop("data", None)),
    ),
    Fault("few-calls", "EXT04-LIMIT-001", "has room for two calls and drops the next", _requests(_call_behind_call)),
    Fault("hangs-after-failure", "EXT04-CALL-005", "answers no call behind one that failed", _hang_after_failure),
    Fault("failure-as-success", "EXT04-CALL-006", "does not say that a tool failed", _say_nothing_failed),
    Fault("silence-for-shutdown", "EXT04-SHUT-001", "never answers shutdown", _drop_answers("shutdown")),
    Fault("null-farewell", "EXT04-SHUT-002", "answers shutdown with null", _null_farewell),
    Fault("owes-calls", "EXT04-SHUT-003", "leaves running calls unanswered at shutdown", _leave_calls),
    Fault(
        "goodbye",
        "EXT04-SHUT-004",
        "sends a notification behind its answer to shutdown",
        _behind("shutdown", {"method": "notification", "params": {"message": "bye"}}),
    ),
    Fault("stays", "EXT04-SHUT-005", "runs on behind its answer to shutdown", _stay),
    Fault("runs-on-without-input", "EXT04-PROC-001", "runs on when its input ends", _never_end),
    Fault("exits-in-call", "EXT04-PROC-003", "exits in the middle of a call", _echoing(lambda _: _leave(0))),
    Fault(
        "leaves-process",
        "EXT04-PROC-004",
        "leaves a process behind that holds its output open",
        _echoing(_leave_process),
    ),
)
