"""The page of `task report` as a browser lays it out: on a desk and on a phone, by day and by night."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.reporting.build import report_of
from orchestrator.reporting.html import page
from tests.accessibility import barriers
from tests.browser import BROWSER, a_browser
from tests.page_looks import GOOD, by_night, looked_at
from tests.unit.reporting.journal import Lines
from tests.unit.reporting.test_pages import INJECTIONS, hostile

pytestmark = pytest.mark.skipif(not BROWSER, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def night() -> str:
    """Return the page of a night with agents of long names, a limit, a question, a rejection and a failed check."""
    lines = Lines()
    lines.begin()
    lines.open("r-1", instance="implementer-of-the-shop")
    lines.end("r-1", after=600)
    limit = {"words": "You have hit your usage limit, it resets at three in the morning"}
    lines.say("time_passed", {"kind": "step_limited", "step": "dev:one", "limit": limit}, after=3000)
    lines.open("r-2", purpose="check")
    lines.end(
        "r-2", 1, ("FAILED tests/unit/test_greet.py::test_name - AssertionError: expected a name",), 900
    )
    lines.say(
        "time_passed",
        {"kind": "step_reopened", "step": "dev:one", "attempt": 2, "why": "rejected by test:one"},
    )
    question = {"id": "q1", "text": "Which database is meant?", "step": "dev:one"}
    lines.say("time_passed", {"kind": "question_asked", "question": question})
    step = {
        "id": "dev:one",
        "agent": "dev",
        "title": "Move the schema",
        "status": "blocked",
        "why": "it waits",
    }
    tokens = {"input": 1234567, "cached": 1000000, "output": 45678, "cost": None, "estimate": 3.25}
    used = {"agent": "implementer", "runs": 2, "time": 1400.0, **tokens}
    view = {
        "task": "night",
        "id": "night-0a1b2c3d",
        "state": "waiting",
        "project": "/home/me/shop",
        "outcome": {"asked": "Move the shop.", "next": "`task answer night-0a1b2c3d q1 old` answers it"},
        "questions": [{"id": "q1", "text": "Which database is meant?", "options": ["old", "new"]}],
        "steps": [step],
        "used_by": [used],
    }
    made = report_of(view, lines.history(), made_at=lines[-1]["at"] + 600)
    return page([made, made], "All tasks")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("night_colours", [False, True])
def test_it_is_readable(tmp_path: Path, night: str, width: int, *, night_colours: bool) -> None:
    """No word is broken, no moment covers another, nothing scrolls sideways, and all text stands out (WCAG AA)."""
    assert looked_at(tmp_path, by_night(night) if night_colours else night, width) == GOOD


@pytest.mark.parametrize("dark", [False, True])
def test_it_has_no_barrier(tmp_path: Path, night: str, *, dark: bool) -> None:
    """Each control has a name, headings lead down step by step, all text stands out."""
    (tmp_path / "page.html").write_text(night)
    with a_browser(tmp_path, 390, dark=dark) as tab:
        tab.go((tmp_path / "page.html").as_uri())
        tab.until("document.readyState === 'complete' && !!document.querySelector('main')")
        assert barriers(tab) == []


def test_hostile_text_is_text_to_a_browser(tmp_path: Path) -> None:
    """Every injection of the list at once: no element comes of it, no script runs, the page keeps its width."""
    seen = looked_at(tmp_path, page([hostile(each) for each in INJECTIONS], "x"), 390)
    assert (seen["strange"], seen["title"], seen["sideways"]) == ([], "untouched", [])
