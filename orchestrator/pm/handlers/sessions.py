"""Commands take the session of a composite skill back from its task, as the daemon takes one over from commands (S4).

From then on the task is over: it never goes on. The daemon that is to drive the session again does so in a new task.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.model.actions import Notify
from orchestrator.pm.handlers.rebasing import rest
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.pm.plan.asking import withdraw_question
from orchestrator.pm.plan.composite.driven import phases_to_do
from orchestrator.pm.state.changes import BriefTaken, RequestAcknowledged

if TYPE_CHECKING:
    from orchestrator.model.composite import SkillPlan
    from orchestrator.model.facts import SessionAsked
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState


def session_asked(draft: Draft, fact: SessionAsked) -> None:
    """Let commands drive the session of a task at rest. The state file says so once it was written."""
    draft.change(RequestAcknowledged(fact.request))
    plan = draft.state.brief.skill
    if plan is None:
        draft.reply, draft.refused = f"{draft.state.name} carries out no composite skill", True
        return
    if plan.returned:
        draft.reply = f"commands drive the session of {draft.state.name} already"
        return
    if why := _against(draft.state, plan):
        draft.reply, draft.refused = why, True
        return
    for question in draft.state.open_questions:
        withdraw_question(draft, question)
    draft.change(BriefTaken(replace(draft.state.brief, skill=replace(plan, returned=True))))
    rest(draft, "commands took its session back")
    draft.reply = f"{draft.state.name} is over: commands drive its session"


def _against(state: PMState, plan: SkillPlan) -> str:
    """Return why the session cannot be had now; empty if it can."""
    if state.state in ACTIVE:
        return f"{state.name} is {state.state}: `task stop {state.id}` first"
    if not phases_to_do(plan, state):
        return f"{state.name} is {state.state}: no phase is left to work on"
    if state.live_runs or not all(isinstance(action, Notify) for action in state.outbox.values()):
        return f"{state.name} is ending what it has begun: try again in a moment"
    return ""
