"""The plan families that ship, by the suite that is published for those of other packages."""

from __future__ import annotations

import json
from dataclasses import replace

from orchestrator.formats.handoff_format import read_any_report
from orchestrator.model.agents import Agent, Role
from orchestrator.model.composite import SkillPlan
from orchestrator.model.handoff import Report
from orchestrator.model.plan import Gate, Step
from orchestrator.model.task import DELIVERY, ROLES, SKILLS, WORKFLOW, Approval, Brief, Config, WorkspaceKind
from orchestrator.model.turn_end import TurnEnd
from orchestrator.model.workflow import CriterionPlan
from orchestrator.pm.plan.families import FAMILIES
from orchestrator.pm.plan.families.skills import MEMORIES_COMPLETE
from orchestrator.pm.policies.gates import sections_read
from orchestrator.testing.contracts.families import FamilyContract
from tests.unit.pm.role_story import handoff
from tests.unit.pm.workflows import doer, plan_of
from tests.unit.skill_sessions import SKILL, TASK_ID, session


class TestDelivery(FamilyContract):
    name = DELIVERY


class TestDeliveryWithEverything(FamilyContract):
    name = DELIVERY
    config = Config(architect=True, approve=(Approval.PLAN,))

    def test_architect_is_needed(self) -> None:
        assert Role.ARCHITECT.value in self.family().agents(self.brief())


class TestDeliveryInTheUsersTree(FamilyContract):
    name = DELIVERY
    config = Config(workspace=WorkspaceKind.SHARED)


class TestWorkflow(FamilyContract):
    """Its steps come from a plan, and its agents hand in by their files: a turn end comes with each report."""

    name = WORKFLOW

    def brief(self) -> Brief:
        """Return a task with a plan of two agents and their verifier, each of its own definition."""
        first, second, judge = plan_of(doer("a", persona="a"), doer("b", "a", persona="b")).agents
        plan = plan_of(first, second, replace(judge, persona="judge"))
        plan = replace(plan, criteria=(CriterionPlan("It works", ("a.e1", "b.e1")),))
        return replace(super().brief(), workflow=plan)

    def add_to(self, step: Step, report: Report) -> Report:
        """Return a report as the daemon makes it from the files of an agent that is ready."""
        return replace(report, turn=TurnEnd(outputs=(("run.log", "hash"),), version="v1"))

    def test_loose_steps_change_nothing(self) -> None:
        """An order beside the plan looks around: what is to be merged belongs into the plan."""
        agent = Agent("dev", Role.DEV)
        steps = self.family().loose_steps(self.brief(), agent, 1, "Mend it")
        assert not any(Gate.COMMIT in step.gates for step in steps)


class TestRoles(FamilyContract):
    """Each step but the last hands on: the form of its format asks for that, and so does its gate."""

    name = ROLES

    def add_to(self, step: Step, report: Report) -> Report:
        """Return a report with what a role hands on, as its reader leaves it."""
        if Gate.HANDOFF not in step.gates:
            return report
        data = json.dumps(handoff(step.id)).encode()
        read = read_any_report(data, "planner-20260101-000000.handoff", sections=sections_read(step.gates))
        return replace(read, run=report.run, in_reply_to=report.in_reply_to)


class TestRolesInTheUsersTree(TestRoles):
    config = Config(workspace=WorkspaceKind.SHARED)


class TestSkills(FamilyContract):
    """Its steps come from a session, and its agents hand in by memory files: a turn end comes with each report."""

    name = SKILLS

    def brief(self) -> Brief:
        """Return a task with a session of two phases."""
        taken = replace(session(), config=SKILL, task_id=TASK_ID)
        return replace(super().brief(), skill=SkillPlan(taken, "/project/state.json"))

    def add_to(self, step: Step, report: Report) -> Report:
        """Return a report as the daemon makes it from a complete memory file."""
        return replace(report, turn=TurnEnd(outputs=(("memory.md", "hash"),), version="v1"))

    def test_a_judge_is_needed_for_criteria_of_the_user(self) -> None:
        assert Role.REVIEW.value in self.family().agents(self.brief())


class TestSkillsWithTheCriterionOfTheProtocol(TestSkills):
    """No agent judges the whole: the gates show that the protocol's own criterion is met."""

    def brief(self) -> Brief:
        """Return a task as `task skill run --daemon` makes it."""
        return replace(super().brief(), criteria=(MEMORIES_COMPLETE,))

    def test_a_judge_is_needed_for_criteria_of_the_user(self) -> None:
        assert Role.REVIEW.value not in self.family().agents(self.brief())

    # What the suite asks of families whose criteria an agent judges.
    test_somebody_judges_the_whole = None  # type: ignore[assignment]


class TestSkillsInTheUsersTree(TestSkills):
    config = Config(workspace=WorkspaceKind.SHARED)


def test_each_family_that_ships_is_held_to_the_suite() -> None:
    assert {TestDelivery.name, TestWorkflow.name, TestRoles.name, TestSkills.name} == set(FAMILIES) - set(
        FAMILIES.added
    )
