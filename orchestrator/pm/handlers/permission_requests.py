"""Permission requests of agents: answered by the rules at once, or by a person for whom the agent waits (U3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.transcript_records import fingerprint
from orchestrator.model.activity import Called, Returned
from orchestrator.model.event import Reply, Say
from orchestrator.model.permission import Act, PermissionDecision, PermissionRule
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Turn
from orchestrator.model.task import Unanswered
from orchestrator.pm.plan.acknowledgements import answer, record_event, runs_again
from orchestrator.pm.plan.asking import ALLOW, ALWAYS, DENY, USER, ask
from orchestrator.pm.policies.inactivity import progressed, watch
from orchestrator.pm.policies.repetition import goes_round, repeats
from orchestrator.pm.state.changes import RuleGiven
from orchestrator.pm.state.run_changes import RunToolRequested
from orchestrator.pm.state.tracing import Trace

if TYPE_CHECKING:
    from orchestrator.model.facts import EventLanded
    from orchestrator.model.question import Question
    from orchestrator.model.run import Run
    from orchestrator.model.tool_request import Judgement, ToolRequest
    from orchestrator.pm.state.draft import Draft

_LATER: Final = Reply(
    Say.DENY, "Something else is being asked about your work. Do without, or try this again later."
)
_SHOWN: Final = 600
"""How many characters of a tool request a question shows."""


def asked(draft: Draft, run: Run, fact: EventLanded) -> None:
    """Answer a permission request by the rules, or ask a person."""
    request, judged = fact.event.tool_request, fact.judgement
    if not fact.waits:
        record_event(draft, run, fact, Turn.WAITING, "asks for permission on its screen")
        watch(draft, run)
        return
    if request is None or judged is None:
        record_event(draft, run, fact, Turn.WAITING, "asks for a permission that cannot be parsed")
        answer(draft, run, fact.name, Reply(Say.DENY, "Your permission request cannot be parsed."))
        return
    what = _worded(request)
    match judged.decision:
        case PermissionDecision.ALLOW:
            record_event(draft, run, fact, Turn.BUSY, f"was allowed to {what} ({judged.why})")
            runs_again(draft, run)
            _record_request(draft, run, request, fact.at)
            answer(draft, run, fact.name, Reply(Say.ALLOW))
        case PermissionDecision.DENY:
            record_event(draft, run, fact, Turn.BUSY, f"was not allowed to {what} ({judged.why})")
            answer(draft, run, fact.name, Reply(Say.DENY, judged.why))
        case PermissionDecision.ASK:
            is_asked = _ask_for_permission(draft, run, request, judged)
            evidence = f"waits for permission to {what} ({judged.why})"
            record_event(draft, run, fact, Turn.WAITING, evidence, waits=is_asked)
            if not is_asked:
                answer(draft, run, fact.name, _LATER)


def _record_request(draft: Draft, run: Run, request: ToolRequest, at: float) -> None:
    """Count a tool request as a sign of work only if it is new: repeated requests are no progress.

    If its program keeps records, these show more: the results of its calls.
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


def permitted(draft: Draft, question: Question) -> None:
    """Pass on a person's answer, or the default, to the program that waits for permission."""
    text = question.answer
    run = draft.state.runs.get(question.run)
    if run is None or not run.live or not run.waits_for:
        return
    word = text.strip().lower()
    if word == ALWAYS and question.permission is not None:
        draft.change(RuleGiven(question.permission))
    progressed(draft, run, draft.at)  # it was not inactive: it waited for this
    if word in {ALLOW, ALWAYS}:
        answer(draft, run, run.waits_for, Reply(Say.ALLOW))
    else:
        said = "Permission is denied." if word == DENY else f"The user says: {text.strip()}"
        if question.by != USER:
            said = "Nobody answered in time, so permission is denied."
        answer(draft, run, run.waits_for, Reply(Say.DENY, f"{said} Find another way, or hand in BLOCKED."))


def leave_for(request: ToolRequest) -> PermissionRule:
    """Return the rule that permits a tool request and exact repetitions of it."""
    source = "the user's answer"
    if request.act is Act.RUN:
        return PermissionRule(PermissionDecision.ALLOW, Act.RUN, request.command, source)
    if request.act in {Act.READ, Act.WRITE} and request.paths:
        return PermissionRule(PermissionDecision.ALLOW, request.act, request.paths[0], source)
    return PermissionRule(PermissionDecision.ALLOW, None, request.tool, source)


def _ask_for_permission(draft: Draft, run: Run, request: ToolRequest, judged: Judgement) -> bool:
    """Ask a person. Meanwhile the agent waits, and blocks nobody else; no answer is a denial."""
    text = f"{run.instance} wants to {_worded(request, _SHOWN)}\n    ({judged.why})"
    denied, options = Unanswered(DENY, judged.wait), (ALLOW, ALWAYS, DENY)
    return ask(draft, run.step, text, options, QuestionKind.PERMISSION, run.id, denied, leave_for(request))


def _worded(request: ToolRequest, most: int = 200) -> str:
    """Return a tool request in words that a person would use."""
    what = request.command if request.act is Act.RUN else ", ".join(request.paths)
    said = f"{request.act.value if request.act is not Act.OTHER else 'use'} {what or request.tool}"
    said = " ".join(said.split())
    return said if len(said) <= most else f"{said[: most - 1]}…"
