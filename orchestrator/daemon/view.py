"""What the scribe is told of a task: its milestones as a tired person would want them, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import Gate, StepState
from orchestrator.model.run import Purpose
from orchestrator.model.task import Phase, WorkspaceKind
from orchestrator.pm.usage_limits import parked, shown_reset
from orchestrator.scribe.progress import AgentUsage, Limited, Milestone, OpenQuestion, PMView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.plan import Step
    from orchestrator.pm.state import PMState

_DOING: Final = {
    Phase.EXPLORING: "exploring",
    Phase.PLANNING: "planning",
    Phase.DEVELOPING: "developing",
    Phase.TESTING: "testing",
    Phase.REVIEWING: "reviewing",
}
_STANDS: Final = {
    StepState.BLOCKED: "waits for an answer",
    StepState.FAILED: "failed",
    StepState.SET_ASIDE: "set aside",
}


def pm_view(state: PMState, last_checkin: float) -> PMView:
    """Return what the PM knows of a task and cannot be seen on disk."""
    merged = state.brief.config.workspace is WorkspaceKind.WORKTREE
    return PMView(
        task=state.name,
        phase=state.phase,
        state=state.state,
        last_checkin=last_checkin or None,
        milestones=tuple(_milestone(chain) for chain in _chains(state)),
        blockers=tuple(
            f"{step.title}: {step.why}"
            for step in state.steps.values()
            if step.state in {StepState.BLOCKED, StepState.FAILED}
        ),
        questions=tuple(
            OpenQuestion(
                question.text,
                f"task answer {state.name} {question.id} {question.options[0]}",
                question.options,
                question.default,
                question.deadline,
            )
            for question in state.open_questions
        ),
        criteria=state.criteria,
        branch=state.branch if merged else "",
        merge=f"git merge {state.branch}" if merged else "",
        passed=sum(step.state is StepState.PASSED for step in _planned(state)),
        steps=sum(1 for _ in _planned(state)),
        runs=len(state.live_runs),
        usage=tuple(
            AgentUsage(agent, spent.runs, spent.time, spent.usage)
            for agent, spent in state.runs.spent.items()
        ),
        by_phase=_by_phase(state) if state.runs.usage.told else {},
        idle=state.worked.idle,
        limited=_limited(state),
    )


def _limited(state: PMState) -> Limited | None:
    """Return the limit that all work of a task waits for; of several the one that is tried first."""
    held = min(parked(state), key=lambda step: step.not_before, default=None)
    if held is None or held.limit is None:
        return None
    limit = held.limit
    return Limited(limit.since, limit.at, shown_reset(limit), limit.words, limit.refusals, held.not_before)


def _planned(state: PMState) -> Iterator[Step]:
    """Yield the steps of the plan: consultations of the PM agent are none."""
    return (step for step in state.steps.values() if Gate.DECISION not in step.gates)


def _by_phase(state: PMState) -> dict[Phase, float]:
    """Return for how many seconds agents worked in each phase, in the order in which these came."""
    times: dict[Phase, float] = {}
    for run in state.runs.values():
        if run.purpose is Purpose.WORK and run.lasted:
            phase = state.steps[run.step].phase
            times[phase] = times.get(phase, 0.0) + run.lasted
    return times


def _chains(state: PMState) -> list[list[Step]]:
    """Return the steps as milestones: those of one subtask together, every other by itself, in plan order."""
    chains: dict[str, list[Step]] = {}
    for step in _planned(state):
        chains.setdefault(step.subtask or f"step {step.id}", []).append(step)
    return list(chains.values())


def _milestone(chain: list[Step]) -> Milestone:
    first = chain[0]
    told = [step for step in chain if step.report]
    tries = f"attempt {first.attempt}" if first.attempt > 1 else ""
    why = next((step.why for step in chain if step.why and not step.settled), "")
    if first.state is StepState.SET_ASIDE:
        why = first.why
    return Milestone(
        label=first.title,
        status=_status(chain),
        last_handoff=told[-1].report if told else "",
        notes="; ".join(note for note in (tries, why) if note),
    )


def _status(chain: list[Step]) -> str:
    for step in chain:
        if step.state in _STANDS:
            return _STANDS[step.state]
    if all(step.state is StepState.PASSED for step in chain):
        return "done"
    if all(step.state is StepState.PENDING for step in chain) and chain[0].attempt == 1:
        return "pending"
    current = next(step for step in chain if not step.settled)
    return _DOING.get(current.phase, current.state.value)
