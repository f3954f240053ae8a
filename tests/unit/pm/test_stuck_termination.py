"""Runs that were told to end, and of which nothing tells that they are gone (laws 5 and 8)."""

from __future__ import annotations

import pytest

from orchestrator.model.actions import End
from orchestrator.model.facts import ClockMoved
from orchestrator.model.handoff import ReportStatus
from orchestrator.model.limits import Limits
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending, Exit, Life, Run
from orchestrator.model.task import Approval, Location, TaskState, Unanswered
from orchestrator.pm.handlers.deadlines import wake_at
from orchestrator.pm.handlers.stuck_termination import GONE
from orchestrator.pm.plan.asking import ABANDON, APPROVE, CONTINUE, RETRY, SET_ASIDE, WITHDRAWN
from tests.unit.pm.story import MET, Story, apart, plan_of

HOUR = 3600.0


def told_to_end(**config: object) -> tuple[Story, Run]:
    """Return a story whose developer was silent and told to end, and does not."""
    story = Story(**config).planned(*apart("a", "b"))  # type: ignore[arg-type]
    story.comes_alive("dev:a")
    run = story.run_of("dev:a")
    while story.state.runs[run.id].ending is Ending.NOT:
        story.passes(story.limits.inactivity_timeout)
    return story, story.state.runs[run.id]


def test_who_does_not_end_is_one_question() -> None:
    story, run = told_to_end()
    assert wake_at(story.state, story.limits) is not None
    story.passes(story.limits.termination_timeout - 1)
    assert not story.state.open_questions
    story.passes(1)
    question = story.question()
    assert (question.kind, question.step, question.run) == (QuestionKind.TERMINATION, "dev:a", run.id)
    assert question.options == (CONTINUE, GONE, SET_ASIDE, ABANDON)
    assert "Make sure here that none" in question.text
    story.passes(3 * story.limits.termination_timeout)
    assert list(story.state.open_questions) == [question]


def test_who_is_said_to_be_gone_is_lost_and_its_step_goes_on() -> None:
    story, run = told_to_end()
    story.passes(story.limits.termination_timeout)
    story.answers("q1", " Gone ")
    gone = story.state.runs[run.id]
    assert (gone.life, gone.exit) == (Life.GONE, Exit(lost=True))
    assert not [each for each in story.state.outbox.values() if isinstance(each, End)]
    story.passes(story.limits.max_retry_pause)
    assert story.run_of("dev:a").id != run.id
    story.finishes("a")
    story.finishes("b")
    assert story.step("dev:a").state is StepState.PASSED


@pytest.mark.parametrize("word", [CONTINUE, "I am looking for it"])
def test_who_is_waited_for_is_asked_about_again(word: str) -> None:
    story, run = told_to_end()
    story.passes(story.limits.termination_timeout)
    story.answers("q1", word)
    assert story.state.runs[run.id].live
    story.passes(story.limits.termination_timeout - 1)
    assert not story.state.open_questions
    story.passes(1)
    assert story.question().id == "q2"


def test_nobody_is_asked_any_more_when_it_is_gone() -> None:
    story, run = told_to_end()
    story.passes(story.limits.termination_timeout)
    story.ends(run=run)
    assert not story.state.open_questions
    assert story.state.questions["q1"].answer == WITHDRAWN


def test_task_stays_open_until_a_stuck_run_is_confirmed_gone() -> None:
    """Its step can be set aside meanwhile."""
    story, run = told_to_end()
    story.passes(story.limits.termination_timeout)
    story.answers("q1", SET_ASIDE)
    assert story.step("dev:a").state is StepState.SET_ASIDE
    story.finishes("b")
    story.does("accept", criteria=MET)
    story.passes(story.limits.termination_timeout)
    question = story.question()
    assert (question.run, question.options) == (run.id, (CONTINUE, GONE, ABANDON))
    story.answers(question.id, GONE)
    assert story.task() is TaskState.PARTIAL


def test_nobody_who_sleeps_loses_the_night_to_it() -> None:
    story, _ = told_to_end(unanswered=Unanswered(SET_ASIDE, HOUR))
    story.passes(story.limits.termination_timeout + HOUR)
    assert story.step("dev:a").state is StepState.SET_ASIDE
    assert "dev:b" in story.works_on()


def test_stopped_task_asks_nothing_until_started() -> None:
    story, run = told_to_end()
    story.stops()
    story.passes(3 * story.limits.termination_timeout)
    assert not story.state.open_questions
    assert wake_at(story.state, story.limits) is None
    story.starts()
    story.passes(1)
    assert story.question().run == run.id


def test_nobody_is_woken_while_it_is_asked() -> None:
    """A question may be open for weeks."""
    story, run = told_to_end()
    story.passes(story.limits.termination_timeout)
    assert story.question().run == run.id
    assert wake_at(story.state, story.limits) is None


def test_on_a_box_it_is_the_box_that_is_looked_at() -> None:
    story, _ = told_to_end(cwd=Location("/repo", "me@box"))
    story.passes(story.limits.termination_timeout)
    assert "Make sure on me@box that none" in story.question().text


def test_a_box_that_is_lost_counts_first() -> None:
    story, run = told_to_end(cwd=Location("/repo", "me@box"))
    story.loses("me@box")
    story.passes(story.limits.termination_timeout)
    assert not story.state.open_questions
    story.finds("me@box")
    story.passes(story.limits.termination_timeout)
    assert story.question().run == run.id


def test_time_in_which_the_machine_slept_does_not_count() -> None:
    story, _ = told_to_end()
    story.at += 8 * HOUR
    story.feed(ClockMoved(story.at, story.nonce(), 8 * HOUR, 0))
    story.passes(story.limits.termination_timeout - 1)
    assert not story.state.open_questions
    story.passes(1)
    assert story.state.open_questions


def test_a_step_is_asked_about_beside_its_run() -> None:
    """It came to rest while a person is asked whether its run is gone: its own question outlives that one."""
    story, run = told_to_end(limits=Limits(max_blocks=0))
    story.passes(story.limits.termination_timeout)
    story.reports("dev:a", ReportStatus.BLOCKED, blockers="No key for the server")
    assert story.step("dev:a").state is StepState.BLOCKED
    assert [each.kind for each in story.state.open_questions] == [
        QuestionKind.TERMINATION,
        QuestionKind.STUCK,
    ]
    story.ends(run=run)
    assert story.question().kind is QuestionKind.STUCK
    assert "No key for the server" in story.question().text
    story.answers(story.question().id, RETRY)
    assert story.step("dev:a").state is StepState.PENDING


def test_a_plan_is_approved_beside_its_run() -> None:
    story = Story(approve=(Approval.PLAN,))
    story.starts()
    story.does("explore")
    story.comes_alive("plan")
    run = story.run_of("plan")
    while story.state.runs[run.id].ending is Ending.NOT:
        story.passes(story.limits.inactivity_timeout)
    story.passes(story.limits.termination_timeout)
    story.reports("plan", subtasks=plan_of("a"))
    assert [each.kind for each in story.state.open_questions] == [
        QuestionKind.TERMINATION,
        QuestionKind.APPROVAL,
    ]
    story.ends(run=run)
    story.answers(story.question().id, APPROVE)
    assert story.step("plan").state is StepState.PASSED
