"""A stream that hangs: known by what does not come, ended, gone on with, and bounded (U3, laws 8, 9, 12)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.model import facts as f
from orchestrator.model.actions import Answer, Look
from orchestrator.model.activity import Stage
from orchestrator.model.event import Event, EventKind
from orchestrator.model.permission import Act, PermissionDecision
from orchestrator.model.plan import StepState
from orchestrator.model.run import Ending, Exit, Quiet, Sight, Turn
from orchestrator.model.tool_request import Judgement, ToolRequest
from orchestrator.pm.handlers.deadlines import wake_at
from orchestrator.pm.policies.stalls import found as stalled
from tests.unit.pm.stalling import LIMITS, STILL, TAKEN, THIRD, Stalling, stalls
from tests.unit.pm.story import AT, Story

# When it is known -------------------------------------------------------------------------------------


def test_hung_stream_is_known_within_ten_minutes() -> None:
    """Its conversation is resumed."""
    story = Stalling()
    began, first = story.at, story.run
    while story.run.ending is Ending.NOT:
        story.passes(1)
        assert story.at - began <= 600
    assert story.run.ending is Ending.STALLED
    story.ends(run=first, how=Exit(signal=15))
    here = story.step("explore")
    assert (here.state, here.keep_tree, here.tally.stalls) == (StepState.PENDING, True, 1)
    assert not story.state.open_questions
    story.passes(LIMITS.retry_pause)
    assert story.run.resumes == first.id
    assert not story.state.runs[first.id].spent


def test_spinner_and_foreign_changes_are_no_model_output() -> None:
    story = Stalling()
    story.sees = replace(STILL, printed=10**6, fresh=True, changed_at=AT + 10**6)
    story.passes(LIMITS.stall_timeout)
    assert story.run.ending is Ending.STALLED


def test_growing_answer_on_the_screen_is_no_stall() -> None:
    story = Stalling()
    for tokens in range(40):
        story.sees = replace(STILL, said=f"abc/{tokens}k")
        story.passes(THIRD)
        assert story.run.ending is Ending.NOT
    assert (story.run.quiet, story.run.turn) == (Quiet.ANSWERED, Turn.BUSY)
    hangs = story.at
    while story.run.ending is Ending.NOT:
        story.passes(1)
        assert story.at - hangs <= 600


def test_rarely_changing_screen_does_not_hide_a_hang() -> None:
    """A program that asks again by itself shows the beginning of the same answer once more, each five minutes."""
    story = Stalling()
    began = story.at
    while story.run.ending is Ending.NOT:
        story.passes(1)
        story.sees = replace(STILL, said=f"{int((story.at - began) // 306)}/")
        assert story.at - began <= 600


def test_a_screen_that_cannot_be_looked_at_does_not_hide_a_hang() -> None:
    story = Stalling()
    story.sees = None
    story.passes(LIMITS.stall_timeout - 1)
    assert not story.is_stalled
    story.passes(1)
    assert story.is_stalled


def test_growing_answer_survives_one_failed_look() -> None:
    story = Stalling()
    for tokens in range(8):
        story.sees = replace(STILL, said=f"abc/{tokens}k")
        story.passes(THIRD)
    story.sees = None
    story.passes(THIRD)
    assert not story.is_stalled
    story.passes(LIMITS.stall_timeout)
    assert story.is_stalled


def test_a_look_that_never_comes_back_does_not_hide_a_hang() -> None:
    story = Stalling()
    story.works = False
    story.passes(LIMITS.stall_timeout + 2 * THIRD)
    assert story.run.ending is Ending.STALLED
    assert not any(isinstance(each, Look) for each in story.state.outbox.values())


@pytest.mark.parametrize("sign", ["record", "event"])
def test_a_record_or_an_event_begins_the_time_anew(sign: str) -> None:
    story = Stalling()
    for _ in range(6):
        story.passes(LIMITS.stall_timeout - 1)
        if sign == "record":
            assert story.wrote(Stage.MODEL)
        else:
            story.emits("explore", TAKEN)
        assert story.run.ending is Ending.NOT
    story.passes(LIMITS.stall_timeout + THIRD)
    assert story.run.ending is Ending.STALLED


def test_that_it_tries_its_service_again_is_no_sign_of_an_answer() -> None:
    story = Stalling()
    for _ in range(3):
        story.passes(THIRD - 1)
        story.emits("explore", Event(EventKind.RETRYING, text="terminated"))
    story.passes(10)
    assert story.run.ending is Ending.STALLED


def test_tool_after_a_long_answer_is_no_repetition() -> None:
    """A model answers for long, then a build begins: nothing came back yet, old or new (seed fresh-e6339317.306)."""
    story = Stalling()
    for _ in range(5):
        story.passes(LIMITS.stall_timeout - 1)
        story.wrote(Stage.MODEL)
    story.sees = Sight(cpu=1.0)
    story.wrote(Stage.TOOL, tool="Bash: make all")
    story.passes(LIMITS.inactivity_timeout - 60)
    assert story.run.ending is Ending.NOT
    assert story.run.quiet in {None, Quiet.TOOL}
    assert "Bash: make all" in story.run.evidence


def test_looks_at_an_answer_do_not_count_against_what_follows() -> None:
    """A model answers for long; what it calls then has as long as any to bring something new (fresh-e6339317.535)."""
    story = Stalling()
    for number in range(60):
        story.sees = Sight(cpu=1.0, printed=5 + number, said=f"a{number}/1")
        story.passes(60)
    assert (story.run.ending, story.run.quiet, story.run.looks) == (Ending.NOT, Quiet.ANSWERED, 0)


def test_deadlines_of_a_run_that_pass_at_once_are_all_seen() -> None:
    """A daemon that was held up finds a run that may be stalled, and is silent too (seed fresh-e6339317.541)."""
    story = Stalling()
    story.works = False
    story.at += LIMITS.inactivity_timeout + 1
    story.feed(f.TimePassed(story.at, story.nonce()))
    due = wake_at(story.state, LIMITS)
    assert due is not None
    assert due > story.at


def test_look_right_after_an_answer_finds_no_stall() -> None:
    """A look for its silence comes seconds after one that saw its model answer (seed fresh-e6339317.98)."""
    run = replace(
        Stalling().run,
        stage=Stage.MODEL,
        event_at=AT,
        recorded_at=AT,
        since=AT,
        said="a/1",
        said_at=AT + 1740,
        screen_changed_at=AT + 1740,
    )
    again = Sight(cpu=1.0, printed=5, said="a/1")
    assert stalled(LIMITS, run, again, LIMITS.stall_timeout, AT + 1800) is Quiet.WAITING
    assert stalled(LIMITS, run, again, LIMITS.stall_timeout, AT + 1740 + THIRD) is Quiet.STALLED


def test_a_tool_that_runs_long_is_no_stall() -> None:
    story = Stalling()
    story.wrote(Stage.TOOL, tool="Bash: make all")
    story.passes(LIMITS.inactivity_timeout - 60)
    assert story.run.ending is Ending.NOT
    assert story.run.stage is Stage.TOOL
    assert "Bash: make all" in story.run.evidence


def test_a_hang_after_a_long_tool_is_known_in_time() -> None:
    story = Stalling()
    story.wrote(Stage.TOOL, tool="Bash: make all")
    story.passes(1200)
    assert story.wrote(Stage.MODEL), "that the tool is done is news, as it is believed to run"
    assert "make" not in story.run.evidence
    story.passes(LIMITS.stall_timeout)
    assert story.run.ending is Ending.STALLED


def test_time_in_which_it_waits_for_a_person_is_not_its_models() -> None:
    story = Stalling()
    wish, ask = (
        ToolRequest("Bash", Act.RUN, command="docker ps"),
        Judgement(PermissionDecision.ASK, "no rule", 7200.0),
    )
    story.emits("explore", Event(EventKind.ASKED, tool_request=wish), waits=True, judgement=ask)
    story.passes(3600)
    assert story.run.ending is Ending.NOT
    story.answers(story.question().id, "allow")
    story.passes(LIMITS.stall_timeout - 1)
    assert not story.is_stalled
    story.passes(1)
    assert story.is_stalled


def test_run_without_records_has_the_inactivity_bounds() -> None:
    story = Story()
    story.starts()
    story.comes_alive("explore")
    story.works = False
    story.passes(LIMITS.inactivity_timeout - 1)
    assert not any(isinstance(each, Look) for each in story.state.outbox.values())


def test_ended_turn_without_an_event_is_found() -> None:
    """Its handoff is requested."""
    story = Stalling()
    story.passes(100)
    story.wrote(Stage.OVER)
    story.passes(2 * THIRD)
    assert (story.run.ending, story.run.quiet) == (Ending.UNREPORTED, Quiet.UNREPORTED)
    assert "ended its turn" in story.run.evidence


def test_turn_that_awaits_background_work_has_ended() -> None:
    story = Stalling()
    story.wrote(Stage.OVER)
    story.emits("explore", Event(EventKind.ENDED, background=1), waits=True)
    story.passes(1)
    story.wrote(Stage.OVER)
    story.passes(LIMITS.inactivity_timeout - 60)
    assert (story.run.ending, story.run.quiet) == (Ending.NOT, None)


# Dialogs of our own failure ---------------------------------------------------------------------------


UNASKED = Sight(
    cpu=5.0, printed=9, said="abc/", dialog="permission for a tool", asks=True, screen=("Allow?",)
)


def test_dialog_without_a_hook_leads_to_another_run() -> None:
    story = Stalling()
    story.sees = UNASKED
    story.emits("explore", Event(EventKind.WAITING, text="Claude needs your permission"))
    assert (story.run.quiet, story.run.ending) == (Quiet.UNASKED, Ending.NOT), "its hook may just be telling"
    story.passes(LIMITS.receipt_timeout)
    assert story.run.ending is Ending.UNASKED
    run = story.run
    story.ends(run=run, how=Exit(signal=15))
    assert not story.state.open_questions
    story.passes(LIMITS.retry_pause)
    assert story.run.resumes == run.id


def test_a_dialog_whose_hook_asks_late_is_left_to_that() -> None:
    story = Stalling()
    story.sees = UNASKED
    story.emits("explore", Event(EventKind.WAITING, text="Claude needs your permission"))
    wish, allow = ToolRequest("Bash", Act.RUN, command="ls"), Judgement(PermissionDecision.ALLOW, "a rule")
    story.sees = STILL
    story.emits("explore", Event(EventKind.ASKED, tool_request=wish), waits=True, judgement=allow)
    story.passes(LIMITS.receipt_timeout + 1)
    assert story.run.ending is Ending.NOT


def test_a_look_from_before_an_event_says_nothing() -> None:
    story = Stalling()
    story.works = False
    story.emits("explore", Event(EventKind.WAITING, text="Claude needs your permission"))
    wish, allow = ToolRequest("Bash", Act.RUN, command="ls"), Judgement(PermissionDecision.ALLOW, "a rule")
    story.at += 1
    story.emits("explore", Event(EventKind.ASKED, tool_request=wish), waits=True, judgement=allow)
    story.works = True
    story.feed(f.Looked(story.at, story.nonce(), story.run.id, UNASKED))
    assert story.run.quiet is None
    assert any(isinstance(each, Answer) for each in story.state.outbox.values())


def test_dialogs_that_come_again_and_again_become_a_question() -> None:
    story = Stalling()
    for _ in range((LIMITS.max_stalls + 1) * (LIMITS.max_fresh_starts + 1)):
        story.sees = UNASKED
        stalls(story)
        if story.works_on():
            story.begins()
    assert "hook did not report" in story.question().text
