"""What programs tell of themselves: taken, asks leave, turn over, turn failed (facts, section 1; U2, U3).

::

    started ─▶ taken (the receipt) ─▶ busy ─┬─ asks leave ─▶ rules ─▶ allow, deny, or a question
                                            ├─ over, handoff there ─▶ resting: its run is ended
                                            ├─ over, no handoff ─▶ told to write it, once; then asked again
                                            └─ failed ─▶ parked, tried again, handed over, or a question

An event says only what an agent program claims (law 6): it never passes a gate, and what does not come is found by the
look at a quiet run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.actions import Answer
from orchestrator.model.event import EventKind, Failure, Reply, Say
from orchestrator.model.permission import Act, Ruling
from orchestrator.model.permission import Rule as Leave
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Delivery, Ending, Turn
from orchestrator.model.task import Unanswered
from orchestrator.pm.advance import ACTIVE, end_run
from orchestrator.pm.asking import ALLOW, ALWAYS, DENY, ask
from orchestrator.pm.changes import RuleGiven, RunAnswered, RunDelivered, RunTold, StepTallied
from orchestrator.pm.concluding import conclude, has_decided
from orchestrator.pm.consulting import is_consultation
from orchestrator.pm.failures import turn_failed
from orchestrator.pm.silence import progressed, watch

if TYPE_CHECKING:
    from orchestrator.model.facts import AnswerGiven, EventLanded
    from orchestrator.model.permission import Judgement, Wish
    from orchestrator.model.plan import Step
    from orchestrator.model.question import Question
    from orchestrator.model.run import Run
    from orchestrator.pm.draft import Draft

_ENDED_WITHOUT: Final = (
    "Your turn is over and the PM finds no handoff of yours. Write it now, as your order says: COMPLETE if the work is "
    "done, BLOCKED with the reason if it is not."
)
_UNDECIDED: Final = (
    "Your turn is over and the PM daemon finds no decision of yours. Write it now, as your order says: a handoff with "
    "`**Action:**` and `**Run:**` in its head."
)
_LEAVING: Final = Reply(Say.DENY, "This run is being ended: nothing more may be done.")
_LATER: Final = Reply(
    Say.DENY, "Something else is being asked about your work. Do without, or try this again later."
)
_SHOWN: Final = 600
"""Characters of a wish that a question shows."""


def event_landed(draft: Draft, fact: EventLanded) -> None:
    """Take what a program told. The same event again changes nothing."""
    run = draft.state.runs.get(fact.run)
    if run is None or not run.live or fact.name in run.heard:
        return
    if _works(draft, run):
        _take(draft, run, fact)
    else:
        _see_off(draft, run, fact)
    answered = any(isinstance(each, Answer) and each.name == fact.name for each in draft.actions)
    if fact.waits and not answered and draft.state.runs[run.id].waits_for != fact.name:
        answer(draft, run, fact.name, Reply(Say.PASS))


def _take(draft: Draft, run: Run, fact: EventLanded) -> None:
    match fact.event.kind:
        case EventKind.STARTED:
            _told(draft, run, fact, run.turn, "its program is up")
        case EventKind.TAKEN:
            _taken(draft, run, fact)
        case EventKind.ASKED:
            _asked(draft, run, fact)
        case EventKind.WAITING:
            _waits(draft, run, fact)
        case EventKind.RETRYING:
            _told(draft, run, fact, Turn.UNKNOWN, f"its service fails, it tries again: {fact.event.text}")
        case EventKind.ABORTED:
            _told(draft, run, fact, Turn.RESTING, "somebody interrupted its turn")
        case EventKind.ENDED:
            _ended(draft, run, fact)
        case EventKind.FAILED:
            _failed(draft, run, fact)


def _see_off(draft: Draft, run: Run, fact: EventLanded) -> None:
    """Take what a run told of which the work no longer counts, or is in already: it may go."""
    over = fact.event.kind in {EventKind.ENDED, EventKind.FAILED}
    _told(draft, run, fact, Turn.RESTING if over else run.turn, "its turn is over" if over else run.evidence)
    if fact.waits and fact.event.kind is EventKind.ASKED:
        answer(draft, run, fact.name, _LEAVING)
    if over and run.reported_at is not None:
        end_run(draft, draft.state.runs[run.id], Ending.DONE)


def answer(draft: Draft, run: Run, name: str, reply: Reply) -> None:
    """Have an event answered, and let its run no longer wait."""
    draft.act(Answer(id=draft.new_id("a"), run=run.id, name=name, reply=reply))
    if draft.state.runs[run.id].waits_for == name:
        draft.change(RunAnswered(run.id))


def answer_given(draft: Draft, fact: AnswerGiven) -> None:
    """An answer lies where its program looks."""
    draft.close_actions(Answer, id=fact.action)


def permitted(draft: Draft, question: Question, text: str) -> None:
    """Carry what a person, or the deadline, said of a wish to the program that waits."""
    run = draft.state.runs.get(question.run)
    if run is None or not run.live or not run.waits_for:
        return
    word = text.strip().lower()
    if word == ALWAYS and question.leave is not None:
        draft.change(RuleGiven(question.leave))
    progressed(draft, run, draft.at)  # it was not silent: it waited for this
    if word in {ALLOW, ALWAYS}:
        answer(draft, run, run.waits_for, Reply(Say.ALLOW))
    else:
        said = "Nobody gives leave for this." if word == DENY else f"The user says: {text.strip()}"
        answer(draft, run, run.waits_for, Reply(Say.DENY, f"{said} Find another way, or hand in BLOCKED."))


def _works(draft: Draft, run: Run) -> bool:
    """Tell whether it still counts what a run does: its step waits for its report, and nobody is ending it."""
    step = draft.step(run.step)
    wanted = (step.attempt, step.state) == (run.attempt, StepState.WORKING)
    return wanted and run.ending is Ending.NOT and run.reported_at is None and draft.state.state in ACTIVE


def _told(
    draft: Draft, run: Run, fact: EventLanded, turn: Turn, evidence: str, *, waits: bool = False
) -> None:
    told, event = draft.change, fact.event
    told(RunTold(run.id, fact.name, turn, evidence, fact.at, event.session, event.transcript, waits))


def _taken(draft: Draft, run: Run, fact: EventLanded) -> None:
    if run.delivery is None:
        draft.change(RunDelivered(run.id, Delivery.DELIVERED if fact.whole else Delivery.UNKNOWN))
        if not fact.whole:
            draft.notice(f"what {run.instance} took is not its order, to the byte: look at run {run.id}")
    _told(draft, run, fact, Turn.BUSY, "took its order" if fact.whole else "took a prompt")
    progressed(draft, run, fact.at)


def _waits(draft: Draft, run: Run, fact: EventLanded) -> None:
    """A dialog is up. Where that is what a person is asked about already, there is nothing new in it."""
    if run.waits_for:
        _told(draft, run, fact, run.turn, run.evidence)
        return
    _told(draft, run, fact, Turn.WAITING, f"says that it waits: {fact.event.text}")
    watch(draft, run)


def _asked(draft: Draft, run: Run, fact: EventLanded) -> None:
    wish, judged = fact.event.wish, fact.judgement
    if not fact.waits:
        _told(draft, run, fact, Turn.WAITING, "asks leave at its screen")
        watch(draft, run)
        return
    if wish is None or judged is None:
        _told(draft, run, fact, Turn.WAITING, "asks leave for what does not read")
        answer(draft, run, fact.name, Reply(Say.DENY, "What you asked leave for does not read."))
        return
    what = _worded(wish)
    match judged.ruling:
        case Ruling.ALLOW:
            _told(draft, run, fact, Turn.BUSY, f"was allowed to {what} ({judged.why})")
            _runs_again(draft, run)
            progressed(draft, run, fact.at)
            answer(draft, run, fact.name, Reply(Say.ALLOW))
        case Ruling.DENY:
            _told(draft, run, fact, Turn.BUSY, f"was not allowed to {what} ({judged.why})")
            answer(draft, run, fact.name, Reply(Say.DENY, judged.why))
        case Ruling.ASK:
            asked = _ask_for_leave(draft, run, wish, judged)
            evidence = f"waits for leave to {what} ({judged.why})"
            _told(draft, run, fact, Turn.WAITING, evidence, waits=asked)
            if not asked:
                answer(draft, run, fact.name, _LATER)


def _ask_for_leave(draft: Draft, run: Run, wish: Wish, judged: Judgement) -> bool:
    """Ask a person. The agent waits, and holds up nobody else; unanswered, it is a denial."""
    text = f"{run.instance} wants to {_worded(wish, _SHOWN)}\n    ({judged.why})"
    denied, options = Unanswered(DENY, judged.wait), (ALLOW, ALWAYS, DENY)
    return ask(draft, run.step, text, options, QuestionKind.PERMISSION, run.id, denied, leave_for(wish))


def leave_for(wish: Wish) -> Leave:
    """Return the rule that gives leave for a wish, and for the very same again."""
    source = "the user's answer"
    if wish.act is Act.RUN:
        return Leave(Ruling.ALLOW, Act.RUN, wish.command, source)
    if wish.act in {Act.READ, Act.WRITE} and wish.paths:
        return Leave(Ruling.ALLOW, wish.act, wish.paths[0], source)
    return Leave(Ruling.ALLOW, None, wish.tool, source)


def _worded(wish: Wish, most: int = 200) -> str:
    """Return a wish as a person would say it."""
    what = wish.command if wish.act is Act.RUN else ", ".join(wish.paths)
    said = f"{wish.act.value if wish.act is not Act.OTHER else 'use'} {what or wish.tool}"
    said = " ".join(said.split())
    return said if len(said) <= most else f"{said[: most - 1]}…"


def _ended(draft: Draft, run: Run, fact: EventLanded) -> None:
    """A turn is over, and its handoff was looked for before this was told (law 5)."""
    _runs_again(draft, run)
    if fact.event.background:
        _told(draft, run, fact, Turn.BUSY, f"waits for {fact.event.background} tasks in the background")
        return
    if has_decided(draft, run):
        _told(draft, run, fact, Turn.RESTING, "decided, and ended its turn")
        conclude(draft, draft.state.runs[run.id])
        return
    here = draft.step(run.step)
    if fact.waits and here.tally.asks < draft.limits.asks:
        draft.change(StepTallied(run.step, replace(here.tally, asks=here.tally.asks + 1)))
        _told(draft, run, fact, Turn.BUSY, "ended its turn without a handoff and was told to write it")
        answer(draft, run, fact.name, Reply(Say.GO_ON, _what_is_missing(here)))
        return
    _told(draft, run, fact, Turn.RESTING, "ended its turn without a handoff")
    end_run(draft, draft.state.runs[run.id], Ending.UNREPORTED)


def _what_is_missing(step: Step) -> str:
    if not is_consultation(step):
        return _ENDED_WITHOUT
    return "\n".join([_UNDECIDED, *step.feedback[-3:]])


def _failed(draft: Draft, run: Run, fact: EventLanded) -> None:
    failure = fact.event.failure or Failure.OTHER
    limited = failure is Failure.LIMIT
    evidence = f"its turn failed ({failure.value}): {fact.event.text}"
    _told(draft, run, fact, Turn.LIMITED if limited else Turn.RESTING, evidence)
    turn_failed(draft, draft.state.runs[run.id], failure, fact.event.text, fact.event.again_at)


def _runs_again(draft: Draft, run: Run) -> None:
    """The model's service answered: what is counted in a row begins anew."""
    tally = draft.step(run.step).tally
    if tally.limits or tally.overloads:
        draft.change(StepTallied(run.step, replace(tally, limits=0, overloads=0)))
        draft.notice(f"{run.instance} runs again")
