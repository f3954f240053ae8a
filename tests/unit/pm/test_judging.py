"""Reviews and rejections (H9), checks by exit status (law 6), commits and merges."""

from __future__ import annotations

import pytest

from orchestrator.model import facts as f
from orchestrator.model.actions import Commit
from orchestrator.model.handoff import ReportStatus, Subtask, Verdict
from orchestrator.model.limits import Limits
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.run import Exit, Purpose
from orchestrator.model.task import AfterRejections, Phase, TaskState, WorkspaceKind
from orchestrator.pm.policies.gates import sections_read
from tests.unit.pm.story import MET, Story, plan_of


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
