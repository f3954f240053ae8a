"""What the agent that leads a task may ask a person, and what becomes of it when nothing comes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.model import facts as f
from orchestrator.model.consultation import PMAction as A
from orchestrator.model.consultation import PMDecision
from orchestrator.model.errors import Fault
from orchestrator.model.event import Event, EventKind, Failure, Say
from orchestrator.model.handoff import Verdict
from orchestrator.model.limits import Limits
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending, Exit
from orchestrator.model.task import TaskState, Unanswered
from orchestrator.model.usage_limit import Reset
from tests.unit.pm.consulting import CRASH, finish, led, planned
from tests.unit.pm.story import MET, Story, plan_of


def has_news(story: Story) -> None:
    """Let the user edit task.md, so that the PM agent is asked again unless it is being asked already."""
    brief = replace(story.brief, goal=f"{story.state.brief.goal}, really")
    story.feed(f.BriefChanged(story.at, brief))
    assert story.state.consultation.step


# What it may ask ----------------------------------------------------------------------------------


def test_the_same_is_not_asked_while_it_is_open() -> None:
    """Four consultations asked the same, and four questions of one text were open."""
    story = planned("a", "b")
    for words in ("Which database is it?", "Which database is it?", "Is it, 2nd time, which database?"):
        story.is_led(A.ASK, instructions=words)
        has_news(story)
    assert len(story.state.open_questions) == 1
    story.is_led(A.ASK, "dev:a", instructions="Which database is it?")
    assert len(story.state.open_questions) == 1
    assert story.step("dev:a").state is not StepState.BLOCKED


def test_repeated_question_is_answered_by_its_history() -> None:
    story = planned("a", "b")
    most = story.limits.max_repeated_questions
    for number in range(1, most + 1):
        story.is_led(A.ASK, instructions="Which database is it?")
        question = story.question()
        assert ("q1 was answered by the user: SQLite" in question.text) is (number == most)
        story.answers(question.id, "SQLite")
    story.is_led(A.ASK, instructions="Which database is it?")
    assert not story.state.open_questions
    context = story.order_of(story.state.consultation.step).context
    assert "limits.max_repeated_questions" in context
    assert "SQLite" in context


def test_question_that_blocks_nothing_holds_up_no_end() -> None:
    """With every step passed and every criterion met, a task waited until morning for an answer of no use."""
    story = planned("a")
    run = story.comes_alive("pm:3")
    story.decides(A.ASK, instructions="Shall the tests be faster?")
    story.decides(A.ORDER, "dev:a")
    story.ends(run=run)
    asked = story.question()
    finish(story)
    assert story.task() is TaskState.COMPLETE
    assert (story.state.questions[asked.id].by, story.state.open_questions) == ("the PM", [])
    assert any(asked.id in notice for notice in story.state.notices)


@pytest.mark.parametrize(
    ("action", "target", "why"),
    [
        (A.ORDER, "test:a", "test:a may not start now: it is pending"),
        (A.ORDER, "nobody", "there is no step or agent nobody"),
        (A.ORDER, "pm", "pm takes no orders"),
        (A.COMPLETE, "", "these are open: dev:a, test:a, review:a"),
        (A.ASK, "nobody", "there is no step nobody"),
        (A.REPLAN, "explore", "explore is no subtask"),
        (A.END, "dev", "no run of dev lives"),
    ],
)
def test_impossible_decision_is_reported_back(action: A, target: str, why: str) -> None:
    story = planned("a", "b")
    story.is_led(action, target, instructions="Do it")
    assert story.works_on() == {"pm:4"}
    assert why in story.order_of("pm:4").context


def test_complete_frees_the_rules_and_passes_no_gate() -> None:
    story = planned("a")
    for step in ("dev:a", "test:a", "review:a"):
        story.is_led(A.ORDER, step)
        story.does(step, verdict=None if step == "dev:a" else Verdict.APPROVED)
    story.is_led(A.COMPLETE)
    assert story.works_on() == {"accept"}
    assert story.task() is TaskState.RUNNING
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE


def test_question_about_no_step_holds_nothing_up() -> None:
    """Its answer is in the next briefing."""
    story = planned("a")
    run = story.comes_alive("pm:3")
    story.decides(A.ASK, instructions="Which one?", options=("left", "right", "abandon"))
    story.decides(A.ORDER, "dev:a")
    story.ends(run=run)
    question = story.question()
    assert (question.kind, question.options) == (QuestionKind.PM, ("left", "right"))
    assert story.works_on() == {"dev:a"}
    story.answers(question.id, "abandon it")
    story.does("dev:a")
    assert "(Which one?) was answered by the user: abandon it" in story.order_of("pm:4").context


def test_a_question_about_a_step_holds_up_that_step() -> None:
    story = planned("a", "b")
    run = story.comes_alive("pm:3")
    story.decides(A.ASK, "dev:a", instructions="Which one?", options=("left",))
    story.decides(A.ORDER, "dev:b")
    story.ends(run=run)
    assert story.works_on() == {"dev:b"}
    assert story.step("dev:a").state is StepState.BLOCKED
    story.answers(story.question().id, "left")
    assert story.step("dev:a").state is StepState.PENDING
    assert "left" in story.step("dev:a").feedback[-1]


def test_question_about_a_held_step_holds_nothing_itself() -> None:
    story = planned("a")
    story.comes_alive("pm:3")
    story.decides(A.ASK, "review:a", instructions="Which one?", options=("left",))
    assert story.step("review:a").state is StepState.PENDING
    assert story.question().step == "pm:3"


def test_policy_answers_a_question_of_the_pm_as_any_other() -> None:
    story = led(unanswered=Unanswered("replan", 60.0))
    story.starts()
    story.is_led(A.ASK, instructions="Again?", options=("replan", "yes"))
    assert story.question().options == ("yes",)
    story.passes(120)
    assert story.question().open


def test_replan_gives_a_subtask_up_and_plans_anew() -> None:
    story = planned("a", "b")
    story.is_led(A.REPLAN, "a", instructions="Too large.")
    assert story.works_on() == {"plan"}
    assert story.step("dev:a").state is StepState.SET_ASIDE
    assert "Too large." in story.order_of("plan").instructions
    assert story.step("plan").tally.replans == 1


def test_replans_are_bounded() -> None:
    story = Story(pm="command", limits=Limits(max_replans=0))
    story.starts()
    story.is_led(A.ORDER, "explore")
    story.does("explore")
    story.is_led(A.ORDER, "plan")
    story.does("plan", subtasks=plan_of("a"))
    story.is_led(A.REPLAN, "a", instructions="Too large.")
    assert "limits.max_replans" in story.order_of("pm:4").context


def test_wait_ends_with_an_event_or_its_bound() -> None:
    story = planned("a")
    story.is_led(A.WAIT)
    assert story.works_on() == set()
    assert story.task() is TaskState.RUNNING
    story.passes(599)
    assert story.works_on() == set()
    story.passes(2)
    assert story.works_on() == {"dev:a"}


def test_end_ends_a_run_and_is_counted() -> None:
    story = led(architect=True)
    story.starts()
    run = story.comes_alive("pm:1")
    story.decides(A.ORDER, "explore")
    story.comes_alive("explore")
    story.decides(A.END, "explore", instructions="It looks at the wrong place.")
    assert story.run_of("explore").ending is Ending.BY_PM
    story.ends(run=run)
    story.ends("explore", Exit(signal=15))
    assert story.step("explore").tally.silences == 1
    story.passes(5)
    assert story.works_on() == {"pm:2"}
    story.is_led(A.ORDER, "explore")
    assert "It looks at the wrong place." in story.order_of("explore").instructions


# When nothing comes of it -------------------------------------------------------------------------


def test_silent_pm_agent_is_replaced_by_the_rules() -> None:
    """This happens after its timeout."""
    story = led()
    story.starts()
    run = story.comes_alive("pm:1")
    story.passes(601)
    assert story.step("pm:1").state is StepState.SET_ASIDE
    assert story.state.runs[run.id].ending is Ending.SUPERSEDED
    assert story.works_on() == {"pm:1", "explore"}
    assert not story.state.open_questions
    assert "the rules" in story.state.notices[-1]


def test_pm_agent_is_given_up_after_three_failures() -> None:
    """It is asked again when the task is started again."""
    story = led()
    story.starts()
    for step in ("explore", "plan"):
        run = story.comes_alive(story.state.consultation.step)
        story.passes(601)
        story.ends(run=run)
        story.does(step, subtasks=plan_of("a") if step == "plan" else None)
    run = story.comes_alive("pm:3")
    story.passes(601)
    story.ends(run=run)
    assert story.state.consultation.given_up
    story.finishes("a")
    assert story.works_on() == {"accept"}
    story.stops()
    story.ends("accept")
    story.starts()
    assert story.works_on() == {"pm:4"}
    assert "the task was started again" in story.order_of("pm:4").context


def test_three_impossible_decisions_end_the_consultations() -> None:
    story = planned("a")
    for _ in range(3):
        story.is_led(A.ORDER, "nobody")
    assert story.state.consultation.given_up
    assert story.works_on() == {"dev:a"}


def test_crashing_pm_agent_is_retried_then_given_up() -> None:
    """No person is asked."""
    story = led()
    story.starts()
    for _ in range(4):
        story.comes_alive("pm:1")
        story.ends("pm:1", CRASH)
        story.passes(90)
    assert story.step("pm:1").state is StepState.SET_ASIDE
    assert story.works_on() == {"explore"}
    assert not story.state.open_questions


def test_one_that_crashes_after_it_decided_has_decided() -> None:
    story = led()
    story.starts()
    run = story.comes_alive("pm:1")
    story.decides(A.ORDER, "explore")
    story.ends(run=run, how=CRASH)
    assert story.step("pm:1").state is StepState.PASSED
    assert story.works_on() == {"explore"}


def test_one_that_ends_undecided_is_asked_once_more() -> None:
    story = led()
    story.starts()
    story.comes_alive("pm:1")
    story.ends("pm:1")
    again = story.comes_alive("pm:1")
    assert again.resumes
    story.ends("pm:1", run=again)
    assert story.step("pm:1").state is StepState.SET_ASIDE
    assert story.works_on() == {"explore"}


def test_invalid_decision_is_requested_again() -> None:
    story = led()
    story.starts()
    run = story.comes_alive("pm:1")
    fault = Fault(2, "`**Action:**` is 'GO'")
    story.feed(f.DecisionLanded(story.at, "n", "pm-x.md", "hash", run.id, faults=(fault,)))
    name = story.emits("pm:1", Event(EventKind.ENDED), waits=True)
    reply = story.replies[name]
    assert reply.say is Say.GO_ON
    assert "line 2: `**Action:**` is 'GO'" in reply.reason


def test_the_end_of_its_turn_ends_the_consultation() -> None:
    story = led()
    story.starts()
    story.comes_alive("pm:1")
    story.decides(A.ORDER, "explore")
    story.emits("pm:1", Event(EventKind.ENDED))
    assert story.step("pm:1").state is StepState.PASSED
    assert story.run_of("pm:1").ending is Ending.DONE


def test_a_long_limit_is_not_waited_for() -> None:
    story = led()
    story.starts()
    story.comes_alive("pm:1")
    story.emits("pm:1", Event(EventKind.FAILED, failure=Failure.LIMIT, reset=Reset((story.at + 7200,))))
    assert story.step("pm:1").state is StepState.SET_ASIDE
    assert "explore" in story.works_on()


def test_no_login_is_nobody_s_question_where_the_rules_can_go_on() -> None:
    story = led()
    story.starts()
    story.comes_alive("pm:1")
    story.emits("pm:1", Event(EventKind.FAILED, failure=Failure.LOGIN))
    assert not story.state.open_questions
    assert "explore" in story.works_on()


def test_a_decision_of_a_settled_consultation_is_not_obeyed() -> None:
    story = led()
    story.starts()
    run = story.comes_alive("pm:1")
    story.passes(601)
    story.decides(A.ORDER, "plan", run=run)
    assert "was ignored" in story.state.notices[-1]


def test_the_same_decision_twice_is_one() -> None:
    story = planned("a")
    run = story.comes_alive("pm:3")
    said = PMDecision(A.ORDER, run.id, "explore", "Look")
    landed = f.DecisionLanded(story.at, "n", "pm-x.md", "hash", run.id, said)
    assert not story.feed(landed).empty
    assert story.feed(landed).empty


def test_it_is_not_asked_where_no_agent_is_the_pm() -> None:
    story = Story()
    story.starts()
    assert story.works_on() == {"explore"}
    assert story.state.consultation == Story().state.consultation
