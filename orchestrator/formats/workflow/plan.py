"""`workflow_coordination_plan.md`: prose with one block of YAML, which is the plan."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from orchestrator.formats.text import refused
from orchestrator.formats.workflow.nodes import Fields, Mark, Node
from orchestrator.formats.workflow.plan_values import SCHEMA, Workspace
from orchestrator.formats.workflow.yaml_block import PLAN_BYTES, YamlBlock, read_yaml_block
from orchestrator.model.errors import Fault
from orchestrator.model.task import WorkspaceKind
from orchestrator.model.workflow import (
    INSTRUCTIONS_FILE,
    PLAN_FILE,
    AgentKind,
    Bounds,
    Checkpoint,
    CriterionPlan,
    Escalation,
    EvidenceWanted,
    Input,
    PlanApproval,
    Poc,
    WorkflowAgent,
    WorkflowPlan,
)

MOST_AGENTS: Final = 2000
MOST_AT_ONCE: Final = 1000
MAX_PARALLEL: Final = 4
"""How many agents run at once in a plan that does not say."""

BOUND_NAMES: Final = tuple(field.name for field in fields(Bounds))

PLAN_KEYS: Final = (
    "schema",
    "workflow",
    "summary",
    "max_parallel",
    "bounds",
    "groups",
    "agents",
    "checkpoints",
    "escalation",
    "criteria",
    "approval",
)
AGENT_KEYS: Final = (
    "id",
    "task_id",
    "kind",
    "title",
    "persona",
    "runtime",
    "instructions",
    "needs",
    "group",
    "verifier",
    "inputs",
    "outputs",
    "evidence",
    "files",
    "workspace",
    "bounds",
    "poc",
)
INPUT_KEYS: Final = ("from", "path")
EVIDENCE_KEYS: Final = ("id", "text", "path")
POC_KEYS: Final = ("assumption", "pass", "fail", "protects")
CHECKPOINT_KEYS: Final = ("id", "verifier", "subjects", "criteria")
ESCALATION_KEYS: Final = ("resolver", "architect", "loop", "user_points")
NOBODY: Final = "none"
"""How a plan may spell that an agent has no verifier, beside null."""


_USUAL_WORKSPACE: Final = {
    AgentKind.DOER: Workspace.WORKTREE,
    AgentKind.POC: Workspace.SCRATCH,
    AgentKind.ARCHITECT: Workspace.READ_ONLY,
    AgentKind.VERIFIER: Workspace.READ_ONLY,
}


@dataclass(frozen=True, slots=True)
class PlanDocument:
    """A plan with the block that it was read from."""

    plan: WorkflowPlan
    block: YamlBlock

    def mark(self, *path: str | int) -> Mark:
        """Return where a field stands, such as `"agents", 2, "needs", 0`; as near as there is something."""
        node, mark = self.block.root, self.block.root.mark
        for part in path:
            value = node.value
            if isinstance(value, dict) and isinstance(part, str) and part in value:
                mark = node.keys.get(part, value[part].mark)
                node = value[part]
            elif isinstance(value, list) and isinstance(part, int) and part < len(value):
                node = value[part]
                mark = node.mark
            else:
                break
        return mark


def read_plan(data: bytes, name: str = PLAN_FILE, limit: int = PLAN_BYTES) -> WorkflowPlan:
    """Return the plan in a page of prose. Errors as for `read_plan_document`."""
    return read_plan_document(data, name, limit).plan


def read_plan_document(data: bytes, name: str = PLAN_FILE, limit: int = PLAN_BYTES) -> PlanDocument:
    """Return the plan in a page of prose, and where its fields stand.

    Raises:
        BadFile: with every fault, its line and column: no block of YAML or more than one, not the YAML that we
            read, an unknown key, a missing field, a value of the wrong kind.

    """
    block = read_yaml_block(data, name, limit)
    faults = list[Fault]()
    plan = _plan(Fields(block.root, "", faults, PLAN_KEYS))
    if faults:
        raise refused(name, faults)
    return PlanDocument(plan, block)


def read_agent_node(node: Node, where: str, faults: list[Fault]) -> WorkflowAgent:
    """Return one agent of a plan; what is wrong with it goes into `faults`."""
    return _agent(Fields(node, where, faults, AGENT_KEYS))


def read_inputs(found: Fields, key: str = "inputs") -> tuple[Input, ...]:
    """Return the inputs in a list of objects."""
    return tuple(Input(each.name("from"), each.text("path", "")) for each in found.objects(key, INPUT_KEYS))


def read_evidence(found: Fields, key: str = "evidence") -> tuple[EvidenceWanted, ...]:
    """Return the evidence wanted, from a list of objects."""
    return tuple(
        EvidenceWanted(
            each.name("id", what="name of evidence"),
            each.text("text", blank=False),
            each.text("path", blank=False),
        )
        for each in found.objects(key, EVIDENCE_KEYS)
    )


def read_own_bounds(found: Fields, key: str = "bounds") -> tuple[tuple[str, int], ...]:
    """Return the bounds that an object sets, in the order of the model."""
    bounds = found.object(key, BOUND_NAMES)
    if bounds is None:
        return ()
    return tuple(
        (name, bounds.integer(name, least=_least(name), most=1_000_000))
        for name in BOUND_NAMES
        if bounds.has(name)
    )


def _least(bound: str) -> int:
    return 1 if bound in {"verifications", "loops", "run_time"} else 0


def _plan(found: Fields) -> WorkflowPlan:
    if (schema := found.integer("schema")) != SCHEMA and found.has("schema"):
        found.fault(f"`schema` is {schema}: this version reads {SCHEMA}", found.mark_of("schema"))
    return WorkflowPlan(
        workflow=found.name("workflow", what="workflow name"),
        summary=found.text("summary", blank=False),
        agents=_agents(found),
        max_parallel=found.integer("max_parallel", MAX_PARALLEL, least=1, most=MOST_AT_ONCE),
        bounds=Bounds(**dict(read_own_bounds(found))),
        groups=_groups(found),
        checkpoints=tuple(_checkpoint(each) for each in found.objects("checkpoints", CHECKPOINT_KEYS)),
        escalation=_escalation(found),
        criteria=tuple(
            CriterionPlan(each.text("text", blank=False), each.texts("by"))
            for each in found.objects("criteria", ("text", "by"))
        ),
        approval=_approval(found),
    )


def _agents(found: Fields) -> tuple[WorkflowAgent, ...]:
    agents = list[WorkflowAgent]()
    for number, node in enumerate(found.nodes("agents", required=True, most=MOST_AGENTS)):
        named = node.value.get("id") if isinstance(node.value, dict) else None
        shown = named.value if named is not None and isinstance(named.value, str) else f"[{number}]"
        agents.append(
            read_agent_node(node, f"agents.{shown[:64]}" if named else f"agents[{number}]", found.faults)
        )
    return tuple(agents)


def _agent(found: Fields) -> WorkflowAgent:
    agent, kind = found.name("id"), found.member("kind", AgentKind)
    workspace = found.member("workspace", Workspace, _USUAL_WORKSPACE[kind])
    verifier = found.name("verifier", "", "agent name")
    return WorkflowAgent(
        id=agent,
        task_id=found.text("task_id", blank=False),
        kind=kind,
        title=found.text("title", blank=False),
        persona=found.name("persona", what="name of a definition"),
        instructions=found.text("instructions", f"agents/{agent}/{INSTRUCTIONS_FILE}", blank=False),
        runtime=found.name("runtime", "auto", "name of a runtime"),
        needs=found.names("needs", most=MOST_AGENTS),
        group=found.name("group", "", "name of a group"),
        verifier="" if verifier == NOBODY else verifier,
        inputs=read_inputs(found),
        outputs=found.texts("outputs"),
        evidence=read_evidence(found),
        files=found.texts("files"),
        workspace=WorkspaceKind.WORKTREE
        if workspace is Workspace.SCRATCH
        else WorkspaceKind(workspace.value),
        scratch=workspace is Workspace.SCRATCH,
        own_bounds=read_own_bounds(found),
        poc=_poc(found),
    )


def _poc(found: Fields) -> Poc | None:
    poc = found.object("poc", POC_KEYS)
    if poc is None:
        return None
    return Poc(
        poc.text("assumption", blank=False), poc.texts("pass"), poc.texts("fail"), poc.names("protects")
    )


def _groups(found: Fields) -> tuple[tuple[str, int], ...]:
    groups = list[tuple[str, int]]()
    for name, node, mark in found.entries("groups"):
        group = Fields(node, f"groups.{name[:64]}", found.faults, ("at_once",))
        groups.append((name, group.integer("at_once", least=1, most=MOST_AT_ONCE)))
        if not name.strip():
            found.fault("a group has no name: write one", mark)
    return tuple(groups)


def _checkpoint(found: Fields) -> Checkpoint:
    return Checkpoint(
        id=found.name("id", what="name of a checkpoint"),
        verifier=found.name("verifier"),
        subjects=found.names("subjects", most=MOST_AGENTS),
        criteria=found.texts("criteria"),
    )


def _escalation(found: Fields) -> Escalation:
    each = found.object("escalation", ESCALATION_KEYS)
    if each is None:
        return Escalation()
    return Escalation(
        resolver=each.name("resolver", ""),
        architect=each.name("architect", ""),
        loop=each.name("loop", ""),
        user_points=each.texts("user_points"),
    )


def _approval(found: Fields) -> PlanApproval | None:
    each = found.object("approval", ("hash", "by", "at"))
    if each is None:
        return None
    return PlanApproval(each.text("hash", blank=False), each.text("by", blank=False), each.integer("at"))
