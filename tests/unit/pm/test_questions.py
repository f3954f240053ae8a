"""Questions: asked once, with a default and a deadline by policy; loops, plans anew, approvals (laws 8, 10; W5)."""

from __future__ import annotations

import pytest

from orchestrator.model import facts as f
from orchestrator.model.handoff import CriterionMark, ReportStatus, Subtask
from orchestrator.model.limits import Limits
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.task import AfterRejections, Approval, Phase, TaskState, Unanswered
from orchestrator.pm.handlers.deadlines import wake_at
from orchestrator.pm.plan.repeated_questions import times_asked
from tests.unit.pm.story import CRITERIA, MET, Story, plan_of


def blocks(story: Story, why: str = "no key for the API", step: str = "explore", **said: str) -> None:
    story.does(step, ReportStatus.BLOCKED, blockers=why, **said)


# The answer that nobody gives -------------------------------------------------------------------------


def test_without_a_policy_a_question_waits_for_ever() -> None:
    story = Story(limits=Limits(max_blocks=0))
    story.starts()
    blocks(story)
    assert (story.question().default, story.question().deadline) == ("", None)
    story.passes(30 * 86_400)
    assert story.question().open


def test_default_answer_is_taken_at_its_deadline() -> None:
    """It is said to be that of task.md."""
    story = Story(limits=Limits(max_blocks=0), unanswered=Unanswered("set-aside", 14_400.0)).planned("a", "b")
    blocks(story, step="dev:a")
    asked_at = story.at
    assert story.question().deadline == asked_at + 14_400
    story.stops()
    story.at += 20_000
    story.starts()
    story.passes(0)
    answered = story.state.questions["q1"]
    assert (answered.answer, answered.by) == ("set-aside", "task.md")
    assert story.step("dev:a").state is StepState.SET_ASIDE
    assert any("nobody answered q1" in notice for notice in story.state.notices)


def test_an_answer_in_time_is_the_users() -> None:
    story = Story(limits=Limits(max_blocks=0), unanswered=Unanswered("abandon", 3600.0))
    story.starts()
    blocks(story)
    story.passes(3599)
    story.answers("q1", "the key is in the vault")
    story.passes(7200)
    assert story.task() is TaskState.RUNNING
    assert story.state.questions["q1"].by == "the user"


def test_default_answers_in_a_row_are_bounded() -> None:
    story = Story(
        limits=Limits(max_blocks=0, max_repeated_questions=100, max_default_answers=2),
        unanswered=Unanswered("retry", 3600.0),
    )
    story.starts()
    for _ in range(2):
        blocks(story)
        assert story.question().deadline is not None
        story.passes(3600)
    blocks(story)
    assert (story.question().default, story.question().deadline) == ("", None)
    story.passes(30 * 86_400)
    story.answers(story.question().id, "the key is in the vault")
    blocks(story)
    assert story.question().deadline is not None


def test_default_that_is_no_option_does_not_apply() -> None:
    story = Story(limits=Limits(max_blocks=0), unanswered=Unanswered("approve", 3600.0))
    story.starts()
    blocks(story)
    assert story.question().deadline is None


def test_deadlines_of_people_survive_clock_changes() -> None:
    """A clock that is set moves none nearer. A night asleep counts."""
    story = Story(limits=Limits(max_blocks=0), unanswered=Unanswered("retry", 14_400.0))
    story.starts()
    blocks(story)
    deadline = story.question().deadline or 0
    story.at += 3600 + 600
    story.feed(f.ClockMoved(story.at, story.nonce(), slept=3600, put=600))
    assert story.question().deadline == deadline + 600
    assert wake_at(story.state, story.limits) == deadline + 600


@pytest.mark.parametrize(("merged", "ended"), [(True, TaskState.PARTIAL), (False, TaskState.FAILED)])
def test_abandoned_task_ends_by_what_it_delivered(*, merged: bool, ended: TaskState) -> None:
    """It ended as failed although subtasks were merged; and "the user abandoned it" where nobody had answered."""
    story = Story(limits=Limits(max_blocks=0), unanswered=Unanswered("abandon", 3600.0)).planned("a", "b")
    if merged:
        story.finishes("a")
    blocks(story, step="dev:b" if merged else "dev:a")
    if not merged:
        story.does("dev:b")
    story.passes(3600)
    for run in story.state.live_runs:
        story.ends(run=run)
    assert story.task() is ended
    assert "the user" not in story.state.why
    assert "q1" in story.state.why


def test_stopped_task_may_be_abandoned_with_what_it_delivered() -> None:
    story = Story(limits=Limits(max_blocks=0)).planned("a", "b")
    story.finishes("a")
    blocks(story, step="dev:b")
    story.stops()
    story.answers("q1", "abandon")
    assert story.task() is TaskState.PARTIAL
    refused = story.spawns("explore")
    assert refused.refused, "an order would let the abandoned plan go on"
    story.starts()
    assert "dev:b" in story.works_on()


@pytest.mark.parametrize("default", ["retry", "begin-anew", "set-aside"])
def test_default_is_never_called_the_users_answer(default: str) -> None:
    """Agents read "The user answered q1" where nobody had, and steps were set aside "in answer to q1"."""
    story = Story(limits=Limits(max_blocks=0), unanswered=Unanswered(default, 3600.0)).planned("a", "b")
    blocks(story, step="dev:a")
    story.passes(3600)
    step = story.step("dev:a")
    said = (step.why, *step.feedback, *story.state.notices)
    assert not any("user answered" in each or "in answer to" in each for each in said)
    assert any("nobody answered q1" in each.lower() for each in said)


# The same again and again -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "times"),
    [
        ("Which database should I use?", "Which database should I use?", 2),
        ("Which database should I use?", "which DATABASE should I use, 2nd time", 2),
        ("No key for host 10.0.0.1", "No key for host 10.0.0.2", 2),
        ("Which database should I use?", "The tests need a display", 1),
        ("", "", 2),
        ("", "no key", 1),
    ],
)
def test_what_counts_as_the_same_question(one: str, other: str, times: int) -> None:
    assert times_asked([one], other) == times


def test_question_asked_three_times_has_its_history() -> None:
    story = Story(limits=Limits(max_blocks=1, max_repeated_questions=3))
    story.starts()
    blocks(story, "Which database should I use?")
    blocks(story, "Which database should I use now?")
    assert story.question().kind is QuestionKind.STUCK
    story.answers("q1", "SQLite")
    blocks(story, "Which database should I use?")
    question = story.question()
    assert question.kind is QuestionKind.LOOP
    assert question.text.count("Which database") == 3
    assert "3 times" in question.text
    assert "q1 was answered by the user: SQLite" in question.text


def test_different_questions_are_no_loop() -> None:
    story = Story(limits=Limits(max_blocks=5, max_repeated_questions=3))
    story.starts()
    for why in ("no key for the API", "the disk of the box is full", "two modules import each other"):
        blocks(story, why)
    assert not story.state.open_questions


def test_the_next_order_says_what_was_tried_and_what_is_missing() -> None:
    story = Story()
    story.starts()
    blocks(story, "no key", completed="asked the vault", skill_gaps="oauth")
    order = story.order_of("explore").instructions
    assert "Blocked: no key" in order
    assert "What was tried: asked the vault" in order
    assert "Missing skill or context: oauth" in order
    assert "Take a different approach" in order


# Planned anew -----------------------------------------------------------------------------------------


def rejected_for_good(policy: AfterRejections = AfterRejections.ASK) -> Story:
    story = Story(limits=Limits(max_rejections=2), after_rejections=policy)
    story.planned("a", Subtask("b", "Do b", needs=("a",)), "c")
    for _ in range(2):
        story.does("dev:a")
        story.rejects("test:a", "it never ends")
    return story


def test_a_count_of_rejections_says_after_how_many_replans() -> None:
    """Nine rejections in three plans were "rejected 3 times"."""
    story = Story(limits=Limits(max_rejections=2, max_replans=1)).planned("a")
    for subtask in ("a", "b"):
        for _ in range(2):
            story.does(f"dev:{subtask}")
            story.rejects(f"test:{subtask}", "it never ends")
        if subtask == "a":
            assert "rejected 2 times, last: it never ends" in story.step("dev:a").why
            story.does("plan", subtasks=plan_of("b"))
    assert "'Do b' was rejected 2 times after 1 replan, last: it never ends" in story.question().text


def test_rejections_bound_may_replan_the_subtask() -> None:
    story = rejected_for_good(AfterRejections.REPLAN)
    assert story.step("dev:a").state is StepState.SET_ASIDE
    assert story.step("dev:b").state is StepState.SET_ASIDE, "it needed a"
    order = story.order_of("plan").instructions
    assert "Subtask a (Do a) was given up: rejected 2 times" in order
    assert "it never ends" in order
    story.does("plan", subtasks=plan_of("a2", Subtask("b", "Do b", needs=("a2",)), "c"))
    story.finishes("c")
    story.finishes("a2")
    story.finishes("b")
    assert story.step("dev:b").attempt == 2
    assert story.state.open_questions == []


def test_planning_anew_is_bounded() -> None:
    story = Story(limits=Limits(max_rejections=1, max_replans=1), after_rejections=AfterRejections.REPLAN)
    story.planned("a")
    story.does("dev:a")
    story.rejects("test:a")
    story.does("plan", subtasks=plan_of("a2"))
    story.does("dev:a2")
    story.rejects("test:a2")
    assert story.question().options == ("retry", "begin-anew", "set-aside", "abandon")
    assert story.step("plan").tally.replans == 1


def test_a_person_may_have_it_planned_anew() -> None:
    story = rejected_for_good()
    assert "replan" in story.question().options
    story.answers(story.question().id, "replan")
    assert "plan" in story.works_on()
    assert story.phase() in {Phase.PLANNING, Phase.ITERATE}


def test_replans_by_a_person_are_not_counted() -> None:
    """Those by a default are."""
    limits = Limits(max_rejections=1, max_replans=1, max_concurrent_runs=4)
    policy = Unanswered("replan", 3600.0)
    story = Story(limits=limits, after_rejections=AfterRejections.ASK, unanswered=policy).planned("a", "b")
    for subtask in ("a", "b"):
        story.does(f"dev:{subtask}")
        story.rejects(f"test:{subtask}")
    assert [question.default for question in story.state.open_questions] == ["replan", "replan"]
    story.passes(3600)
    story.does("plan", subtasks=plan_of("a2"))
    assert story.step("plan").tally.replans == 1
    assert {story.step(f"dev:{each}").state for each in ("a", "b")} == {StepState.SET_ASIDE}
    story.does("dev:a2")
    story.rejects("test:a2")
    assert story.question().options == ("retry", "begin-anew", "set-aside", "abandon")

    other = rejected_for_good()
    other.answers(other.question().id, "replan")
    assert other.step("plan").tally.replans == 0


# Approval ---------------------------------------------------------------------------------------------


def planned_for_approval(*subtasks: str) -> Story:
    return Story(approve=(Approval.PLAN,)).planned(*subtasks)


def test_a_plan_waits_for_approval_where_task_md_says_so() -> None:
    story = planned_for_approval("a", "b")
    question = story.question()
    assert (question.kind, question.options) == (QuestionKind.APPROVAL, ("approve", "reject"))
    assert "a: Do a" in question.text
    assert story.step("plan").state is StepState.CHECKING
    assert (story.works_on(), story.task()) == (set(), TaskState.WAITING)
    story.passes(86_400)
    assert story.works_on() == set()
    story.answers(question.id, "Approve")
    assert story.works_on() == {"dev:a", "dev:b"}


def test_rejected_plan_is_made_again_with_the_feedback() -> None:
    story = planned_for_approval("a", "b")
    story.answers("q1", "not b, it is out of scope")
    assert "The user does not approve: not b, it is out of scope" in story.order_of("plan").instructions
    story.does("plan", subtasks=plan_of("a"))
    assert story.step("dev:b").state is StepState.SET_ASIDE
    assert story.question().id == "q2"
    story.answers("q2", "approve")
    assert story.works_on() == {"dev:a"}


def test_an_approval_holds_for_one_attempt() -> None:
    story = Story(
        approve=(Approval.PLAN,), after_rejections=AfterRejections.REPLAN, limits=Limits(max_rejections=1)
    )
    story.planned("a")
    story.answers("q1", "approve")
    story.does("dev:a")
    story.rejects("test:a")
    story.does("plan", subtasks=plan_of("a2"))
    assert story.question().kind is QuestionKind.APPROVAL
    assert story.works_on() == set()


def test_approval_of_an_empty_plan_says_so() -> None:
    """Only the file was named, as if the subtasks could not be listed."""
    story = Story(approve=(Approval.PLAN,), after_rejections=AfterRejections.REPLAN).planned("a")
    assert "plans nothing more" not in story.question().text
    story.answers(story.question().id, "approve")
    story.finishes("a")
    story.does("accept", criteria=(MET[0], CriterionMark(CRITERIA[1], met=False, reason="no README")))
    story.does("plan", subtasks=plan_of("a"))
    assert story.question().text.endswith("It plans nothing more to be done.")
