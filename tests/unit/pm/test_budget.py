"""What a task has used, and may use: told at 80 %, ended and asked about at 100 % (U6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.model import facts as f
from orchestrator.model.actions import End, Notify
from orchestrator.model.budget import Budget, Measure, Worked
from orchestrator.model.handoff import ReportStatus, Verdict
from orchestrator.model.limits import Limits
from orchestrator.model.notification import NotificationRule
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending, Exit
from orchestrator.model.task import Brief, TaskState, Unanswered
from orchestrator.model.usage import Spent, Usage
from orchestrator.pm.handlers.deadlines import wake_at
from orchestrator.pm.handlers.stuck_termination import patience_ends
from orchestrator.pm.policies.budget import budget_of, crosses_limit
from orchestrator.pm.state.draft import Decision
from orchestrator.pm.state.questions import Questions
from orchestrator.pm.state.steps import Steps
from tests.unit.pm.story import AT, MET, Story

HOUR = 3600.0
NONE = Budget()


def allowed(budget: Budget, brief: Brief) -> Brief:
    return replace(brief, config=replace(brief.config, limits=budget))


def exploring(budget: Budget = NONE, usual: Limits | None = None, **config: Any) -> Story:
    """A story whose explorer lives."""
    story = Story(limits=usual, **config)
    story.starts(brief=allowed(budget, story.brief))
    story.comes_alive("explore")
    return story


def uses(story: Story, step: str, tokens: int, cost: float | None = None) -> Decision:
    run = story.run_of(step)
    return story.feed(f.UsageSeen(story.at, story.nonce(), run.id, Usage(tokens, 0, 0, cost)))


def ends_by_us(story: Story) -> None:
    for run in story.state.live_runs:
        story.ends(run=run, how=Exit(signal=15))


# Counting -----------------------------------------------------------------------------------------


def test_what_runs_use_is_summed_per_agent_and_per_task():
    story = Story().planned("a", "b")
    for subtask, tokens in (("a", 1000), ("b", 500)):
        story.comes_alive(f"dev:{subtask}")
        uses(story, f"dev:{subtask}", tokens // 2, 0.25)
        uses(story, f"dev:{subtask}", tokens, 0.5)
        story.at += 60
        story.reports(f"dev:{subtask}")
        story.ends(f"dev:{subtask}")
        story.approves(f"test:{subtask}")
        story.approves(f"review:{subtask}")
    assert story.state.runs.spent["dev"] == Spent(2, 120.0, Usage(1500, 0, 0, 1.0))
    assert story.state.runs.spent["test"] == Spent(2, 120.0, Usage())
    assert story.state.runs.usage == Usage(1500, 0, 0, 1.0)


def test_the_same_again_and_less_than_before_change_nothing():
    story = exploring()
    uses(story, "explore", 1000, 0.5)
    for usage in (Usage(1000, 0, 0, 0.5), Usage(900, 0, 0, None), Usage()):
        run = story.run_of("explore").id
        assert story.feed(f.UsageSeen(story.at, story.nonce(), run, usage)).empty
    assert story.feed(f.UsageSeen(story.at, story.nonce(), "r-nobody", Usage(5))).empty


def test_usage_reported_after_the_end_of_a_run_counts():
    story = exploring()
    run = story.run_of("explore")
    story.reports("explore")
    story.ends(run=run)
    story.feed(f.UsageSeen(story.at, story.nonce(), run.id, Usage(70)))
    assert story.state.runs.spent["explore"].usage.tokens == 70


def test_time_limit_excludes_waiting_for_a_person():
    """Time counts while the task runs."""
    story = Story(limits=Limits(max_blocks=0))
    story.starts()
    story.comes_alive("explore")
    story.at += 100
    story.reports("explore", ReportStatus.BLOCKED, blockers="no key")
    story.ends("explore")
    assert story.task() is TaskState.WAITING
    story.at += HOUR
    story.answers("q1", "retry")
    story.comes_alive("explore")
    story.at += 50
    story.reports("explore")
    story.ends("explore")
    assert story.state.worked == Worked(150.0, 0.0, story.at)


def test_idle_time_is_counted_separately():
    story = exploring()
    story.at += 10
    story.ends("explore", Exit(code=1))
    story.passes(1)
    story.comes_alive("explore")
    story.at += 20
    story.reports("explore")
    story.ends("explore")
    assert story.state.worked == Worked(31.0, 1.0, story.at)


def test_time_asleep_is_no_time_at_work():
    story = exploring()
    story.at += 100 + 8 * HOUR
    story.feed(f.ClockMoved(story.at, story.nonce(), 8 * HOUR))
    story.reports("explore")
    story.ends("explore")
    assert story.state.worked.time == pytest.approx(100)
    assert story.state.runs.spent["explore"].time == pytest.approx(100)


# Limits -------------------------------------------------------------------------------------------


def test_no_limit_no_warning_and_no_ending():
    story = exploring(Budget(alone=True))
    uses(story, "explore", 10**9, 10_000.0)
    assert not story.state.notices
    assert story.run_of("explore").ending is Ending.NOT


def test_warning_at_80_percent_is_sent_once():
    story = exploring(Budget(tokens=1000))
    uses(story, "explore", 799)
    assert not story.state.warned
    (made_story,) = uses(story, "explore", 800).actions
    assert isinstance(made_story, Notify)
    assert (made_story.rule, made_story.title) == (
        NotificationRule.LIMITED,
        "demo comes near to its limit of tokens",
    )
    assert "800 tokens of 1k tokens" in made_story.text
    assert "has used 800 tokens of 1k tokens" in story.state.notices[-1]
    assert not uses(story, "explore", 900).actions


@pytest.mark.parametrize(
    ("limits", "usage"),
    [
        (Budget(tokens=1000), Usage(900, 100)),
        (Budget(cost=20.0), Usage(1, 1, 0, 20.0)),
        (Budget(10**6, 1.0, 10**6), Usage(1, 1, 0, 1.5)),
    ],
)
def test_at_100_percent_runs_end_and_a_person_is_asked(limits, usage):
    story = exploring(limits)
    run = story.run_of("explore")
    decision = story.feed(f.UsageSeen(story.at, story.nonce(), run.id, usage))
    assert story.state.runs[run.id].ending is Ending.BUDGET
    assert [action.run for action in decision.actions if isinstance(action, End)] == [run.id]
    question = story.question()
    assert (question.kind, question.options) == (QuestionKind.BUDGET, ("double", "continue", "abandon"))
    ends_by_us(story)
    assert story.task() is TaskState.WAITING
    assert (story.step("explore").state, story.step("explore").keep_tree) == (StepState.PENDING, True)
    story.passes(HOUR)
    assert not story.works_on()


def stopped() -> Story:
    """A story that has used its 1,000 tokens, and waits."""
    story = exploring(Budget(tokens=1000))
    uses(story, "explore", 1000)
    ends_by_us(story)
    return story


@pytest.mark.parametrize(
    ("answer", "most"), [("double", 2000), ("continue", None), ("5k", 5000), ("3k tokens", 3000)]
)
def test_after_the_answer_it_goes_on_where_it_was(answer, most):
    story = stopped()
    (was,) = story.state.runs
    story.answers("q1", answer)
    assert budget_of(story.state, story.limits).tokens == most
    run = story.run_of("explore")
    assert (run.resumes, story.task()) == (was, TaskState.RUNNING)


def test_a_limit_that_was_doubled_warns_and_stops_again():
    story = stopped()
    story.answers("q1", "double")
    story.comes_alive("explore")
    uses(story, "explore", 600)
    assert "has used 1.6k tokens of 2k tokens" in story.state.notices[-1]
    uses(story, "explore", 1000)
    assert story.question().id == "q2"


def test_doubling_an_exceeded_limit_is_not_offered():
    """Twice a limit that is used three times over would not help."""
    story = exploring(Budget(tokens=1000))
    uses(story, "explore", 3500)
    assert "double it (up to 4k tokens)" in story.question().text
    ends_by_us(story)
    story.answers("q1", "double")
    assert budget_of(story.state, story.limits).tokens == 4000
    assert not story.state.open_questions


@pytest.mark.parametrize("answer", ["retry", "500", "-3", "$20"])
def test_what_raises_nothing_is_asked_again(answer):
    story = stopped()
    story.answers("q1", answer)
    assert story.question().id == "q2"
    assert not story.works_on()


def test_abandon_ends_the_task():
    story = stopped()
    story.answers("q1", "abandon")
    assert story.task() is TaskState.FAILED


def test_nobodys_answer_takes_no_limit_away():
    story = exploring(Budget(tokens=10), unanswered=Unanswered("continue", 60.0))
    uses(story, "explore", 10)
    assert story.question().deadline is None
    story = exploring(Budget(tokens=10), unanswered=Unanswered("abandon", 60.0))
    uses(story, "explore", 10)
    ends_by_us(story)
    story.passes(60)
    assert story.task() is TaskState.FAILED


def test_last_words_of_a_run_that_is_ended_still_count():
    story = exploring(Budget(tokens=10))
    uses(story, "explore", 10)
    story.reports("explore")
    ends_by_us(story)
    assert story.step("explore").state is StepState.PASSED
    assert story.question().kind is QuestionKind.BUDGET
    assert not story.works_on()


def test_what_is_done_needs_no_more_and_is_not_asked_about():
    story = Story(limits=Limits()).planned("a")
    story.state = replace(story.state, brief=allowed(Budget(tokens=10), story.brief))
    story.finishes("a")
    run = story.comes_alive("accept")
    story.reports("accept", verdict=Verdict.APPROVED, criteria=MET)
    assert story.task() is TaskState.RUNNING
    story.feed(f.UsageSeen(story.at, story.nonce(), run.id, Usage(50)))
    story.ends(run=run)
    assert story.task() is TaskState.COMPLETE


def test_a_task_md_with_other_limits_withdraws_the_question():
    story = stopped()
    story.stops()
    story.starts(brief=allowed(Budget(tokens=9000), story.brief))
    assert not story.state.open_questions
    assert story.works_on() == {"explore"}


def test_the_settings_limit_a_task_whose_task_md_says_nothing():
    usual = Limits(max_task_tokens=500, max_task_cost=3.0, max_task_time=60.0)
    assert budget_of(Story(limits=usual).state, usual) == Budget(500, 3.0, 60.0)
    state = exploring(Budget(tokens=7), usual).state
    assert budget_of(state, usual) == Budget(7, 3.0, 60.0)


# Time ---------------------------------------------------------------------------------------------


def test_the_daemon_wakes_when_the_time_comes():
    story = exploring(Budget(time=1000.0))
    assert wake_at(story.state, story.limits) == AT + 800
    story.passes(800)
    assert story.state.warned == (Measure.TIME,)
    assert wake_at(story.state, story.limits) == AT + 1000
    story.passes(200)
    assert story.question().kind is QuestionKind.BUDGET
    ends_by_us(story)
    waits_at = story.at
    story.passes(10 * HOUR)
    story.answers("q1", "double")
    story.comes_alive("explore")
    assert wake_at(story.state, story.limits) == waits_at + 10 * HOUR + 600


def test_a_machine_that_sleeps_uses_no_time_up():
    story = exploring(Budget(time=1000.0))
    story.at += 100 + 8 * HOUR
    story.feed(f.ClockMoved(story.at, story.nonce(), 8 * HOUR))
    assert wake_at(story.state, story.limits) == pytest.approx(story.at + 700)


def test_journal_without_move_times_counts_from_next_run():
    assert Worked(5.0, 0.0, 100.0).rested(0.0, busy=False) == Worked(5.0, 0.0, 0.0)
    assert Worked(5.0, 0.0, 0.0).counted(300.0, busy=False) == Worked(5.0, 0.0, 300.0)
    assert Worked(5.0, 0.0, 300.0).counted(200.0, busy=True) == Worked(5.0, 0.0, 200.0)


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (NONE, Budget(300_000_000)),
        (Budget(tokens=5), Budget(5)),
        (Budget(cost=2.0), Budget(300_000_000, 2.0)),
        (Budget(alone=True), NONE),
        (Budget(cost=2.0, alone=True), Budget(cost=2.0)),
    ],
)
def test_tokens_are_limited_unless_somebody_says_otherwise(own, expected):
    story = exploring(own)
    assert budget_of(story.state, story.limits) == expected
    assert budget_of(story.state, Limits(max_task_tokens=None)).tokens == own.tokens


def test_runaway_agent_is_stopped_by_the_default_limit():
    """342 times the same command in five minutes, each with the whole conversation before it."""
    story = exploring()
    uses(story, "explore", 299_999_999)
    assert not story.state.open_questions
    uses(story, "explore", 300_000_000)
    assert story.question().measure is Measure.TOKENS
    assert story.run_of("explore").ending is Ending.BUDGET


# Estimates ----------------------------------------------------------------------------------------


def guessed(story: Story, step: str, **said: Any) -> Decision:
    run = story.run_of(step)
    usage = Usage(1000, 10, prices="2025-11-01", **said)
    return story.feed(f.UsageSeen(story.at, story.nonce(), run.id, usage))


def test_a_limit_in_dollars_acts_while_the_program_runs():
    """Its program tells the cost when it ends, if it does at all."""
    story = exploring(Budget(cost=5.0))
    guessed(story, "explore", estimate=4.9)
    assert story.run_of("explore").ending is Ending.NOT
    guessed(story, "explore", estimate=5.1, unpriced=("x",))
    assert story.run_of("explore").ending is Ending.BUDGET
    text = story.question().text
    assert "has used ~$5.10 of $5 (by prices of 2025-11-01, 26 days old; no price is known of x)" in text


def test_reported_cost_takes_precedence_over_an_estimate():
    story = exploring(Budget(cost=5.0))
    guessed(story, "explore", estimate=5.1)
    assert story.question().kind is QuestionKind.BUDGET
    run = story.run_of("explore")
    story.feed(f.UsageSeen(story.at, story.nonce(), run.id, Usage(1000, 10, cost=3.5)))
    assert not story.state.open_questions
    ends_by_us(story)
    assert story.state.runs.usage.dollars == pytest.approx(3.5)
    assert "explore" in story.works_on()


def test_estimates_of_several_runs_add_up():
    story = exploring(Budget(cost=5.0))
    guessed(story, "explore", estimate=2.0)
    story.ends("explore", Exit(signal=9))
    story.passes(2)
    story.comes_alive("explore")
    guessed(story, "explore", estimate=1.5)
    usage = story.state.runs.usage
    assert (usage.cost, usage.estimate, usage.prices) == (None, 3.5, "2025-11-01")


# In between ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("usage", "more"),
    [
        (Usage(799), False),
        (Usage(800), True),
        (Usage(1, 0, 0, 4.0), True),
        (Usage(1, 0, 0, 3.9), False),
        (Usage(1, 0, 0, 3.0, estimate=1.1), True),
        (Usage(1, 0, 0, estimate=3.9), False),
        (Usage(), False),
    ],
)
def test_what_takes_a_task_to_a_limit_is_worth_a_line_at_once(usage, more):
    story = exploring(Budget(tokens=1000, cost=5.0))
    run = story.run_of("explore").id
    assert crosses_limit(story.state, story.limits, run, usage) is more
    uses(story, "explore", 850, 4.5)
    assert not crosses_limit(story.state, story.limits, run, Usage(990, 0, 0, 4.9))
    assert crosses_limit(story.state, story.limits, run, Usage(1000))


def test_time_limit_has_no_deadline_while_the_task_waits():
    """The whole task is a question, and no run is left that could be ended."""
    story = exploring(Budget(time=600.0))
    story.feed(f.JournalDamaged(story.at, "n", 7, "journal.damaged"))
    story.passes(700)
    assert {run.ending for run in story.state.live_runs} == {Ending.BUDGET}
    moment = wake_at(story.state, story.limits)
    assert moment is None or moment > story.at


def test_time_limit_has_no_deadline_when_nothing_runs():
    """Of the last step the run is still on its way out, and the task is not complete before it is gone."""
    story = exploring(Budget(time=600.0))
    story.passes(700)
    settled = Steps(replace(step, state=StepState.PASSED) for step in story.state.steps.values())
    asked = [replace(question, answered_at=story.at) for question in story.state.questions.values()]
    state = replace(story.state, steps=settled, questions=Questions(asked), state=TaskState.RUNNING)
    assert Measure.TIME in state.warned
    (run,) = state.live_runs
    assert wake_at(state, story.limits) == patience_ends(state, run, story.limits) > story.at
