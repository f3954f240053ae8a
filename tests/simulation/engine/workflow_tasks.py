"""A workflow of the user: a plan drawn by seed, and the files of its design, approved as `workflow approve` does."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from random import Random
from typing import Any, Final

from orchestrator import layout
from orchestrator.formats.task_file import read_brief
from orchestrator.formats.workflow.approval import approval_hash, definition_bytes
from orchestrator.formats.workflow.plan_text import render_block
from orchestrator.model.task import Brief, Config, WorkspaceKind
from orchestrator.model.workflow import (
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
from orchestrator.pm.plan.workflow_obstacles import obstacles
from orchestrator.runtimes.roster import find_agents
from orchestrator.shipped import shipped
from orchestrator.testing.fake_box import place_on
from tests.simulation.engine.user_task import PROJECT, UserTask

EPOCH: Final = 1_764_254_000
WORKS: Final = "It works"
JUDGES: Final = ("judge", "umpire", "referee")
BUILD: Final = "build"
ON_CALL: Final = ("resolver", "architect", "loop")

DOER: Final = """\
# {id}

Do it.

## Input Requirements
- {inputs}

## Output Requirements
- {outputs}

## Success Criteria
- It is done.

## Notes
Keep assumptions in `completion_drive/session_current.json`: `note_id`, `timestamp`, `description`, `context`, `status`.
- Escalate, with an `escalation_reason`: requirements, technology, architecture, security, contradictions.
- Resolve yourself: consistency, obvious bugs, details, documentation.

## End of your turn
Write `blocked` or `ready_for_verification` into `shared_status.json`. `verification_results.json` names what is
missing.
"""
VERIFIER: Final = """\
# {id}

Judge. Write `verified` into `shared_status.json`, or what is missing into `verification_results.json` (`task_id`,
`timestamp`, `result`, `missing_evidence`). Look at `session_current.json` too. A proof of concept: `poc_decision.json`.
"""
SUMMARY: Final = "# Conversation Summary: {name}\n" + "".join(
    f"\n## {title}\n- None.\n"
    for title in (
        "What We're Trying to Accomplish",
        "Key Decisions Made",
        "Constraints & Assumptions",
        "Questions Resolved",
        "Open Items",
        "Dependencies & Integration Points",
    )
)


@dataclass(frozen=True)
class WorkflowTask(UserTask):
    """A task whose plan is a workflow. boxed: the box of each agent that works on one."""

    plan: WorkflowPlan = field(default_factory=lambda: WorkflowPlan("", "", ()))
    boxed: tuple[tuple[str, str], ...] = ()

    @property
    def boxes(self) -> set[str]:
        """The boxes on which its agents run."""
        return {box for _, box in self.boxed}

    def brief(self, goal: str, criteria: tuple[str, ...]) -> str:
        """Return task.md. Its criterion is the plan's, whatever else the user would like."""
        del criteria
        lines = ["family: workflow", "worker.command: worker", f"workspace: {self.workspace}"]
        lines += [f"unanswered: {self.unanswered}"] if self.unanswered else []
        lines += ["bring: branch"] if self.boxed else []
        for agent, box in self.boxed:
            lines += [f"{agent}.command: worker", f"{agent}.cwd: {box}:{place_on(box)}"]
        config = "\n".join(lines)
        head = f"# Task: {self.name}\n\n## Goal\n{goal}\n"
        return f"{head}\n## Success Criteria\n- {WORKS}\n\n## Agent Config\n{config}\n"

    @cached_property
    def agents(self) -> dict[str, WorkflowAgent]:
        """The agents of the plan by their ids."""
        return {each.id: each for each in self.plan.agents}

    def design(self) -> dict[str, str]:
        """Return the files of the design by their paths in `orchestration/`."""
        texts = {each.instructions: _instructions(each, self.plan) for each in self.plan.agents}
        signed = {path: text.encode() for path, text in texts.items()}
        written = find_agents(PROJECT, None, self.read.config, shipped("agents"), python="{python}").agents
        definitions = {each.name: definition_bytes(each) for each in written.values()}
        approval = PlanApproval(approval_hash(self.plan, signed, definitions), "user", EPOCH)
        block = render_block(replace(self.plan, approval=approval))
        return {
            **texts,
            "workflow_coordination_plan.md": f"# The plan\n\n```yaml\n{block}```\n",
            self.plan.summary: SUMMARY.format(name=self.name),
        }

    @cached_property
    def read(self) -> Brief:
        """Its task.md, as it is read."""
        return read_brief(self.brief("Do it", ()).encode(), "task.md")


def _instructions(agent: WorkflowAgent, plan: WorkflowPlan) -> str:
    if agent.kind is AgentKind.VERIFIER:
        return VERIFIER.format(id=agent.id)
    inputs = [f"`agents/{each.source}/task_output/{each.path}`" for each in agent.inputs]
    outputs = [f"`task_output/{path}`" for path in (*agent.outputs, *(each.path for each in agent.evidence))]
    return DOER.format(id=agent.id, inputs="\n- ".join(inputs or ["None."]), outputs="\n- ".join(outputs))


def drawn_plan(name: str, random: Random, size: int, workspace: str) -> WorkflowPlan:
    """Return an acyclic plan of so many agents that work, with verifiers, groups, claims, proofs and a checkpoint.

    It is sound for agents that work in this kind of workspace: in a shared one all claim the same files.
    """
    judges = tuple(_verifier(each) for each in JUDGES[: random.randint(1, len(JUDGES))])
    agents = list[WorkflowAgent]()
    for number in range(size):
        near = agents[-6:]
        needs = tuple(each.id for each in near if random.random() < 0.3)
        more: dict[str, Any] = {
            "group": random.choice(("", "", BUILD)),
            "files": random.choice(((), ("db/**",), ("db/**",), (f"ui/a{number}/**",))),
            "verifier": random.choice(judges).id,
            "own_bounds": random.choice(((), (), (("verifications", 2),), (("crashes", 1), ("asks", 0)))),
        }
        agents.append(_doer(f"a{number}", needs, **more))
    agents = _with_poc(agents, random)
    plan = WorkflowPlan(
        name,
        f"conversation_summary_{name}.md",
        (*agents, *(each for each in judges if any(of.verifier == each.id for of in agents))),
        max_parallel=random.choice((1, 2, 3, 4, 5, 6)) * max(1, size // 10),
        bounds=Bounds(),
        groups=((BUILD, random.randint(1, 2) * max(1, size // 10)),),
        criteria=(CriterionPlan(WORKS, tuple(f"{each.id}.e1" for each in agents)),),
    )
    if not any(each.group for each in agents):
        plan = replace(plan, groups=())
    pointed = replace(plan, checkpoints=_checkpoints(agents, random))
    brief = Brief("", "", (WORKS,), Config(workspace=WorkspaceKind(workspace)))
    return plan if obstacles(pointed, brief) else pointed


def with_answers(plan: WorkflowPlan, random: Random) -> WorkflowPlan:
    """Return a plan whose escalated notes agents answer: one to three of resolver, architect and loop agent."""
    roles = [each for each in ON_CALL if random.random() < 0.7] or [random.choice(ON_CALL)]
    judge = next(each.id for each in plan.agents if each.kind is AgentKind.VERIFIER)
    answering = tuple(_on_call(each, judge) for each in roles)
    bounds = replace(plan.bounds, depth=random.choice((1, 2)), loops=random.choice((2, 3)))
    resolver, architect, loop = (each if each in roles else "" for each in ON_CALL)
    named = Escalation(resolver, architect, loop)
    return replace(plan, agents=(*plan.agents, *answering), escalation=named, bounds=bounds)


def with_boxes(task: WorkflowTask, random: Random) -> WorkflowTask:
    """Return a task of which some agents, those who answer among them, work on one or two boxes.

    An agent on a box changes any file: where that would hold a checkpoint up, the plan has none.
    """
    able = [each.id for each in task.plan.agents if each.kind is not AgentKind.VERIFIER]
    chosen = [each for each in able if random.random() < 0.5] or [random.choice(able)]
    boxed = replace(task, boxed=tuple((each, random.choice(("near", "near", "far"))) for each in chosen))
    if not obstacles(boxed.plan, boxed.read):
        return boxed
    return replace(boxed, plan=replace(boxed.plan, checkpoints=()))


def _on_call(name: str, judge: str) -> WorkflowAgent:
    agent = replace(
        _doer(name, ()), kind=AgentKind.ARCHITECT, verifier=judge, workspace=WorkspaceKind.READ_ONLY
    )
    return agent if name == "architect" else replace(agent, evidence=(), outputs=())


def _verifier(name: str) -> WorkflowAgent:
    path = f"agents/{name}/agent_instructions.md"
    return WorkflowAgent(
        name,
        f"{name}_{EPOCH}",
        AgentKind.VERIFIER,
        f"Judge {name}",
        "worker",
        path,
        workspace=WorkspaceKind.READ_ONLY,
    )


def _doer(name: str, needs: tuple[str, ...], **more: Any) -> WorkflowAgent:
    return WorkflowAgent(
        name,
        f"{name}_{EPOCH}",
        AgentKind.DOER,
        f"Do {name}",
        "worker",
        f"agents/{name}/agent_instructions.md",
        needs=needs,
        inputs=tuple(Input(each, f"{each}.md") for each in needs),
        outputs=(f"{name}.md",),
        evidence=(EvidenceWanted("e1", "it runs", "run.log"),),
        **more,
    )


def _with_poc(agents: list[WorkflowAgent], random: Random) -> list[WorkflowAgent]:
    """Return the agents, of which one that others need may be a proof of concept."""
    needed = {need for each in agents for need in each.needs}
    free = [each for each in agents if each.id in needed and not each.needs]
    if not free or random.random() < 0.5:
        return agents
    chosen = random.choice(free)
    protects = tuple(each.id for each in agents if chosen.id in each.needs)
    tried = replace(
        chosen,
        kind=AgentKind.POC,
        scratch=True,
        files=(),
        poc=Poc("it is fast", ("1 s",), ("1 h",), protects),
    )
    return [tried if each is chosen else each for each in agents]


def _checkpoints(agents: list[WorkflowAgent], random: Random) -> tuple[Checkpoint, ...]:
    judge = random.choice(agents).verifier
    free = [
        each for each in agents if each.verifier == judge and not each.needs and each.kind is AgentKind.DOER
    ][:4]
    few = len(free) < 2 or random.random() < 0.6
    return () if few else (Checkpoint("c1", judge, tuple(each.id for each in free), ("They fit",)),)


def orchestration(task: UserTask, path: str) -> Any:
    """Return the place of a file of a workflow."""
    return layout.orchestration(task.folder) / path
