"""`task rebase`: what was tested before is tested and accepted again, and nothing is complete until then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.model import facts as f
from orchestrator.model.actions import Rebase
from orchestrator.model.plan import StepState
from orchestrator.model.task import Phase, TaskState, WorkspaceKind
from tests.unit.pm.story import MET, ONE_AT_A_TIME, Story

if TYPE_CHECKING:
    from orchestrator.pm.state.draft import Decision


def complete(*subtasks: str) -> Story:
    story = Story()
    story.planned(*(subtasks or ("a",)))
    for subtask in subtasks or ("a",):
        story.commit = f"c-{subtask}-"
        story.finishes(subtask)
        story.at += 100
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE
    return story


def rebases(decision: Decision) -> list[Rebase]:
    return [action for action in decision.actions if isinstance(action, Rebase)]


def test_a_complete_task_is_complete_no_more() -> None:
    story = complete()
    story.works = False
    decision = story.rebases(**{"c-a-1": "anew"})
    assert story.task() is TaskState.STOPPED
    assert story.state.base == "today"
    assert (rebases(decision)[0].old, rebases(decision)[0].new) == ("c-a-1", "anew")
    assert "test:a, review:a, accept" in decision.reply
    assert story.phase() is Phase.TESTING
    assert story.state.criteria == ()
    assert not story.works_on()


def test_the_next_start_tests_and_accepts_again() -> None:
    story = complete("a", "b")
    story.rebases(**{"c-a-1": "x", "c-b-1": "y"})
    assert (story.step("dev:a").commit, story.step("dev:b").commit) == ("x", "y")
    story.starts()
    assert story.works_on() == {"test:b"}
    assert "rebased onto today" in story.order_of("test:b").instructions
    story.approves("test:b")
    story.approves("review:b")
    assert story.works_on() == {"accept"}
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE
    assert [story.step(step).attempt for step in ("dev:b", "test:a", "test:b", "accept")] == [1, 1, 2, 2]


def test_a_test_that_fails_there_goes_back_to_dev() -> None:
    story = complete()
    story.rebases(**{"c-a-1": "x"})
    story.starts()
    story.rejects("test:a")
    assert story.works_on() == {"dev:a"}


def test_what_was_stopped_on_the_way_goes_on_there() -> None:
    story = Story(limits=ONE_AT_A_TIME)
    story.planned("a", "b")
    story.commit = "c-a-"
    story.finishes("a")
    story.stops()
    story.ends("dev:b")
    story.rebases(**{"c-a-1": "x"})
    assert (story.task(), story.step("test:a").state) == (TaskState.STOPPED, StepState.PENDING)
    story.starts()
    assert story.works_on() == {"test:a"}


def test_before_anything_was_made_only_the_base_moves() -> None:
    story = Story()
    story.starts()
    story.stops()
    story.ends("explore")
    story.rebases()
    assert (story.state.base, story.state.why) == ("today", "the user stopped it")


def test_a_branch_that_builds_on_it_already_is_not_tested_again() -> None:
    story = complete()
    decision = story.rebases(new=story.state.tip)
    assert (story.task(), story.state.base, rebases(decision)) == (TaskState.COMPLETE, "today", [])


def test_a_base_that_has_the_whole_branch_takes_no_commit_away() -> None:
    """The user merged it and stands at its tip: nothing is left of it beyond the base, and it is what was done."""
    story = complete()
    story.rebases(new=story.state.tip, **{"c-a-1": ""})
    assert story.step("dev:a").commit == "c-a-1"
    assert story.task() is TaskState.COMPLETE


def test_work_of_which_nothing_is_left_is_not_tested_by_itself() -> None:
    """What the new base has already is no commit of the branch any more; there is no tree to test it in."""
    story = complete("a", "b")
    story.rebases(**{"c-a-1": "x", "c-b-1": ""})
    assert (story.step("test:a").state, story.step("test:b").state) == (StepState.PENDING, StepState.PASSED)


def test_a_branch_that_could_not_be_moved_stands_where_it_stood() -> None:
    story = complete()
    story.rebase_refused = "task/demo is checked out in /repo: switch to another branch there"
    story.rebases(**{"c-a-1": "x"})
    assert (story.state.base, story.step("dev:a").commit) == ("base", "c-a-1")
    assert "checked out in /repo" in story.state.notices[-1]
    assert story.task() is TaskState.STOPPED
    assert not story.state.outbox


def test_step_retried_during_a_rebase_keeps_its_work() -> None:
    story = complete()
    story.works = False
    action = rebases(story.rebases(**{"c-a-1": "x"}))[0]
    story.works = True
    story.starts()
    story.rejects("test:a")
    story.works = False
    story.rebase_refused = "moved"
    story._work(action)
    assert story.step("dev:a").commit == ""
    assert story.state.base == "base"


@pytest.mark.parametrize("kind", ["at work", "no branch", "the same base", "under way"])
def test_what_cannot_be_rebased_now_is_refused(kind: str) -> None:
    if kind == "at work":
        story = Story()
        story.planned("a")
    elif kind == "no branch":
        story = Story(workspace=WorkspaceKind.SHARED)
        story.feed(
            f.TaskStarted(story.at, "n", "r", "demo-1", "demo", "/p", story.brief, story.agents, base="")
        )
        story.stops()
        story.ends("explore")
    else:
        story = complete()
        story.works = False
    base = "base" if kind == "the same base" else "today"
    if kind == "under way":
        story.rebases("yesterday")
    before = story.state
    assert story.rebases(base).refused
    assert story.state.base == before.base
    assert story.state.outbox == before.outbox


def test_all_that_is_done_again_is_named() -> None:
    """The review behind the test was opened again as well, and only the test was named."""
    story = complete("a")
    reply = story.rebases(**{"c-a-1": "x"}).reply
    assert reply.endswith("is done again: test:a, review:a, accept")


@pytest.mark.parametrize(("named", "counts"), [("test:a", False), ("test:b", True), ("old run", False)])
def test_check_from_before_a_rebase_is_no_evidence(named: str, *, counts: bool) -> None:
    """The check of an earlier subtask never ran on the work as it is now."""
    story, runs = Story(checks=("test",)).planned("a", "b"), {}
    for subtask in ("a", "b"):
        story.commit = f"c-{subtask}-"
        story.does(f"dev:{subtask}")
        runs[subtask] = story.comes_alive(f"test:{subtask}").id
        story.ends(f"test:{subtask}")
        story.approves(f"test:{subtask}")
        story.approves(f"review:{subtask}")
    story.does("accept", criteria=MET)
    story.rebases(**{"c-a-1": "x", "c-b-1": "y"})
    story.starts()
    story.comes_alive("test:b")
    story.ends("test:b")
    story.approves("test:b")
    story.approves("review:b")
    evidence = f"check {runs['b'] if named == 'old run' else named}"
    story.does("accept", criteria=tuple(replace(mark, evidence=(evidence,)) for mark in MET))
    assert (story.task() is TaskState.COMPLETE) is counts
