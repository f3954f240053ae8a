"""`task serve` before it serves: where it refuses, and what it is made of."""

import importlib.util
import sys

import pytest

from tests.unit.cli.test_imports import imported


def test_without_its_extra_it_says_how_to_install_it(house, task, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("orchestrator.cli.serving.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    said = task("serve")
    assert said.code == 1
    assert "'.[serve]'" in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("port", ["-1", "65536", "http", "8 0", "", "\u0661", "00000080000"])
def test_a_port_that_is_none_is_refused(house, task, port):
    said = task("serve", f"--port={port}")
    assert (said.code, "from 0 to 65535" in said.err) == (2, True)


@pytest.mark.parametrize(
    "words", [("status", "tidy"), ("list",), ("serve", "--port=x"), ("help",)], ids=" ".join
)
def test_the_server_is_imported_to_serve_alone(house, words):
    assert importlib.util.find_spec("starlette")
    house.task()
    modules = set(imported(words))
    assert not {
        name for name in modules if name.partition(".")[0] in {"starlette", "uvicorn", "asyncio", "jinja2"}
    }
    assert not {name for name in modules if name.startswith("orchestrator.cli.serving")}
