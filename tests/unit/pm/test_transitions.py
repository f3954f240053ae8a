"""The published tables: what they say, and that nothing else can be (H10)."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Any

import pytest

from orchestrator.model.consultation import Directive
from orchestrator.model.plan import Step, StepState, Tally
from orchestrator.model.run import Life, Purpose, Run, Turn
from orchestrator.model.task import Phase, TaskState
from orchestrator.pm.state import changes as c
from orchestrator.pm.state.fold import fold
from orchestrator.pm.state.run_changes import RunBelieved
from orchestrator.pm.state.runs import Runs
from orchestrator.pm.state.step_changes import StepMoved, StepReopened, StepTallied
from orchestrator.pm.state.step_fold import step_after
from orchestrator.pm.state.steps import Steps
from orchestrator.pm.state.task_state import PMState
from orchestrator.pm.state.transitions import PHASES, STEPS, TASKS, IllegalMove, phase_path

FIGURE = {
    ("PLANNING", "EXPLORING"),
    ("PLANNING", "DEVELOPING"),
    ("PLANNING", "TESTING"),
    ("EXPLORING", "REVIEWING"),
    ("DEVELOPING", "REVIEWING"),
    ("TESTING", "REVIEWING"),
    ("REVIEWING", "COMPLETE"),
    ("REVIEWING", "BLOCKED"),
    ("REVIEWING", "ITERATE"),
    ("ITERATE", "PLANNING"),  # "back to relevant phase"
    ("ITERATE", "EXPLORING"),
    ("ITERATE", "DEVELOPING"),
    ("ITERATE", "TESTING"),
}
"""The figure of the published phases (docs/reference/states.md)."""

JOURNEY = {("EXPLORING", "PLANNING"), ("DEVELOPING", "TESTING")}
"""Explore, then plan; dev, then test, then review."""

BLOCKING = {
    (phase, "BLOCKED") for phase in ("PLANNING", "EXPLORING", "DEVELOPING", "TESTING", "REVIEWING")
} | {("BLOCKED", phase) for phase in ("PLANNING", "EXPLORING", "DEVELOPING", "TESTING", "REVIEWING")}
"""H10: whatever a task was at, it may be blocked there, and resumes where it was."""

OURS = {
    ("PLANNING", "REVIEWING"),  # nothing to do
    ("DEVELOPING", "ITERATE"),
    ("TESTING", "ITERATE"),  # tests fail
    ("COMPLETE", "ITERATE"),  # started again with another goal
}


def moves(table: dict[Any, frozenset[Any]]) -> set[tuple[str, str]]:
    return {(here.value, there.value) for here, onward in table.items() for there in onward}


def test_phases_are_the_published_ones_and_four_more() -> None:
    assert moves(PHASES) == FIGURE | JOURNEY | BLOCKING | OURS


@pytest.mark.parametrize(("table", "words"), [(PHASES, Phase), (STEPS, StepState), (TASKS, TaskState)])
def test_every_word_has_its_row_and_no_row_leads_to_itself(
    table: dict[Any, Any], words: type[StrEnum]
) -> None:
    assert set(table) == set(words)
    assert all(here not in onward for here, onward in table.items())


@pytest.mark.parametrize("start", Phase)
@pytest.mark.parametrize("goal", Phase)
def test_there_is_a_legal_way_between_any_two_phases(start: Phase, goal: Phase) -> None:
    here = start
    for there in phase_path(start, goal):
        assert there in PHASES[here]
        here = there
    assert here is goal


def test_going_back_from_a_review_is_to_iterate() -> None:
    assert phase_path(Phase.REVIEWING, Phase.DEVELOPING) == (Phase.ITERATE, Phase.DEVELOPING)


def illegal(table: dict[Any, frozenset[Any]]) -> list[tuple[Any, Any]]:
    return [(here, there) for here in table for there in table if there not in table[here]]


@pytest.mark.parametrize(("here", "there"), illegal(PHASES))
def test_an_illegal_phase_changes_nothing(here: Phase, there: Phase) -> None:
    state = PMState(phase=here)
    with pytest.raises(IllegalMove, match=f"phase: {here} to {there}"):
        fold(state, c.PhaseMoved(there))
    assert state == PMState(phase=here)


@pytest.mark.parametrize(("here", "there"), illegal(TASKS))
def test_an_illegal_move_of_a_task_changes_nothing(here: TaskState, there: TaskState) -> None:
    state = PMState(state=here)
    with pytest.raises(IllegalMove, match=f"task: {here} to {there}"):
        fold(state, c.TaskMoved(there, "why"))
    assert state == PMState(state=here)


def step(state: StepState) -> Step:
    return Step("s", "dev", "title", "do", Phase.DEVELOPING, state=state)


@pytest.mark.parametrize(("here", "there"), illegal(STEPS))
def test_an_illegal_move_of_a_step_changes_nothing(here: StepState, there: StepState) -> None:
    state = PMState(steps=Steps([step(here)]))
    with pytest.raises(IllegalMove, match=f"step s: {here} to {there}"):
        fold(state, StepMoved("s", there, 1.0))
    assert state == PMState(steps=Steps([step(here)]))


@pytest.mark.parametrize("here", StepState)
def test_every_step_can_be_opened_again(here: StepState) -> None:
    worn = Tally(1, 1, 1, 1, 1, 1)
    state = fold(PMState(steps=Steps([step(here)])), StepTallied("s", worn))
    reopened = fold(state, StepReopened("s", 2, 1.0, "why")).steps["s"]
    assert (reopened.state, reopened.attempt) == (StepState.PENDING, 2)
    assert reopened.tally == Tally(rejections=1, blocks=1)


def test_a_step_opened_again_keeps_nothing_of_its_attempt() -> None:
    worn = replace(
        step(StepState.WORKING),
        not_before=5.0,
        keep_tree=True,
        approved=True,
        check_exit=1,
        check_lines=("one failed",),
        commit="abc",
        report="r.md",
        artifacts=("a.txt",),
        directive=Directive("use the parser"),
        limited=True,
        unchanged="nothing to do",
        elsewhere="main",
        replaced=True,
    )
    reopened = step_after(worn, StepReopened("s", 2, 1.0, "why"))
    assert reopened == replace(step(StepState.PENDING), attempt=2, since=1.0, why="why", last_commit="abc")


@pytest.mark.parametrize("life", Life)
def test_nobody_comes_back_from_being_gone(life: Life) -> None:
    run = Run("r", "s", 1, "dev", "dev", Purpose.WORK, 0.0, life=Life.GONE)
    with pytest.raises(IllegalMove, match="run r: gone to"):
        fold(PMState(runs=Runs([run])), RunBelieved("r", life, Turn.BUSY, "seen", 1.0))
