"""The user edits the plan of a running workflow: all edits or none, and only what they name changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.text import one_line
from orchestrator.formats.workflow.approval import plan_hash
from orchestrator.model.task import TaskState
from orchestrator.pm.plan.adaptation import AdaptationRefused
from orchestrator.pm.policies.adapting import adaptation_of, carry_out
from orchestrator.pm.state.changes import RequestAcknowledged

if TYPE_CHECKING:
    from orchestrator.model.facts import AdaptAsked
    from orchestrator.pm.state.draft import Draft

_CANNOT: Final = {
    TaskState.COMPLETE: "is complete: begin another workflow",
    TaskState.STOPPED: "is stopped: start it again first",
}
_NAMED: Final = 10


def adapt_asked(draft: Draft, fact: AdaptAsked) -> None:
    """Make the edits, and reply what they do to whom; or say why they change nothing."""
    draft.change(RequestAcknowledged(fact.request))
    refused = _refused(draft, fact)
    result = None if refused else adaptation_of(draft.state, fact.edits, by_user=True)
    if isinstance(result, AdaptationRefused):
        refused = "nothing is changed: " + "; ".join(result.reasons[:_NAMED])
    if refused or result is None or isinstance(result, AdaptationRefused):
        draft.reply, draft.refused = refused, True
        return
    carry_out(
        draft, result, fact.edits, by="user", cause=one_line(fact.why) or "the user asked", by_user=True
    )
    done = ", ".join(f"{agent} {effect.value.replace('_', ' ')}" for agent, effect in result.effects)
    draft.reply = f"adaptation {len(draft.state.adaptations)} of {draft.state.name}: {done}"


def _refused(draft: Draft, fact: AdaptAsked) -> str:
    plan = draft.state.brief.workflow
    if plan is None:
        return f"{draft.state.name} is no workflow: its plan is not edited like that"
    if said := _CANNOT.get(draft.state.state):
        return f"{draft.state.name} {said}"
    if fact.base and fact.base != plan_hash(plan):
        return f"the plan has changed since these edits were written: it is {plan_hash(plan)} now"
    return ""
