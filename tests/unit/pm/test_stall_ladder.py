"""How a run goes on after a stall, and what is journaled and said of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.model.activity import Activity, Stage
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending, Exit, Quiet
from orchestrator.pm.policies.stalls import says_more
from tests.unit.pm.stalling import LIMITS, RESCAN, STILL, THIRD, Stalling, stalls

# How it goes on ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seen", [True, False])
def test_stalls_go_up_the_ladder_of_setbacks(*, seen: bool) -> None:
    """The same conversation `stalls` times, then a fresh one as often, and only then a question.

    Who may only write a long call gets more time, but not where an answer would be seen on the screen (the nights
    `hung-again` and `codex-hung-again`).
    """
    story = Stalling()
    story.sees = replace(STILL, said="abc/" if seen else "abc")
    spent, lasted = [], []
    rounds = (LIMITS.max_stalls + 1) * (LIMITS.max_fresh_starts + 1)
    for _ in range(rounds):
        assert not story.state.open_questions
        began = story.at
        run = stalls(story)
        assert run.ending is Ending.STALLED
        lasted.append(round(story.at - began))
        spent.append(story.state.runs[run.id].spent)
        if story.works_on():
            story.begins()
    assert [place for place, each in enumerate(spent) if each] == [LIMITS.max_stalls]
    assert lasted[0] <= 480 + LIMITS.max_retry_pause
    if seen:
        assert max(lasted) <= 600 + LIMITS.max_retry_pause
    else:
        assert sorted(lasted[: LIMITS.max_stalls + 1]) == lasted[: LIMITS.max_stalls + 1]
        assert lasted[1] > lasted[0]
        assert max(lasted) <= LIMITS.inactivity_timeout + 60 + LIMITS.max_retry_pause
    question = story.question()
    assert (question.kind, story.step("explore").state) == (QuestionKind.STUCK, StepState.BLOCKED)
    assert "in vain" in question.text


@pytest.mark.parametrize(("before", "now", "soon"), [("abc", "abc/", True), ("abc/", "abc", False)])
def test_newest_look_decides_what_an_answer_shows(before: str, now: str, soon: bool) -> None:  # noqa: FBT001
    """A program that shows no call until it is whole may begin one at any time."""
    story = Stalling()
    story.sees = replace(STILL, said="abc/")
    stalls(story)
    began = story.begins()
    story.sees = replace(STILL, said=before)
    story.passes(LIMITS.stall_timeout - RESCAN)
    assert story.run.id == began.id
    story.sees = replace(STILL, said=now)
    story.passes(THIRD + RESCAN)
    assert story.is_stalled is soon


def test_order_of_a_fresh_conversation_says_where_work_is() -> None:
    story = Stalling()
    for _ in range(LIMITS.max_stalls + 1):
        stalls(story)
        story.begins()
    tally = story.step("explore").tally
    assert (tally.stalls, tally.fresh) == (0, 1)
    assert story.state.runs[story.run.resumes].spent
    assert "in your working directory" in story.order_of("explore").instructions
    assert "in vain" in story.order_of("explore").instructions


def test_circles_after_a_fresh_start_for_stalls_ask_a_person() -> None:
    """There is one ladder: a fresh conversation is tried once in an attempt, whatever it is tried for."""
    story = Stalling()
    for _ in range(LIMITS.max_stalls + 1):
        stalls(story)
        story.begins()
    for count in (10, 11):
        story.passes(60)
        seen = Activity(Stage.MODEL, count, story.at, "", 0.0, LIMITS.max_repeated_calls, "Bash: make all")
        story.records("explore", seen)
    assert story.run.ending is Ending.REPEATING
    story.ends(run=story.run, how=Exit(signal=15))
    assert "Bash: make all" in story.question().text


def test_a_second_hang_after_work_is_known_as_soon_as_the_first() -> None:
    story = Stalling()
    story.passes(LIMITS.stall_timeout)
    story.ends_and_begins()
    story.passes(60)
    story.wrote(Stage.MODEL, novel=True)
    story.passes(THIRD)
    story.wrote(Stage.MODEL, novel=True)
    hangs = story.at
    while story.run.ending is Ending.NOT:
        story.passes(1)
        assert story.at - hangs <= 600


def test_a_stall_after_long_work_is_counted_as_a_first_one() -> None:
    story = Stalling()
    story.passes(LIMITS.stall_timeout)
    story.ends_and_begins()
    assert story.step("explore").tally.stalls == 1
    for _ in range(40):
        story.passes(60)
        story.wrote(Stage.MODEL, novel=True)
    story.passes(LIMITS.stall_timeout + THIRD)
    story.ends_and_begins()
    assert story.step("explore").tally.stalls == 1


# What is journaled, and said --------------------------------------------------------------------------


def test_records_that_change_nothing_are_not_journaled() -> None:
    story = Stalling()
    heard = 0
    for _ in range(600):
        story.passes(1)
        heard += story.wrote(Stage.TOOL)
        heard += story.wrote(Stage.MODEL)
    assert heard <= 600 / THIRD + 1


def test_evidence_of_a_waiting_run_has_time_and_source() -> None:
    story = Stalling()
    story.passes(THIRD)
    waits = story.run
    assert (waits.quiet, waits.turn_since) == (Quiet.WAITING, story.at)
    assert "records" in waits.evidence
    story.wrote(Stage.MODEL)
    went_on = story.run
    assert (went_on.quiet, "went on" in went_on.evidence) == (None, True)


@pytest.mark.parametrize(
    ("before", "now", "more"),
    [
        ("a/1", "a/1", False),
        ("a/1", "a/2", True),
        ("a/1", "b/1", True),
        ("a/1", "a/", False),
        ("a/", "a/1", False),
        ("", "a/1", False),
        ("a/1", "", False),
    ],
)
def test_a_count_that_vanishes_is_nothing_new(before: str, now: str, more: bool) -> None:  # noqa: FBT001
    assert says_more(before, now) is more
