"""The family `roles` (the COORD document, C2): five roles in a line, each handing on to the next.

::

    plan ─▶ implement ─▶ audit ─▶ clean ─▶ close
     ▲          ▲── rejected ┘       ▲─ rejected ┘
     └── requires_replanning, or the third rejection

Each step but the last has the gate HANDOFF: it passes with a handoff that is complete for its transition
(`pm.policies.role_handoffs`). `AGENT.check:` of a receiver is what must hold before it accepts what it is handed: the
daemon runs that, and sends the handoff back if it fails. The audit has the work merged, and `close` the cleanup: the
cleaner begins with what was audited, on the task's branch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.agents import Agent, Role
from orchestrator.model.plan import Gate, Step
from orchestrator.model.task import COORDINATION, Approval, Brief, Phase, WorkspaceKind
from orchestrator.pm.plan.families.delivery import LOOK, PHASE_OF_ROLE
from orchestrator.pm.plan.families.rules import FamilyRules
from orchestrator.pm.plan.work_location import leaves_a_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.model.handoff import Subtask

RULES: Final = FamilyRules(handoffs=COORDINATION)

PLANNER: Final = "planner"
IMPLEMENTER: Final = "implementer"
AUDITOR: Final = "auditor"
CLEANER: Final = "cleaner"
ORCHESTRATOR: Final = "orchestrator"
AGENTS: Final = (PLANNER, IMPLEMENTER, AUDITOR, CLEANER, ORCHESTRATOR)

WORK: Final = "work"
CLEANUP: Final = "cleanup"
"""The trees of the implementer's work and of the cleanup; who judges either works in it, too."""

_REPLAN: Final = (
    "If the plan does not hold, hand on with the type requires_replanning, and say under `issues` why. If what you "
    "were handed is inadequate, hand it back: `status` rejected, with the issues."
)


def agents(brief: Brief) -> tuple[str, ...]:
    """Return the five roles."""
    del brief
    return AGENTS


def first_steps(brief: Brief) -> tuple[Step, ...]:
    """Return the whole line: a plan here adds no steps."""
    return (_planning(brief), *_implementing(brief), *_closing(brief))


def _planning(brief: Brief) -> Step:
    approved = (Gate.APPROVED,) if Approval.PLAN in brief.config.approve else ()
    return Step(
        "plan",
        PLANNER,
        "Plan",
        "Plan how to reach the goal, and hand on to the IMPLEMENTER with the type ready_for_implementation.",
        Phase.PLANNING,
        kind=_reads(brief),
        workspace=LOOK if _own_tree(brief) else "",
        gates=(Gate.HANDOFF, *approved),
    )


def _implementing(brief: Brief) -> tuple[Step, Step]:
    """Return the work and its audit, which share a tree."""
    kind, workspace = _works(brief), _tree(brief, WORK)
    work = Step(
        "implement",
        IMPLEMENTER,
        "Implement",
        f"Carry out the plan that you were handed, and hand on to the AUDITOR with the type ready_for_audit. "
        f"{_REPLAN}",
        Phase.DEVELOPING,
        needs=("plan",),
        kind=kind,
        workspace=workspace,
        gates=(Gate.HANDOFF, Gate.CHECK, _writes(brief)),
    )
    audit = Step(
        "audit",
        AUDITOR,
        "Audit",
        "Judge the work by what you were handed. If it passes, hand on to the CLEANER with the type "
        "ready_for_cleanup. If it does not, hand it back to the IMPLEMENTER: `status` rejected and no type, with "
        f"an entry under `issues` for each fault. {_REPLAN.partition('. ')[0]}.",
        Phase.REVIEWING,
        needs=("implement",),
        kind=kind,
        workspace=workspace,
        gates=(Gate.HANDOFF, Gate.VERDICT, Gate.CHECK, *_merged(brief)),
        judges="implement",
    )
    return work, audit


def _closing(brief: Brief) -> tuple[Step, Step]:
    """Return the clean-up, and the judgement of the whole, which share a tree."""
    kind, workspace = _works(brief), _tree(brief, CLEANUP)
    clean = Step(
        "clean",
        CLEANER,
        "Clean up",
        "Remove what the work left behind and nothing needs, as you were handed, and hand on to the ORCHESTRATOR "
        f"with the type complete. {_REPLAN}",
        Phase.REVIEWING,
        needs=("audit",),
        kind=kind,
        workspace=workspace,
        gates=(Gate.HANDOFF, Gate.CHECK, _writes(brief)),
    )
    close = Step(
        "close",
        ORCHESTRATOR,
        "Success criteria",
        "Judge each success criterion against what lies before you, with evidence.",
        Phase.REVIEWING,
        needs=("clean",),
        kind=kind,
        workspace=workspace,
        gates=(Gate.CHECK, Gate.CRITERIA, *_merged(brief)),
        judges="clean",
    )
    return clean, close


def _merged(brief: Brief) -> tuple[Gate, ...]:
    return (Gate.MERGED,) if _own_tree(brief) else ()


def subtask_steps(brief: Brief, subtasks: Sequence[Subtask], steps: Mapping[str, Step]) -> tuple[Step, ...]:
    """Return nothing: the line is the whole plan."""
    del brief, subtasks, steps
    return ()


def loose_steps(brief: Brief, agent: Agent, number: int, instructions: str) -> tuple[Step, ...]:
    """Return one step that looks around and reports: work on the project goes through the line."""
    return (
        Step(
            f"{agent.name}-{number}",
            agent.name,
            instructions.strip().split("\n")[0][:80],
            instructions,
            PHASE_OF_ROLE.get(agent.role or Role.EXPLORE, Phase.EXPLORING),
            kind=_reads(brief),
            workspace=LOOK if _own_tree(brief) else "",
        ),
    )


def _own_tree(brief: Brief) -> bool:
    """Return whether the work is done in trees of the task, and not in a folder of an agent's own."""
    config = brief.config
    wants = config.workspace is WorkspaceKind.WORKTREE
    return wants and all(leaves_a_tree(config, each) for each in (IMPLEMENTER, CLEANER))


def _works(brief: Brief) -> WorkspaceKind:
    in_place = brief.config.workspace is WorkspaceKind.WORKTREE and not _own_tree(brief)
    return WorkspaceKind.SHARED if in_place else brief.config.workspace


def _reads(brief: Brief) -> WorkspaceKind:
    return WorkspaceKind.READ_ONLY if _own_tree(brief) else _works(brief)


def _tree(brief: Brief, name: str) -> str:
    return name if _own_tree(brief) else ""


def _writes(brief: Brief) -> Gate:
    return Gate.COMMIT if _own_tree(brief) else Gate.CHANGED
