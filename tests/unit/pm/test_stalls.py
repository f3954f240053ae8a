"""A stream that hangs: known by what does not come, ended, gone on with, and bounded (U3, laws 8, 9, 12)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.model import facts as f
from orchestrator.model.actions import Answer, Look
from orchestrator.model.activity import Activity, Stage
from orchestrator.model.event import Event, EventKind
from orchestrator.model.limits import Limits
from orchestrator.model.permission import Act, PermissionDecision
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending, Exit, Quiet, Run, Sight, Turn
from orchestrator.model.tool_request import Judgement, ToolRequest
from orchestrator.pm.handlers.deadlines import wake_at
from orchestrator.pm.policies.stalls import found as stalled
from orchestrator.pm.policies.stalls import says_more
from tests.unit.pm.story import AT, Story

LIMITS = Limits()
THIRD = LIMITS.stall_timeout / 3
RESCAN = 30.0
STILL = Sight(cpu=5.0, printed=9, said="abc/12")
TAKEN = Event(EventKind.TAKEN, "s-1", "/t.jsonl")


class Stalling(Story):
    """A story whose explorer is a program that tells of itself, and keeps records."""

    def __init__(self, **limits: float) -> None:
        super().__init__(limits=Limits(**limits))  # type: ignore[arg-type]
        self.agents = {name: replace(agent, receipts=True) for name, agent in self.agents.items()}
        self.sees = STILL
        self.seen = Activity()
        self.starts()
        self.begins()

    def begins(self) -> Run:
        """The newest run comes alive, takes its order, and its model is asked."""
        run = self.comes_alive("explore")
        self.seen = Activity()
        self.emits("explore", TAKEN, whole=True)
        self.wrote(Stage.MODEL)
        return run

    def wrote(self, stage: Stage, *, novel: bool = False, tool: str = "") -> bool:
        """Its program records one more thing; return whether the daemon takes note of that at once."""
        at = self.at if novel else self.seen.novel_at
        self.seen = Activity(stage, self.seen.records + 1, self.at, tool, at)
        return self.records("explore", self.seen)

    def passes(self, seconds: float) -> None:
        """Time passes; the records are read at each rescan, and ahead of each deadline."""
        until = self.at + seconds
        while self.at < until:
            super().passes(min(RESCAN, until - self.at))
            if self.works_on():
                self.records("explore", self.seen)

    @property
    def run(self) -> Run:
        return self.run_of("explore")

    @property
    def is_stalled(self) -> bool:
        return self.run.ending is Ending.STALLED

    def ends_and_begins(self) -> Run:
        """The run that is being ended is gone, and the next one begins."""
        self.ends(run=self.run, how=Exit(signal=15))
        self.passes(LIMITS.max_retry_pause)
        return self.begins()


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


# How it goes on ---------------------------------------------------------------------------------------


def stalls(story: Stalling) -> Run:
    """Its model does not answer until its run is ended and gone; return that."""
    while story.run.ending is Ending.NOT:
        story.passes(30)
    run = story.run
    story.ends(run=run, how=Exit(signal=15))
    story.passes(LIMITS.max_retry_pause)
    return run


@pytest.mark.parametrize("seen", [True, False])
def test_stalls_go_up_the_ladder_of_setbacks(*, seen: bool) -> None:
    """The same conversation `stalls` times, then a fresh one as often, and only then a question.

    Who may only write a long call gets more time, but not where an answer would be seen on the screen (the nights
    `hung-again` and `codex-hung-again`).
    """
    story = Stalling()
    story.sees = replace(STILL, said="abc/" if seen else "abc")
    spent, lasted = [], []
    rounds = (LIMITS.max_stalls + 1) * (LIMITS.max_fresh_starts + 1)
    for _ in range(rounds):
        assert not story.state.open_questions
        began = story.at
        run = stalls(story)
        assert run.ending is Ending.STALLED
        lasted.append(round(story.at - began))
        spent.append(story.state.runs[run.id].spent)
        if story.works_on():
            story.begins()
    assert [place for place, each in enumerate(spent) if each] == [LIMITS.max_stalls]
    assert lasted[0] <= 480 + LIMITS.max_retry_pause
    if seen:
        assert max(lasted) <= 600 + LIMITS.max_retry_pause
    else:
        assert sorted(lasted[: LIMITS.max_stalls + 1]) == lasted[: LIMITS.max_stalls + 1]
        assert lasted[1] > lasted[0]
        assert max(lasted) <= LIMITS.inactivity_timeout + 60 + LIMITS.max_retry_pause
    question = story.question()
    assert (question.kind, story.step("explore").state) == (QuestionKind.STUCK, StepState.BLOCKED)
    assert "in vain" in question.text


@pytest.mark.parametrize(("before", "now", "soon"), [("abc", "abc/", True), ("abc/", "abc", False)])
def test_newest_look_decides_what_an_answer_shows(before: str, now: str, soon: bool) -> None:  # noqa: FBT001
    """A program that shows no call until it is whole may begin one at any time."""
    story = Stalling()
    story.sees = replace(STILL, said="abc/")
    stalls(story)
    began = story.begins()
    story.sees = replace(STILL, said=before)
    story.passes(LIMITS.stall_timeout - RESCAN)
    assert story.run.id == began.id
    story.sees = replace(STILL, said=now)
    story.passes(THIRD + RESCAN)
    assert story.is_stalled is soon


def test_order_of_a_fresh_conversation_says_where_work_is() -> None:
    story = Stalling()
    for _ in range(LIMITS.max_stalls + 1):
        stalls(story)
        story.begins()
    tally = story.step("explore").tally
    assert (tally.stalls, tally.fresh) == (0, 1)
    assert story.state.runs[story.run.resumes].spent
    assert "in your working directory" in story.order_of("explore").instructions
    assert "in vain" in story.order_of("explore").instructions


def test_circles_after_a_fresh_start_for_stalls_ask_a_person() -> None:
    """There is one ladder: a fresh conversation is tried once in an attempt, whatever it is tried for."""
    story = Stalling()
    for _ in range(LIMITS.max_stalls + 1):
        stalls(story)
        story.begins()
    for count in (10, 11):
        story.passes(60)
        seen = Activity(Stage.MODEL, count, story.at, "", 0.0, LIMITS.max_repeated_calls, "Bash: make all")
        story.records("explore", seen)
    assert story.run.ending is Ending.REPEATING
    story.ends(run=story.run, how=Exit(signal=15))
    assert "Bash: make all" in story.question().text


def test_a_second_hang_after_work_is_known_as_soon_as_the_first() -> None:
    story = Stalling()
    story.passes(LIMITS.stall_timeout)
    story.ends_and_begins()
    story.passes(60)
    story.wrote(Stage.MODEL, novel=True)
    story.passes(THIRD)
    story.wrote(Stage.MODEL, novel=True)
    hangs = story.at
    while story.run.ending is Ending.NOT:
        story.passes(1)
        assert story.at - hangs <= 600


def test_a_stall_after_long_work_is_counted_as_a_first_one() -> None:
    story = Stalling()
    story.passes(LIMITS.stall_timeout)
    story.ends_and_begins()
    assert story.step("explore").tally.stalls == 1
    for _ in range(40):
        story.passes(60)
        story.wrote(Stage.MODEL, novel=True)
    story.passes(LIMITS.stall_timeout + THIRD)
    story.ends_and_begins()
    assert story.step("explore").tally.stalls == 1


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


# What is journaled, and said --------------------------------------------------------------------------


def test_records_that_change_nothing_are_not_journaled() -> None:
    story = Stalling()
    heard = 0
    for _ in range(600):
        story.passes(1)
        heard += story.wrote(Stage.TOOL)
        heard += story.wrote(Stage.MODEL)
    assert heard <= 600 / THIRD + 1


def test_evidence_of_a_waiting_run_has_time_and_source() -> None:
    story = Stalling()
    story.passes(THIRD)
    waits = story.run
    assert (waits.quiet, waits.turn_since) == (Quiet.WAITING, story.at)
    assert "records" in waits.evidence
    story.wrote(Stage.MODEL)
    went_on = story.run
    assert (went_on.quiet, "went on" in went_on.evidence) == (None, True)


@pytest.mark.parametrize(
    ("before", "now", "more"),
    [
        ("a/1", "a/1", False),
        ("a/1", "a/2", True),
        ("a/1", "b/1", True),
        ("a/1", "a/", False),
        ("a/", "a/1", False),
        ("", "a/1", False),
        ("a/1", "", False),
    ],
)
def test_a_count_that_vanishes_is_nothing_new(before: str, now: str, more: bool) -> None:  # noqa: FBT001
    assert says_more(before, now) is more
