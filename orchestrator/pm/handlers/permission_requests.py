"""Leave for what an agent wishes to do: given or denied by the rules at once, or by a person whom it waits for (U3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.transcript_records import fingerprint
from orchestrator.model.activity import Called, Returned
from orchestrator.model.event import Reply, Say
from orchestrator.model.permission import Act, Ruling
from orchestrator.model.permission import PermissionRule as Leave
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Turn
from orchestrator.model.task import Unanswered
from orchestrator.pm.plan.acknowledgements import answer, runs_again, told
from orchestrator.pm.plan.asking import ALLOW, ALWAYS, DENY, ask
from orchestrator.pm.policies.inactivity import progressed, watch
from orchestrator.pm.policies.repetition import goes_round, repeats
from orchestrator.pm.state.changes import RuleGiven
from orchestrator.pm.state.run_changes import RunWished
from orchestrator.pm.state.tracing import Trace

if TYPE_CHECKING:
    from orchestrator.model.facts import EventLanded
    from orchestrator.model.permission import Judgement, Wish
    from orchestrator.model.question import Question
    from orchestrator.model.run import Run
    from orchestrator.pm.state.draft import Draft

_LATER: Final = Reply(
    Say.DENY, "Something else is being asked about your work. Do without, or try this again later."
)
_SHOWN: Final = 600
"""Characters of a wish that a question shows."""


def asked(draft: Draft, run: Run, fact: EventLanded) -> None:
    """Answer a wish by the rules, or have a person asked."""
    wish, judged = fact.event.wish, fact.judgement
    if not fact.waits:
        told(draft, run, fact, Turn.WAITING, "asks leave at its screen")
        watch(draft, run)
        return
    if wish is None or judged is None:
        told(draft, run, fact, Turn.WAITING, "asks leave for what does not read")
        answer(draft, run, fact.name, Reply(Say.DENY, "What you asked leave for does not read."))
        return
    what = _worded(wish)
    match judged.ruling:
        case Ruling.ALLOW:
            told(draft, run, fact, Turn.BUSY, f"was allowed to {what} ({judged.why})")
            runs_again(draft, run)
            _wished(draft, run, wish, fact.at)
            answer(draft, run, fact.name, Reply(Say.ALLOW))
        case Ruling.DENY:
            told(draft, run, fact, Turn.BUSY, f"was not allowed to {what} ({judged.why})")
            answer(draft, run, fact.name, Reply(Say.DENY, judged.why))
        case Ruling.ASK:
            asked = _ask_for_leave(draft, run, wish, judged)
            evidence = f"waits for leave to {what} ({judged.why})"
            told(draft, run, fact, Turn.WAITING, evidence, waits=asked)
            if not asked:
                answer(draft, run, fact.name, _LATER)


def _wished(draft: Draft, run: Run, wish: Wish, at: float) -> None:
    """Take a wish for a sign of work only if it is a new one: leave that is given again and again is no progress.

    Where a program keeps records, these tell more: what came of it.
    """
    if run.records:
        return
    known = 0 if wish.act is Act.WRITE else fingerprint(wish.act, wish.tool, wish.command, *wish.paths)
    if known not in run.wishes or not known:
        progressed(draft, run, at)
    draft.change(RunWished(run.id, known))
    trace = Trace()
    for number, each in enumerate(draft.state.runs[run.id].wishes):
        called = Called(str(number), each or -number, _worded(wish))
        trace.take(called, number)
        trace.take(Returned(called.id, 0), number)
    seen = trace.activity(-1.0)
    if repeats(run, seen, draft.limits):
        goes_round(draft, draft.state.runs[run.id], seen)


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


def leave_for(wish: Wish) -> Leave:
    """Return the rule that gives leave for a wish, and for the very same again."""
    source = "the user's answer"
    if wish.act is Act.RUN:
        return Leave(Ruling.ALLOW, Act.RUN, wish.command, source)
    if wish.act in {Act.READ, Act.WRITE} and wish.paths:
        return Leave(Ruling.ALLOW, wish.act, wish.paths[0], source)
    return Leave(Ruling.ALLOW, None, wish.tool, source)


def _ask_for_leave(draft: Draft, run: Run, wish: Wish, judged: Judgement) -> bool:
    """Ask a person. The agent waits, and holds up nobody else; unanswered, it is a denial."""
    text = f"{run.instance} wants to {_worded(wish, _SHOWN)}\n    ({judged.why})"
    denied, options = Unanswered(DENY, judged.wait), (ALLOW, ALWAYS, DENY)
    return ask(draft, run.step, text, options, QuestionKind.PERMISSION, run.id, denied, leave_for(wish))


def _worded(wish: Wish, most: int = 200) -> str:
    """Return a wish as a person would say it."""
    what = wish.command if wish.act is Act.RUN else ", ".join(wish.paths)
    said = f"{wish.act.value if wish.act is not Act.OTHER else 'use'} {what or wish.tool}"
    said = " ".join(said.split())
    return said if len(said) <= most else f"{said[: most - 1]}…"
