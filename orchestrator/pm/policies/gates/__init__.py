"""Gates: what must hold before a step passes. A claim is not evidence (law 6).

The life of a report, gate by gate:

1. `judge_report`: every gate of the step looks at the report. If one of them misses something, the report is written
   again; if any reject, the work goes back with all their reasons.
2. `take_report`: a gate may let the report change the plan (its subtasks), or start an investigation (its evidence).
3. `held_by`: the gates that need more than the report, in the order in which the step names them: the user's approval,
   the commit, the merge. Each is asked until it no longer holds the step. Then the step passes.

Installed packages add gates of their own, under the entry point group `agent_orchestrator.gates`.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import Gate
from orchestrator.model.registry import Registry
from orchestrator.pm.policies.gates.kind import PASSES, GateKind, Judgement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from orchestrator.model.handoff import Report
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState

__all__ = [
    "GATES",
    "GateKind",
    "Judgement",
    "held_by",
    "judge_report",
    "sections_for",
    "sections_read",
    "take_report",
]


def _shipped(module: str, name: str) -> GateKind:
    """Return a gate that ships. Its module is imported when it is first asked for: a command needs the names only."""
    gate: GateKind = getattr(import_module(f"orchestrator.pm.policies.{module}"), name)()
    return gate


GATES: Final = Registry[GateKind](
    "gate",
    {
        Gate.VERDICT: partial(_shipped, "gates.reports", "VerdictGate"),
        Gate.CHECK: partial(_shipped, "gates.reports", "CheckGate"),
        Gate.SUBTASKS: partial(_shipped, "gates.reports", "SubtasksGate"),
        Gate.CRITERIA: partial(_shipped, "evidence", "CriteriaGate"),
        Gate.APPROVED: partial(_shipped, "gates.work", "ApprovalGate"),
        Gate.COMMIT: partial(_shipped, "gates.work", "CommitGate"),
        Gate.CHANGED: partial(_shipped, "gates.work", "ChangeGate"),
        Gate.MERGED: partial(_shipped, "gates.work", "MergeGate"),
        Gate.HANDOFF: partial(_shipped, "gates.reports", "HandoffGate"),
        Gate.MEMORY: partial(_shipped, "gates.turns", "MemoryGate"),
        Gate.NOTES: partial(_shipped, "gates.turns", "NotesGate"),
        Gate.OUTPUTS: partial(_shipped, "gates.turns", "OutputsGate"),
        Gate.POC: partial(_shipped, "gates.turns", "PocGate"),
        Gate.RESOLUTION: partial(_shipped, "gates.resolution", "ResolutionGate"),
        Gate.JOINT: partial(_shipped, "gates.turns", "JointGate"),
        Gate.CHECKPOINT: partial(_shipped, "gates.turns", "CheckpointGate"),
        # Handled by the engine itself: the review that a report asked for, and the decision of a PM agent.
        Gate.REVIEWED: GateKind,
        Gate.DECISION: GateKind,
    },
)


def judge_report(step: Step, report: Report) -> Judgement:
    """Return the first gate's judgement that wants the report written again, else all rejections together."""
    judged = [gate.judge(step, report) for gate in _gates_of(step)]
    again = next((each.again for each in judged if each.again), "")
    rejected = "\n".join(each.rejected for each in judged if each.rejected)
    return Judgement(again, "" if again else rejected) if again or rejected else PASSES


def take_report(draft: Draft, step: str, report: Report) -> bool:
    """Let the gates of a step act on its report. Return whether one of them took over the step."""
    return any(gate.take(draft, step, report) for gate in _gates_of(draft.step(step)))


def held_by(state: PMState, step: Step, *, past: str = "") -> GateKind | None:
    """Return the first gate that holds a step whose report was accepted, or None if the step may pass.

    `past` names a gate that is passed, as are those that the step names before it.
    """
    left = step.gates[step.gates.index(past) + 1 :] if past in step.gates else step.gates
    gates = (GATES.find(name) for name in left)
    return next((gate for gate in gates if gate.holds(state, step)), None)


def sections_for(names: Iterable[str]) -> str:
    """Return the report sections that gates from other packages require, as the agent reads them."""
    forms = [GATES[name].form.strip() for name in names if name in GATES]
    return "".join(f"\n{form}\n" for form in forms if form)


def sections_read(names: Iterable[str]) -> tuple[str, ...]:
    """Return the titles of the sections, beyond those of every report, that gates read."""
    return tuple(dict.fromkeys(title for name in names if name in GATES for title in GATES[name].sections))


def _gates_of(step: Step) -> Iterator[GateKind]:
    """Return the gates of a step in order. All are installed: a task that names a missing one cannot be opened."""
    return (GATES.find(name) for name in step.gates)
