"""Decisions of the PM agent, carried out within the laws: none passes a gate, and each has its bound (H6, H9).

The next briefing says what could not be done. Only `**Action:**` and `**Target:**` have an effect (law 7).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.agents import Role
from orchestrator.model.consultation import Directive, PMAction
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending, Purpose
from orchestrator.pm.handlers.spawning import add_loose_steps
from orchestrator.pm.plan.advance import ACTIVE, end_run
from orchestrator.pm.plan.asking import CONTINUE, STUCK, WORDS, ask
from orchestrator.pm.plan.consultations import is_consultation
from orchestrator.pm.plan.plan_edits import planner
from orchestrator.pm.plan.readiness import may_be_ordered
from orchestrator.pm.policies.inactivity import progressed
from orchestrator.pm.policies.pm_agent_bounds import refused_order, refused_question, with_history
from orchestrator.pm.policies.reopen import feed, first_line, may_replan, replan
from orchestrator.pm.policies.retries import block
from orchestrator.pm.state.changes import HandoffSeen
from orchestrator.pm.state.consultation_changes import BriefingExtended, DecisionTaken
from orchestrator.pm.state.step_changes import StepOrdered, StepReported

if TYPE_CHECKING:
    from orchestrator.model.consultation import PMDecision
    from orchestrator.model.facts import DecisionLanded
    from orchestrator.model.plan import Step
    from orchestrator.model.run import Run
    from orchestrator.pm.state.draft import Draft

NAMED: Final = 5
_NO_AGENTS: Final = frozenset({Role.PM, Role.SCRIBE})


def decision_landed(draft: Draft, fact: DecisionLanded) -> None:
    """Carry out a decision, or report why it does not count. The same bytes again change nothing."""
    if draft.state.seen.get(fact.name) == fact.sha256:
        return
    draft.change(HandoffSeen(fact.name, fact.sha256))
    run = draft.state.runs.get(fact.run)
    if run is None or not _is_asked(draft, run):
        draft.notice(f"{fact.name} was ignored: the consultation that it answers is closed")
        return
    progressed(draft, run, fact.at)
    if fact.decision is None:
        reasons = "; ".join(map(str, fact.faults[:10]))
        feed(
            draft,
            run.step,
            f"Your handoff {fact.name} does not read: {reasons}. Write it anew, by another name.",
        )
        return
    refused = _carry_out(draft, run, fact.decision)
    words = fact.decision.action, fact.decision.target
    frees = fact.decision.action is PMAction.COMPLETE and not refused
    draft.change(
        DecisionTaken(run.step, fact.name, *words, refused, frees), StepReported(run.step, fact.name, ())
    )
    if refused:
        wanted = " ".join(filter(None, words))
        draft.change(BriefingExtended((f"your {wanted} was not carried out: {refused}",)))


def _is_asked(draft: Draft, run: Run) -> bool:
    step = draft.state.steps[run.step]
    asked = run.step == draft.state.consultation.step and run.purpose is Purpose.WORK
    works = run.live and (step.attempt, step.state) == (run.attempt, StepState.WORKING)
    return asked and works and draft.state.state in ACTIVE


def _carry_out(draft: Draft, run: Run, decision: PMDecision) -> str:
    """Carry out a decision. Return why that is impossible; empty if it is done."""
    match decision.action:
        case PMAction.ORDER:
            return _order(draft, run, decision)
        case PMAction.COMPLETE:
            return _what_is_open(draft)
        case PMAction.ASK:
            return _ask(draft, run, decision)
        case PMAction.REPLAN:
            return _replan(draft, decision)
        case PMAction.END:
            return _end(draft, decision)
        case PMAction.WAIT:
            return ""


def _order(draft: Draft, run: Run, decision: PMDecision) -> str:
    """Let a step start: the named one, the first ready one of an agent, or a new one outside the plan."""
    directive = Directive(decision.instructions, decision.context, decision.skills, decision.criteria)
    steps, target = draft.state.steps, decision.target
    ready = may_be_ordered(draft.state)
    if target in steps and steps.mark(target) & ready:
        draft.change(StepOrdered(target, directive))
        return ""
    agent = draft.state.agents.get(target)
    if agent is None:
        here = steps.get(target)
        return (
            f"{target} may not start now: it is {here.state.value}"
            if here
            else f"there is no step or agent {target}"
        )
    if agent.role in _NO_AGENTS:
        return f"{target} takes no orders"
    if (first := steps.first(ready & steps.of_agent(target))) is not None:
        draft.change(StepOrdered(first.id, directive))
        return ""
    loose = sum(not (step.subtask or step.judges or is_consultation(step)) for step in steps.values())
    if loose >= draft.limits.max_subtasks:
        return f"{loose} steps outside the plan exist already (limits.max_subtasks)"
    if refused := refused_order(draft, run, agent.name, decision.instructions):
        return refused
    step, *judges = add_loose_steps(draft, agent, decision.instructions, unplanned=True)
    draft.change(
        StepOrdered(step, replace(directive, instructions="")), *(StepOrdered(each) for each in judges)
    )
    return ""


def _what_is_open(draft: Draft) -> str:
    """Return what is still open and prevents COMPLETE. It passes no gate: the last review marks the criteria."""
    steps = draft.state.steps
    left = [
        step.id
        for step in steps.among(steps.unsettled)
        if not (is_consultation(step) or Gate.CRITERIA in step.gates)
    ]
    left += [question.id for question in draft.state.open_questions]
    more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
    return f"these are open: {', '.join(left[:NAMED])}{more}" if left else ""


def _ask(draft: Draft, run: Run, decision: PMDecision) -> str:
    """Ask the user. Only a named step that could begin waits for the answer (law 10)."""
    steps = draft.state.steps
    target = steps.get(decision.target)
    if decision.target and target is None:
        return f"there is no step {decision.target}"
    text, most = decision.instructions or decision.context, draft.limits.max_repeated_questions
    if refused := refused_question(draft.state, text, most):
        return refused
    text = with_history(draft.state, text, most)
    # A step that waits for others anyway is asked about without being blocked.
    if (
        target is not None
        and not is_consultation(target)
        and steps.mark(target.id) & steps.pending & steps.ready
    ):
        options = tuple(dict.fromkeys((*decision.options, *STUCK)))
        block(draft, target.id, text, options, QuestionKind.PM)
        return ""
    options = tuple(option for option in decision.options if option.lower() not in WORDS)
    if ask(draft, run.step, text, options or (CONTINUE,), QuestionKind.PM):
        return ""
    return "a question without a step is open already: wait for its answer"


def _replan(draft: Draft, decision: PMDecision) -> str:
    """Give a subtask up, and have its goal planned anew, within `limits.max_replans`."""
    steps = draft.state.steps
    step = steps.first(steps.of_subtask(decision.target)) or steps.get(decision.target)
    if step is None or not step.subtask:
        return f"{decision.target} is no subtask"
    if all(each.settled for each in steps.among(steps.of_subtask(step.subtask))):
        return f"the subtask {step.subtask} is settled: what is done stays done"
    plan = planner(draft.state)
    if plan is None:
        return "nothing in this task plans: give orders instead"
    if plan.state is not StepState.PASSED:
        return "planning is under way already"
    if not may_replan(draft, step.id):
        return "it was planned anew as often as it may be (limits.max_replans)"
    why = first_line(decision.instructions or decision.context)
    feed(draft, step.id, f"The PM: {decision.instructions or decision.context or why}")
    replan(draft, step.id, f"the PM gave it up: {why}")
    draft.change(StepOrdered(plan.id))
    return ""


def _end(draft: Draft, decision: PMDecision) -> str:
    """End a run; its step goes on with another, counted against `limits.max_inactive_runs`."""
    for run in draft.state.live_runs:
        if decision.target not in {run.instance, run.id} or is_consultation(draft.step(run.step)):
            continue
        if _may_be_ended(draft.step(run.step), run):
            why = decision.instructions or decision.context
            if why:
                feed(draft, run.step, f"The PM ended the last try: {why}")
            end_run(draft, run, Ending.BY_PM)
            return ""
        return f"{run.instance} is leaving already"
    return f"no run of {decision.target} lives"


def _may_be_ended(step: Step, run: Run) -> bool:
    works = (step.attempt, step.state) == (run.attempt, StepState.WORKING)
    return works and run.ending is Ending.NOT and run.reported_at is None
