"""Which life of a worktree a run works in, and what follows when a worktree vanishes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.model.actions import End, Inspect
from orchestrator.model.errors import Fault
from orchestrator.model.facts import LaunchFailed, TreeVanished, WorkCommitted, WorkInspected
from orchestrator.model.handoff import ReportStatus, Verdict
from orchestrator.model.limits import Limits
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.run import Ending, Exit
from orchestrator.model.task import AfterRejections, Location, TaskState, WorkspaceKind
from orchestrator.pm.plan.tree_lives import life_of
from orchestrator.pm.state.fold import fold
from orchestrator.pm.state.step_changes import StepAdded
from tests.unit.pm.story import MET, ONE_AT_A_TIME, Story, plan_of


@pytest.fixture
def story() -> Story:
    return Story(workspace=WorkspaceKind.WORKTREE).planned("a")


def life(story: Story, step: str) -> int:
    return life_of(story.state, story.step(step))


# Lives ------------------------------------------------------------------------------------------------


def test_a_subtask_begins_in_the_first_life_of_its_tree() -> None:
    story = Story(limits=ONE_AT_A_TIME, workspace=WorkspaceKind.WORKTREE).planned("a", "b")
    assert (life(story, "dev:a"), life(story, "dev:b")) == (1, 0)
    story.does("dev:a")
    assert (life(story, "test:a"), life(story, "review:a")) == (1, 1), "its judges work where it worked"


def test_each_clean_begin_is_another_life(story: Story) -> None:
    story.comes_alive("dev:a")
    story.ends("dev:a", Exit(code=1))
    story.passes(story.limits.max_retry_pause)
    assert life(story, "dev:a") == 2


def test_a_subtask_that_is_planned_anew_has_no_folder_of_before() -> None:
    """Something that an earlier run left behind may still write into that one."""
    story = Story(
        limits=Limits(max_rejections=1),
        workspace=WorkspaceKind.WORKTREE,
        after_rejections=AfterRejections.REPLAN,
    ).planned("a")
    assert life(story, "dev:a") == 1
    story.does("dev:a")
    story.does("test:a", verdict=Verdict.REJECTED, completed="no")
    story.does("plan", subtasks=plan_of("a"))
    assert story.run_of("dev:a").attempt == 2
    assert life(story, "dev:a") == 2


def test_rejected_work_goes_on_in_its_tree_with_its_conversation(story: Story) -> None:
    """Most programs find a conversation again only in the folder in which it began."""
    first = story.run_of("dev:a")
    story.does("dev:a")
    story.does("test:a", verdict=Verdict.REJECTED, completed="no")
    assert story.run_of("dev:a").resumes == first.id
    assert life(story, "dev:a") == 1


def test_rejected_work_without_its_tree_begins_anew(story: Story) -> None:
    story.does("dev:a")
    story.does("test:a", verdict=Verdict.REJECTED, completed="no")
    run = story.comes_alive("dev:a")
    story.feed(TreeVanished(story.at, story.nonce(), run.id, "it is gone"))
    story.ends("dev:a", Exit(signal=15))
    story.passes(story.limits.max_retry_pause)
    assert story.run_of("dev:a").resumes == ""
    assert story.step("dev:a").starts_from
    assert life(story, "dev:a") == 2


def test_who_goes_on_with_the_work_goes_on_in_its_tree(story: Story) -> None:
    """A handoff that does not hold is written again, by a run that finds the work as it lies there."""
    story.comes_alive("dev:a")
    story.lands("dev", faults=(Fault(0, "no status"),))
    story.ends("dev:a")
    assert story.run_of("dev:a").resumes
    assert life(story, "dev:a") == 1


def test_a_check_ahead_of_the_work_begins_the_life_for_both() -> None:
    story = Story(workspace=WorkspaceKind.WORKTREE, checks=("dev",)).planned("a")
    story.comes_alive("dev:a")
    story.ends("dev:a", Exit(code=0))
    assert story.run_of("dev:a").agent == "dev"
    assert life(story, "dev:a") == 1


@pytest.mark.parametrize("kind", [WorkspaceKind.SHARED, WorkspaceKind.READ_ONLY])
def test_what_is_no_tree_of_ours_has_no_lives(kind: WorkspaceKind) -> None:
    story = Story(workspace=kind).planned("a")
    story.does("dev:a")
    assert {life_of(story.state, step) for step in story.state.steps.values()} == {0}


def test_looks_are_all_at_one_tree(story: Story) -> None:
    assert life(story, "explore") == life(story, "plan") == 0


def test_a_place_of_its_own_has_no_lives() -> None:
    story = Story(workspace=WorkspaceKind.WORKTREE, cwd=Location("/repo", "me@box")).planned("a")
    assert life(story, "dev:a") == 0


# Vanished under a run -----------------------------------------------------------------------------------


def vanishes(story: Story, step: str) -> str:
    run = story.run_of(step)
    story.feed(TreeVanished(story.at, story.nonce(), run.id, "/trees/a is gone"))
    return run.id


def test_a_run_without_a_tree_begins_again_in_a_new_one(story: Story) -> None:
    story.comes_alive("dev:a")
    run = vanishes(story, "dev:a")
    assert story.state.runs[run].ending is Ending.TREE_LOST
    assert [each.run for each in story.state.outbox.values() if isinstance(each, End)] == [run]
    assert any("/trees/a is gone" in notice for notice in story.state.notices)
    story.ends("dev:a", Exit(signal=15))
    story.passes(story.limits.max_retry_pause)
    assert (story.step("dev:a").attempt, life(story, "dev:a")) == (1, 2)
    order_text = story.order_of("dev:a").instructions
    assert "/trees/a is gone" in order_text
    assert "refs/tasks/task/demo/a/" in order_text


def test_vanished_tree_is_noticed_and_ended_once(story: Story) -> None:
    story.comes_alive("dev:a")
    vanishes(story, "dev:a")
    before = story.state
    vanishes(story, "dev:a")
    assert story.state == before


def test_who_has_reported_is_left_to_its_commit(story: Story) -> None:
    run = story.comes_alive("dev:a")
    story.works = False
    story.reports("dev:a", run=run)
    vanishes(story, "dev:a")
    assert story.state.runs[run.id].ending is Ending.NOT


def test_a_judge_whose_tree_vanished_judges_again(story: Story) -> None:
    story.does("dev:a")
    story.comes_alive("test:a")
    vanishes(story, "test:a")
    story.ends("test:a", Exit(signal=15))
    story.passes(story.limits.max_retry_pause)
    assert story.run_of("test:a").live
    assert (story.step("dev:a").state, life(story, "test:a")) == (StepState.PASSED, 1)


def test_a_tree_that_vanishes_again_and_again_is_a_question(story: Story) -> None:
    for _ in range(story.limits.max_losses + 1):
        story.comes_alive("dev:a")
        vanishes(story, "dev:a")
        story.ends("dev:a", Exit(signal=15))
        story.passes(story.limits.max_retry_pause)
    assert "worktree" in story.question().text
    assert story.step("dev:a").state is StepState.FAILED


# Vanished ahead of its commit -----------------------------------------------------------------------------


def hands_in(story: Story, kept: str = "") -> None:
    run = story.comes_alive("dev:a")
    story.works = False
    story.reports("dev:a", run=run)
    story.works = True
    attempt = story.step("dev:a").attempt
    lost = WorkCommitted(story.at, story.nonce(), "dev:a", attempt, "", lost="/trees/a is gone", kept=kept)
    story.feed(lost)
    if story.state.runs[run.id].live:
        story.ends(run=run)


def test_what_was_not_found_is_done_again_and_what_was_is_named(story: Story) -> None:
    hands_in(story, kept="refs/tasks/task/demo/a/1-1")
    assert (story.step("dev:a").attempt, life(story, "dev:a")) == (2, 2)
    order_text = story.order_of("dev:a").instructions
    assert "/trees/a is gone" in order_text
    assert "refs/tasks/task/demo/a/1-1" in order_text
    assert "Rejected by PM: " in order_text  # and not by its own step
    assert any("refs/tasks/task/demo/a/1-1" in notice for notice in story.state.notices)


def test_it_has_the_bound_of_what_is_rejected() -> None:
    asks = AfterRejections.ASK
    story = Story(workspace=WorkspaceKind.WORKTREE, after_rejections=asks).planned("a")
    for _ in range(story.limits.max_rejections):
        hands_in(story)
    assert "/trees/a is gone" in story.question().text


# Gone before a run could go on in it ----------------------------------------------------------------------


def fails_to_launch(story: Story, step: str) -> None:
    run = story.run_of(step)
    reason = "/trees/a is gone: the work that lay there is not to be had"
    story.feed(LaunchFailed(story.at, story.nonce(), run.id, reason, again=False, tree_lost=True))


def test_who_was_to_go_on_there_begins_again(story: Story) -> None:
    story.comes_alive("dev:a")
    story.lands("dev", faults=(Fault(0, "no status"),))
    story.ends("dev:a")
    fails_to_launch(story, "dev:a")
    story.passes(story.limits.max_retry_pause)
    assert life(story, "dev:a") == 2
    assert not story.run_of("dev:a").resumes
    assert "is gone" in story.order_of("dev:a").instructions


def test_an_attempt_that_lost_what_it_went_on_with_begins_clean(story: Story) -> None:
    """Work that was in no commit, and was to be gone on with in the next attempt, is looked for once."""
    story.does("dev:a", ReportStatus.BLOCKED, blockers="no key")
    story.does("dev:a", ReportStatus.BLOCKED, blockers="no key at all")
    story.answers(story.question().id, "retry")
    assert story.step("dev:a").carries
    before = life(story, "dev:a")
    fails_to_launch(story, "dev:a")
    story.passes(story.limits.max_retry_pause)
    assert (life(story, "dev:a"), story.step("dev:a").tally.losses) == (before + 1, 1)
    assert not story.run_of("dev:a").resumes
    assert "is gone" in story.order_of("dev:a").instructions


def test_start_commit_of_an_attempt_outlasts_its_tree(story: Story) -> None:
    story.does("dev:a")
    story.does("test:a", verdict=Verdict.REJECTED, completed="no")
    commit = story.step("dev:a").starts_from
    assert commit
    story.comes_alive("dev:a")
    vanishes(story, "dev:a")
    story.ends("dev:a", Exit(signal=15))
    story.passes(story.limits.max_retry_pause)
    assert story.step("dev:a").starts_from == commit
    assert story.run_of("dev:a").live


def test_work_that_was_to_be_judged_there_is_done_again() -> None:
    """A review that was asked for ahead of the commit: nothing holds the work but the tree.

    Orders of earlier versions had no judges of their own, and could ask for one.
    """
    story = Story(workspace=WorkspaceKind.WORKTREE)
    story.starts()
    order = replace(
        story.step("explore"),
        id="dev-1",
        agent="dev",
        kind=WorkspaceKind.WORKTREE,
        workspace="dev-1",
        gates=(Gate.COMMIT, Gate.MERGED),
        state=StepState.PENDING,
    )
    story.state = fold(story.state, StepAdded(order))
    story.passes(0)
    story.checks_in()
    story.does("dev-1", ReportStatus.NEEDS_REVIEW)
    fails_to_launch(story, "review:dev-1")
    assert story.step("dev-1").attempt == 2
    assert "is gone" in story.order_of("dev-1").instructions


# Who is only to look ---------------------------------------------------------------------------------


def test_nobody_works_in_a_tree_until_that_was_seen() -> None:
    story = Story().planned("a")
    story.does("dev:a")
    story.works = False
    story.approves("test:a")
    assert story.works_on() == set()
    (look,) = (action for action in story.state.outbox.values() if isinstance(action, Inspect))
    assert (look.step, look.attempt) == ("test:a", 1)
    assert story.task() is TaskState.RUNNING
    story.works = True
    story.feed(WorkInspected(story.at, look.id, "test:a", 1, changed=False))
    assert story.works_on() == {"review:a"}
    assert not any("only to look" in notice for notice in story.state.notices)


def test_a_task_is_complete_when_it_was_seen_of_its_last_review() -> None:
    story = Story().planned("a")
    story.finishes("a")
    story.comes_alive("accept")
    story.reports("accept", criteria=MET)
    story.works = False
    story.ends("accept")
    assert story.task() is TaskState.RUNNING
    story.feed(WorkInspected(story.at, "n", "accept", 1, reason="git hangs"))
    story.tends()
    assert story.task() is TaskState.COMPLETE
    assert "git hangs" in story.state.notices[-1]
