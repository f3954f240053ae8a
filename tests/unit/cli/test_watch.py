"""`task watch` before its screen: where it refuses, and what it is made of."""

import importlib.util
import os
import sys
import termios

import pytest

from tests.unit.cli.test_imports import imported


@pytest.fixture
def terminal(monkeypatch):
    """Let standard input and output count as a terminal."""
    monkeypatch.setattr("orchestrator.cli.watch._is_terminal", lambda: True)


def test_without_a_terminal_it_says_what_to_type(task):
    said = task("watch")
    assert said.code == 2
    assert "watch needs a terminal; without one: `task list`" in said.err


def test_without_textual_it_says_how_to_install_it(house, task, terminal, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("orchestrator.cli.watching.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "textual.app", None)
    outside, inside = os.openpty()
    with os.fdopen(outside, closefd=True), os.fdopen(inside, closefd=True) as there:
        for stream in ("__stdin__", "__stderr__"):
            monkeypatch.setattr(sys, stream, there)
        before = termios.tcgetattr(there)
        said = task("watch")
        assert termios.tcgetattr(there) == before
    assert said.code == 1
    assert "'.[watch]'" in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("words", [("status", "tidy"), ("list",), ("watch",), ("help",)], ids=" ".join)
def test_textual_is_imported_by_the_screen_alone(house, words):
    """Also `watch` itself, where it cannot show anything, costs no more than another verb."""
    assert importlib.util.find_spec("textual")
    house.task()
    modules = set(imported(words))
    assert not {name for name in modules if name.partition(".")[0] in {"textual", "rich", "asyncio"}}
    assert not {name for name in modules if name.startswith("orchestrator.cli.watching")}
