"""The lines that `task start --follow` shows, from what state.json says of the steps."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.cli.screen import width_of
from orchestrator.cli.steps_shown import StepsShown

WIDTH = 80


def step(name: str, status: str = "passed", **more: Any) -> dict[str, Any]:
    agent, _, subtask = name.partition(":")
    reported = {"id": name, "agent": agent, "title": f"Mend {subtask}", "status": status, "attempts": 1}
    return {**reported, "subtask": subtask, "since": 100.0, "began": 90.0, "why": "", **more}


def shown(*steps: dict[str, Any], before: tuple[dict[str, Any], ...] = ()) -> list[str]:
    return StepsShown(list(before)).news(list(steps), WIDTH, colour=False)


@pytest.mark.parametrize(
    ("more", "outcome"),
    [
        ({}, "passed"),
        ({"commit": "0123456789abcdef"}, "commit 0123456"),
        ({"check": 0}, "check passed"),
        ({"check": 1}, "check exited 1"),
        ({"unchanged": "It is there already."}, "no change"),
        ({"status": "failed", "why": "it died"}, "failed"),
        ({"status": "blocked", "why": "who knows"}, "waits for you"),
    ],
)
def test_a_step_that_ended_is_a_line_with_its_outcome(more: dict[str, Any], outcome: str) -> None:
    first, *reason = shown(step("explore"), step("dev:a", **more))[1:]
    assert first.split()[:2] == ["2", "dev"]
    assert "10 s" in first
    assert first.endswith(outcome)
    why = more.get("unchanged") or more.get("why")
    assert [line.strip() for line in reason] == ([why] if why else [])


def test_what_is_shown_is_not_shown_again() -> None:
    steps = [step("explore"), step("dev:a", "working")]
    follower = StepsShown([])
    assert len(follower.news(steps, WIDTH, colour=False)) == 1
    assert follower.news(steps, WIDTH, colour=False) == []


def test_what_had_ended_before_a_start_is_not_shown() -> None:
    assert shown(step("explore"), step("dev:a"), before=(step("explore"),))[0].split()[0] == "2"


def test_a_rejected_try_is_one_line_by_the_judge_and_its_reason() -> None:
    before = (step("dev:a"), step("test:a", "working"), step("review:a", "pending"))
    again = (
        step("dev:a", "working", attempts=2, said="Rejected by test:a: 3 tests failed\nand more"),
        step("test:a", "pending", attempts=2),
        step("review:a", "pending"),
    )
    line, reason = shown(*again, before=before)
    assert line.split()[:2] == ["2", "test"]
    assert line.endswith("rejected")
    assert "attempt" not in line
    assert reason.strip() == "3 tests failed"


def test_a_step_that_is_tried_again_by_itself_was_not_rejected() -> None:
    line, *_ = shown(step("dev:a", "working", attempts=2), before=(step("dev:a", "working"),))
    assert line.endswith("tried again")


def test_subtask_set_aside_is_shown_once() -> None:
    steps = [step(f"{agent}:a", "set_aside", why="no good") for agent in ("dev", "test", "review")]
    line, reason = shown(*steps)
    assert line.endswith("set aside")
    assert reason.strip() == "no good"


def test_every_line_fits_and_holds_nothing_that_acts() -> None:
    title = "Mend \x1b[31m everything " * 20
    for line in shown(step("dev:a", "failed", title=title, attempts=12, why="because\x07 " * 80)):
        assert width_of(line) <= WIDTH
        assert line.isprintable()


def test_who_is_at_work_is_one_line() -> None:
    follower = StepsShown([])
    steps = [step("dev:a", "working"), step("dev:b", "working", since=150.0), step("dev:c", "pending")]
    follower.news(steps, WIDTH, colour=False)
    line = follower.at_work(steps, 165.0, WIDTH)
    assert ("Mend b" in line, "15 s" in line, "1 more" in line) == (True, True, True)
    assert width_of(line) <= WIDTH
    assert follower.at_work([step("dev:a")], 165.0, WIDTH) == ""


def test_blocked_step_shows_only_begun_attempts() -> None:
    before = (step("dev:a", "working", attempts=3, tries=3), step("test:a", "working", attempts=3, tries=3))
    again = (
        step("dev:a", "blocked", attempts=4, tries=3, said="Rejected by test:a: it leaks"),
        step("test:a", "pending", attempts=4, tries=3),
    )
    assert "(attempt 4)" not in " ".join(shown(*again, before=before))
    assert "(attempt 3)" in " ".join(shown(*again, before=before))


def test_a_subtask_that_was_planned_anew_is_not_given_up() -> None:
    """The work that replaced it passed, and the lines said "set aside"."""
    (line, _) = shown(step("dev:a", "set_aside", replaced=True, why="rejected 3 times"))
    assert line.endswith("planned anew")


def test_a_new_plan_of_a_subtask_is_no_rejection() -> None:
    """Its review, which had never been asked, was shown as having rejected the work, each time it was planned anew."""
    names = ("dev:a", "test:a", "review:a")
    before = tuple(step(name, "set_aside", replaced=True, attempts=3) for name in names)
    again = [step(name, "pending", attempts=4, said="Rejected by test:a: no") for name in names]
    assert shown(*again, before=before) == []


def test_another_goal_is_no_rejection() -> None:
    before = (step("plan"), step("accept", "working"))
    said = "The goal in task.md has changed. Plan what is still to be done."
    again = (step("plan", "working", attempts=2, said=said), step("accept", "pending", attempts=2))
    (line, *_) = shown(*again, before=before)
    assert line.endswith("tried again")
