"""What every plan family must do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from graphlib import TopologicalSorter

from orchestrator.model.agents import Agent, Role
from orchestrator.model.handoff import Report, Subtask
from orchestrator.model.names import checked_name
from orchestrator.model.plan import Gate, Step, StepState
from orchestrator.model.task import Brief, Config, TaskState
from orchestrator.pm.plan.families import FAMILIES, Family
from orchestrator.pm.policies.gates import GATES
from orchestrator.testing.contracts.rehearsal import rehearse


class FamilyContract:
    """Subclass it, and set `name` to that of the family; override `add_to` where a gate reads more in a report."""

    name: str
    config = Config()

    def brief(self) -> Brief:
        """Return what the rehearsed task asks for."""
        return Brief("Title", "Make it so", ("It works",), replace(self.config, family=self.name))

    def agents(self) -> Mapping[str, Agent]:
        """Return the agents of the rehearsal: those that ship, and those that the family names."""
        names = {role.value: role for role in Role}
        needed = self.family().agents(self.brief())
        return {each: Agent(each, names.get(each), command=("agent",)) for each in (*names, *needed)}

    def add_to(self, step: Step, report: Report) -> Report:
        """Return the report of a step with what the family's gates read in it."""
        del step
        return report

    def family(self) -> Family:
        """Return the family, which must be registered under its name."""
        return FAMILIES.find(self.name)

    def _steps(self) -> dict[str, Step]:
        family, brief = self.family(), self.brief()
        steps = {step.id: step for step in family.first_steps(brief)}
        if any(Gate.SUBTASKS in step.gates for step in steps.values()):
            subtasks = (Subtask("one", "The first"), Subtask("two", "The second", needs=("one",)))
            steps |= {step.id: step for step in family.subtask_steps(brief, subtasks, steps)}
        return steps

    def test_it_begins_with_steps_that_may_start(self) -> None:
        """A task begins with at least one step that waits for nothing, and all of them are pending."""
        first = self.family().first_steps(self.brief())
        assert first
        assert any(not (step.needs or step.after) for step in first)
        assert {step.state for step in first} == {StepState.PENDING}

    def test_steps_make_a_plan(self) -> None:
        """No id is used twice, each step waits for steps that there are, and none waits for itself."""
        family, brief = self.family(), self.brief()
        first = family.first_steps(brief)
        assert len({step.id for step in first}) == len(first)
        steps = self._steps()
        for step in steps.values():
            assert {*step.needs, *step.after} <= steps.keys()
            assert not step.judges or step.judges in steps
        TopologicalSorter({step.id: (*step.needs, *step.after) for step in steps.values()}).prepare()

    def test_agents_are_named(self) -> None:
        """Whoever works on a step is among the agents that the family asks for, or is named by a subtask."""
        needed = set(self.family().agents(self.brief()))
        assert all(checked_name(name) for name in needed)
        assert {step.agent for step in self.family().first_steps(self.brief())} <= needed

    def test_gates_are_installed(self) -> None:
        """Each gate that a step names can be found."""
        assert {gate for step in self._steps().values() for gate in step.gates} <= set(GATES)

    def test_somebody_judges_the_whole(self) -> None:
        """A task is complete when its success criteria were judged: by a step with the gate CRITERIA, or as planned."""
        brief = self.brief()
        planned = {each.text for each in brief.workflow.criteria} if brief.workflow else set()
        judged = any(Gate.CRITERIA in step.gates for step in self._steps().values())
        assert judged or set(brief.criteria) <= planned

    def test_it_is_pure(self) -> None:
        """The same brief gives the same steps."""
        assert self.family().first_steps(self.brief()) == self.family().first_steps(self.brief())

    def test_task_ends_complete(self) -> None:
        """A task of this family, led by the real PM, ends complete when each agent does its part."""
        ended = rehearse(self.brief(), self.agents(), self.add_to)
        states = {step.id: step.state for step in ended.steps.values()}
        assert ended.state is TaskState.COMPLETE, states
        assert set(states.values()) == {StepState.PASSED}

    def test_an_order_of_the_user_is_carried_out(self) -> None:
        """`task spawn` adds steps that wait for nothing but each other."""
        brief = self.brief()
        agent = self.agents()[self.family().agents(brief)[0]]
        steps = self.family().loose_steps(brief, agent, 1, "Look around")
        ids = {step.id for step in steps}
        assert steps
        assert len(ids) == len(steps)
        assert all({*step.needs, *step.after} <= ids for step in steps)
