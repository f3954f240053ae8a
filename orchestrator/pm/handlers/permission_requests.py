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
from orchestrator.pm.state.run_changes import RunToolRequested
from orchestrator.pm.state.tracing import Trace

if TYPE_CHECKING:
    from orchestrator.model.facts import EventLanded
    from orchestrator.model.permission import Judgement, ToolRequest
    from orchestrator.model.question import Question
    from orchestrator.model.run import Run
    from orchestrator.pm.state.draft import Draft

_LATER: Final = Reply(
    Say.DENY, "Something else is being asked about your work. Do without, or try this again later."
)
_SHOWN: Final = 600
"""Characters of a request that a question shows."""


def asked(draft: Draft, run: Run, fact: EventLanded) -> None:
    """Answer a request by the rules, or have a person asked."""
    request, judged = fact.event.tool_request, fact.judgement
    if not fact.waits:
        told(draft, run, fact, Turn.WAITING, "asks leave at its screen")
        watch(draft, run)
        return
    if request is None or judged is None:
        told(draft, run, fact, Turn.WAITING, "asks leave for what does not read")
        answer(draft, run, fact.name, Reply(Say.DENY, "What you asked leave for does not read."))
        return
    what = _worded(request)
    match judged.ruling:
        case Ruling.ALLOW:
            told(draft, run, fact, Turn.BUSY, f"was allowed to {what} ({judged.why})")
            runs_again(draft, run)
            _note_request(draft, run, request, fact.at)
            answer(draft, run, fact.name, Reply(Say.ALLOW))
        case Ruling.DENY:
            told(draft, run, fact, Turn.BUSY, f"was not allowed to {what} ({judged.why})")
            answer(draft, run, fact.name, Reply(Say.DENY, judged.why))
        case Ruling.ASK:
            asked = _ask_for_leave(draft, run, request, judged)
            evidence = f"waits for leave to {what} ({judged.why})"
            told(draft, run, fact, Turn.WAITING, evidence, waits=asked)
            if not asked:
                answer(draft, run, fact.name, _LATER)


def _note_request(draft: Draft, run: Run, request: ToolRequest, at: float) -> None:
    """Take a request for a sign of work only if it is a new one: leave that is given again and again is no progress.

    Where a program keeps records, these tell more: what came of it.
    """
    if run.records:
        return
    known = (
        0
        if request.act is Act.WRITE
        else fingerprint(request.act, request.tool, request.command, *request.paths)
    )
    if known not in run.tool_requests or not known:
        progressed(draft, run, at)
    draft.change(RunToolRequested(run.id, known))
    trace = Trace()
    for number, each in enumerate(draft.state.runs[run.id].tool_requests):
        called = Called(str(number), each or -number, _worded(request))
        trace.take(called, number)
        trace.take(Returned(called.id, 0), number)
    seen = trace.activity(-1.0)
    if repeats(run, seen, draft.limits):
        goes_round(draft, draft.state.runs[run.id], seen)


def permitted(draft: Draft, question: Question, text: str) -> None:
    """Carry what a person, or the deadline, said of a request to the program that waits."""
    run = draft.state.runs.get(question.run)
    if run is None or not run.live or not run.waits_for:
        return
    word = text.strip().lower()
    if word == ALWAYS and question.permission is not None:
        draft.change(RuleGiven(question.permission))
    progressed(draft, run, draft.at)  # it was not silent: it waited for this
    if word in {ALLOW, ALWAYS}:
        answer(draft, run, run.waits_for, Reply(Say.ALLOW))
    else:
        said = "Nobody gives leave for this." if word == DENY else f"The user says: {text.strip()}"
        answer(draft, run, run.waits_for, Reply(Say.DENY, f"{said} Find another way, or hand in BLOCKED."))


def leave_for(request: ToolRequest) -> Leave:
    """Return the rule that gives leave for a request, and for the very same again."""
    source = "the user's answer"
    if request.act is Act.RUN:
        return Leave(Ruling.ALLOW, Act.RUN, request.command, source)
    if request.act in {Act.READ, Act.WRITE} and request.paths:
        return Leave(Ruling.ALLOW, request.act, request.paths[0], source)
    return Leave(Ruling.ALLOW, None, request.tool, source)


def _ask_for_leave(draft: Draft, run: Run, request: ToolRequest, judged: Judgement) -> bool:
    """Ask a person. The agent waits, and holds up nobody else; unanswered, it is a denial."""
    text = f"{run.instance} wants to {_worded(request, _SHOWN)}\n    ({judged.why})"
    denied, options = Unanswered(DENY, judged.wait), (ALLOW, ALWAYS, DENY)
    return ask(draft, run.step, text, options, QuestionKind.PERMISSION, run.id, denied, leave_for(request))


def _worded(request: ToolRequest, most: int = 200) -> str:
    """Return a request as a person would say it."""
    what = request.command if request.act is Act.RUN else ", ".join(request.paths)
    said = f"{request.act.value if request.act is not Act.OTHER else 'use'} {what or request.tool}"
    said = " ".join(said.split())
    return said if len(said) <= most else f"{said[: most - 1]}…"
