"""The documents of `task workflow … --json`, field by field."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from orchestrator.model.task import TaskState
from orchestrator.model.workflow import AgentKind
from orchestrator.model.workflow_records import AgentStatus
from orchestrator.pm.plan.workflow_check import Weight
from scripts.reference.documents.parts import Moment, described


@described
class WorkflowNew(TypedDict):
    """A first design of a workflow was written."""

    name: str
    """The task."""
    folder: str
    """The folder of the workflow's files."""
    files: list[str]
    """The files that were written; none that existed was overwritten."""


@described
class DesignFinding(TypedDict):
    """One thing that is wrong with a design, or worth a thought."""

    rule: str
    """The rule, as the reference of workflows lists them; `unreadable` for a file that does not read."""
    weight: Weight
    """How grave it is: with a `fault` the design must not be run."""
    file: str
    """The file, in the folder of the workflow's files; `task.md` lies beside that folder."""
    line: int | None
    """The line, if it is about one."""
    column: int | None
    """The column, if it is about one."""
    text: str
    """What was found."""
    correction: str
    """What to do about it, or empty."""


@described
class WorkflowCheck(TypedDict):
    """What is wrong with a workflow's design."""

    name: str
    """The task."""
    folder: str
    """The folder of the workflow's files."""
    sound: bool
    """Whether there are no faults."""
    approval: Literal["none", "valid", "void"]
    """Whether it was approved; `void` if it has changed since."""
    hash: str | None
    """What an approval would sign; null if that cannot be read."""
    findings: list[DesignFinding]
    """What was found, files that do not read first."""
    refused: list[str]
    """Why `task start` would not carry it out, sound or not: what is not there yet, for example."""


@described
class WorkflowApprove(TypedDict):
    """A design was approved."""

    name: str
    """The task."""
    hash: str
    """What was signed."""
    by: str
    """Who approved it."""
    at: Moment
    """When."""
    plan: str
    """The file of the plan, which holds the approval."""
    status: str
    """The file of the shared status."""


@described
class WorkflowDesign(TypedDict):
    """The conversation that comes next in a design."""

    name: str
    """The task."""
    persona: str
    """Whom to talk to."""
    cli: str
    """In which agent CLI."""
    command: list[str]
    """The command that begins it."""


@described
class WorkflowAdapt(TypedDict):
    """A running plan was edited."""

    name: str
    """The task."""
    edits: int
    """How many edits."""
    message: str
    """What that does to whom."""


@described
class PutAway(TypedDict):
    """What became of the session of one agent."""

    agent: str
    """The agent."""
    source: str
    """The session's file."""
    target: str
    """The name that it has now; empty if it was not moved."""
    done: bool
    """Whether it was moved."""
    reason: str
    """Why not."""


@described
class WorkflowArchive(TypedDict):
    """Sessions of a workflow were put away."""

    name: str
    """The task."""
    folder: str
    """The workflow's folder, to which the names below belong."""
    sessions: list[PutAway]
    """One for each agent that had a session."""


@described
class WorkflowNode(TypedDict):
    """One agent of a workflow."""

    id: str
    """Its id."""
    title: str
    """What it is for."""
    kind: AgentKind
    """What kind of agent it is."""
    persona: str
    """The definition that it is run with."""
    runtime: str
    """The runtime that the plan names."""
    group: str
    """Its group, or empty."""
    verifier: str
    """Who verifies it, or empty."""
    status: AgentStatus
    """Its status."""


@described
class WorkflowEdge(TypedDict):
    """How two agents hang together."""

    source: str
    """The agent that comes first."""
    target: str
    """The other agent."""
    kind: Literal["needs", "verifies", "protects"]
    """The target needs the source; or the source verifies the target, or tries an assumption for it."""


@described
class WorkflowShow(TypedDict):
    """A workflow's agents, and how they hang together."""

    workflow: str
    """The workflow."""
    nodes: list[WorkflowNode]
    """The agents, in the order of the plan."""
    edges: list[WorkflowEdge]
    """What connects them."""
    approval: Literal["none", "valid", "void"]
    """Whether the design was approved; `void` if it has changed since."""
    task_state: TaskState | None
    """The state of its task, null if it was never started. At rest nobody works, whatever the agents' statuses are."""
