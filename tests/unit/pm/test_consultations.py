"""The PM as an agent: when it is asked, what it may decide, and that the rules go on where it does not."""

from __future__ import annotations

from orchestrator.model.consultation import PMAction as A
from orchestrator.model.handoff import Verdict
from orchestrator.model.limits import Limits
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.task import TaskState
from tests.unit.pm.consulting import CRASH, finish, led, planned
from tests.unit.pm.story import Story

# When it is asked ---------------------------------------------------------------------------------


def test_pm_agent_is_consulted_first_with_a_briefing() -> None:
    story = led()
    story.starts()
    assert story.works_on() == {"pm:1"}
    order = story.order_of("pm:1")
    assert order.target == "pm"
    assert "- explore for explore: Explore" in order.context
    assert "- the task begins" in order.context
    assert "- All tests pass" in order.context


def test_a_whole_task_is_led_to_its_end() -> None:
    story = planned("a", "b")
    finish(story)
    assert story.task() is TaskState.COMPLETE
    asked = [step for step in story.states() if step.startswith("pm:")]
    assert [story.states()[step] for step in asked] == [StepState.PASSED] * len(asked)
    # One for each report, and none without news.
    assert len(asked) == 3 + 6


def test_consultations_share_one_conversation() -> None:
    story = led()
    story.starts()
    first = story.run_of("pm:1")
    story.is_led(A.ORDER, "explore")
    story.does("explore")
    assert story.run_of("pm:2").resumes == first.id
    assert first.resumes == ""


def test_briefing_lists_recent_events_and_stays_short() -> None:
    story = planned(*(f"s{number}" for number in range(40)))
    digest = story.order_of("pm:3").context
    assert "plan on plan handed in handoffs/plan-" in digest
    assert ": COMPLETE" in digest
    assert "the task begins" not in digest
    assert "and 34 more" in digest
    assert len(digest.splitlines()) <= 40


def test_digest_counts_attempts_as_status_does() -> None:
    """A step that was opened again for a question was at attempt 2, though nobody had begun it."""
    story = planned("a")
    run = story.comes_alive("pm:3")
    story.decides(A.ASK, "dev:a", instructions="Which one?", options=("left",))
    story.ends(run=run)
    story.answers(story.question().id, "left")
    assert story.step("dev:a").attempt == 2
    digest = story.order_of("pm:4").context
    assert "- dev:a for dev: Do a" in digest.splitlines()


def test_no_consultation_without_events() -> None:
    story = led()
    story.starts()
    story.is_led(A.ORDER, "explore")
    story.comes_alive("explore")
    assert story.checks_in().empty
    assert story.works_on() == {"explore"}


def test_open_consultation_holds_starts_not_runs() -> None:
    """Nothing starts while the PM agent is asked. What runs goes on."""
    story = planned("a")
    assert story.works_on() == {"pm:3"}
    story.comes_alive("pm:3")
    story.decides(A.ORDER, "dev:a")
    assert story.works_on() == {"pm:3", "dev:a"}
    story.does("dev:a")
    assert story.works_on() == {"pm:3"}
    assert story.step("dev:a").commit  # the gate went on
    story.ends("pm:3")
    assert story.works_on() == {"pm:4"}
    assert "dev on dev:a handed in" in story.order_of("pm:4").context


# What it may decide -------------------------------------------------------------------------------


def test_an_order_is_added_to_what_the_rules_say() -> None:
    story = planned("a")
    more = {"instructions": "Use the parser.", "context": "See parser.py.", "criteria": "It parses."}
    story.is_led(A.ORDER, "dev", skills=("parsing",), **more)
    order = story.order_of("dev:a")
    assert order.instructions == "Do a\n\nThe PM adds:\n\nUse the parser."
    assert order.context.endswith("See parser.py.")
    assert order.skills == ("parsing",)
    assert order.criteria.endswith("It parses.")


def test_what_it_added_holds_for_the_attempt_and_no_longer() -> None:
    story = planned("a")
    story.is_led(A.ORDER, "dev:a", instructions="Use the parser.")
    story.comes_alive("dev:a")
    story.ends("dev:a", CRASH)
    story.passes(10)
    story.is_led(A.ORDER, "dev:a")
    assert "Use the parser" not in story.order_of("dev:a").instructions


def test_a_decision_is_progress_of_its_run() -> None:
    story = led()
    story.starts()
    run = story.comes_alive("pm:1")
    story.at += 90
    story.decides(A.ORDER, "explore", run=run)
    assert story.state.runs[run.id].progress_at == story.at


def test_order_without_a_ready_step_is_outside_the_plan() -> None:
    story = planned("a")
    story.is_led(A.ORDER, "explore", instructions="Look at the logs")
    assert story.works_on() == {"explore-2"}
    assert story.order_of("explore-2").instructions == "Look at the logs"


def test_steps_beside_the_plan_are_bounded() -> None:
    story = Story(pm="command", limits=Limits(max_subtasks=2))
    story.starts()
    story.is_led(A.ORDER, "dev", instructions="Begin at once")
    assert "outside the plan" in story.order_of("pm:2").context


def _spelled(number: int) -> str:
    """Return a number in letters: numbers do not make a text another one."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def tried(story: Story, times: int, words: str = "Look at the logs once more") -> None:
    """Let the PM agent order the same of the explorer, so many times."""
    for number in range(times):
        story.is_led(A.ORDER, "explore", instructions=f"{words}, try {number}")
        (step,) = (each for each in story.works_on() if each.startswith("explore-"))
        story.does(step)


def test_the_same_is_ordered_as_often_as_work_is_rejected() -> None:
    """The rules try three times and ask; an agent as PM went on, a thousand steps beside the plan."""
    story = planned("a")
    tried(story, 3)
    story.is_led(A.ORDER, "explore", instructions="Look at the logs once more, try 9")
    assert not {each for each in story.works_on() if each.startswith("explore")}
    (question,) = story.state.open_questions
    assert question.kind is QuestionKind.PM
    assert "limits.max_rejections" in story.order_of(story.state.consultation.step).context
    story.is_led(A.ORDER, "explore", instructions="Look at the logs, once more")
    assert story.state.open_questions == [question]


def test_a_person_may_let_the_pm_agent_try_again_or_not() -> None:
    for answer, may in (("continue", True), ("no", False)):
        story = planned("a")
        tried(story, 3)
        story.is_led(A.ORDER, "explore", instructions="Look at the logs once more")
        (question,) = story.state.open_questions
        story.at += 60
        story.answers(question.id, answer)
        story.is_led(A.ORDER, "explore", instructions="Look at the logs once more")
        assert any(each.startswith("explore-") for each in story.works_on()) is may
        assert not story.state.open_questions


def test_other_work_of_an_agent_is_no_retry() -> None:
    story = planned("a")
    tried(story, 2)
    tried(story, 2, "Measure how long the start takes")
    assert not story.state.open_questions


def test_reworded_orders_are_bounded_until_a_person_allows_more() -> None:
    """Twenty-four orders, each in other words, all ran without a question; the bound was a thousand."""
    story, words = planned("a"), iter(range(10_000, 20_000))
    most = story.limits.max_unplanned_orders

    def order() -> set[str]:
        said = " ".join(f"look{_spelled(next(words))}" for _ in range(6))
        story.is_led(A.ORDER, "explore", instructions=said)
        return {step for step in story.works_on() if step.startswith("explore-")}

    for _ in range(most):
        (step,) = order()
        story.does(step)
    assert not order()
    question = story.question()
    assert "limits.max_unplanned_orders" in story.order_of(story.state.consultation.step).context
    assert not order()
    assert story.state.open_questions == [question]
    story.answers(question.id, "continue")
    assert order()


def test_what_a_person_orders_is_not_counted_as_the_pm_agents() -> None:
    story = planned("a")
    story.limits = Limits(max_unplanned_orders=1)
    for _ in range(3):
        story.spawns("explore", "Look at the logs")
    story.is_led(A.ORDER, "review", instructions="Read the docs")
    assert not story.state.open_questions
    assert any(step.startswith("review-") for step in story.states())


def test_refusal_for_one_agent_is_none_for_another() -> None:
    """A "no" to one agent's retry was taken for an answer about every agent, and nobody was asked."""
    story = planned("a")
    tried(story, 3)
    story.is_led(A.ORDER, "explore", instructions="Look at the logs once more")
    story.answers(story.question().id, "no")
    for number in range(4):
        story.is_led(A.ORDER, "review", instructions=f"Read the docs once more, {number}")
        for step in [each for each in story.works_on() if each.startswith("review-")]:
            story.does(step, verdict=Verdict.APPROVED)
    assert "review" in story.question().text
