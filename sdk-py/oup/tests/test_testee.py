"""The testee as a program, and the edges of what it is asked."""

from __future__ import annotations

import base64
import json
import subprocess
import sys

import pytest

from octet_oup import testee
from octet_oup._frames import FrameFault, read_line

HELLO = (
    '{"name":"octet sdk-py oup","ok":true,"ops":["envelope","frame","model","negotiate"],"protocol":1,"seq":1,'
    '"wires":["oup"]}'
)
CAPABILITIES = {
    "version": {"protocol": "octos-ui/v1alpha1", "schema_version": 1, "jsonrpc": "2.0"},
    "capabilities_schema_version": 2,
    "supported_methods": [],
    "supported_notifications": [],
}


def test_the_program_answers_in_order_and_survives_what_it_cannot_read() -> None:
    lines = [
        b'{"seq":1,"op":"hello","protocol":1}',
        b"{",
        b"7",
        b'{"seq":4,"op":"model","wire":"oup","model":"TaskListParams","text":"{}"}',
        b'{"seq":5,"op":"model","wire":"oup","model":"Nothing","text":"{}"}',
        b'{"seq":6,"op":"model","wire":"extension-feature","model":"TaskListParams","text":"{}"}',
        b'{"seq":7,"op":"frame","wire":"oup","base64":"?"}',
        b'{"seq":8,"op":"sing"}',
        b'{"seq":9,"op":"envelope","wire":"oup","text":"{\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"ping\\"}"}',
    ]
    done = subprocess.run(
        [sys.executable, "-m", "octet_oup.testee"],
        input=b"\n".join(lines) + b"\n",
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.decode().splitlines() == [
        HELLO,
        '{"verdict":"unsupported"}',
        '{"verdict":"unsupported"}',
        '{"error":"invalid_params","pointer":"/session_id","seq":4,"verdict":"reject","violation":"missing"}',
        '{"seq":5,"verdict":"unsupported"}',
        '{"seq":6,"verdict":"unsupported"}',
        '{"seq":7,"verdict":"unsupported"}',
        '{"seq":8,"verdict":"unsupported"}',
        '{"seq":9,"verdict":"notification"}',
    ]
    assert done.stderr.count(b"a request cannot be read") == 1


@pytest.mark.parametrize(
    ("data", "verdict"),
    [
        (b"", "accept"),
        (b"{}\n", "accept"),
        (b"{}\r\n", "accept"),
        (b"{}", "accept"),
        (b"{}\r", "reject"),
        (b"{\r}\n", "reject"),
        (b"\n", "reject"),
        (b" \t\r\n", "reject"),
        (b"[]\n", "reject"),
        (b'{"a":1,"a":2}\n', "reject"),
        (b"\xef\xbb\xbf{}\n", "reject"),
        (b'{"a":"\xff"}\n', "reject"),
        (b"{}\n[\n", "accept"),
        (b"[\n{}\n", "reject"),
    ],
)
def test_the_first_line_is_judged(data: bytes, verdict: str) -> None:
    asked = {"op": "frame", "wire": "oup", "base64": base64.b64encode(data).decode()}
    assert testee.answer(asked) == {"seq": None, "verdict": verdict}


def test_the_bound_counts_neither_line_feed_nor_carriage_return() -> None:
    assert read_line(b'{"a":1}\r\n', 7) == {"a": 1}
    with pytest.raises(FrameFault, match="more than 6 bytes"):
        read_line(b'{"a":1}\r\n', 6)


@pytest.mark.parametrize(
    ("offer", "changes", "answer"),
    [
        ({}, {}, {"verdict": "accept"}),
        ({"required": ["plan.todos.v1"]}, {}, {"verdict": "reject", "error": "missing_features"}),
        (
            {"requested": ["plan.todos.v1"]},
            {"supported_features": ["plan.todos.v1", "house.own"]},
            {"verdict": "accept"},
        ),
        (
            {"requested": ["plan.todos.v1"]},
            {"supported_features": ["user_question.v1"]},
            {"verdict": "reject", "error": "unrequested_feature"},
        ),
        ({}, {"supported_features": ["coding.goal_runtime.v1"]}, {"verdict": "reject", "error": "unmet_dependency"}),
        ({}, {"supported_methods": None}, {"verdict": "reject", "error": "malformed_result"}),
        (
            {},
            {"version": {"protocol": "octos-ui/v2", "schema_version": 1, "jsonrpc": "2.0"}},
            {"verdict": "reject", "error": "incompatible_protocol"},
        ),
        (
            {},
            {"version": {"protocol": "octos-ui/v1alpha1", "schema_version": 0, "jsonrpc": "2.0"}},
            {"verdict": "reject", "error": "incompatible_protocol"},
        ),
        ({"requested": [7]}, {}, {"verdict": "unsupported"}),
        ({"required": "plan.todos.v1"}, {}, {"verdict": "unsupported"}),
        ([], {}, {"verdict": "unsupported"}),
    ],
)
def test_capabilities_are_held_against_the_offer(
    offer: object, changes: dict[str, object], answer: dict[str, object]
) -> None:
    asked = {"op": "negotiate", "api": "v1alpha1", "offer": offer, "selection": CAPABILITIES | changes}
    assert testee.answer(json.loads(json.dumps(asked))) == {"seq": None, **answer}
