"""Work that passed is committed and merged, and judged again where it has to be."""

from __future__ import annotations

import pytest

from orchestrator.model import facts as f
from orchestrator.model.actions import Commit, Merge
from orchestrator.model.handoff import ReportStatus
from orchestrator.model.limits import Limits
from orchestrator.model.plan import StepState
from orchestrator.model.run import Exit
from orchestrator.model.task import AfterRejections, Bring, Location, TaskState, WorkspaceKind
from tests.unit.pm.story import MET, ONE_AT_A_TIME, Story

# Commits and merges -------------------------------------------------------------------------------


def test_work_is_merged_only_after_its_review() -> None:
    story = Story().planned("a")
    story.works = False
    run = story.comes_alive("dev:a")
    story.reports("dev:a")
    story.ends(run=run)
    assert story.step("dev:a").state is StepState.CHECKING
    (commit,) = story.state.outbox.values()
    story.works = True
    story._work(commit)
    story.approves("test:a")
    story.works = False
    story.approves("review:a")
    (look,) = story.state.outbox.values()
    story._work(look)
    (merge,) = (action for action in story.state.outbox.values() if isinstance(action, Merge))
    assert isinstance(merge, Merge)
    assert merge.commit == "c1"
    assert story.step("review:a").state is StepState.CHECKING


def test_work_that_cannot_be_merged_is_a_question() -> None:
    """Somebody has the branch checked out, say: no agent can mend that."""
    story = Story().planned("a")
    story.merge_refused = "task/t is checked out in /elsewhere"
    story.finishes("a")
    assert story.step("review:a").state is StepState.BLOCKED
    assert "/elsewhere" in story.question().text
    assert story.step("dev:a").tally.rejections == 0


def test_work_that_cannot_be_committed_is_a_question() -> None:
    story = Story().planned("a")
    story.commit_refused = "at odds with the branch"
    story.does("dev:a")
    assert story.step("dev:a").state is StepState.BLOCKED
    assert "at odds with the branch" in story.question().text


def test_no_change_with_a_reason_is_judged_knowing_so() -> None:
    """A developer that changed nothing and says why passes; its judges read in their orders that nothing changed."""
    story = Story().planned("a")
    story.commit = ""
    story.does("dev:a", unchanged="The function exists since last week.")
    order = story.order_of("test:a").context
    assert "Nothing was changed by dev:a" in order
    assert "exists since last week" in order
    story.approves("test:a")
    assert "Nothing was changed by dev:a" in story.order_of("review:a").context
    story.approves("review:a")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.PARTIAL
    assert "exists since last week" in story.state.why


def test_no_change_without_a_reason_does_not_pass() -> None:
    """Nobody calls a subtask done whose developer changed nothing: it is asked for the work, then it is rejected."""
    story = Story(after_rejections=AfterRejections.ASK).planned("a")
    story.commit = ""
    story.does("dev:a")
    assert story.works_on() == {"dev:a"}
    assert "nothing was changed" in story.order_of("dev:a").instructions
    story.does("dev:a")
    assert story.step("dev:a").state is StepState.BLOCKED
    assert "without any change" in story.question().text


@pytest.mark.parametrize("field", ["ignored", "submodules"])
def test_empty_work_names_what_no_commit_can_hold(field: str) -> None:
    """The order said that nothing had been changed, and so did the question, of work that lay in an ignored folder."""
    story = Story(after_rejections=AfterRejections.ASK).planned("a")
    for _ in range(2):
        story.odds["dev:a"] = {"commit": "", field: ("build/",)}
        story.does("dev:a")
        assert story.step("dev:a").state in {StepState.WORKING, StepState.BLOCKED}
        where = story.question().text if story.state.open_questions else story.order_of("dev:a").instructions
        assert "'build/'" in where


def test_judges_see_what_git_ignores_beside_a_commit() -> None:
    """A check passed by a file that git ignores; whoever merged the branch did not have it."""
    story = Story().planned("a")
    story.odds["dev:a"] = {"ignored": ("build/",)}
    story.does("dev:a")
    assert "'build/'" in story.order_of("test:a").context
    story.rejects("test:a")
    story.does("dev:a")
    assert "'build/'" not in story.order_of("test:a").context


def test_judges_see_that_the_check_was_rewritten() -> None:
    """A developer rewrote the script that the check runs: it passed, and no judge knew why."""
    story = Story(checks=("test",)).planned("a")
    story.odds["dev:a"] = {"check_files": ("'check.sh' (+1 -9)",)}
    story.does("dev:a")
    story.ends("test:a", Exit(code=0), run=story.comes_alive("test:a"))
    assert "'check.sh' (+1 -9)" in story.order_of("test:a").context
    story.approves("test:a")
    assert "'check.sh' (+1 -9)" in story.order_of("review:a").context
    story.approves("review:a")
    assert "'check.sh' (+1 -9)" in story.order_of("accept").context


def test_judges_of_a_check_put_back_hear_nothing_of_it() -> None:
    story = Story().planned("a")
    story.odds["dev:a"] = {"check_files": ("'check.sh' (+1 -9)",)}
    story.does("dev:a")
    story.rejects("test:a")
    story.does("dev:a")
    assert "check.sh" not in story.order_of("test:a").context


def test_repository_made_in_the_tree_is_dissolved_first() -> None:
    story = Story().planned("a")
    story.odds["dev:a"] = {"repositories": ("web/",)}
    story.does("dev:a")
    dev = story.step("dev:a")
    assert (dev.attempt, dev.tally.asks, dev.state) == (1, 1, StepState.WORKING)
    assert "'web/'" in story.order_of("dev:a").instructions
    story.odds["dev:a"] = {"repositories": ("web/",)}
    story.does("dev:a")
    assert (story.step("dev:a").attempt, story.step("dev:a").tally.rejections) == (2, 1)


def test_repeated_empty_work_is_set_aside_by_task_md() -> None:
    story = Story(after_rejections=AfterRejections.SET_ASIDE).planned("a", "b")
    story.commit = ""
    story.does("dev:a")
    story.does("dev:a")
    assert story.step("dev:a").state is StepState.SET_ASIDE
    assert not story.state.open_questions


def test_a_reason_for_no_change_counts_only_without_one() -> None:
    story = Story().planned("a")
    story.does("dev:a", unchanged="Nothing to do.")
    assert "Nothing was changed" not in story.order_of("test:a").context
    story.approves("test:a")
    story.approves("review:a")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE


def test_uncommitted_work_on_a_box_goes_back_to_its_agent() -> None:
    story = Story(cwd=Location("/repo", "me@box"), bring=Bring.BRANCH).planned("a")
    story.left = "me@box:/repo"
    story.does("dev:a")
    assert story.works_on() == {"dev:a"}
    assert story.step("dev:a").attempt == 2
    order = story.order_of("dev:a").instructions
    assert "nothing new was committed, and work lies uncommitted in me@box:/repo" in order
    story.left = ""
    story.finishes("a")
    assert story.works_on() == {"accept"}


def test_an_agent_that_never_commits_on_its_box_is_asked_about() -> None:
    asks = AfterRejections.ASK
    story = Story(cwd=Location("/repo", "me@box"), bring=Bring.BRANCH, after_rejections=asks).planned("a")
    story.left = "me@box:/repo"
    for _ in range(3):
        assert story.state.open_questions == []
        story.does("dev:a")
    assert story.step("dev:a").state is StepState.BLOCKED
    assert "work lies uncommitted in me@box:/repo" in story.question().text


def test_in_the_users_own_tree_nothing_is_committed_or_merged() -> None:
    story = Story(workspace=WorkspaceKind.SHARED).planned("a")
    story.finishes("a")
    assert story.works_on() == {"accept"}
    assert story.step("dev:a").elsewhere == "/project"
    assert not any(isinstance(action, Commit | Merge) for action in story.last.actions)


def test_work_that_is_seen_in_a_shared_tree_passes() -> None:
    story = Story(workspace=WorkspaceKind.SHARED).planned("a")
    story.finishes("a")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE


def test_work_that_nobody_can_see_is_judged_knowing_so() -> None:
    """Where nobody can compare, the work passed unsaid, and the task was COMPLETE though nothing is known of it."""
    story = Story(workspace=WorkspaceKind.SHARED).planned("a", "b")
    story.changed = None
    for subtask in ("a", "b"):
        story.does(f"dev:{subtask}")
        assert "/project" in story.order_of(f"test:{subtask}").context
        story.approves(f"test:{subtask}")
        assert "not known" in story.order_of(f"review:{subtask}").context
        story.approves(f"review:{subtask}")
    assert story.order_of("accept").context.count("not known") == 2
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.PARTIAL
    assert "/project" in story.state.why


def test_one_visible_change_is_enough() -> None:
    story = Story(workspace=WorkspaceKind.SHARED).planned("a", "b")
    for subtask, story.changed in (("a", None), ("b", True)):
        story.finishes(subtask)
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE


def test_no_change_in_a_shared_tree_does_not_pass() -> None:
    story = Story(workspace=WorkspaceKind.SHARED).planned("a")
    story.changed = False
    story.does("dev:a")
    assert "nothing was changed" in story.order_of("dev:a").instructions


def test_the_outcome_of_an_earlier_attempt_changes_nothing() -> None:
    story = Story().planned("a")
    story.does("dev:a")
    story.rejects("test:a")
    story.works = False
    run = story.comes_alive("dev:a")
    story.reports("dev:a")
    story.ends(run=run)
    outbox = story.state.outbox
    story.feed(f.WorkCommitted(story.at, "late", "dev:a", 1, "c1"))
    assert story.state.outbox == outbox
    assert story.step("dev:a").state is StepState.CHECKING


def test_reopened_subtasks_do_not_wait_for_each_other() -> None:
    story = Story(limits=Limits(max_blocks=0, max_concurrent_runs=1)).planned("a", "b")
    story.does("dev:a", ReportStatus.BLOCKED, blockers="no key")
    story.does("dev:b")
    story.answers("q1", "retry")
    assert story.works_on() == {"test:b"}
    story.rejects("test:b")
    assert story.works_on() == {"dev:a"}
    story.finishes("a")
    assert story.works_on() == {"dev:b"}


def test_a_subtask_that_is_done_again_goes_before_a_new_one() -> None:
    story = Story(limits=ONE_AT_A_TIME).planned("a", "b")
    story.does("dev:a", ReportStatus.BLOCKED, blockers="no key")
    assert story.works_on() == {"dev:a"}


def test_rejections_are_counted_per_subtask() -> None:
    story = Story(limits=Limits(max_rejections=2)).planned("a", "b")
    story.does("dev:a")
    story.rejects("test:a")
    story.finishes("a")
    story.does("dev:b")
    story.rejects("test:b")
    assert story.state.open_questions == []
