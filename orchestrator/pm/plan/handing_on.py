"""What roles have handed on to each other, as the plan sees it: who received what, and what an order says of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.coordination import (
    LIFECYCLE,
    HandoffRecord,
    HandoffStatus,
    HandoffSteps,
    Issue,
    Transition,
)
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.run import Purpose
from orchestrator.pm.plan.plan_edits import plans_a_line
from orchestrator.pm.state.handoff_changes import HandoffRecorded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.plan import Step
    from orchestrator.model.run import Run
    from orchestrator.pm.state.task_state import PMState

ENTRIES: Final = 40
ENTRY_LENGTH: Final = 400
"""How many entries of a list of a handoff an order repeats, and how many characters of each."""

PUT_BACK: Final = "Put back: "
"""How feedback begins that tells of an edit which was not accepted: it is no reason for anything."""

OPEN: Final = frozenset({HandoffStatus.PENDING, HandoffStatus.ACCEPTED})


def handed_on_by(state: PMState, step: str) -> HandoffRecord | None:
    """Return the open handoff of a step: nobody has rejected it, and its receiver is not done with it."""
    found = [each for each in state.handoffs.values() if each.step == step]
    return found[-1] if found and found[-1].handoff.head.status in OPEN else None


def received_by(state: PMState, step: Step) -> HandoffRecord | None:
    """Return the open handoff that a step's agent was handed; None if there is none.

    Who plans is handed what requires replanning, by whichever role; the others what the step before them handed on.
    """
    if plans_a_line(step):
        asked = [
            each for each in state.handoffs.values() if each.handoff.head.transition is Transition.REPLAN
        ]
        return asked[-1] if asked and asked[-1].handoff.head.status in OPEN else None
    sources = [need for need in step.needs if Gate.HANDOFF in state.steps[need].gates]
    return handed_on_by(state, sources[0]) if sources else None


def moved(
    record: HandoffRecord | None, to: HandoffStatus, issues: tuple[Issue, ...] = ()
) -> Iterator[HandoffRecorded]:
    """Yield the change that moves a handoff on in its life, with further issues; nothing if it may not go there."""
    head = record.handoff.head if record else None
    if record is None or head is None or head.id is None or head.status is None:
        return
    if to is head.status or to not in LIFECYCLE[head.status]:
        return
    handoff = replace(
        record.handoff,
        head=replace(head, status=to),
        issues=(*(record.handoff.issues or ()), *issues) if issues else record.handoff.issues,
    )
    yield HandoffRecorded(head.id, replace(record, handoff=handoff))


def added_to(record: HandoffRecord, issues: tuple[Issue, ...]) -> HandoffRecorded:
    """Return the change that adds issues to the end of those of a handoff."""
    handoff = replace(record.handoff, issues=(*(record.handoff.issues or ()), *issues))
    return HandoffRecorded(handoff.head.id or "", replace(record, handoff=handoff))


def reason_of(step: Step) -> str:
    """Return what a step was told last of its work; empty if it was told nothing."""
    told = [each for each in step.feedback if not each.startswith(PUT_BACK)]
    return told[-1] if told else ""


def receiving_step(state: PMState, record: HandoffRecord) -> str | None:
    """Return the step to whose agent a handoff was handed on, whatever became of it; None if it was to nobody here."""
    replans = record.handoff.head.transition is Transition.REPLAN
    found = (
        key
        for key, step in state.steps.items()
        if (plans_a_line(step) if replans else record.step in step.needs)
    )
    return next(found, None)


@dataclass(frozen=True, slots=True)
class Receiver:
    """The step that has a handoff in hand, and the run that works on it, whose order is open."""

    step: Step
    run: Run


def receiver_of(state: PMState, handoff: str) -> Receiver | None:
    """Return who has a handoff in hand and works on it now; None if nobody does."""
    record = state.handoffs.get(handoff)
    for run in state.live_runs if record is not None else ():
        step = state.steps.get(run.step)
        if step is None or run.purpose is not Purpose.WORK or run.order not in state.orders:
            continue
        at_work = (step.attempt, step.state) == (run.attempt, StepState.WORKING)
        if at_work and received_by(state, step) is record:
            return Receiver(step, run)
    return None


def lines_of(state: PMState, step: Step) -> list[str]:
    """Return what the agent of a step was handed, as its order repeats it."""
    record = received_by(state, step)
    if record is None:
        return []
    handoff, head = record.handoff, record.handoff.head
    steps = handoff.steps or HandoffSteps()
    lines = [
        f"The {head.source} handed on to you: {head.transition}, {head.id}, in handoffs/{record.report}."
    ]
    for title, entries in (
        ("Instructions", steps.instructions),
        ("Constraints", steps.constraints),
        ("Acceptance criteria", steps.criteria),
        ("Issues", tuple(f"{each.severity}: {each.description}" for each in handoff.issues or ())),
    ):
        if entries:
            lines.append(f"{title}:")
            lines += [f"- {' '.join(each.split())[:ENTRY_LENGTH]}" for each in entries[:ENTRIES]]
    return lines
