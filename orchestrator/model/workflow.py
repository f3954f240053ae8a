"""A workflow: agents with dependencies, verifiers, notes, escalations and proofs of concept (the WF document).

This is the plan as a person or a designer agent wrote it, and how a running plan may be edited. What is written while
it runs stands in `workflow_records.py`. `formats/workflow/` reads and writes the file of each. Times are seconds since
the epoch, as integers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from orchestrator.model.workspace import WorkspaceKind

TASK_ID: Final = re.compile(r"(?P<slug>[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?)_(?P<epoch>[1-9][0-9]{8,10})")
"""`{slug}_{unix_epoch_timestamp}` (WF, Field Specifications), as `create_user_table_1727539200`."""

PLAN_FILE: Final = "workflow_coordination_plan.md"
STATUS_FILE: Final = "shared_status.json"
INSTRUCTIONS_FILE: Final = "agent_instructions.md"
SESSION_FILE: Final = "completion_drive/session_current.json"
RESULTS_FILE: Final = "verification_results.json"
DECISION_FILE: Final = "poc_decision.json"
OUTPUT_FOLDER: Final = "task_output"
ARCHIVAL_AGENT: Final = "archival_agent"
"""The folder in `agents/` that holds the log and the index of archived sessions. No agent of a plan has its name."""


class AgentKind(StrEnum):
    """What an agent of a workflow is for."""

    DOER = "doer"  # does the work
    POC = "poc"  # tries an assumption before others rely on it
    ARCHITECT = "architect"  # decides on technology and structure when asked
    VERIFIER = "verifier"  # judges what others did


# The plan ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bounds:
    """How often what may be repeated. None in an agent's own bounds means: as the workflow says.

    `run_time` is the longest time of one run in seconds; the document wants none.
    """

    verifications: int = 5
    crashes: int = 3
    loops: int = 3
    asks: int = 1
    conflicts: int = 3
    input_reruns: int = 3
    depth: int = 2
    run_time: int | None = None


@dataclass(frozen=True, slots=True)
class Input:
    """What an agent reads of another one's output: one file of its `task_output/`, or all, and its commit."""

    source: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceWanted:
    """What an agent must show: a text, and the file in its `task_output/` that shows it."""

    id: str
    text: str
    path: str


@dataclass(frozen=True, slots=True)
class Poc:
    """What a proof of concept tries: the assumption, when it holds, when it fails, and who relies on it."""

    assumption: str
    passes: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()
    protects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkflowAgent:
    """One agent of a workflow. `persona` is the definition that it is run with, `needs` must be verified first.

    `instructions` is a path in `orchestration/`; `outputs` and the paths of evidence are in its `task_output/`. `files`
    are what it changes in the project. A `scratch` worktree is never merged. `own_bounds` replaces single bounds of the
    workflow.
    """

    id: str
    task_id: str
    kind: AgentKind
    title: str
    persona: str
    instructions: str
    runtime: str = "auto"
    needs: tuple[str, ...] = ()
    group: str = ""
    verifier: str = ""
    inputs: tuple[Input, ...] = ()
    outputs: tuple[str, ...] = ()
    evidence: tuple[EvidenceWanted, ...] = ()
    files: tuple[str, ...] = ()
    workspace: WorkspaceKind = WorkspaceKind.WORKTREE
    scratch: bool = False
    own_bounds: tuple[tuple[str, int], ...] = ()
    poc: Poc | None = None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A verifier that judges several agents in one run, when all are ready, by joint `criteria`."""

    id: str
    verifier: str
    subjects: tuple[str, ...]
    criteria: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Escalation:
    """Who answers escalated notes: agents of the plan, or (empty) the user. `user_points` are shown to the user."""

    resolver: str = ""
    architect: str = ""
    loop: str = ""
    user_points: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CriterionPlan:
    """Which evidence meets a success criterion of task.md: `agent.evidence`."""

    text: str
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanApproval:
    """Who approved of which plan: `hash` is of what the approval covers."""

    hash: str
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class WorkflowPlan:
    """The block in `workflow_coordination_plan.md`. `groups` are how many of a group run at once, by its name."""

    workflow: str
    summary: str
    agents: tuple[WorkflowAgent, ...]
    max_parallel: int = 4
    bounds: Bounds = Bounds()
    groups: tuple[tuple[str, int], ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    escalation: Escalation = Escalation()
    criteria: tuple[CriterionPlan, ...] = ()
    approval: PlanApproval | None = None


# Edits of a running plan ------------------------------------------------------------------------------


class EditKind(StrEnum):
    """How a running plan may be changed."""

    ADD_AGENT = "add_agent"  # a new agent; others need it only by `set_needs`
    REMOVE_AGENT = "remove_agent"  # an agent leaves the plan
    SET_NEEDS = "set_needs"  # other needs
    SET_INPUTS = "set_inputs"  # other inputs
    REINSTRUCT = "reinstruct"  # a new text of its instructions
    SET_EVIDENCE = "set_evidence"  # other evidence is wanted
    SET_OUTPUTS = "set_outputs"  # other outputs
    SET_VERIFIER = "set_verifier"  # another verifier
    SET_BOUNDS = "set_bounds"  # other bounds of its own


@dataclass(frozen=True, slots=True)
class PlanEdit:
    """One edit. Only the fields count that its kind names.

    `added` is the whole agent of ADD_AGENT. `instructions` is the new text of the agent's instructions file, for
    ADD_AGENT and REINSTRUCT.
    """

    kind: EditKind
    agent: str
    added: WorkflowAgent | None = None
    needs: tuple[str, ...] = ()
    inputs: tuple[Input, ...] = ()
    instructions: str = ""
    evidence: tuple[EvidenceWanted, ...] = ()
    outputs: tuple[str, ...] = ()
    verifier: str = ""
    bounds: tuple[tuple[str, int], ...] = ()
