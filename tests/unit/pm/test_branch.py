"""The task's branch is where the PM left it, whoever moves it: nothing is lost, and nothing else is merged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.model import facts as f
from orchestrator.model.actions import ResolveEvidence, TendBranch
from orchestrator.model.plan import StepState
from orchestrator.model.task import TaskState, WorkspaceKind
from orchestrator.pm.state.results import accepted_work
from tests.unit.pm.story import MET, Story

KEPT = "refs/tasks/task/demo/strays/at-stray"


def at_accept(**config: object) -> Story:
    """A story of which only the last review is left."""
    story = Story(**config).planned("a")  # type: ignore[arg-type]
    story.finishes("a")
    return story


def test_the_branch_is_looked_at_before_the_evidence() -> None:
    story = at_accept()
    story.works = False
    story.comes_alive("accept")
    decision = story.reports("accept", criteria=MET)
    assert [type(each) for each in decision.actions] == [TendBranch]
    decision = story.tends()
    assert [type(each) for each in decision.actions] == [ResolveEvidence]
    assert story.step("accept").state is StepState.CHECKING


@pytest.mark.parametrize(("found", "kept"), [("stray", KEPT), ("base", "")])
def test_what_moved_under_a_judge_is_judged_again(found: str, kept: str) -> None:
    """COMPLETE was said over commits that nobody had reviewed, and a branch that was moved back was a question."""
    story = at_accept()
    story.astray, story.branch_kept = found, kept
    story.does("accept", criteria=MET)
    assert story.state.open_questions == []
    assert story.state.tip == "c1"
    assert not story.state.criteria
    assert story.works_on() == {"accept"}
    run = story.run_of("accept")
    assert (run.attempt, run.resumes) == (1, ""), "it judged in a tree of what was there"
    assert found in story.order_of("accept").instructions
    assert any(found in notice and kept in notice for notice in story.state.notices)
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE


def test_a_branch_that_is_moved_again_and_again_is_asked_about() -> None:
    story = at_accept()
    for _ in range(story.limits.max_repeated_judgements + 1):
        assert story.state.open_questions == []
        story.astray = "stray"
        story.does("accept", criteria=MET)
    assert story.question().step == "accept"
    story.answers(story.question().id, "retry")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE


def test_work_that_is_gone_from_the_repository_is_asked_about() -> None:
    story = at_accept()
    story.astray, story.branch_fault = "base", "the repository does not have c1 any more"
    story.does("accept", criteria=MET)
    assert "does not have c1" in story.question().text
    assert story.task() is TaskState.WAITING


def ordered(agent: str) -> Story:
    """A complete task to which one more order was given."""
    story = at_accept()
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE
    story.spawns(agent, "Mend the gate")
    return story


def test_branch_is_checked_after_a_late_order() -> None:
    """It was looked at for the evidence only: what was put on it later went unseen."""
    story = ordered("explore")
    story.astray, story.branch_kept = "stray", KEPT
    story.does("explore-2")
    assert any(KEPT in notice for notice in story.state.notices)
    assert story.task() is TaskState.COMPLETE


def test_criteria_are_judged_again_after_a_late_order() -> None:
    """The order could undo what was asked for, and the task was complete again by the verdict of before."""
    story = ordered("dev")
    assert not story.state.criteria
    story.does("dev-2")
    story.approves("test:dev-2")
    story.approves("review:dev-2")
    assert story.works_on() == {"accept"}
    unmet = tuple(replace(mark, met=False, reason="the gate is gone") for mark in MET)
    story.does("accept", criteria=unmet)
    assert story.task() is not TaskState.COMPLETE


def test_an_order_while_the_whole_is_judged_repeats_that() -> None:
    """The verdict on the work of before the order counted for what it made."""
    story = at_accept()
    story.comes_alive("accept")
    story.spawns("dev", "Mend the gate")
    story.does("dev-2")
    story.approves("test:dev-2")
    story.approves("review:dev-2")
    assert story.works_on() == {"accept"}
    assert story.step("accept").attempt == 2


def test_an_order_that_only_looks_leaves_the_verdict() -> None:
    story = ordered("explore")
    assert story.step("accept").state is StepState.PASSED
    story.does("explore-2")
    assert story.task() is TaskState.COMPLETE


def test_a_branch_that_cannot_be_put_back_is_no_complete_task() -> None:
    story = at_accept()
    story.does("accept", criteria=MET)
    story.spawns("explore")
    story.comes_alive("explore-2")
    story.astray, story.branch_fault = "stray", "it is checked out in /project"
    story.reports("explore-2")
    story.ends("explore-2")
    assert story.task() is TaskState.PARTIAL
    assert "checked out in /project" in story.state.why
    story.branch_fault = ""
    story.starts()
    assert story.task() is TaskState.COMPLETE


def test_a_task_without_a_branch_has_none_to_look_at() -> None:
    story = Story(workspace=WorkspaceKind.SHARED)
    story.feed(f.TaskStarted(story.at, "n", "r", "demo-1", "demo", "/project", story.brief, story.agents, ""))
    story.does("explore")
    story.does("plan", subtasks=())
    story.works = False
    story.comes_alive("accept")
    decision = story.reports("accept", criteria=MET)
    assert [type(each) for each in decision.actions] == [ResolveEvidence]


def test_what_a_merge_found_on_the_branch_is_said() -> None:
    story = Story().planned("a")
    story.does("dev:a")
    story.approves("test:a")
    story.works = False
    story.approves("review:a")
    (look,) = story.state.outbox.values()
    story._work(look)
    story.works = True
    story.feed(f.WorkMerged(story.at, "n", "review:a", 1, "c1", tip="c1", astray="stray", kept=KEPT))
    assert story.step("review:a").state is StepState.PASSED
    assert any(KEPT in notice for notice in story.state.notices)
    assert story.state.tip == "c1"


def test_work_merged_by_its_own_step_is_accepted() -> None:
    """A step of an installed family may merge what it made itself: its commit is no stray."""
    story = at_accept()
    work = replace(story.step("dev:a"), gates=("commit", "merged"))
    review = replace(story.step("review:a"), gates=("verdict",))
    state = replace(story.state, steps=story.state.steps.with_step(work).with_step(review))
    assert accepted_work(state) == {"dev:a": "c1"}


def test_a_branch_that_was_moved_is_not_rebased() -> None:
    """What somebody else had put on it came along, and was the task's own from then on."""
    story = at_accept()
    story.does("accept", criteria=MET)
    assert story.rebases(old="stray").refused
    assert not story.rebases().refused
