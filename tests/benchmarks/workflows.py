"""Reading and checking the design of a workflow of many agents: it is to take time in proportion to its size."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.formats.workflow.plan import read_plan
from orchestrator.formats.workflow.plan_text import render_block
from orchestrator.model.task import WorkspaceKind
from orchestrator.model.workflow import (
    AgentKind,
    Escalation,
    EvidenceWanted,
    Input,
    WorkflowAgent,
    WorkflowPlan,
)
from orchestrator.pm.plan.workflow_check import Surroundings, check_design, has_faults
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.row import Of, Reach, Row

AGENTS = (100, 1000)
MOST_MS = 1000
"""What `task workflow check` may take at most for a plan of a thousand agents."""

_EPOCH = 1727539200
_JUDGES = 20


def rows(bench: Bench) -> Iterator[Row]:
    plans = [plan_of(agents) for agents in AGENTS]
    pages = [f"```yaml\n{render_block(plan)}```\n".encode() for plan in plans]
    around = [_around(plan) for plan in plans]
    read, checked = [list[float](), list[float]()], [list[float](), list[float]()]
    for _ in bench.times(20, "designs"):
        for at, page in enumerate(pages):
            watch = Stopwatch()
            plan = read_plan(page)
            read[at].append(watch.ms)
            watch = Stopwatch()
            found = check_design(plan, around[at])
            checked[at].append(watch.ms)
            if has_faults(found):
                raise RuntimeError(f"the design has faults: {found[0].text}")
    floor_is, note = f"the same with {AGENTS[0]} agents", f"in proportion is {AGENTS[1] // AGENTS[0]}"
    for what, taken in (("read", read), ("check", checked)):
        told = f"workflow: {what} a plan of {AGENTS[1]:,} agents"
        yield Row(told, "ms", taken[1], taken[0], floor_is, Reach(Of.MEDIAN, MOST_MS / 2), note)


def plan_of(agents: int) -> WorkflowPlan:
    """Return a sound plan in which each agent needs two earlier ones."""
    workers = []
    for at in range(agents):
        needs = tuple(f"agent_{need}" for need in sorted({at // 2, at // 3} - {at}))
        workers.append(
            WorkflowAgent(
                id=f"agent_{at}",
                task_id=f"agent_{at}_{_EPOCH + at}",
                kind=AgentKind.DOER,
                title=f"Agent {at}",
                persona="dev",
                instructions=f"agents/agent_{at}/agent_instructions.md",
                needs=needs,
                verifier=f"judge_{at % _JUDGES}",
                inputs=tuple(Input(need, "out.md") for need in needs),
                outputs=("out.md",),
                evidence=(EvidenceWanted("shown", "It is shown", "run.log"),),
                files=(f"part{at}/**",),
            )
        )
    judges = [
        WorkflowAgent(
            id=f"judge_{at}",
            task_id=f"judge_{at}_{_EPOCH}",
            kind=AgentKind.VERIFIER,
            title="Judge",
            persona="review",
            instructions=f"agents/judge_{at}/agent_instructions.md",
            workspace=WorkspaceKind.READ_ONLY,
        )
        for at in range(_JUDGES)
    ]
    asking = Escalation(user_points=("requirements",))
    return WorkflowPlan("bench", "conversation_summary_bench.md", (*workers, *judges), escalation=asking)


def _around(plan: WorkflowPlan) -> Surroundings:
    """Return instructions that name all that the plan wants of them."""
    texts = {
        agent.instructions: "Notes: session_current.json. Missing evidence: verification_results.json. "
        f"Write out.md and run.log. {' '.join(f'agents/{each.source}/task_output/out.md' for each in agent.inputs)}"
        for agent in plan.agents
    }
    return Surroundings(task="bench", instructions=texts, personas=("dev", "review"), runtimes=("command",))
