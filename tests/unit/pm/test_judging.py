"""Reviews and rejections (H9), checks by exit status (law 6), commits and merges."""

from __future__ import annotations

import pytest

from orchestrator.model import facts as f
from orchestrator.model.actions import Commit, Merge
from orchestrator.model.handoff import ReportStatus, Subtask, Verdict
from orchestrator.model.limits import Limits
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.run import Exit, Purpose
from orchestrator.model.task import AfterRejections, Bring, Location, Phase, TaskState, WorkspaceKind
from orchestrator.pm.policies.gates import sections_read
from tests.unit.pm.story import MET, ONE_AT_A_TIME, Story, plan_of


def exploring() -> Story:
    """A story in which an explorer is at work, whom nobody judges."""
    story = Story()
    story.starts()
    return story


# A review is asked for ----------------------------------------------------------------------------


def test_needs_review_holds_the_step_until_approval() -> None:
    story = exploring()
    story.does("explore", ReportStatus.NEEDS_REVIEW)
    assert story.step("explore").state is StepState.CHECKING
    assert story.run_of("review:explore").agent == "review"
    story.approves("review:explore")
    assert story.step("explore").state is StepState.PASSED


def test_requested_review_judges_the_next_attempt_too() -> None:
    story = exploring()
    story.does("explore", ReportStatus.NEEDS_REVIEW)
    story.rejects("review:explore", "it leaks")
    assert "it leaks" in story.order_of("explore").instructions
    story.does("explore", ReportStatus.COMPLETE)
    assert story.step("explore").state is StepState.CHECKING
    story.approves("review:explore")
    assert story.step("explore").state is StepState.PASSED


@pytest.mark.parametrize("said", ["", "Read the diff."])
def test_the_reason_of_a_rejection_may_stand_under_feedback(said: str) -> None:
    """ "no reason given" was shown, and the agent's next order had none, where it stood under `## Feedback`."""
    assert "Feedback" in sections_read([Gate.VERDICT])
    story = Story().planned("a")
    story.does("dev:a")
    feedback = (("Feedback", "the loop never ends"),)
    story.does("test:a", verdict=Verdict.REJECTED, completed=said, others=feedback)
    order = story.order_of("dev:a").instructions
    assert "the loop never ends" in order
    assert said in order
    assert "no reason given" not in order


def test_the_user_may_do_without_a_review_that_was_asked_for() -> None:
    story = exploring()
    story.limits = Limits(max_crashes=0)
    story.does("explore", ReportStatus.NEEDS_REVIEW)
    story.ends("review:explore", Exit(code=1))
    assert story.step("explore").state is StepState.CHECKING
    story.answers("q1", "set-aside")
    assert story.step("explore").state is StepState.PASSED


def test_a_subtask_is_reviewed_anyway() -> None:
    story = Story().planned("a")
    story.does("dev:a", ReportStatus.NEEDS_REVIEW)
    assert "review:dev:a" not in story.state.steps
    assert story.works_on() == {"test:a"}


def test_a_judge_who_wants_to_be_reviewed_is_not() -> None:
    story = Story().planned("a")
    story.does("dev:a")
    story.does("test:a", ReportStatus.NEEDS_REVIEW, verdict=Verdict.APPROVED)
    assert story.works_on() == {"review:a"}


def test_subtasks_wait_for_the_review_of_their_plan() -> None:
    story = Story()
    story.starts()
    story.does("explore")
    story.does("plan", ReportStatus.NEEDS_REVIEW, subtasks=plan_of("a", "b"))
    assert story.works_on() == {"review:plan"}
    story.rejects("review:plan", "too much at once")
    story.does("plan", subtasks=plan_of("b", "c"))
    assert story.works_on() == {"review:plan"}
    story.approves("review:plan")
    assert story.works_on() == {"dev:b", "dev:c"}
    assert story.step("dev:a").state is StepState.SET_ASIDE


# Rejections ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("judge", ["test", "review"])
def test_rejection_reopens_the_work_and_its_dependants(judge: str) -> None:
    story = Story().planned("a")
    story.does("dev:a")
    first = story.step("dev:a").commit
    if judge == "review":
        story.approves("test:a")
    story.rejects(f"{judge}:a", "the loop never ends")
    story.stands(dev="working", test="pending", review="pending")
    assert f"Rejected by {judge}:a: the loop never ends" in story.order_of("dev:a").instructions
    assert story.step("dev:a").attempt == 2
    assert (story.step("dev:a").commit, story.step("dev:a").last_commit) == ("", first)
    assert story.phase() is Phase.DEVELOPING


def test_the_third_rejection_is_a_question_where_task_md_says_so() -> None:
    story = Story(after_rejections=AfterRejections.ASK).planned("a", "b")
    for _ in range(3):
        story.stands(dev="working")
        story.does("dev:a")
        story.rejects("test:a")
    story.stands(dev="blocked", test="pending", review="pending")
    assert "rejected 3 times" in story.question().text
    assert story.works_on() == {"dev:b"}
    story.finishes("b")
    assert story.task() is TaskState.WAITING
    story.answers("q1", "Use the other parser")
    assert "The user answered q1: Use the other parser" in story.order_of("dev:a").instructions
    story.finishes("a")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE


def test_rejections_bound_may_set_the_subtask_aside() -> None:
    story = Story(after_rejections=AfterRejections.SET_ASIDE)
    story.planned("a", Subtask("b", "after a", needs=("a",)), "c")
    for _ in range(3):
        story.does("dev:a")
        story.rejects("test:a")
    story.stands(dev="set_aside", test="set_aside", review="set_aside")
    assert story.step("dev:b").state is StepState.SET_ASIDE
    assert story.state.open_questions == []
    story.finishes("c")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.PARTIAL


# Checks -------------------------------------------------------------------------------------------


def checked(code: int) -> Story:
    """A story whose developer is done, and whose test's check has ended with `code`."""
    story = Story(checks=("test",)).planned("a")
    story.does("dev:a")
    run = story.comes_alive("test:a")
    assert run.purpose is Purpose.CHECK
    story.ends(run=run, how=Exit(code=code))
    assert story.run_of("test:a").purpose is Purpose.WORK
    return story


def test_check_runs_before_its_agent_and_is_in_its_order() -> None:
    assert "exited 0" in checked(0).order_of("test:a").context


def test_a_check_that_fails_rejects_whatever_the_agent_claims() -> None:
    story = checked(1)
    story.approves("test:a")
    assert story.step("dev:a").attempt == 2
    assert "the check that the PM ran exited 1" in story.order_of("dev:a").instructions


def test_a_check_that_passes_is_no_approval() -> None:
    story = checked(0)
    story.rejects("test:a")
    assert story.step("dev:a").attempt == 2


def test_each_attempt_is_checked_anew() -> None:
    story = checked(1)
    story.approves("test:a")
    story.does("dev:a")
    assert story.run_of("test:a").purpose is Purpose.CHECK


def test_a_handoff_written_again_needs_no_new_check() -> None:
    story = checked(0)
    story.does("test:a")
    assert story.step("test:a").tally.asks == 1
    assert story.run_of("test:a").purpose is Purpose.WORK


def test_killed_check_is_retried_then_asked_about() -> None:
    story = Story(checks=("test",), limits=Limits(max_crashes=1)).planned("a")
    story.does("dev:a")
    story.ends("test:a", Exit(signal=9))
    story.passes(10)
    story.ends("test:a", Exit(signal=9))
    assert story.step("test:a").state is StepState.FAILED
    assert "had a check that was ended by signal 9" in story.question().text


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


# Orders beside the plan ---------------------------------------------------------------------------


def ordered(**config: object) -> Story:
    """A story whose task is complete, and takes one order more."""
    story = Story(**config).planned("a")  # type: ignore[arg-type]
    story.finishes("a")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE
    story.spawns("dev", "Mend the gate")
    return story


def test_an_order_to_a_complete_task_is_tested_and_reviewed() -> None:
    """It was committed and merged as soon as its developer had reported."""
    story = ordered()
    story.works = False
    story.does("dev-2")
    assert [type(action) for action in story.state.outbox.values() if not hasattr(action, "run")] == [Commit]
    story.works = True
    story.feed(f.WorkCommitted(story.at, story.nonce(), "dev-2", 1, "c1", 1))
    assert story.works_on() == {"test:dev-2"}
    story.approves("test:dev-2")
    assert story.step("review:dev-2").gates == (Gate.VERDICT, Gate.MERGED)
    story.approves("review:dev-2")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE


def test_an_order_that_is_rejected_goes_back_to_its_developer() -> None:
    story = ordered()
    story.does("dev-2")
    story.rejects("test:dev-2", "it leaks")
    assert "it leaks" in story.order_of("dev-2").instructions
    story.does("dev-2")
    story.approves("test:dev-2")
    story.rejects("review:dev-2")
    assert story.works_on() == {"dev-2"}


@pytest.mark.parametrize("judge", ["test:dev-2", "review:dev-2"])
def test_an_order_is_given_up_with_its_judges(judge: str) -> None:
    story = ordered()
    story.limits = Limits(max_crashes=0)
    story.does("dev-2")
    if judge != "test:dev-2":
        story.approves("test:dev-2")
    story.ends(judge, Exit(code=1))
    story.answers(story.question().id, "set-aside")
    assert {story.step(each).state for each in ("dev-2", "test:dev-2", "review:dev-2")} == {
        StepState.SET_ASIDE
    }
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.PARTIAL
    assert story.state.why.count("Mend the gate") == 1


def test_an_order_in_the_users_own_tree_is_judged_too() -> None:
    story = ordered(workspace=WorkspaceKind.SHARED)
    story.does("dev-2")
    story.approves("test:dev-2")
    story.approves("review:dev-2")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE


# Names that read like references ------------------------------------------------------------------


def test_a_subtask_may_bear_the_name_of_the_plan() -> None:
    """Its review is called as one that the plan's report asked for would be, and was taken for that."""
    story = Story().planned("plan", "explore")
    assert story.step("plan").state is StepState.PASSED
    story.finishes("plan")
    story.finishes("explore")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE


def test_a_plan_is_reviewed_beside_a_subtask_of_its_name() -> None:
    story = Story()
    story.starts()
    story.does("explore")
    story.does("plan", ReportStatus.NEEDS_REVIEW, subtasks=plan_of("plan"))
    (review,) = story.works_on()
    assert review != "review:plan"
    story.approves(review)
    assert story.works_on() == {"dev:plan"}
    story.finishes("plan")
    assert story.works_on() == {"accept"}


def test_no_subtask_takes_the_place_of_a_review() -> None:
    story = Story()
    story.starts()
    story.does("explore")
    story.does("plan", ReportStatus.NEEDS_REVIEW, subtasks=plan_of("a"))
    story.rejects("review:plan", "call it by its name")
    story.does("plan", subtasks=plan_of("plan"))
    assert "id plan is taken" in story.order_of("plan").instructions


@pytest.mark.parametrize("kind", [WorkspaceKind.SHARED, WorkspaceKind.READ_ONLY])
def test_no_judge_is_sent_to_a_branch_that_is_not_there(kind: WorkspaceKind) -> None:
    story = Story(workspace=kind).planned("a")
    story.finishes("a")
    assert "branch" not in story.order_of("accept").instructions


def test_heading_line_is_shown_with_the_next_one() -> None:
    limits = Limits(max_rejections=1)
    story = Story(limits=limits, after_rejections=AfterRejections.SET_ASIDE).planned("a")
    story.does("dev:a")
    story.rejects("test:a", "the check exited 3; its last lines:\n    boom\nand more")
    assert story.step("dev:a").why.endswith("its last lines: boom")


def test_what_a_check_printed_is_said_once() -> None:
    story = Story(checks=("test",), after_rejections=AfterRejections.ASK, limits=Limits(max_rejections=1))
    story.planned("a")
    story.does("dev:a")
    run = story.comes_alive("test:a")
    story.feed(f.RunGone(story.at, story.nonce(), run.id, Exit(code=1), ("boom", "1 failed")))
    story.approves("test:a")
    assert story.question().text.count("boom") == 1


def test_what_is_counted_anew_says_since_when() -> None:
    """Work that was rejected six times, three of them ahead of an answer, was said to be rejected three times."""
    story = Story(after_rejections=AfterRejections.ASK).planned("a")
    for answer in ("retry", ""):
        for _ in range(story.limits.max_rejections):
            story.does("dev:a")
            story.rejects("test:a", "it leaks")
        assert ("since q1 was answered" in story.question().text) is (not answer)
        if answer:
            story.answers(story.question().id, answer)
