"""Random workflows whose agents do well, are sloppy, escalate, crash and lie, held to what an auditor would look for.

After each fact: needs were verified at launch, caps hold, one run of an agent lives at most, overlapping files are
never worked on at once, what is verified was passed by its own verifier, of the version that was handed in. Each ends,
or waits for somebody with a question; only dependents stand still.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.model.limits import Limits
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.run import Exit, Run
from orchestrator.model.task import Brief, TaskState
from orchestrator.model.workflow import AgentKind, Checkpoint, WorkflowAgent, WorkflowPlan
from orchestrator.model.workflow_records import AgentStatus, NoteKind, NoteStatus, PocDecision, PocEvidence
from orchestrator.pm.plan.workflow_obstacles import obstacles
from orchestrator.pm.policies.turn_ends import subjects_of
from tests.unit.pm.workflows import JUDGE, WorkflowStory, doer, note, other_judge, plan_of

ENDED = {TaskState.COMPLETE, TaskState.PARTIAL, TaskState.FAILED}
MOST = 600
ANSWERS = ["Do it like this", "retry", "begin-anew", "approve", "set-aside"]
IN_CI = 20
OTHERS = pytest.mark.thorough(
    reason="further seeds of the same: a third of them goes through every kind of play"
)
SEEDS = [pytest.param(seed, marks=[] if seed < IN_CI else [OTHERS]) for seed in range(60)]


def drawn_plan(draw: random.Random) -> WorkflowPlan:
    """Return an acyclic plan with groups, claims and two verifiers."""
    judges, agents = [JUDGE, other_judge("other")], list[WorkflowAgent]()
    for number in range(draw.randint(1, 7)):
        needs = [each.id for each in agents if draw.random() < 0.35]
        files = draw.choice([(), (), ("db/**",), (f"ui/{number}",)])
        more: dict[str, Any] = {
            "group": draw.choice(["", "", "build"]),
            "files": files,
            "verifier": draw.choice(judges).id,
            "own_bounds": draw.choice([(), (), (("verifications", 2),), (("crashes", 1), ("asks", 0))]),
        }
        if not needs and draw.random() < 0.2:
            more |= {"kind": AgentKind.POC, "scratch": True}
        agents.append(doer(f"a{number}", *needs, **more))
    groups = (("build", draw.randint(1, 2)),)
    points = _drawn_checkpoint(draw, agents)
    plan = plan_of(*agents, *judges, max_parallel=draw.randint(1, 5), groups=groups, checkpoints=points)
    return replace(plan, checkpoints=()) if obstacles(plan, Brief("", "", ())) else plan


def _drawn_checkpoint(draw: random.Random, agents: list[WorkflowAgent]) -> tuple[Checkpoint, ...]:
    """Return a checkpoint of agents of one verifier that need nobody who is judged there, or none."""
    free = [
        each
        for each in agents
        if each.verifier == JUDGE.id and not each.needs and each.kind is not AgentKind.POC
    ]
    if len(free) < 2 or draw.random() < 0.4:
        return ()
    return (Checkpoint("c1", JUDGE.id, tuple(each.id for each in free), ("They fit",)),)


class Audited(WorkflowStory):
    """A story that is audited after each fact."""

    def feed(self, fact: Any) -> Any:
        before = set(self.state.runs)
        decision = super().feed(fact)
        self.audit(set(self.state.runs) - before)
        return decision

    def audit(self, opened: set[str]) -> None:
        """Check what must hold now, and of the runs that were opened just now."""
        live = [self.state.steps[run.step] for run in self.state.live_runs]
        assert len(live) <= self.plan.max_parallel
        assert len({step.agent for step in live}) == len(live)
        for group, most in self.plan.groups:
            assert sum(step.group == group for step in live) <= most
        claimed = [claim for step in live if not step.judges for claim in step.claims]
        assert len(set(claimed)) == len(claimed)
        for run in opened:
            step = self.state.steps[self.state.runs[run].step]
            assert all(self.state.steps[need].state is StepState.PASSED for need in step.needs)
        self._audit_verified()

    def _audit_verified(self) -> None:
        for agent in self.plan.agents:
            verify = self.state.steps.get(f"verify:{agent.id}")
            if verify is None or verify.state is not StepState.PASSED:
                continue
            record = self.state.records[agent.id]
            assert verify.agent == agent.verifier
            assert self.state.steps[f"do:{agent.id}"].state is StepState.PASSED
            assert record.version
            assert not any(each.status is not NoteStatus.RESOLVED for each in record.session.notes)  # type: ignore[union-attr]


def plays(story: Audited, run: Run, draw: random.Random, number: int) -> None:
    """One run does something."""
    step, luck = story.step(run.step), draw.random()
    if luck < 0.08:
        story.comes_alive(step.id)
        story.ends(step.id, draw.choice([Exit(code=1), Exit(signal=9), Exit(lost=True)]))
    elif Gate.CHECKPOINT in step.gates:
        left = subjects_of(story.state, step)
        story.judges_together(step.id, **{each: ("more",) for each in left if draw.random() < 0.25})
    elif Gate.POC in step.gates and luck > 0.2:
        story.decides_on(step.id, draw.choice(list(PocDecision)), PocEvidence.PARTIAL)
    elif step.judges and luck < 0.25:
        story.judges(step.id, f"thing {number}")
    elif step.judges and luck < 0.32:
        unclear: list[dict[str, Any]] = [{"claim": None}, {"version": "v9"}, {"fault": "stale"}]
        story.judges(step.id, **draw.choice(unclear))
    elif step.judges:
        story.judges(step.id)
    elif luck < 0.2:
        odd: list[dict[str, Any]] = [
            {"claim": AgentStatus.WORKING},
            {"claim": AgentStatus.VERIFIED},
            {"missing": ("task_output/x",)},
            {"session": None},
        ]
        story.leaves(step.id, **draw.choice(odd))
    elif luck < 0.32:
        record = story.state.records.get(step.agent)
        old = record.session.notes if record and record.session else ()
        kind = draw.choice(list(NoteKind))
        status = draw.choice([NoteStatus.OPEN, NoteStatus.ESCALATED, NoteStatus.RESOLVED])
        claim = draw.choice([AgentStatus.BLOCKED, AgentStatus.READY, AgentStatus.REVIEW])
        story.leaves(step.id, notes=(*old, note(len(old) + 1, status, kind=kind)), claim=claim)
    else:
        record = story.state.records.get(step.agent)
        notes = record.session.notes if record and record.session else ()
        story.leaves(step.id, notes=tuple(settled(each) for each in notes))


def settled(was: Any) -> Any:
    """Return a note as its author leaves it when the work is done: an open one is resolved by itself."""
    return (
        note(int(was.id[-3:]), NoteStatus.RESOLVED) if was.status is NoteStatus.OPEN and not was.kind else was
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_random_workflow_ends_lawfully(seed: int) -> None:
    draw = random.Random(seed)
    story = Audited(drawn_plan(draw), limits=Limits(max_concurrent_runs=5))
    story.starts()
    for number in range(MOST):
        live = [run for run in story.state.live_runs if run.reported_at is None]
        if story.task() in ENDED:
            break
        if live:
            plays(story, draw.choice(live), draw, number)
        elif story.state.open_questions:
            question = draw.choice(story.state.open_questions)
            story.answers(question.id, draw.choice(ANSWERS))
        else:
            story.passes(400)
        only_dependents_wait(story)
    assert story.task() in ENDED, story.states()
    if story.task() is TaskState.COMPLETE:
        assert all(step.state is StepState.PASSED for step in story.state.steps.values())


def only_dependents_wait(story: Audited) -> None:
    """Check that whatever waits for nothing but a place has none because all are taken."""
    state = story.state
    if (
        state.state not in {TaskState.RUNNING, TaskState.WAITING}
        or len(state.live_runs) >= story.plan.max_parallel
    ):
        return
    live = [state.steps[run.step] for run in state.live_runs]
    busy, groups = {step.agent for step in live}, dict(story.plan.groups)
    for step in state.steps.among(state.steps.pending & state.steps.ready & ~state.steps.joint):
        full = bool(step.group) and sum(each.group == step.group for each in live) >= groups[step.group]
        rival = bool(step.claims) and any(
            other.subtask != step.subtask and state.steps.rivals(step) & state.steps.mark(other.id)
            for other in state.steps.values()
        )
        tree = any((each.kind, each.workspace) == (step.kind, step.workspace) for each in live)
        assert step.agent in busy or full or rival or tree or step.not_before > story.at, step.id
