"""What verifiers and resolvers write: `verification_results.json`, `poc_decision.json`, `resolution_N.json`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from typing import Any

from orchestrator.formats.text import FILE_BYTES
from orchestrator.formats.workflow.edits import edit_values, edits_in
from orchestrator.formats.workflow.json_text import overlaid, rewritten
from orchestrator.formats.workflow.nodes import Fields, read_json
from orchestrator.formats.workflow.session import checked_task_id
from orchestrator.model.workflow import DECISION_FILE, RESULTS_FILE
from orchestrator.model.workflow_records import (
    EscalationResolution,
    PocDecision,
    PocEvidence,
    PocJudgement,
    ResolutionItem,
    Route,
    VerificationResults,
)


class _Result(StrEnum):
    FAIL = "fail"


_ALLOWED_DECISIONS = {
    PocEvidence.PASS: tuple(PocDecision),
    PocEvidence.PARTIAL: (PocDecision.ADAPT, PocDecision.ASK),
    PocEvidence.FAIL: (PocDecision.ASK,),
}


def read_results(data: bytes, name: str = RESULTS_FILE, limit: int = FILE_BYTES) -> VerificationResults:
    """Return what a verifier missed.

    Raises:
        BadFile: with every fault: no JSON, a result other than `fail`, nothing that is missing.

    """
    return read_json(data, name, _results, limit)


def render_results(results: VerificationResults, base: bytes = b"") -> bytes:
    """Return results as a file; fields of `base` that we do not know stay."""
    return rewritten(results, base, read_results, partial(_results_document, results))


def read_judgement(data: bytes, name: str = DECISION_FILE, limit: int = FILE_BYTES) -> PocJudgement:
    """Return what a verifier decided about a proof of concept.

    Raises:
        BadFile: with every fault; also a decision that is bolder than the evidence, or edits without `adapt`.

    """
    return read_json(data, name, _judgement, limit)


def render_judgement(judgement: PocJudgement, base: bytes = b"") -> bytes:
    """Return a judgement as a file; fields of `base` that we do not know stay."""
    return rewritten(judgement, base, read_judgement, partial(_judgement_document, judgement))


def read_resolution(
    data: bytes, name: str = "resolution.json", limit: int = FILE_BYTES
) -> EscalationResolution:
    """Return how a resolver answers the escalated notes of one agent.

    Raises:
        BadFile: with every fault; also an answer without text, or an `edit` without edits.

    """
    return read_json(data, name, _resolution, limit)


def render_resolution(resolution: EscalationResolution, base: bytes = b"") -> bytes:
    """Return a resolution as a file; fields of `base` that we do not know stay."""
    return rewritten(resolution, base, read_resolution, partial(_resolution_document, resolution))


def _results(found: Fields) -> VerificationResults:
    found.member("result", _Result)
    results = VerificationResults(
        checked_task_id(found), found.integer("timestamp"), found.texts("missing_evidence")
    )
    if not results.missing_evidence:
        found.fault("`missing_evidence` is empty: name what is missing, or delete the file to pass the work")
    return results


def _results_document(results: VerificationResults, old: Mapping[str, Any]) -> dict[str, Any]:
    return overlaid(
        old,
        {
            "task_id": results.task_id,
            "timestamp": results.timestamp,
            "result": _Result.FAIL.value,
            "missing_evidence": list(results.missing_evidence),
        },
    )


def _judgement(found: Fields) -> PocJudgement:
    evidence = found.member("evidence", PocEvidence)
    decision = found.member("decision", PocDecision)
    allowed = _ALLOWED_DECISIONS[evidence]
    if decision not in allowed and found.has("evidence") and found.has("decision"):
        can = " or ".join(allowed)
        found.fault(f"`decision` is {decision}, but the evidence is {evidence}: write {can}")
    edits = edits_in(found)
    if edits and decision is not PocDecision.ADAPT:
        found.fault(f"`edits` only belong to `adapt`, and `decision` is {decision}: remove them")
    if decision is PocDecision.ADAPT and not edits and decision in allowed:
        found.fault("`decision` is adapt, and there are no `edits`: write them, or `ask`")
    return PocJudgement(
        task_id=checked_task_id(found),
        timestamp=found.integer("timestamp"),
        evidence=evidence,
        decision=decision,
        rationale=found.text("rationale", blank=False),
        edits=edits,
    )


def _judgement_document(judgement: PocJudgement, old: Mapping[str, Any]) -> dict[str, Any]:
    return overlaid(
        old,
        {
            "task_id": judgement.task_id,
            "timestamp": judgement.timestamp,
            "evidence": judgement.evidence.value,
            "decision": judgement.decision.value,
            "rationale": judgement.rationale,
            "edits": [edit_values(edit) for edit in judgement.edits],
        },
        {"edits": []},
    )


def _resolution(found: Fields) -> EscalationResolution:
    items = tuple(_item(each) for each in found.objects("items", required=True))
    if not items and found.has("items"):
        found.fault("`items` is empty: answer each escalated note")
    return EscalationResolution(checked_task_id(found), found.integer("timestamp"), items)


def _item(found: Fields) -> ResolutionItem:
    route = found.member("route", Route)
    item = ResolutionItem(
        agent=found.name("agent"),
        note=found.text("note_id", blank=False),
        route=route,
        text=found.text("text", "" if route is Route.EDIT else None, blank=route is Route.EDIT),
        checked=found.names("checked"),
        overrides=found.texts("overrides"),
        edits=edits_in(found),
    )
    if route is Route.EDIT and not item.edits:
        found.fault(f"`{found.path('route')}` is edit, and there are no `edits`: write them")
    return item


def _resolution_document(resolution: EscalationResolution, old: Mapping[str, Any]) -> dict[str, Any]:
    items = [
        {
            "agent": item.agent,
            "note_id": item.note,
            "route": item.route.value,
            "text": item.text,
            "checked": list(item.checked),
            "overrides": list(item.overrides),
            "edits": [edit_values(edit) for edit in item.edits],
        }
        for item in resolution.items
    ]
    new = {"task_id": resolution.task_id, "timestamp": resolution.timestamp, "items": items}
    return overlaid(old, new)
