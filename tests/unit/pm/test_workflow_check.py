"""The check of designs: each broken one has its one finding, each sound one has none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.formats.workflow.approval import approval_hash
from orchestrator.formats.workflow.status import first_status
from orchestrator.model.workflow import PlanApproval, WorkflowPlan
from orchestrator.pm.plan.workflow_check import Rule, Surroundings, Weight, check_design, has_faults
from orchestrator.pm.plan.workflow_check.findings import MOST_HINTS
from tests.unit.pm.workflow_designs import AROUND, SUMMARY, checked, designs, files, patched

FILES = files()
BROKEN = designs("broken_designs.toml")
SOUND = designs("sound_designs.toml")


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_broken_design_has_the_one_finding(broken):
    result = broken.checked()
    assert [each.rule for each in result.findings] == [broken.rule], result.findings
    (finding,) = result.findings
    assert finding.text
    assert finding.correction
    assert finding.file == broken.file
    assert broken.line in result.line(finding)


@pytest.mark.parametrize("sound", SOUND, ids=lambda sound: sound.name)
def test_sound_design_has_no_finding(sound):
    result = sound.checked()
    assert not has_faults(result.findings)
    assert sound.advice or not result.findings


def test_there_is_a_design_that_breaks_each_rule():
    elsewhere = {
        Rule.NO_WORK,
        Rule.RISK_UNASSESSED,
        Rule.INSTRUCTIONS_EMPTY,
        Rule.SUMMARY_MISSING,
        Rule.STATUS_TASK,
        Rule.STATUS_AGENTS,
        Rule.STATUS_DEPENDENCIES,
        Rule.STATUS_VERIFIERS,
        Rule.APPROVAL_VOID,
    }
    assert {broken.rule for broken in BROKEN} | elsewhere == set(Rule)
    assert len(BROKEN) >= 60
    assert len(SOUND) >= 20


def test_instructions_that_say_nothing():
    result = checked({**FILES, "agents/api_agent/agent_instructions.md": "Build the API.\n"})
    assert [each.rule for each in result.findings] == [Rule.INSTRUCTIONS_EMPTY]


def test_missing_summary():
    contents = {path: text for path, text in FILES.items() if path != SUMMARY}
    (finding,) = checked(contents).findings
    assert (finding.rule, finding.path) == (Rule.SUMMARY_MISSING, ("summary",))


def test_plan_without_work():
    plan = WorkflowPlan("empty", "conversation_summary_empty.md", ())
    assert [each.rule for each in check_design(plan) if each.weight is Weight.FAULT] == [Rule.NO_WORK]


def test_workflow_that_is_not_simple_wants_its_risks_assessed():
    plan = checked(FILES).document.plan
    doers = tuple(
        replace(agent, needs=(), inputs=(), id=f"doer_{at}", task_id=f"doer_172753920{at}", files=(f"f{at}",))
        for at, agent in enumerate([plan.agents[1]] * 4)
    )
    rest = tuple(agent for agent in plan.agents[4:] if agent.id != "app_verifier")
    changed = replace(plan, agents=(*doers, *rest), checkpoints=(), criteria=(), groups=())
    changed = replace(
        changed,
        agents=tuple(replace(a, instructions=f"agents/{a.id}/agent_instructions.md") for a in changed.agents),
    )
    assert [each.rule for each in check_design(changed)] == [Rule.RISK_UNASSESSED]
    assert not check_design(replace(changed, agents=changed.agents[1:]))


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        (Rule.STATUS_TASK, lambda status: replace(status, task_id="other")),
        (Rule.STATUS_AGENTS, lambda status: replace(status, agents=status.agents[1:])),
        (
            Rule.STATUS_DEPENDENCIES,
            lambda status: replace(
                status, agents=(replace(status.agents[0], dependencies=("api_agent",)), *status.agents[1:])
            ),
        ),
        (
            Rule.STATUS_VERIFIERS,
            lambda status: replace(status, verification=status.verification[1:]),
        ),
    ],
)
def test_shared_status_that_differs_from_the_plan(rule, change):
    status = first_status(checked(FILES).document.plan)
    assert not checked(FILES, replace(AROUND, status=status)).findings
    (finding,) = checked(FILES, replace(AROUND, status=change(status))).findings
    assert (finding.rule, finding.file) == (rule, "shared_status.json")


def test_approval_of_what_has_changed():
    plan = checked(FILES).document.plan
    signed = approval_hash(plan, {}, {})
    approved = replace(plan, approval=PlanApproval(signed, "ann", 1))
    assert not check_design(approved, Surroundings(approval_hash=signed))
    changed = replace(approved, escalation=replace(plan.escalation, user_points=("other",)))
    around = Surroundings(approval_hash=approval_hash(changed, {}, {}))
    (finding,) = check_design(changed, around)
    assert finding.rule is Rule.APPROVAL_VOID
    assert not has_faults([finding], but=[Rule.APPROVAL_VOID])


def test_todo_as_a_word_is_no_placeholder():
    contents = patched(
        FILES, "agents/api_agent/agent_instructions.md", (("## Notes", "Build a TODO list.\n\n## Notes"),)
    )
    assert not checked(contents).findings


def test_hints_at_wrong_names_are_bounded():
    """Each hint compares a name with all others: a plan of many wrong names must not take minutes."""
    plan = checked(FILES).document.plan
    needs = tuple(f"databse_agent{at}" for at in range(MOST_HINTS + 20))
    agents = (replace(plan.agents[0], needs=needs), *plan.agents[1:])
    found = check_design(replace(plan, agents=agents))
    hints = ["did you mean" in each.correction for each in found if each.rule is Rule.NEED_UNKNOWN]
    assert (hints.count(True), hints.count(False)) == (MOST_HINTS, 20)
