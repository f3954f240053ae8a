"""The gate of a resolver: its file answers each note, and the answers were checked against the tasks of others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.model.escalation import CaseState, EscalationCase, Via
from orchestrator.model.workflow_records import Resolver, Route
from orchestrator.pm.plan.adaptation import AdaptationRefused
from orchestrator.pm.plan.answer_checks import to_check
from orchestrator.pm.policies.adapting import adaptation_of, carry_out
from orchestrator.pm.policies.escalation_questions import move
from orchestrator.pm.policies.gates.kind import GateKind
from orchestrator.pm.policies.retries import ask_again

if TYPE_CHECKING:
    from orchestrator.model.escalation import CaseNote
    from orchestrator.model.handoff import Report
    from orchestrator.model.workflow import WorkflowPlan
    from orchestrator.model.workflow_records import EscalationResolution, ResolutionItem
    from orchestrator.pm.state.draft import Draft


class ResolutionGate(GateKind):
    """Each escalated note has an item that holds."""

    def take(self, draft: Draft, step: str, report: Report) -> bool:
        """Take the answers, the routes and the edits; have the file written again if any of them does not hold."""
        plan = draft.state.brief.workflow
        said = report.turn.resolution if report.turn else None
        case = next(
            (each for each in draft.state.cases.values() if each.answering == step and each.open), None
        )
        if plan is None or said is None or case is None or case.state is not CaseState.ASKED:
            return False
        if faults := _faults(plan, case, said):
            ask_again(draft, step, "; ".join(faults[:10]))
            return True
        edits = tuple(edit for item in said.items if item.route is Route.EDIT for edit in item.edits)
        result = adaptation_of(draft.state, edits, by_user=False) if edits else None
        if isinstance(result, AdaptationRefused):
            ask_again(draft, step, f"the plan cannot be changed like that: {'; '.join(result.reasons[:5])}")
            return True
        approved = result is None or not result.voids
        items = {item.note: item for item in said.items}
        notes = tuple(
            _routed(plan, case, note, items[note.id], approved=approved) if note.id in items else note
            for note in case.notes
        )
        passed_on = any(note.via is not Via.NOBODY for note in notes)
        move(draft, case, notes=notes, state=CaseState.WAITING, depth=case.depth + passed_on)
        if result is not None and approved:
            cause = f"escalation {case.number} of {case.agent}"
            carry_out(draft, result, edits, by=draft.step(step).agent, cause=cause, by_user=False)
        return False


def _faults(plan: WorkflowPlan, case: EscalationCase, said: EscalationResolution) -> list[str]:
    wanted = [note.id for note in case.notes if note.via is case.to]
    found = [
        f"there is no item for {each}" for each in wanted if each not in {item.note for item in said.items}
    ]
    named = [item.note for item in said.items]
    found += [f"{each} has two items" for each in dict.fromkeys(named) if named.count(each) > 1]
    must = to_check(plan, case.agent)
    for item in said.items:
        if item.agent != case.agent or item.note not in wanted:
            found.append(f"{item.agent} {item.note} is not asked for")
            continue
        if item.route is Route.ARCHITECT and not plan.escalation.architect:
            found.append(f"{item.note}: the plan has no architect, so route it to the user")
        missing = [each for each in must if each not in item.checked]
        if item.route in {Route.ANSWER, Route.EDIT} and missing:
            found.append(
                f"{item.note}: check the answer against {', '.join(missing)} too, and name them in `checked`"
            )
    return found


def _routed(
    plan: WorkflowPlan, case: EscalationCase, note: CaseNote, item: ResolutionItem, *, approved: bool
) -> CaseNote:
    note = replace(note, checked=item.checked, overrides=item.overrides)
    if item.route is Route.EDIT and not approved:
        return replace(note, via=Via.USER, put=item.text or note.put, edits=item.edits)
    if item.route in {Route.ANSWER, Route.EDIT}:
        text = item.text or "The plan was changed: read your instructions again."
        if note.by is Resolver.USER and note.answer and text.strip() != note.answer.strip():
            text = f"{note.answer}\n({case.to}: {text})"  # the user's own words stay
        return replace(note, via=Via.NOBODY, answer=text)
    too_deep = case.depth >= plan.bounds.depth
    via = Via.ARCHITECT if item.route is Route.ARCHITECT and not too_deep else Via.USER
    return replace(note, via=via, put=item.text or note.put, answer="", by=Resolver.EXECUTOR)
