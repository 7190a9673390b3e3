"""What the package shows: names, errors, events, and the methods of the protocol."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import octet_oup
from octet_oup import _errors, _events
from octet_oup._capabilities import UNDERSTOOD
from octet_oup._generated import oup_wire as models
from octet_oup._generated.oup_calls import Calls

PACKAGE = Path(octet_oup.__file__).parent
ALIASES = ("Input", "OnApproval", "OnQuestion")


def test_everything_else_is_underscored() -> None:
    modules = {path.stem for path in PACKAGE.glob("*.py")}
    assert {name for name in modules if not name.startswith("_")} == {"testee", "wire"}


def test_names_are_listed_in_order_and_once() -> None:
    names = list(octet_oup.__all__)
    assert names == sorted(set(names), key=lambda name: (name.islower(), name))
    assert all(getattr(octet_oup, name).__doc__ for name in names if name not in ALIASES)


def test_every_error_and_every_event_is_exported() -> None:
    assert set(_errors.__all__) <= set(octet_oup.__all__)
    assert set(_events.__all__) <= set(octet_oup.__all__)


def test_the_tree_of_errors_is_the_one_that_is_drawn() -> None:
    drawn = re.findall(r"^( *)([A-Z]\w+)", _errors.__doc__ or "", re.MULTILINE)
    above: list[tuple[int, str]] = []
    found = {}
    for indent, name in drawn:
        above = [(depth, parent) for depth, parent in above if depth < len(indent)]
        if above or name == "OupError":
            found[name] = above[-1][1] if above else "Exception"
            above.append((len(indent), name))
    assert found == {name: getattr(_errors, name).__bases__[0].__name__ for name in _errors.__all__}


def test_every_request_has_a_typed_method() -> None:
    names = {re.sub(r"\W", "_", name) for name in models.REQUESTS}
    assert names == {name for name in dir(Calls) if not name.startswith("_")} - {"ping"}


def test_features_that_are_retired_are_not_asked_for() -> None:
    assert len(set(UNDERSTOOD)) == len(UNDERSTOOD) > 20
    retired = {row.name for row in models.FEATURES.values() if row.origin == "retired"}
    assert retired
    assert not retired & set(UNDERSTOOD)


def test_a_client_over_standard_streams_loads_no_websocket() -> None:
    code = "import sys, octet_oup, octet_oup.testee; sys.exit('websockets' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
