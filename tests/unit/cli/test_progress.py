"""One line of progress on a terminal's error output: what it says, when, and that nothing of it is left."""

from __future__ import annotations

import io
import time
from types import SimpleNamespace

import pytest

from orchestrator.cli import progress

CLEAR = "\r\033[K"


class Screen(io.StringIO):
    """An error output that is a terminal. `system` is the `sys` that has it."""

    system: SimpleNamespace

    def isatty(self):
        return True

    @property
    def lines(self):
        """The lines that it showed one after the other; an empty one where it was cleared."""
        return self.getvalue().split(CLEAR)[1:]


@pytest.fixture
def screen(monkeypatch):
    made = Screen()
    made.system = SimpleNamespace(stderr=made, argv=["task", "delete", "tidy"])
    # In the module alone: pytest gives each phase of a test another `sys.stderr`.
    monkeypatch.setattr(progress, "sys", made.system)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    return made


@pytest.fixture
def clock(monkeypatch):
    """Have time pass only when it is told to."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_what_is_done_is_shown_and_cleared(screen):
    with progress.doing("removing worktrees"):
        assert screen.lines == ["removing worktrees …"]
    assert screen.lines[-1] == ""


def test_a_line_is_no_longer_than_the_terminal(screen):
    progress.show("x" * 100)
    assert screen.lines == ["x" * 38 + "…"]


@pytest.mark.parametrize(
    ("name", "value"), [("TERM", "dumb"), ("argv", ["task", "list", "--json"]), ("stderr", io.StringIO())]
)
def test_programs_and_plain_outputs_see_none(screen, monkeypatch, name, value):
    if name == "TERM":
        monkeypatch.setenv(name, value)
    else:
        setattr(screen.system, name, value)
    with progress.doing("removing"), progress.Counting("packing", "files") as counting:
        counting.step()
    assert (screen.getvalue(), screen.system.stderr.getvalue()) == ("", "")


def test_a_short_wait_says_nothing(screen, clock):
    with progress.Waiting("waiting for it") as waiting:
        waiting.look()
        clock[0] += 0.9
        waiting.look()
    assert screen.getvalue() == ""


def test_a_long_wait_says_how_long_each_second(screen, clock):
    with progress.Waiting("waiting for it") as waiting:
        for _ in range(25):
            clock[0] += 0.1
            waiting.look()
    assert screen.lines == ["waiting for it, 1 s …", "waiting for it, 2 s …", ""]


def test_a_count_is_shown_now_and_then(screen, clock):
    with progress.Counting("packing tidy", "files") as counting:
        for _ in range(5000):
            clock[0] += 0.0001
            counting.step()
    assert screen.lines[0] == "packing tidy …"
    assert screen.lines[-1] == ""
    assert 1 <= len(screen.lines) - 2 <= 3
    assert screen.lines[1].startswith("packing tidy: 2,0")
