"""The scribe's view of a task: its milestones as a tired person would want them, one row each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from orchestrator.daemon.projections.outcome import outcome_of, steps_said, typed_answer
from orchestrator.daemon.projections.state_document import NOTICES_SHOWN
from orchestrator.daemon.projections.work_done import BranchLook, check_rewritten
from orchestrator.formats.amounts import on_word_said
from orchestrator.formats.text import local_time, one_line, short_time
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.run import Life, Purpose
from orchestrator.model.task import Phase, TaskState
from orchestrator.pm.state.results import baseline_of, counts, last_check, not_done, rebased_since
from orchestrator.pm.state.usage_limits import parked, shown_reset
from orchestrator.scribe.content import (
    AgentUsage,
    Check,
    Commit,
    Limited,
    Milestone,
    OpenQuestion,
    PMView,
    Trouble,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.plan import Step
    from orchestrator.pm.state.task_state import PMState

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
_REPLACED: Final = "planned anew"


OPERATIONS_SHOWN: Final = 10
"""Of how many runs the file operations are told: the last ones."""

TROUBLES: Final = 30
"""How many steps that had trouble are listed: the last ones of the plan."""


def pm_view(state: PMState, last_checkin: float, look: BranchLook | None = None) -> PMView:
    """Return what the PM knows of a task that its folder does not show. `look` is the last look at its branch."""
    seen = look.seen if look is not None else None
    return PMView(
        task=state.name,
        id=state.id,
        phase=state.phase,
        state=state.state,
        last_checkin=last_checkin or None,
        milestones=tuple(_milestone(chain, state.runs.tries(chain[0].id)) for chain in _chains(state)),
        blockers=(
            *(
                f"{step.title}: {step.why}"
                for step in state.steps.values()
                if step.state in {StepState.BLOCKED, StepState.FAILED}
            ),
            *(f"{title}: set aside ({why})" for title, why in not_done(state)),
        ),
        questions=tuple(
            OpenQuestion(
                question.text,
                f"task answer {state.id} {question.id} {typed_answer(state, question)}",
                question.options,
                question.default,
                question.deadline,
            )
            for question in state.open_questions
        ),
        criteria=state.criteria,
        outcome=outcome_of(state, look).lines(),
        looked_at=look.at if look is not None else None,
        moved_at=max((step.since for step in state.steps.values()), default=0.0),
        commits=tuple(Commit(each.commit[:10], each.subject, each.at) for each in seen.commits)
        if seen
        else (),
        more_commits=seen.count - len(seen.commits) if seen else 0,
        checks=_checks(state),
        troubles=_troubles(state),
        ended=state.state not in {TaskState.RUNNING, TaskState.WAITING},
        steps=steps_said(counts(state)),
        runs=len(state.live_runs),
        unseen=sum(run.life in {Life.UNREACHABLE, Life.UNKNOWN} for run in state.live_runs),
        usage=tuple(
            AgentUsage(agent, spent.runs, spent.time, spent.usage)
            for agent, spent in state.runs.spent.items()
        ),
        by_phase=_by_phase(state) if state.runs.usage.reported else {},
        idle=state.worked.idle,
        limited=_limited(state),
        notices=(shown := state.notices[-NOTICES_SHOWN:]),
        more_notices=max(state.noticed, len(state.notices)) - len(shown),
        operations=state.operations[-OPERATIONS_SHOWN:],
        on_word=_on_word(state),
    )


def _on_word(state: PMState) -> str:
    """Return which criteria of a complete task rest on their judge's word alone; empty if none does."""
    counted = counts(state)
    return on_word_said(counted.attested, counted.criteria) if state.state is TaskState.COMPLETE else ""


def _limited(state: PMState) -> Limited | None:
    """Return the limit that all work of a task waits for; of several the one that is tried first."""
    held = min(parked(state), key=lambda step: step.not_before, default=None)
    if held is None or held.limit is None:
        return None
    limit = held.limit
    return Limited(limit.since, limit.at, shown_reset(limit), limit.words, limit.refusals, held.not_before)


def _checks(state: PMState) -> tuple[Check, ...]:
    """Return how the check ended before anything was changed, and on the work that passed last."""
    after = f"after{check_rewritten(state)}"
    found = (("before any change", baseline_of(state)), (after, last_check(state)))
    return tuple(
        Check(
            f"{when} ({step.id}){', before the rebase' if rebased_since(state, step) else ''}",
            step.check_exit,
            step.check_lines,
        )
        for when, step in found
        if step is not None and step.check_exit is not None
    )


def _troubles(state: PMState) -> tuple[Trouble, ...]:
    """Return the steps that needed more than one try, with the feedback on each and how its last run failed."""
    runs = Counter(run.step for run in state.runs.values() if run.purpose is Purpose.WORK)
    found = [
        Trouble(
            step.id,
            state.runs.tries(step.id),
            tuple(one_line(each) for each in step.feedback),
            "" if step.cause is None else step.cause.what,
            () if step.cause is None else step.cause.lines,
            "" if step.cause is None else step.cause.run,
            runs[step.id],
        )
        for step in _planned(state)
        if state.runs.tries(step.id) > 1 or step.feedback or step.cause is not None
    ]
    return tuple(found[-TROUBLES:])


def _planned(state: PMState) -> Iterator[Step]:
    """Yield the steps of the plan, without the PM agent's consultations."""
    return (step for step in state.steps.values() if Gate.DECISION not in step.gates)


def _by_phase(state: PMState) -> dict[Phase, float]:
    """Return the seconds that agents worked in each phase, in the order of the phases' first runs."""
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


def _milestone(chain: list[Step], attempts: int) -> Milestone:
    first = chain[0]
    reported = [step for step in chain if step.report]
    tries = f"attempt {attempts}" if attempts > 1 else ""
    commit = f"commit {first.commit[:10]}" if first.commit else ""
    unchanged = f"nothing changed: {first.unchanged}" if first.unchanged and not first.commit else ""
    why = next((step.why for step in chain if step.why and not step.settled), "")
    if first.state is StepState.SET_ASIDE:
        why = first.why
    return Milestone(
        label=first.title,
        status=_status(chain),
        last_handoff=reported[-1].report if reported else "",
        notes="; ".join(note for note in (_times(chain), tries, commit, unchanged, why) if note),
    )


def _times(chain: list[Step]) -> str:
    """Return when a milestone was begun and ended; a time on another day than the first has its date."""
    began = min((step.began_at for step in chain if step.began_at), default=0.0)
    if not began:
        return ""
    if not all(step.settled for step in chain):
        return f"since {local_time(began)}"
    return f"{local_time(began)} to {short_time(max(step.since for step in chain), began)}"


def _status(chain: list[Step]) -> str:
    for step in chain:
        if step.replaced:
            return _REPLACED
        if step.state in _STANDS:
            return _STANDS[step.state]
    if all(step.state is StepState.PASSED for step in chain):
        return "done"
    if all(step.state is StepState.PENDING for step in chain) and chain[0].attempt == 1:
        return "pending"
    current = next(step for step in chain if not step.settled)
    return _DOING.get(current.phase, current.state.value)
