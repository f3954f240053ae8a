"""Random sound designs have no fault; broken in one place, they have that fault and no other."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.formats.workflow.plan import read_plan
from orchestrator.formats.workflow.plan_text import render_block
from orchestrator.model.task import WorkspaceKind
from orchestrator.model.workflow import (
    AgentKind,
    Checkpoint,
    CriterionPlan,
    Escalation,
    EvidenceWanted,
    Input,
    Poc,
    WorkflowAgent,
    WorkflowPlan,
)
from orchestrator.pm.plan.workflow_check import Rule, Surroundings, Weight, check_design


@st.composite
def sound_plans(draw: st.DrawFn) -> WorkflowPlan:
    """Draw a plan in which needs only point backwards, so that there is no circle."""
    count = draw(st.integers(2, 12))
    judges = [_verifier(f"judge_{at}", at) for at in range(draw(st.integers(1, 3)))]
    agents = list[WorkflowAgent]()
    for at in range(count):
        needs = draw(st.sets(st.sampled_from([each.id for each in agents]), max_size=3)) if agents else set()
        judge = draw(st.sampled_from(judges)).id if at else judges[0].id
        is_poc = draw(st.booleans()) and at < count - 1
        agents.append(_worker(at, sorted(needs), judge, is_poc=is_poc))
    agents = [_protecting(agent, agents) for agent in agents]
    used = {agent.verifier for agent in agents}
    group = draw(st.booleans())
    if group:
        agents = [
            replace(agent, group="build") if draw(st.booleans()) or not at else agent
            for at, agent in enumerate(agents)
        ]
    return WorkflowPlan(
        "random",
        "conversation_summary_random.md",
        (*agents, *(judge for judge in judges if judge.id in used)),
        max_parallel=4,
        groups=(("build", draw(st.integers(1, 4))),) if group else (),
        escalation=Escalation(user_points=("requirements",)),
        criteria=(CriterionPlan("It works", tuple(f"{agent.id}.shown" for agent in agents[:2])),),
    )


def _worker(at: int, needs: list[str], verifier: str, *, is_poc: bool) -> WorkflowAgent:
    name = f"agent_{at}"
    return WorkflowAgent(
        id=name,
        task_id=f"{name}_{1727539200 + at}",
        kind=AgentKind.POC if is_poc else AgentKind.DOER,
        title=f"Agent {at}",
        persona="dev",
        instructions=f"agents/{name}/agent_instructions.md",
        needs=tuple(needs),
        verifier=verifier,
        inputs=tuple(Input(need, "out.md") for need in needs),
        outputs=("out.md",),
        evidence=(EvidenceWanted("shown", "It is shown", "run.log"),),
        files=(f"part{at}/**",),
        scratch=is_poc,
        poc=Poc("It can be done", ("it runs",), ("it fails",)) if is_poc else None,
    )


def _verifier(name: str, at: int) -> WorkflowAgent:
    return WorkflowAgent(
        id=name,
        task_id=f"{name}_{1727530000 + at}",
        kind=AgentKind.VERIFIER,
        title="Judge",
        persona="review",
        instructions=f"agents/{name}/agent_instructions.md",
        workspace=WorkspaceKind.READ_ONLY,
    )


def _protecting(agent: WorkflowAgent, agents: list[WorkflowAgent]) -> WorkflowAgent:
    """Let a proof of concept protect who needs it; one that nobody needs becomes a doer."""
    if agent.poc is None:
        return agent
    protected = tuple(each.id for each in agents if agent.id in each.needs)
    if not protected:
        return replace(agent, kind=AgentKind.DOER, scratch=False, poc=None)
    return replace(agent, poc=replace(agent.poc, protects=protected))


BREAKS = {
    Rule.NEED_UNKNOWN: lambda agent, plan: replace(agent, needs=(*agent.needs, "nobody")),
    Rule.NEED_SELF: lambda agent, plan: replace(agent, needs=(*agent.needs, agent.id)),
    Rule.NEED_VERIFIER: lambda agent, plan: replace(agent, needs=(*agent.needs, agent.verifier)),
    Rule.INPUT_UNKNOWN: lambda agent, plan: replace(agent, inputs=(*agent.inputs, Input("nobody"))),
    Rule.INPUT_NOT_NEEDED: lambda agent, plan: replace(agent, inputs=(*agent.inputs, Input(agent.id))),
    Rule.VERIFIER_SELF: lambda agent, plan: replace(agent, verifier=agent.id),
    Rule.VERIFIER_MISSING: lambda agent, plan: replace(agent, verifier=""),
    Rule.VERIFIER_UNKNOWN: lambda agent, plan: replace(agent, verifier="nobody"),
    Rule.TASK_ID_FORM: lambda agent, plan: replace(agent, task_id=agent.id),
    Rule.TASK_ID_TWICE: lambda agent, plan: replace(agent, task_id=plan.agents[-1].task_id),
    Rule.OUTPUT_PATH: lambda agent, plan: replace(agent, outputs=(*agent.outputs, "../out.md")),
    Rule.OUTPUT_TWICE: lambda agent, plan: replace(agent, outputs=(*agent.outputs, *agent.outputs)),
    Rule.EVIDENCE_TWICE: lambda agent, plan: replace(agent, evidence=agent.evidence * 2),
    Rule.EVIDENCE_PATH: lambda agent, plan: replace(
        agent, evidence=(*agent.evidence, EvidenceWanted("more", "More", "/run.log"))
    ),
    Rule.FILES_PATTERN: lambda agent, plan: replace(agent, files=(*agent.files, "/etc/**")),
    Rule.GROUP_UNKNOWN: lambda agent, plan: replace(agent, group="nowhere"),
    Rule.INSTRUCTIONS_PATH: lambda agent, plan: replace(agent, instructions="agent_instructions.md"),
    Rule.PERSONA_UNKNOWN: lambda agent, plan: replace(agent, persona="nobody"),
    Rule.RUNTIME_UNKNOWN: lambda agent, plan: replace(agent, runtime="nothing"),
}
AROUND = Surroundings(
    task="random", criteria=("It works",), personas=("dev", "review"), runtimes=("command",)
)
CAUSED_ELSEWHERE = {Rule.VERIFIER_IDLE, Rule.GROUP_UNUSED}
"""What one change may also cause for an agent or a group that nobody uses any more."""


@settings(deadline=None, max_examples=50)
@given(sound_plans())
def test_random_sound_plan_has_no_fault(plan):
    assert [each for each in check_design(plan, AROUND) if each.weight is Weight.FAULT] == []


@settings(deadline=None, max_examples=50)
@given(sound_plans())
def test_random_plan_is_read_back_as_it_was_written(plan):
    assert read_plan(f"# Plan\n\n```yaml\n{render_block(plan)}```\n".encode()) == plan


@settings(deadline=None, max_examples=50)
@given(sound_plans(), st.sampled_from(sorted(BREAKS)), st.data())
def test_random_plan_broken_in_one_place_has_that_fault(plan, rule, data):
    at = data.draw(st.integers(0, sum(agent.verifier != "" for agent in plan.agents) - 1))
    agents = list(plan.agents)
    agents[at] = BREAKS[rule](agents[at], plan)
    found = [
        each
        for each in check_design(replace(plan, agents=tuple(agents)), AROUND)
        if each.weight is Weight.FAULT
    ]
    (finding,) = [each for each in found if each.rule not in CAUSED_ELSEWHERE]
    assert finding.rule is rule
    assert finding.path[0] == "agents"


@settings(deadline=None, max_examples=50)
@given(sound_plans(), st.data())
def test_random_circle_is_found_once(plan, data):
    pairs = [
        (first, second)
        for first, one in enumerate(plan.agents)
        for second, other in enumerate(plan.agents)
        if one.id in other.needs
    ]
    if pairs:
        first, second = data.draw(st.sampled_from(pairs))
        agents = list(plan.agents)
        needed = agents[second].id
        agents[first] = replace(agents[first], needs=(*agents[first].needs, needed))
        found = check_design(replace(plan, agents=tuple(agents)), AROUND)
        faults = [each for each in found if each.weight is Weight.FAULT]
        assert [each.rule for each in faults] == [Rule.CYCLE]


@settings(deadline=None, max_examples=50)
@given(sound_plans())
def test_checkpoint_over_a_need_is_found(plan):
    plan_agents = {agent.id: agent for agent in plan.agents}
    for agent in plan.agents:
        for need in agent.needs:
            if plan_agents[need].verifier == agent.verifier:
                point = Checkpoint("joint", agent.verifier, (need, agent.id), ("both fit",))
                found = check_design(replace(plan, checkpoints=(point,)), AROUND)
                assert [each.rule for each in found if each.weight is Weight.FAULT] == [Rule.CHECKPOINT_NEEDS]
                return
