"""Reading and checking the design of a workflow of many agents: it is to take time in proportion to its size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orchestrator.formats.workflow.plan import read_plan
from orchestrator.formats.workflow.plan_text import render_block
from orchestrator.model.actions import Inspect
from orchestrator.model.agents import Agent
from orchestrator.model.facts import Fact, ReportLanded, RunGone, RunStarted, WorkInspected
from orchestrator.model.limits import Limits
from orchestrator.model.run import Exit
from orchestrator.model.task import WORKFLOW, Brief, Config, WorkspaceKind
from orchestrator.model.turn_end import SubjectEnd, TurnEnd
from orchestrator.model.workflow import (
    AgentKind,
    CriterionPlan,
    Escalation,
    EvidenceWanted,
    Input,
    WorkflowAgent,
    WorkflowPlan,
)
from orchestrator.model.workflow_records import AgentStatus, Session
from orchestrator.pm.decide import decide
from orchestrator.pm.plan.families.workflow import cast
from orchestrator.pm.plan.workflow_check import Surroundings, check_design, has_faults
from orchestrator.pm.policies.turn_ends import report_of
from orchestrator.pm.state.task_state import PMState
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.deciding import AT, started
from tests.benchmarks.row import Of, Reach, Row

AGENTS = (100, 1000)
MOST_MS = 1000
"""What `task workflow check` may take at most for a plan of a thousand agents."""

STEPS = (1000, 3000)
FLAT = 1.5
"""How much longer a decision may take with three times as many steps."""

_LIMITS = Limits(max_concurrent_runs=40)
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
        reported = f"workflow: {what} a plan of {AGENTS[1]:,} agents"
        yield Row(reported, "ms", taken[1], taken[0], floor_is, Reach(Of.MEDIAN, MOST_MS / 2), note)
    yield from _decided(bench)


def _decided(bench: Bench) -> Iterator[Row]:
    """Measure what each fact of a turn costs, in plans of a thousand and of three thousand steps, in turn."""
    under_way = [UnderWay(steps // 2) for steps in STEPS]
    taken = [list[float](), list[float]()]
    for _ in bench.times(60, "turns"):
        for at, each in enumerate(under_way):
            taken[at] += each.turn()
    few, many = taken
    yield Row(f"workflow: a decision in a plan of {STEPS[0]:,} steps", "ms", few, (), "", Reach(Of.MEDIAN, 1))
    floor_is = f"the same with {STEPS[0]:,} steps"
    yield Row(
        f"workflow: a decision in a plan of {STEPS[1]:,} steps",
        "ms",
        many,
        few,
        floor_is,
        Reach(Of.RATIO, FLAT),
    )


class UnderWay:
    """A workflow that is carried out: one turn after the other, decided and nothing else."""

    def __init__(self, agents: int) -> None:
        plan = plan_of(agents)
        workers = tuple(replace(each, workspace=WorkspaceKind.READ_ONLY, files=()) for each in plan.agents)
        by = tuple(f"{each.id}.shown" for each in workers if each.evidence)
        self.plan = replace(plan, agents=workers, criteria=(CriterionPlan("It was measured", by),))
        self._agents = {each.id: each for each in workers}
        brief = Brief("Measure", "Know it", ("It was measured",), Config(family=WORKFLOW), workflow=self.plan)
        personas = {name: Agent(name, command=("agent",)) for name in ("dev", "review")}
        self.state = PMState()
        self._number = 0
        self._take(replace(started(), brief=brief, agents=personas | cast(brief, personas)))

    def _take(self, fact: Fact) -> float:
        watch = Stopwatch()
        decision = decide(self.state, fact, _LIMITS)
        taken = watch.ms
        self.state = decision.state
        return taken

    def turn(self) -> list[float]:
        """Let the run that was opened first do well and end; return the milliseconds of each decision."""
        run = self.state.live_runs[0]
        step, agent = self.state.steps[run.step], self._agents[self.state.steps[run.step].agent]
        self._number += 10
        at = AT + self._number
        session = Session(agent.task_id, _EPOCH)
        if step.judges:
            end = SubjectEnd(step.subtask, AgentStatus.VERIFIED, version="v1")
            turn = TurnEnd(session=session, subjects=(end,))
        else:
            turn = TurnEnd(AgentStatus.READY, session, outputs=(("out.md", "hash"),), version="v1")
        report = report_of(self.state, run, turn, _LIMITS)
        name = f"{run.instance}-20260101-{self._number:06}.md"
        facts: tuple[Fact, ...] = (
            RunStarted(at, run.id, 4711, "%1"),
            ReportLanded(
                at + 1, f"report {self._number}", name, f"{self._number:064x}", run.instance, report
            ),
            RunGone(at + 2, f"gone {self._number}", run.id, Exit(code=0)),
        )
        taken = [self._take(fact) for fact in facts]
        looks = [each for each in self.state.outbox.values() if isinstance(each, Inspect)]
        for look in looks:
            seen = WorkInspected(at + 3, f"looked {self._number}", look.step, look.attempt, changed=False)
            taken.append(self._take(seen))
        return taken


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
