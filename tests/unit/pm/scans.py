"""What the tables keep at hand, found again by looking at everything: the two must always agree."""

from __future__ import annotations

import pytest

from orchestrator.model.actions import Inspect
from orchestrator.model.limits import Limits
from orchestrator.model.plan import Gate, Step, StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Purpose, Run
from orchestrator.model.task import WorkspaceKind
from orchestrator.pm.plan.families import rules_of
from orchestrator.pm.plan.readiness import floor_of
from orchestrator.pm.state.steps import Marks, Steps
from orchestrator.pm.state.task_state import PMState

RESTS = {StepState.BLOCKED, StepState.FAILED}
NOT_BEGUN = {StepState.PENDING, StepState.SET_ASIDE}
REPORTED = {StepState.PASSED, StepState.CHECKING}


def assert_kept_is_found(state: PMState, limits_runs: int) -> None:
    """Hold all that is kept at hand of a state against what a look at everything finds."""
    assert_steps(state.steps)
    every = list(state.steps.values())
    on = neighbours(every)
    for step in every if not rules_of(state.brief).follows_versions else ():
        begun = [each for each in dependents(on, step.id) if state.steps[each].state not in NOT_BEGUN]
        kept = found_in_order(state.steps, state.steps.dependents(step.id))
        assert [each for each in kept if state.steps[each].state not in NOT_BEGUN] == begun
    assert_runs(state)
    admitted = floor_of(state, Limits(max_concurrent_runs=limits_runs)).admitted
    planned = state.brief.workflow.max_parallel if state.brief.workflow else limits_runs
    limits_runs = min(limits_runs, planned, state.brief.config.parallel or limits_runs)
    assert found_in_order(state.steps, admitted) == [
        step.id for step in state.steps.values() if admits(state, step, limits_runs)
    ]


def assert_same_is_kept(state: PMState, other: PMState) -> None:
    """Hold what is kept of a state that was read back against what is kept of the one that was written.

    A group that nothing is in any more is kept by one of them only.
    """
    for name in set(Steps.__slots__) - {"_groups"}:
        assert getattr(state.steps, name) == getattr(other.steps, name), name
    groups = [{name: marks for name, marks in each.steps._groups.items() if marks} for each in (state, other)]
    assert groups[0] == groups[1]
    assert_runs(other)


def assert_runs(state: PMState) -> None:
    runs = list(state.runs.values())
    assert state.live_runs == [run for run in runs if run.live]
    assert state.runs.latest == {run.instance: run.id for run in runs}
    for order in {run.order for run in runs if run.order}:
        assert state.runs.with_order(order) == next(run for run in runs if run.order == order)
    assert state.runs.with_order("") is state.runs.with_order("pm-20260101-000000.md") is None
    for name in state.steps:
        at_work = [run for run in runs if run.step == name and run.purpose is Purpose.WORK]
        assert state.runs.last_at_work_on(name) == (at_work[-1] if at_work else None)
    assert_spent(state, runs)
    assert state.open_questions == [each for each in state.questions.values() if each.open]


def assert_spent(state: PMState, runs: list[Run]) -> None:
    agents = {run.agent for run in runs if run.purpose is Purpose.WORK}
    assert set(state.runs.spent) == agents
    for agent, spent in state.runs.spent.items():
        mine = [run for run in runs if run.agent == agent and run.purpose is Purpose.WORK]
        assert spent.runs == len(mine)
        assert spent.time == pytest.approx(sum(run.lasted for run in mine))
        used = [run.usage for run in mine]
        kept = (spent.usage.input, spent.usage.output, spent.usage.cached)
        assert kept == tuple(
            sum(column) for column in zip(*((u.input, u.output, u.cached) for u in used), strict=True)
        )
        assert (spent.usage.cost or 0.0) == pytest.approx(sum(each.cost or 0.0 for each in used))


def assert_steps(steps: Steps) -> None:
    every = list(steps.values())
    found = {
        "pending": [step for step in every if step.state is StepState.PENDING],
        "unsettled": [step for step in every if not step.settled],
        "begun": [step for step in every if step.state is not StepState.PENDING or step.keep_tree],
        "resting": [step for step in every if step.state in RESTS],
        "pausing": [step for step in every if step.state is StepState.PENDING and step.not_before],
        "again": [step for step in every if step.subtask and not step.judges and step.attempt > 1],
        "free": [step for step in every if not step.subtask or step.judges],
        "ready": [step for step in every if is_ready(steps, step)],
        "hopeless": [
            step for step in every if any(state_of(steps, need) is StepState.SET_ASIDE for need in step.needs)
        ],
    }
    for name, kept in found.items():
        assert found_in_order(steps, getattr(steps, name)) == [step.id for step in kept], name
    assert steps.under_way == under_way(every)
    on, waits = neighbours(every), neighbours(every, waiting=True)
    for step in every:
        same = [each.id for each in every if (each.kind, each.workspace) == (step.kind, step.workspace)]
        assert found_in_order(steps, steps.of_tree(step.kind, step.workspace)) == same
        assert found_in_order(steps, steps.of_agent(step.agent)) == [
            each.id for each in every if each.agent == step.agent
        ]
        assert found_in_order(steps, steps.judges_of(step.id)) == [
            each.id for each in every if each.judges == step.id
        ]
        mine = [each.id for each in every if step.subtask and each.subtask == step.subtask]
        assert found_in_order(steps, steps.of_subtask(step.subtask)) == mine
        assert found_in_order(steps, steps.waiting(step.id)) == dependents(waits, step.id)
        assert set(found_in_order(steps, steps.dependents(step.id))) <= set(dependents(on, step.id))


def found_in_order(steps: Steps, marks: Marks) -> list[str]:
    return [step.id for step in steps.among(marks)]


def state_of(steps: Steps, step: str) -> StepState | None:
    return steps[step].state if step in steps else None


def is_ready(steps: Steps, step: Step) -> bool:
    return (
        all(state_of(steps, need) is StepState.PASSED for need in step.needs)
        and (not step.judges or state_of(steps, step.judges) in REPORTED)
        and all(before in steps and steps[before].settled for before in step.after)
    )


def under_way(steps: list[Step]) -> frozenset[str]:
    begun, rests, unsettled = set(), set(), set()
    for step in steps:
        if step.subtask:
            if step.state is not StepState.PENDING or step.keep_tree:
                begun.add(step.subtask)
            if step.state in RESTS:
                rests.add(step.subtask)
            if not step.settled:
                unsettled.add(step.subtask)
    return frozenset((begun & unsettled) - rests)


def neighbours(steps: list[Step], *, waiting: bool = False) -> dict[str, set[str]]:
    """Return of each step, in order, the steps that it is based on, or waits for."""
    return {each.id: {*each.needs, each.judges, *(each.after if waiting else ())} for each in steps}


def dependents(on: dict[str, set[str]], step: str) -> list[str]:
    """Return the steps that are based on one, directly or not, in order."""
    found, new = {step}, {step}
    while new:
        new = {each for each, needs in on.items() if each not in found and not new.isdisjoint(needs)}
        found |= new
    return [each for each in on if each in found and each != step]


def admits(state: PMState, step: Step, runs_at_once: int) -> bool:
    """Tell whether a step waits for nothing but its time."""
    live = state.live_runs
    worked_on = [state.steps[run.step] for run in live]
    return (
        step.state is StepState.PENDING
        and Gate.JOINT not in step.gates
        and len(live) + len(looked_over(state)) < runs_at_once
        and step.id not in {each.id for each in worked_on}
        and (step.kind, step.workspace) not in {(each.kind, each.workspace) for each in worked_on}
        and (step.kind, step.workspace) not in looked_over(state)
        and is_ready(state.steps, step)
        and (bool(step.judges) or not is_kept_apart(state.steps, step))
        and (bool(step.judges) or bool(state.brief.workflow) or has_room(state.steps, step, runs_at_once))
        and is_let_by_workflow(state, step, worked_on)
        and not is_asked_about_elsewhere(state, step)
    )


def is_asked_about_elsewhere(state: PMState, step: Step) -> bool:
    """Tell whether another step's question is about what keeps this step's worktree from being made ready, too."""
    asked = [state.steps[each.step] for each in state.open_questions if each.kind is QuestionKind.PREPARATION]
    causes = [
        each.cause for each in asked if each.state is StepState.BLOCKED and each.id != step.id and each.cause
    ]
    alike = [
        each
        for each in causes
        if step.cause and (each.what, each.lines) == (step.cause.what, step.cause.lines)
    ]
    return step.tally.preparations >= Limits().max_failed_preparations and bool(alike)


def is_let_by_workflow(state: PMState, step: Step, worked_on: list[Step]) -> bool:
    """Tell whether the plan of a workflow lets a step run now: one run of an agent at once, and so many of a group."""
    plan = state.brief.workflow
    if plan is None:
        return True
    most = dict(plan.groups).get(step.group, len(worked_on) + 1)
    in_group = sum(each.group == step.group for each in worked_on)
    if any(each.subtask != step.subtask and rivals(step, [each]) for each in worked_on if not each.settled):
        return False
    return step.agent not in {each.agent for each in worked_on} and in_group < most


def has_room(steps: Steps, step: Step, runs_at_once: int) -> bool:
    """Tell whether a subtask may begin: as many are under way as agents may work, but for those that pause."""
    every = list(steps.values())
    busy = under_way(every)
    pause = {each.subtask for each in every if each.state is StepState.PENDING and each.not_before}
    return not step.subtask or step.subtask in busy or len(busy - pause) < runs_at_once


def looked_over(state: PMState) -> set[tuple[WorkspaceKind, str]]:
    """Return the trees of which it is being seen whether who only looked changed them."""
    steps = [state.steps[each.step] for each in state.outbox.values() if isinstance(each, Inspect)]
    return {(step.kind, step.workspace) for step in steps if step.workspace}


def is_kept_apart(steps: Steps, step: Step) -> bool:
    """Tell whether another subtask claims what a step would begin to change."""
    every = list(steps.values())
    busy = under_way(every)
    if not step.subtask or step.subtask in busy:
        return False
    held = [each for each in every if each.subtask in busy]
    for each in every:
        again = each.attempt > 1 or each.not_before
        waits = each.subtask and not each.judges and each.state is StepState.PENDING and is_ready(steps, each)
        if again and waits and each.subtask not in busy and not rivals(each, held):
            held.append(each)
    return rivals(step, held)


def rivals(step: Step, others: list[Step]) -> bool:
    claims = [parts(claim) for each in others if each.id != step.id for claim in each.claims]
    return any(overlap(parts(claim), other) for claim in step.claims for other in claims)


def parts(claim: str) -> list[str]:
    return claim.split("/") if claim else []


def overlap(one: list[str], other: list[str]) -> bool:
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]
