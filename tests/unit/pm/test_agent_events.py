"""What programs tell of themselves, told as stories."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.model.activity import Activity, Stage
from orchestrator.model.event import Event, EventKind, Failure, Say
from orchestrator.model.handoff import ReportStatus
from orchestrator.model.limits import Limits
from orchestrator.model.permission import Act, PermissionDecision
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Delivery, Ending, Exit, Sight, Turn
from orchestrator.model.tool_request import Judgement, ToolRequest
from orchestrator.model.usage_limit import Reset
from tests.simulation.engine.laws import broken_laws
from tests.unit.pm.story import ROLES, Story

TAKEN = Event(EventKind.TAKEN, session="s-1")
ENDED = Event(EventKind.ENDED, session="s-1", text="I did it.")
MAKE = ToolRequest("Bash", Act.RUN, command="make all")
ASKS = Event(EventKind.ASKED, tool_request=MAKE)
IN_DOUBT = Judgement(PermissionDecision.ASK, "no rule says anything of it", 600.0)


@pytest.fixture
def story(monkeypatch: pytest.MonkeyPatch) -> Story:
    """A task whose developer's program tells of itself, and has begun."""
    from dataclasses import replace

    monkeypatch.setitem(ROLES, "dev", replace(ROLES["dev"], receipts=True))
    made_story = Story().planned("a")
    made_story.comes_alive("dev:a")
    return made_story


def failed(failure: Failure, text: str = "it says so", again_at: float | None = None) -> Event:
    reset = None if again_at is None else Reset((again_at,), 60.0)
    return Event(EventKind.FAILED, "s-1", text=text, failure=failure, reset=reset)


def test_delivery_of_an_order_and_of_an_altered_one(story):
    """An order that was taken counts as delivered. One that was altered on the way is reported."""
    run = story.run_of("dev:a")
    assert (run.receipts, run.delivery) == (True, None)
    story.emits("dev:a", TAKEN, whole=True)
    run = story.run_of("dev:a")
    assert (run.delivery, run.turn, run.session) == (Delivery.DELIVERED, Turn.BUSY, "s-1")
    story.emits("dev:a", TAKEN, whole=False)
    assert story.run_of("dev:a").delivery is Delivery.DELIVERED


def test_an_altered_order_is_unknown_and_noticed(story):
    story.emits("dev:a", TAKEN, whole=False)
    assert story.run_of("dev:a").delivery is Delivery.UNKNOWN
    assert "differs from its order" in story.state.notices[-1]


def test_order_without_receipt_is_looked_for_early(story):
    story.sees = Sight(dialog="trust in the folder", screen=("Do you trust?",))
    story.passes(story.limits.receipt_timeout + 1)
    assert story.question().kind is QuestionKind.DIALOG


def test_an_order_that_was_taken_has_the_whole_time_of_silence(story):
    story.emits("dev:a", TAKEN, whole=True)
    story.sees = Sight(dialog="a choice")
    story.passes(story.limits.inactivity_timeout - 1)
    assert not story.state.open_questions


@pytest.mark.parametrize(
    ("decision", "say"), [(PermissionDecision.ALLOW, Say.ALLOW), (PermissionDecision.DENY, Say.DENY)]
)
def test_what_the_rules_say_is_said_at_once(story, decision, say):
    name = story.emits("dev:a", ASKS, waits=True, judgement=Judgement(decision, "a rule"))
    assert story.replies[name].say is say
    assert "make all" in story.run_of("dev:a").evidence
    assert not story.state.open_questions


def test_request_without_a_rule_is_asked_and_answered(story):
    """A tool request that no rule covers is a question. The answer reaches the program."""
    name = story.emits("dev:a", ASKS, waits=True, judgement=IN_DOUBT)
    question = story.question()
    assert (question.kind, question.options) == (QuestionKind.PERMISSION, ("allow", "always", "deny"))
    assert "make all" in question.text
    assert story.run_of("dev:a").turn is Turn.WAITING
    assert name not in story.replies
    story.answers(question.id, "allow")
    assert story.replies[name].say is Say.ALLOW
    assert story.run_of("dev:a").waits_for == ""
    assert story.state.rules == ()


def test_always_is_a_rule_from_now_on(story):
    story.emits("dev:a", ASKS, waits=True, judgement=IN_DOUBT)
    story.answers(story.question().id, "always")
    (rule,) = story.state.rules
    assert (rule.decision, rule.act, rule.pattern) == (PermissionDecision.ALLOW, Act.RUN, "make all")


def test_any_other_answer_is_a_denial_that_the_agent_reads(story):
    name = story.emits("dev:a", ASKS, waits=True, judgement=IN_DOUBT)
    story.answers(story.question().id, "use ninja instead")
    assert story.replies[name].say is Say.DENY
    assert "use ninja instead" in story.replies[name].reason
    assert story.step("dev:a").state is StepState.WORKING


def test_unanswered_permission_request_is_denied(story):
    """After its time the request is denied, whatever `unanswered:` of task.md says."""
    name = story.emits("dev:a", ASKS, waits=True, judgement=IN_DOUBT)
    story.passes(599)
    assert name not in story.replies
    story.passes(2)
    assert story.replies[name].say is Say.DENY
    assert story.replies[name].reason.startswith("Nobody answered")
    assert not story.state.open_questions
    assert story.state.questions["q1"].by == "permissions.wait"
    assert not any("task.md" in notice for notice in story.state.notices)


def test_run_that_waits_for_permission_is_not_inactive(story):
    patient = Judgement(PermissionDecision.ASK, "no rule", 3 * story.limits.inactivity_timeout)
    story.emits("dev:a", ASKS, waits=True, judgement=patient)
    story.passes(2 * story.limits.inactivity_timeout)
    assert story.question().kind is QuestionKind.PERMISSION
    assert story.run_of("dev:a").looks == 0


def test_progress_does_not_withdraw_a_pending_request(story):
    story.emits("dev:a", ASKS, waits=True, judgement=IN_DOUBT)
    story.at += 60
    story.checks_in(**{"dev:a": story.at})
    assert story.question().kind is QuestionKind.PERMISSION


def test_second_request_while_one_is_open_is_denied(story):
    story.emits("dev:a", ASKS, waits=True, judgement=IN_DOUBT)
    second = story.emits("dev:a", ASKS, waits=True, judgement=IN_DOUBT)
    assert story.replies[second].say is Say.DENY
    assert len(story.state.open_questions) == 1


def test_permission_question_ends_with_its_run(story):
    story.emits("dev:a", ASKS, waits=True, judgement=IN_DOUBT)
    story.ends("dev:a", Exit(code=1))
    assert not story.state.open_questions


def test_turn_without_a_handoff_is_reminded_once(story):
    """The agent is asked once to write its handoff. After that its run is ended."""
    first = story.emits("dev:a", ENDED, waits=True)
    assert story.replies[first].say is Say.GO_ON
    assert story.run_of("dev:a").ending is Ending.NOT
    second = story.emits("dev:a", ENDED, waits=True)
    assert story.replies[second].say is Say.PASS
    assert story.run_of("dev:a").ending is Ending.UNREPORTED


def test_turn_with_a_handoff_ends_its_run_at_once(story):
    story.reports("dev:a")
    run = next(run for run in story.state.live_runs if run.step == "dev:a")
    name = story.emits("dev:a", ENDED, waits=True)
    assert story.replies[name].say is Say.PASS
    assert story.state.runs[run.id].ending is Ending.DONE


def test_handoff_under_a_temporary_name_is_awaited(story):
    name = story.emits("dev:a", ENDED, waits=True, saving="dev-20251127-153001.md.part")
    run = story.run_of("dev:a")
    assert story.replies[name].say is Say.PASS
    assert (run.turn, run.ending) == (Turn.RESTING, Ending.NOT)
    assert "dev-20251127-153001.md.part" in run.evidence
    assert story.step("dev:a").tally.asks == 0
    story.reports("dev:a")
    story.passes(story.limits.exit_timeout)
    assert story.state.runs[run.id].ending is Ending.DONE
    assert story.step("dev:a").attempt == 1


def test_handoff_that_is_never_renamed_is_requested(story):
    """It is requested after the inactivity timeout."""
    story.sees = Sight(listens=True)
    story.emits("dev:a", ENDED, waits=True, saving="dev-20251127-153001.md.part")
    story.passes(story.limits.inactivity_timeout)
    assert story.run_of("dev:a").nudges == 1


def test_tasks_in_the_background_are_no_end_of_a_turn(story):
    name = story.emits("dev:a", Event(EventKind.ENDED, background=2), waits=True)
    assert story.replies[name].say is Say.PASS
    run = story.run_of("dev:a")
    assert (run.turn, run.ending) == (Turn.BUSY, Ending.NOT)
    assert "2 tasks in the background" in run.evidence


def test_usage_limit_pauses_the_step_until_it_ends(story):
    """The next run goes on with the conversation."""
    first = story.run_of("dev:a")
    story.emits("dev:a", TAKEN, whole=True)
    story.emits("dev:a", failed(Failure.LIMIT, again_at=story.at + 7200))
    assert story.state.runs[first.id].ending is Ending.FAILED
    story.ends("dev:a", Exit(signal=15))
    assert "dev:a" not in story.works_on()
    story.passes(7169)
    assert "dev:a" not in story.works_on()
    story.passes(2)
    second = story.run_of("dev:a")
    assert second.resumes == first.id
    assert story.step("dev:a").tally.crashes == 0
    story.comes_alive("dev:a")
    story.emits("dev:a", TAKEN, whole=True)
    assert story.step("dev:a").tally.limits == 1
    story.emits("dev:a", ASKS, waits=True, judgement=Judgement(PermissionDecision.ALLOW, "a rule"))
    assert story.step("dev:a").tally.limits == 0
    assert "runs again" in story.state.notices[-1]


def limited_again(story: Story, again_at: float | None = None, text: str = "it says so") -> float:
    """The run of dev:a is refused, and the next one begins when it may; return how long that took."""
    story.emits("dev:a", failed(Failure.LIMIT, text, again_at))
    story.ends("dev:a", Exit(signal=15))
    began = story.at
    while "dev:a" not in story.works_on():
        story.passes(1)
    story.comes_alive("dev:a")
    return story.at - began


def test_a_limit_without_a_time_has_growing_pauses(story):
    assert [limited_again(story) for _ in range(5)] == [30, 30, 60, 90, 90]
    story.limits = Limits(usage_limit_pause=40)
    assert limited_again(story) == 40
    assert not story.state.open_questions


def test_a_person_is_asked_when_a_limit_outlasts_all_windows(story):
    story.limits = Limits(
        max_usage_limits=3, usage_limit_pause=60, max_usage_limit_pause=60, usage_limit_window=300
    )
    while not story.state.open_questions:
        story.emits("dev:a", failed(Failure.LIMIT))
        story.ends("dev:a", Exit(signal=15))
        story.passes(60)
        if "dev:a" in story.works_on():
            story.comes_alive("dev:a")
    assert story.question().kind is QuestionKind.ACCOUNT
    assert "was limited 6 times in a row" in story.question().text
    story.answers(story.question().id, "retry")
    assert story.step("dev:a").limit is None
    assert "dev:a" in story.works_on()


def test_a_limit_by_the_month_is_asked_about_at_once(story):
    """Nobody wants a task to wait for three weeks without a word."""
    story.emits("dev:a", failed(Failure.LIMIT, "resets Dec 18, 3pm", story.at + 21 * 86400))
    assert story.question().kind is QuestionKind.ACCOUNT
    assert "for 21 days more" in story.question().text


def test_the_same_words_after_a_reset_are_not_tomorrows(story):
    """The service lifts it late, and its program says the same: that was read as tomorrow's time, and cost a day."""
    shown = story.at - story.at % 60 + 3600
    limited_again(story, shown, "resets 12:47pm")
    pauses = []
    for late in range(12):
        read = shown if late < 3 else shown + 86400  # what its words alone would mean by then
        pauses.append(limited_again(story, read, "resets 12:47pm"))
    assert max(pauses) <= 92
    assert story.step("dev:a").limit.reset.moments == (shown, shown + 86400)


def test_what_is_known_of_a_limit_ends_with_it(story):
    limited_again(story, story.at + 600)
    here = story.step("dev:a")
    assert (here.limit.refusals, here.limit.words) == (1, "it says so")
    story.emits("dev:a", ASKS, waits=True, judgement=Judgement(PermissionDecision.ALLOW, "a rule"))
    assert story.step("dev:a").limit is None


def test_a_limit_on_an_old_screen_is_tried_at_once(story):
    """It was seen after it had ended: what the screen says is of the moment when the run fell silent."""
    story.emits("dev:a", TAKEN, whole=True)
    reset = Reset((story.at + 300,), 60.0)
    story.sees = Sight(failure=Failure.LIMIT, line="Access resets at 3:05 PM", reset=reset)
    story.passes(story.limits.inactivity_timeout + 1)
    story.ends("dev:a", Exit(signal=15))
    assert "dev:a" in story.works_on()


def fails_and_goes_on(story: Story, novel: float, times: int) -> None:
    """Let the service of dev:a be overloaded so often, each time after a new result at that time of its run."""
    for number in range(1, times + 1):
        story.at += 60
        began = story.run_of("dev:a").opened_at
        story.records("dev:a", Activity(Stage.MODEL, number, story.at, novel_at=began + novel))
        story.emits("dev:a", failed(Failure.OVERLOAD))
        story.ends("dev:a", Exit(signal=15))
        story.passes(story.limits.max_overload_pause)
        if "dev:a" not in story.works_on():
            return
        story.comes_alive("dev:a")


def test_failures_with_work_between_are_not_in_a_row(story):
    """ "Overloaded 13 times in a row" was said, and asked about, of a service that had answered in between."""
    fails_and_goes_on(story, 30, story.limits.max_overloads + 1)
    assert not story.state.open_questions
    assert story.step("dev:a").tally.overloads == 1


def test_failures_without_work_between_are_in_a_row(story):
    """What a resumed conversation did before its run began is no work of that run."""
    story.limits = replace(story.limits, overload_window=60.0)
    fails_and_goes_on(story, -30, story.limits.max_overloads + 1)
    assert story.question().kind is QuestionKind.ACCOUNT


@pytest.mark.parametrize("failure", [Failure.LOGIN, Failure.CREDIT])
def test_a_login_or_credit_that_is_gone_is_asked_at_once(story, failure):
    story.emits("dev:a", failed(failure, "Please run /login"))
    question = story.question()
    assert question.kind is QuestionKind.ACCOUNT
    assert "Please run /login" in question.text
    story.ends("dev:a", Exit(signal=15))
    story.answers(question.id, "retry")
    assert "dev:a" in story.works_on()


def test_a_full_context_is_handed_over_to_an_empty_one(story):
    first = story.run_of("dev:a")
    story.emits("dev:a", TAKEN, whole=True)
    story.emits("dev:a", failed(Failure.CONTEXT))
    story.ends("dev:a", Exit(signal=15))
    story.passes(1)
    second = story.run_of("dev:a")
    assert second.resumes == first.id
    assert story.state.runs[first.id].spent
    assert "grew too long" in story.order_of("dev:a").context + story.order_of("dev:a").instructions


def test_a_crash_goes_on_with_the_conversation_and_is_counted(story):
    first = story.run_of("dev:a")
    story.emits("dev:a", TAKEN, whole=True)
    story.ends("dev:a", Exit(signal=9))
    story.passes(2)
    assert story.run_of("dev:a").resumes == first.id
    assert story.step("dev:a").tally.crashes == 1


def test_conversation_that_took_no_order_is_not_resumed(story):
    story.emits("dev:a", TAKEN, whole=True)
    story.ends("dev:a", Exit(signal=9))
    story.passes(2)
    second = story.comes_alive("dev:a")
    story.emits("dev:a", Event(EventKind.STARTED, session="s-1"))
    story.ends("dev:a", Exit(code=1))
    assert story.state.runs[second.id].spent


def test_the_same_event_twice_is_one(story):
    name = story.emits("dev:a", TAKEN, whole=True)
    run = story.run_of("dev:a")
    from orchestrator.model import facts as f

    again = story.feed(f.EventLanded(story.at, name, run.id, name, ENDED, waits=True))
    assert again.empty


def test_limit_on_the_screen_counts_without_an_event(story):
    """A screen that says that a limit holds is believed at a look, if no event reported it."""
    story.emits("dev:a", TAKEN, whole=True)
    first = story.run_of("dev:a")
    again = story.at + story.limits.inactivity_timeout + 7200
    story.sees = Sight(
        failure=Failure.LIMIT, line="exceeded retry limit, last status: 429", reset=Reset((again,))
    )
    story.passes(story.limits.inactivity_timeout + 1)
    assert story.state.runs[first.id].ending is Ending.FAILED
    assert "429" in story.step("dev:a").why
    story.ends("dev:a", Exit(signal=15))
    story.passes(7100)
    assert "dev:a" not in story.works_on()
    story.passes(300)
    assert story.run_of("dev:a").resumes == first.id


def test_the_time_in_which_it_waited_for_a_person_is_no_silence(story):
    story.emits("dev:a", TAKEN, whole=True)
    patient = Judgement(PermissionDecision.ASK, "no rule", story.limits.inactivity_timeout)
    story.emits("dev:a", ASKS, waits=True, judgement=patient)
    story.passes(story.limits.inactivity_timeout + 1)
    assert not story.state.open_questions
    assert story.run_of("dev:a").looks == 0
    story.passes(story.limits.inactivity_timeout - 2)
    assert story.run_of("dev:a").looks == 0


@pytest.mark.parametrize("kind", [kind for kind in EventKind if kind is not EventKind.ASKED])
def test_program_that_waits_is_always_answered(story, kind):
    """It is answered whatever its event was."""
    name = story.emits("dev:a", Event(kind, failure=Failure.OTHER), waits=True)
    assert name in story.replies


def test_permission_given_in_the_pane_closes_the_question(story):
    """It is closed when the turn is over."""
    asked = story.emits("dev:a", ASKS, waits=True, judgement=IN_DOUBT)
    ended = story.emits("dev:a", ENDED, waits=True)
    assert not story.state.open_questions
    assert story.run_of("dev:a").waits_for == ""
    assert (story.replies[asked].say, story.replies[ended].say) == (Say.PASS, Say.GO_ON)


def _is_abandoned(story):
    """Another agent cannot go on, and the user has had enough."""
    story.spawns("explore")
    for _ in range(story.limits.max_blocks + 1):
        if "explore-2" in story.works_on():
            story.does("explore-2", ReportStatus.BLOCKED)
    (question,) = [each for each in story.state.open_questions if each.step == "explore-2"]
    story.answers(question.id, "abandon")


@pytest.mark.parametrize("comes", [Story.stops, _is_abandoned])
def test_run_that_is_ending_waits_for_no_permission(story, comes):
    """Its task was stopped or abandoned: nobody is asked for leave any more, and its program is not left waiting."""
    name = story.emits("dev:a", ASKS, waits=True, judgement=IN_DOUBT)
    (wish,) = story.state.open_questions
    comes(story)
    assert not story.state.questions[wish.id].open
    assert story.replies[name].say is Say.DENY
    assert not broken_laws(story.state, story.limits, story.at)


def test_run_that_has_reported_waits_for_no_permission():
    """A review of what it handed in may take hours, and nobody is asked meanwhile for what it wanted to do."""
    story = Story()
    story.starts()
    story.comes_alive("explore")
    name = story.emits("explore", ASKS, waits=True, judgement=IN_DOUBT)
    assert story.question().kind is QuestionKind.PERMISSION
    story.reports("explore", ReportStatus.NEEDS_REVIEW)
    assert story.step("explore").state is StepState.CHECKING
    assert not story.state.open_questions
    assert story.replies[name].say is Say.DENY


def test_permission_request_proves_that_the_order_was_taken(story):
    """What it took is unknown, but it works: it has the whole time of silence, as others have."""
    story.emits("dev:a", ASKS, waits=True, judgement=Judgement(PermissionDecision.ALLOW, "a rule"))
    assert story.run_of("dev:a").delivery is Delivery.UNKNOWN
    story.sees = Sight(dialog="a choice")
    story.passes(story.limits.inactivity_timeout - 1)
    assert not story.state.open_questions


def test_look_interval_holds_after_old_changes(story):
    """It would see nothing new, however hard the agent works."""
    story.sees = Sight(changed_at=story.at + 1, cpu=1.0)
    story.passes(story.limits.receipt_timeout)
    assert story.run_of("dev:a").progress_at == story.at - story.limits.receipt_timeout + 1
    story.passes(story.limits.receipt_timeout - 1)
    assert story.run_of("dev:a").ending is Ending.NOT
