"""A story of a workflow: agents that leave files when their turn ends, in place of handoffs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from orchestrator.model.agents import Agent
from orchestrator.model.facts import AdaptAsked
from orchestrator.model.limits import Limits
from orchestrator.model.run import Exit
from orchestrator.model.task import WORKFLOW, Brief, Config
from orchestrator.model.turn_end import SubjectEnd, TurnEnd
from orchestrator.model.workflow import (
    AgentKind,
    CriterionPlan,
    EvidenceWanted,
    PlanEdit,
    Poc,
    WorkflowAgent,
    WorkflowPlan,
)
from orchestrator.model.workflow_records import (
    AgentStatus,
    Note,
    NoteStatus,
    PocDecision,
    PocEvidence,
    PocJudgement,
    Resolver,
    Session,
)
from orchestrator.pm.plan.families import workflow
from orchestrator.pm.plan.workflow_status import agent_status, shared_status_of
from orchestrator.pm.policies.turn_ends import report_of, subjects_of
from tests.unit.pm.story import Story

EPOCH = 1_764_254_000
JUDGE = WorkflowAgent(
    "judge", f"judge_{EPOCH}", AgentKind.VERIFIER, "Judge", "review", "agents/judge/agent_instructions.md"
)


def doer(name: str, *needs: str, **more: Any) -> WorkflowAgent:
    """Return an agent that works, and shows one piece of evidence."""
    usual = {
        "kind": AgentKind.DOER,
        "title": f"Do {name}",
        "persona": "dev",
        "needs": needs,
        "verifier": "judge",
        "outputs": (f"{name}.sql",),
        "evidence": (EvidenceWanted("e1", "it runs", "run.log"),),
    }
    instructions = f"agents/{name}/agent_instructions.md"
    return WorkflowAgent(name, f"{name}_{EPOCH}", instructions=instructions, **{**usual, **more})


def poc(name: str, **more: Any) -> WorkflowAgent:
    """Return an agent that tries an assumption."""
    return doer(name, kind=AgentKind.POC, scratch=True, poc=Poc("the driver is fast", ("under 1 s",)), **more)


def plan_of(*agents: WorkflowAgent, **more: Any) -> WorkflowPlan:
    """Return a plan of these agents and their verifier; the criterion `It works` is met by all of them."""
    judged = any(each.kind is AgentKind.VERIFIER for each in agents)
    everybody = agents if judged else (*agents, JUDGE)
    by = tuple(f"{each.id}.e1" for each in agents if each.evidence)
    return WorkflowPlan(
        "demo", "summary.md", everybody, **{"criteria": (CriterionPlan("It works", by),), **more}
    )


def note(number: int, status: NoteStatus = NoteStatus.OPEN, **more: Any) -> Note:
    """Return a note of an agent."""
    if status is NoteStatus.RESOLVED:
        done = {"resolution": "seen", "resolved_by": Resolver.SELF, "resolution_timestamp": EPOCH}
        more = {**done, **more}
    if status is NoteStatus.ESCALATED:
        more = {"escalation_reason": "not mine to decide", **more}
    return Note(f"note_{number:03}", EPOCH, f"assumption {number}", "at work", status, **more)


class WorkflowStory(Story):
    """A task of the family `workflow`."""

    def __init__(self, plan: WorkflowPlan, *, limits: Limits | None = None, **config: object) -> None:
        super().__init__(limits=limits)
        config = {"family": WORKFLOW, **config}
        self.brief = Brief("Title", "Make it so", ("It works",), Config(**config), workflow=plan)  # type: ignore[arg-type]
        personas = {each.persona: Agent(each.persona, command=("agent",)) for each in plan.agents}
        self.agents = personas | workflow.cast(self.brief, personas)
        self.plan = plan

    def leaves(self, step: str, how: Exit | None = None, *, turn: TurnEnd | None = None, **said: Any) -> None:
        """A run of a step lives, leaves files that say this, and exits."""
        run = self.comes_alive(step)
        self.at += 60
        turn = turn or self.turn(step, **said)
        report = report_of(self.state, self.state.runs[run.id], turn, self.limits)
        self.lands(run.instance, report)
        self.ends(run=self.state.runs[run.id], how=how)

    def turn(self, step: str, **said: Any) -> TurnEnd:
        """Return what an agent leaves that is ready: all files exist, and there is a session without notes."""
        agent = next(each for each in self.plan.agents if each.id == self.step(step).agent)
        notes = said.pop("notes", ())
        session = Session(agent.task_id, EPOCH, notes)
        made = tuple((path, "hash") for path in (*agent.outputs, *(each.path for each in agent.evidence)))
        usual = {"claim": AgentStatus.READY, "session": session, "outputs": made, "version": "v1"}
        return TurnEnd(**{**usual, **said})

    def judges_together(self, step: str, **missing: tuple[str, ...]) -> None:
        """A verifier judges those that a checkpoint has left: it misses what is named, and passes the others."""
        ends = tuple(
            SubjectEnd(
                each, None if each in missing else AgentStatus.VERIFIED, missing.get(each, ()), "", "v1"
            )
            for each in subjects_of(self.state, self.step(step))
        )
        agent = next(each for each in self.plan.agents if each.id == self.step(step).agent)
        self.leaves(step, turn=TurnEnd(session=Session(agent.task_id, EPOCH), subjects=ends))

    def decides_on(self, step: str, decision: PocDecision, evidence: PocEvidence, *edits: PlanEdit) -> None:
        """A verifier decides on a proof of concept."""
        subject = next(each for each in self.plan.agents if each.id == self.step(step).subtask)
        judgement = PocJudgement(subject.task_id, EPOCH, evidence, decision, "the driver is slow", edits)
        self.judges(step, claim=None, tries=True, judgement=judgement)

    def judges(self, step: str, *missing: str, **said: Any) -> None:
        """A verifier passes its subject, or misses something."""
        subject = self.step(step).subtask
        usual = {"version": "v1", "missing": missing, "claim": None if missing else AgentStatus.VERIFIED}
        end = SubjectEnd(subject, **{**usual, **said})
        agent = next(each for each in self.plan.agents if each.id == self.step(step).agent)
        self.leaves(step, turn=TurnEnd(session=Session(agent.task_id, EPOCH), subjects=(end,)))

    def adapts(self, *edits: PlanEdit, base: str = "") -> str:
        """The user edits the plan; return the reply."""
        fact = AdaptAsked(self.at, self.nonce(), self.nonce(), edits, base, "as asked")
        return self.feed(fact).reply

    def verified(self, agent: str) -> None:
        """An agent works, and its verifier passes it."""
        self.leaves(f"do:{agent}")
        self.judges(f"verify:{agent}")

    def status(self, agent: str) -> AgentStatus:
        """Return the status of an agent as the shared status shows it."""
        return agent_status(self.state, agent)

    def shown(self, agent: str) -> Any:
        """Return the entry of an agent in the shared status."""
        return next(each for each in shared_status_of(self.state, self.plan).agents if each.name == agent)


def carry_out(story: WorkflowStory) -> None:
    """Carry out a workflow of `a` and `b`: with an escalated note of `a`, its answer, and one rejection."""
    story.starts()
    story.leaves("do:a", notes=(note(1, NoteStatus.ESCALATED),))
    story.answers(story.question().id, "Plural")
    story.leaves("do:a", notes=story.state.records["a"].session.notes)  # type: ignore[union-attr]
    story.judges("verify:a", "the log is empty")
    story.leaves("do:a", notes=story.state.records["a"].session.notes)  # type: ignore[union-attr]
    story.judges("verify:a")
    story.verified("b")


def other_judge(name: str) -> WorkflowAgent:
    """Return a further verifier."""
    return replace(JUDGE, id=name, task_id=f"{name}_{EPOCH}")
