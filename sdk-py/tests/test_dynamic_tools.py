"""Tools that come and go: transactions, epochs, and calls for older ones."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from octet_extension import (
    Call,
    CallFailed,
    Extension,
    HostError,
    LocalProtocolError,
    NotNegotiated,
    RemoteProtocolError,
)
from octet_extension._catalogs import Catalogs
from octet_extension._tools import Tool, make_tool
from octet_extension.testing import TestHost

PATIENCE = 60.0


def growing(**options: Any) -> Extension:
    ext = Extension(api="0.4", uses=("dynamic_tools",), **options)

    @ext.tool("Says where it is")
    def where(call: Call) -> str:
        return f"{call.tool} {call.revision}"

    return ext


def tool(name: str) -> Tool:
    def run(call: Call) -> str:
        return f"{name} {call.revision}"

    return make_tool(run, name=name, description="Made later")


def call_at(host: TestHost, name: str, revision: int) -> str:
    params = {**host.side.call_params(name, {}), "catalog_revision": revision}
    return host.request("tool/call", params).result().text


def test_a_change_is_one_transaction() -> None:
    ext = growing()
    with TestHost(ext) as host:
        host.start()
        catalog = ext.dynamic_tools.register(tool("a"), tool("b"))
        assert catalog == (1, ("a", "b", "where"))
        assert ext.dynamic_tools.tools == ("where", "a", "b")
        assert call_at(host, "a", 1) == "a 1"
        assert ext.dynamic_tools.unregister("a", "never") == (2, ("b", "where"))
        assert call_at(host, "a", 1) == "a 1", "the model saw it"
        for revision, name in ((2, "a"), (0, "a"), (3, "b")):
            with pytest.raises(CallFailed) as caught:
                call_at(host, name, revision)
            assert caught.value.code == (-32602 if revision == 3 else -32601)
        assert host.call("b").text == "b None", "without an epoch the newest holds"
        assert ext.tool_catalog_revision == 2


def test_a_refusal_leaves_everything_as_it_was() -> None:
    ext = growing()

    def refuse(params: dict[str, object]) -> object:
        raise HostError("invalid_params", 0, "a name is taken", None)

    with TestHost(ext, services={"tools.register": refuse}) as host:
        host.start()
        with pytest.raises(HostError, match="taken"):
            ext.dynamic_tools.register(tool("a"))
        assert ext.dynamic_tools.revision == 0
        host.serve("tools.register", lambda params: {"revision": 1, "tools": ["a", "where"]})
        assert ext.dynamic_tools.register(tool("a")).revision == 1


@pytest.mark.parametrize(
    "answer", [{"revision": 2, "tools": []}, {"revision": 0, "tools": []}, {"tools": []}, {"revision": "1"}]
)
def test_an_acknowledgement_must_be_the_next_epoch(answer: dict[str, object]) -> None:
    ext = growing()
    with TestHost(ext, services={"tools.register": lambda params: answer}) as host:
        host.start()
        with pytest.raises(RemoteProtocolError):
            ext.dynamic_tools.register(tool("a"))
        assert ext.dynamic_tools.revision == 0
        assert ext.dynamic_tools.tools == ("where",)
        host.serve("tools.register", lambda params: {"revision": 1, "tools": ["a", "where"]})
        assert ext.dynamic_tools.register(tool("a")).revision == 1


def test_only_what_the_host_accepted_is_committed() -> None:
    ext = growing()
    answer = {"revision": 1, "tools": ["b"]}
    with TestHost(ext, services={"tools.register": lambda params: answer}) as host:
        host.start()
        ext.dynamic_tools.register(tool("a"), tool("b"))
        assert ext.dynamic_tools.tools == ("b",)


def test_the_next_epoch_answers_before_it_is_acknowledged() -> None:
    ext = growing()
    done = threading.Event()
    with TestHost(ext) as host:
        host.start()
        host.hold("tools.register")
        keeper = ext.dynamic_tools

        def register() -> None:
            keeper.register(tool("a"))
            done.set()

        threading.Thread(target=register, daemon=True).start()
        request = host.wait_request("tools.register")
        assert call_at(host, "a", 1) == "a 1"
        request.reply({"revision": 1, "tools": ["a", "where"]})
        assert done.wait(PATIENCE)
        assert keeper.revision == 1


def test_eight_epochs_are_kept() -> None:
    ext = growing()
    with TestHost(ext) as host:
        host.start()
        for _ in range(8):
            ext.dynamic_tools.register(tool("a"))
        assert call_at(host, "where", 1) == "where 1"
        with pytest.raises(CallFailed, match="revision: 0"):
            call_at(host, "where", 0)


def test_what_is_pointless_is_refused_here() -> None:
    ext = growing()
    with TestHost(ext) as host:
        host.start()
        for act in (
            ext.dynamic_tools.register,
            ext.dynamic_tools.unregister,
            lambda: ext.dynamic_tools.register(tool("a"), tool("a")),
            lambda: ext.register_tool(name="a", description="d"),
            lambda: ext.register_tools([{"handler": print, "colour": "red"}]),
        ):
            with pytest.raises(LocalProtocolError):
                act()
        assert host.sent == []
    with TestHost(ext, features=()) as host:
        host.start()
        with pytest.raises(NotNegotiated):
            ext.dynamic_tools.register(tool("a"))


def test_catalogs_on_their_own() -> None:
    catalogs = Catalogs([tool("a")], kept=2)
    catalogs.stage([tool("b")])
    with pytest.raises(LocalProtocolError):
        catalogs.stage([tool("c")])
    catalogs.drop()
    assert catalogs.at(1) is None
    with pytest.raises(RemoteProtocolError):
        catalogs.commit(1, [])
    catalogs.stage([tool("b")], ["a"])
    catalogs.commit(1, ["b"])
    assert list(catalogs.current) == ["b"]
    assert list(catalogs.at(0) or ()) == ["a"]


def test_an_acknowledgement_of_a_stranger_leaves_the_catalog_as_it_was() -> None:
    ext = growing()
    with TestHost(ext) as host:
        host.serve("tools.register", lambda params: {"revision": 1, "tools": ["a", "ghost", "where"]})
        with pytest.raises(RemoteProtocolError, match="'ghost', never registered"):
            ext.dynamic_tools.register(tool("a"))
        assert (ext.dynamic_tools.revision, ext.dynamic_tools.tools) == (0, ("where",))
