"""Checks each agent by itself: its names, where it works, what it leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.task import WorkspaceKind
from orchestrator.model.workflow import ARCHIVAL_AGENT, TASK_ID, AgentKind
from orchestrator.pm.plan.workflow_check.findings import Design, DesignFinding, Rule
from orchestrator.pm.plan.workflow_check.paths import wrong_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.workflow import WorkflowAgent

_RESERVED: Final = frozenset({ARCHIVAL_AGENT, "none"})
_WORKING: Final = frozenset({AgentKind.DOER, AgentKind.POC})


def findings(design: Design) -> Iterator[DesignFinding]:
    """Yield what is wrong with the plan's name, and with each agent by itself."""
    plan, task = design.plan, design.around.task
    if task is not None and plan.workflow != task:
        yield DesignFinding(
            Rule.WORKFLOW_NAME,
            f"`workflow` is {plan.workflow}, and the task is {task}",
            f"write {task}",
            ("workflow",),
        )
    elif plan.summary != (wanted := f"conversation_summary_{plan.workflow}.md"):
        yield DesignFinding(
            Rule.SUMMARY_NAME, f"`summary` is {plan.summary[:80]!a}", f"name it {wanted}", ("summary",)
        )
    if not any(agent.kind in _WORKING for agent in plan.agents):
        yield DesignFinding(
            Rule.NO_WORK, "no agent does any work", "add an agent of the kind `doer`", ("agents",)
        )
    yield from _names(design)
    for at, agent in design.numbered:
        yield from _workspace(at, agent)
        yield from _outputs(design, at, agent)
        yield from _evidence(design, at, agent)
        if agent.kind is AgentKind.VERIFIER:
            yield from _verifier(at, agent)


def _names(design: Design) -> Iterator[DesignFinding]:
    agents, tasks = dict[str, int](), dict[str, str]()
    for at, agent in enumerate(design.plan.agents):
        if agent.id in agents:
            yield DesignFinding(
                Rule.AGENT_TWICE,
                f"there are two agents {agent.id}",
                "give one another id",
                ("agents", at, "id"),
            )
            continue
        agents[agent.id] = at
        if agent.id in _RESERVED:
            yield DesignFinding(
                Rule.AGENT_RESERVED,
                f"no agent can be called {agent.id}",
                "give it another id",
                ("agents", at, "id"),
            )
        if not TASK_ID.fullmatch(agent.task_id):
            yield DesignFinding(
                Rule.TASK_ID_FORM,
                f"{agent.id}: the task_id is {agent.task_id[:80]!a}",
                "write SLUG_EPOCH, such as user_table_1727539200: lower case, then seconds since 1970",
                ("agents", at, "task_id"),
            )
        elif agent.task_id in tasks:
            yield DesignFinding(
                Rule.TASK_ID_TWICE,
                f"{agent.id} and {tasks[agent.task_id]} have the task_id {agent.task_id}",
                "give each its own",
                ("agents", at, "task_id"),
            )
        tasks.setdefault(agent.task_id, agent.id)


def _workspace(at: int, agent: WorkflowAgent) -> Iterator[DesignFinding]:
    reads = agent.workspace is WorkspaceKind.READ_ONLY
    wanted = {AgentKind.POC: "scratch", AgentKind.ARCHITECT: "read_only", AgentKind.VERIFIER: "read_only"}
    fits = agent.scratch if agent.kind is AgentKind.POC else agent.kind is AgentKind.DOER or reads
    if not fits:
        yield DesignFinding(
            Rule.WORKSPACE_KIND,
            f"{agent.id} is of the kind {agent.kind} and works in {agent.workspace}",
            f"write `workspace: {wanted[agent.kind]}`, or leave the line out",
            ("agents", at, "workspace"),
        )
    for number, pattern in enumerate(agent.files):
        if wrong := wrong_path(pattern):
            yield DesignFinding(
                Rule.FILES_PATTERN,
                f"{agent.id}: {pattern[:80]!a} {wrong}",
                "write a path or a pattern beneath the project, such as src/**",
                ("agents", at, "files", number),
            )
    if agent.files and reads and agent.kind is not AgentKind.VERIFIER:
        yield DesignFinding(
            Rule.FILES_READ_ONLY,
            f"{agent.id} only reads, and has `files` to change",
            "remove `files`, or give it a workspace that it may write to",
            ("agents", at, "files"),
        )


def _outputs(design: Design, at: int, agent: WorkflowAgent) -> Iterator[DesignFinding]:
    if agent.kind is AgentKind.VERIFIER:
        return
    seen = set[str]()
    for number, output in enumerate(agent.outputs):
        if wrong := wrong_path(output):
            yield DesignFinding(
                Rule.OUTPUT_PATH,
                f"{agent.id}: the output {output[:80]!a} {wrong}",
                "write a file's path in task_output/, such as schema.sql",
                ("agents", at, "outputs", number),
            )
        elif output in seen:
            yield DesignFinding(
                Rule.OUTPUT_TWICE,
                f"{agent.id}: the output {output} is listed twice",
                "keep one",
                ("agents", at, "outputs", number),
            )
        seen.add(output)
    changes = agent.files and agent.kind is AgentKind.DOER
    if not agent.outputs and not changes and agent.id not in design.on_call:
        yield DesignFinding(
            Rule.OUTPUTS_MISSING,
            f"{agent.id} leaves no output",
            "name the files that it writes under `outputs`",
            ("agents", at),
        )


def _evidence(design: Design, at: int, agent: WorkflowAgent) -> Iterator[DesignFinding]:
    if agent.kind is AgentKind.VERIFIER:
        return
    seen = set[str]()
    for number, wanted in enumerate(agent.evidence):
        if wanted.id in seen:
            yield DesignFinding(
                Rule.EVIDENCE_TWICE,
                f"{agent.id}: there are two pieces of evidence {wanted.id}",
                "give one another id",
                ("agents", at, "evidence", number, "id"),
            )
        seen.add(wanted.id)
        if wrong := wrong_path(wanted.path):
            yield DesignFinding(
                Rule.EVIDENCE_PATH,
                f"{agent.id}: the path {wanted.path[:80]!a} of the evidence {wanted.id} {wrong}",
                "write a file's path in task_output/, such as test.log",
                ("agents", at, "evidence", number, "path"),
            )
    if not agent.evidence and agent.id not in design.on_call:
        yield DesignFinding(
            Rule.EVIDENCE_MISSING,
            f"{agent.id} shows no evidence",
            "say under `evidence` what proves its work, and in which file",
            ("agents", at),
        )


def _verifier(at: int, agent: WorkflowAgent) -> Iterator[DesignFinding]:
    has = {
        "needs": agent.needs,
        "inputs": agent.inputs,
        "outputs": agent.outputs,
        "evidence": agent.evidence,
        "files": agent.files,
    }
    for key, value in has.items():
        if value:
            yield DesignFinding(
                Rule.VERIFIER_WORKS,
                f"{agent.id} has `{key}`: a verifier starts when its subjects are ready, and reads their work",
                f"remove `{key}`",
                ("agents", at, key),
            )
