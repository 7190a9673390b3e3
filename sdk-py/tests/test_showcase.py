"""The showcase in memory and as a process, in each version of the API: the way an author would use the test host."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from driver import ALL_APIS
from showcase_tools import DOT

from octet_extension import CallFailed, HostError
from octet_extension.api_v04 import ImagePart
from octet_extension.testing import ProcessHost, ProgressDecoration, ProgressOutput, ProgressStatus, TestHost
from showcase import build

SHOWCASE = Path(__file__).resolve().parents[1] / "showcase"
every_api = pytest.mark.parametrize("api", ALL_APIS)
feature_wire = pytest.mark.parametrize("api", ["0.2", "0.4"])


def use(host: TestHost, service: str, **arguments: object) -> str:
    given = {"with": arguments} if arguments else {}
    return host.call("use", service=service, **given).text


@every_api
def test_tools_that_every_version_has(api: str) -> None:
    with TestHost(build(api)) as host:
        assert host.call("count", word="aé\U0001f427").text == "3 letters"
        assert host.call("big", bytes=3).text == "xxx"
        assert host.call("print", text="stray").text == "printed"
        assert [host.call("remember").text for _ in range(2)] == ["1", "2"]
        refused = host.call("refuse", message="not today")
        assert (refused.text, refused.is_error) == ("not today", True)
        assert host.call("fail", message="boom").text.endswith("boom")
        assert host.call("seen").text == "[]"
        assert use(host, "no.such") == "NotNegotiated no.such"


@feature_wire
def test_what_use_says(api: str) -> None:
    def refuse(params: dict[str, object]) -> object:
        raise HostError("not_foreground_owner", 0, "not_foreground_owner", None)

    services = {"composer.get": lambda params: {"text": "é"}, "session.append_entry": refuse}
    with TestHost(build(api), services=services) as host:
        assert use(host, "composer.get") == '{"text":"é"}'
        assert use(host, "composer.set", text=1) == "Invalid /text type"
        assert use(host, "session.set_name", name="n") == "{}"
        assert use(host, "session.append_entry", entry_type="t", data={}) == "HostError -32002 not_foreground_owner"
        assert use(host, "ui.frame") == ("NotNegotiated ui/frame" if api == "0.2" else "Invalid /surface_id missing")
        assert use(host, "bus.publish") == "NotNegotiated bus/publish"
        host.serve("composer.get", lambda params: {"text": 3})
        assert use(host, "composer.get") == "Malformed /text type"


@every_api
def test_later_speaks_behind_its_answer(api: str) -> None:
    with TestHost(build(api)) as host:
        assert host.call("later", service="session.compact").text == "later"
        if api == "0.3":
            told: list[list[object]] = []
            while not told:
                told = json.loads(host.call("seen").text)
            assert told[0][0] == "notification"
        else:
            host.wait_sent("notifications.show")
            assert host.notifications[0].title == "later"


@feature_wire
def test_media_and_progress(api: str) -> None:
    with TestHost(build(api), services={"artifacts.publish": lambda params: {"artifact_id": "art"}}) as host:
        result = host.call("media")
        assert result.text == "one pixel"
        assert result.content[1] == ImagePart(artifact_id="art", mime_type="image/png", alt="grey dot")
        sent = host.wait_sent("artifacts.publish")
        assert sent.params["size"] == 67
        assert sent.params["sha256"] == "e124007e0371a272f11e7fbc2414aff5a1095f3a46ad29771ea1bf3f8a5b07ca"
        assert sent.params["data"] == {"encoding": "base64", "data": DOT}
        assert host.call("report").progress == (
            ProgressStatus(message="1 of 2", current=1, total=2, unit="files"),
            ProgressOutput(stream="stdout", encoding="utf8", data="done\n"),
            ProgressDecoration(label="Indexing"),
        )


@feature_wire
def test_tools_that_come_and_go(api: str) -> None:
    with TestHost(build(api)) as host:
        assert host.call("learn", name="new").text.startswith("epoch 1: ")
        params = {**host.side.call_params("new", {}), "catalog_revision": 1}
        assert host.request("tool/call", params).result().text == "new in epoch 1"
        assert "new" not in host.call("forget", name="new").text
        assert host.call("ready").text == "shown"


def test_too_large_a_result_is_refused_here() -> None:
    for api in ("0.1", "0.2", "0.4"):
        with TestHost(build(api)) as host:
            result = host.call("big", bytes=1 << 21)
            assert result.is_error
            assert "1048576" in result.text
            assert host.call("big", bytes=1).text == "x"
    with TestHost(build("0.3")) as host:
        with pytest.raises(CallFailed, match="32012"):
            host.call("big", bytes=1 << 21)
        assert host.call("big", bytes=1).text == "x"


@pytest.mark.parametrize("api", ["0.1", "0.2", "0.4"])
def test_commands_hooks_and_collectors(api: str) -> None:
    with TestHost(build(api)) as host:
        assert host.command("echo", "a", "b")["text"] == "a b"
        with pytest.raises(CallFailed):
            host.command("fail")
        assert host.hook("before_prompt", {"prompt": "a secret"})["disposition"] == {
            "action": "deny",
            "reason": "no secrets",
        }
        assert host.collect_context() == [{"label": "showcase", "content": "none", "placement": "system_suffix"}]
        assert host.collect_status() == {"surface": "status", "text": "ready", "priority": 1}
        assert host.collect_status("header") is None
        with pytest.raises(CallFailed):
            host.collect_status("footer")
        assert host.render("count", {"word": "a"}, "out") == [{"text": "out", "style_role": None}]
        if api != "0.1":
            menu: Any = host.collect_menu()
            assert [item["id"] for item in menu["items"]] == ["echo", "more"]
            retry = {"kind": "stream_start", "max_attempts": 4, "operation": None}
            assert host.hook("provider_retry", retry) == {"provider_retry": {"delay": {"additional_delay_ms": 500}}}


@every_api
def test_as_a_process(api: str) -> None:
    services = {"composer.get": lambda params: {"text": "hi"}}
    variable = {"OCTET_EXTENSION_API_VERSION": api}
    with ProcessHost(SHOWCASE / f"api-{api}", services=services, environment=variable) as host:
        expected = '{"text":"hi"}' if api in {"0.2", "0.4"} else "NotNegotiated composer/get"
        assert host.call("use", service="composer.get").text == expected
        assert host.call("print", text="stray").text == "printed"
    assert host.status == 0
    assert "stray" in host.log
