"""Permission requests of agents: answered by the rules at once, or by a person for whom the agent waits (U3)."""

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
from orchestrator.pm.plan.acknowledgements import answer, record_event, runs_again
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
"""How many characters of a tool request a question shows."""


def asked(draft: Draft, run: Run, fact: EventLanded) -> None:
    """Answer a permission request by the rules, or ask a person."""
    wish, judged = fact.event.wish, fact.judgement
    if not fact.waits:
        record_event(draft, run, fact, Turn.WAITING, "asks for permission on its screen")
        watch(draft, run)
        return
    if wish is None or judged is None:
        record_event(draft, run, fact, Turn.WAITING, "asks for a permission that cannot be parsed")
        answer(draft, run, fact.name, Reply(Say.DENY, "Your permission request cannot be parsed."))
        return
    what = _worded(wish)
    match judged.ruling:
        case Ruling.ALLOW:
            record_event(draft, run, fact, Turn.BUSY, f"was allowed to {what} ({judged.why})")
            runs_again(draft, run)
            _record_request(draft, run, wish, fact.at)
            answer(draft, run, fact.name, Reply(Say.ALLOW))
        case Ruling.DENY:
            record_event(draft, run, fact, Turn.BUSY, f"was not allowed to {what} ({judged.why})")
            answer(draft, run, fact.name, Reply(Say.DENY, judged.why))
        case Ruling.ASK:
            is_asked = _ask_for_permission(draft, run, wish, judged)
            evidence = f"waits for permission to {what} ({judged.why})"
            record_event(draft, run, fact, Turn.WAITING, evidence, waits=is_asked)
            if not is_asked:
                answer(draft, run, fact.name, _LATER)


def _record_request(draft: Draft, run: Run, wish: Wish, at: float) -> None:
    """Count a tool request as a sign of work only if it is new: repeated requests are no progress.

    If its program keeps records, these show more: the results of its calls.
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
    """Pass on a person's answer, or the default, to the program that waits for permission."""
    run = draft.state.runs.get(question.run)
    if run is None or not run.live or not run.waits_for:
        return
    word = text.strip().lower()
    if word == ALWAYS and question.leave is not None:
        draft.change(RuleGiven(question.leave))
    progressed(draft, run, draft.at)  # it was not inactive: it waited for this
    if word in {ALLOW, ALWAYS}:
        answer(draft, run, run.waits_for, Reply(Say.ALLOW))
    else:
        said = "Permission is denied." if word == DENY else f"The user says: {text.strip()}"
        answer(draft, run, run.waits_for, Reply(Say.DENY, f"{said} Find another way, or hand in BLOCKED."))


def leave_for(wish: Wish) -> Leave:
    """Return the rule that permits a tool request and exact repetitions of it."""
    source = "the user's answer"
    if wish.act is Act.RUN:
        return Leave(Ruling.ALLOW, Act.RUN, wish.command, source)
    if wish.act in {Act.READ, Act.WRITE} and wish.paths:
        return Leave(Ruling.ALLOW, wish.act, wish.paths[0], source)
    return Leave(Ruling.ALLOW, None, wish.tool, source)


def _ask_for_permission(draft: Draft, run: Run, wish: Wish, judged: Judgement) -> bool:
    """Ask a person. Meanwhile the agent waits, and blocks nobody else; no answer is a denial."""
    text = f"{run.instance} wants to {_worded(wish, _SHOWN)}\n    ({judged.why})"
    denied, options = Unanswered(DENY, judged.wait), (ALLOW, ALWAYS, DENY)
    return ask(draft, run.step, text, options, QuestionKind.PERMISSION, run.id, denied, leave_for(wish))


def _worded(wish: Wish, most: int = 200) -> str:
    """Return a tool request in words that a person would use."""
    what = wish.command if wish.act is Act.RUN else ", ".join(wish.paths)
    said = f"{wish.act.value if wish.act is not Act.OTHER else 'use'} {what or wish.tool}"
    said = " ".join(said.split())
    return said if len(said) <= most else f"{said[: most - 1]}…"
