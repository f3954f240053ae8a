"""Edits of a running workflow's plan: all of them or none, and the result passes the check of designs.

What an edit does to an agent depends on how far it is (contract, Adaptation). Whether an agent's edit voids the
approval is decided here too: agents may add work, but never lower the bar.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.task import WorkspaceKind
from orchestrator.model.workflow import AgentKind, EditKind
from orchestrator.model.workflow_records import AgentStatus, Effect
from orchestrator.pm.plan.workflow_check import Surroundings, check_design
from orchestrator.pm.plan.workflow_check.findings import Rule, Weight
from orchestrator.pm.state.claims import above, claims_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.model.workflow import PlanEdit, WorkflowAgent, WorkflowPlan


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a workflow is: the status of each agent (pending, if it has none) and what it used of its bounds."""

    statuses: Mapping[str, AgentStatus] = field(default_factory=dict)
    used: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def status(self, agent: str) -> AgentStatus:
        """Return the status of an agent."""
        return self.statuses.get(agent, AgentStatus.PENDING)


@dataclass(frozen=True, slots=True)
class Adaptation:
    """An edited plan. `instructions` are the new texts of instructions files by path.

    `voids` says why an agent may not make these edits without a new approval; empty for the user's own.
    """

    plan: WorkflowPlan
    instructions: tuple[tuple[str, str], ...]
    effects: tuple[tuple[str, Effect], ...]
    voids: tuple[str, ...]

    @property
    def touched(self) -> frozenset[str]:
        """The agents that start nothing while the approval is void; so do those that need them."""
        return frozenset(agent for agent, _ in self.effects)


@dataclass(frozen=True, slots=True)
class AdaptationRefused:
    """Why the edits change nothing."""

    reasons: tuple[str, ...]


_UNDER_WAY: Final = frozenset(
    {AgentStatus.WORKING, AgentStatus.REVIEW, AgentStatus.READY, AgentStatus.BLOCKED}
)
_FAILED: Final = frozenset({AgentStatus.FAILED})
_OVER: Final = frozenset({AgentStatus.VERIFIED, AgentStatus.COMPLETE})
_NOT_CHECKED: Final = frozenset({Rule.APPROVAL_VOID})


def adapt(
    plan: WorkflowPlan,
    edits: Sequence[PlanEdit],
    progress: Progress,
    around: Surroundings | None = None,
    *,
    by_user: bool,
) -> Adaptation | AdaptationRefused:
    """Return a plan with all edits, or why none is made.

    Args:
        plan: The plan as it runs.
        edits: The edits, in order.
        progress: How far the workflow is.
        around: What the result is checked against; instructions that the edits write need not be in it.
        by_user: Whether the user makes them; an agent's edits may void the approval.

    """
    draft = _Draft(plan, progress)
    for edit in edits:
        draft.make(edit)
    if not edits:
        draft.reasons.append("there are no edits")
    if draft.reasons:
        return AdaptationRefused(tuple(draft.reasons))
    result = draft.result()
    known = {(each.rule, each.text) for each in check_design(plan, around or Surroundings())}
    faults = [
        f"{each.text}: {each.correction}"
        for each in check_design(result, _with_texts(around, draft.instructions))
        if each.weight is Weight.FAULT
        and each.rule not in _NOT_CHECKED
        and (each.rule, each.text)
        not in known  # what was carried out so far may have been checked by older rules
    ]
    if faults:
        return AdaptationRefused(tuple(faults))
    effects = tuple(
        (name, _settled(effect, result, name, progress)) for name, effect in draft.effects.items()
    )
    voids = () if by_user else tuple(_voids(plan, result, edits))
    return Adaptation(result, tuple(sorted(draft.instructions.items())), effects, voids)


class _Draft:
    """A plan that is being edited."""

    def __init__(self, plan: WorkflowPlan, progress: Progress) -> None:
        self.reasons = list[str]()
        self.instructions = dict[str, str]()
        self.effects = dict[str, Effect]()
        self._plan, self._progress = plan, progress
        self._agents = {agent.id: agent for agent in plan.agents}
        self._removed = set[str]()

    def make(self, edit: PlanEdit) -> None:
        """Make one edit, or note why it cannot be made."""
        agent = self._agents.get(edit.agent)
        if edit.kind is EditKind.ADD_AGENT:
            self._add(edit)
        elif agent is None:
            self.reasons.append(f"{edit.kind}: the plan has no agent {edit.agent}")
        elif edit.kind is EditKind.REMOVE_AGENT:
            self._remove(agent)
        else:
            self._change(agent, edit)

    def result(self) -> WorkflowPlan:
        """Return the edited plan. What is gone is named nowhere but where the edits had to say otherwise."""
        agents = tuple(self._agents.values())
        if not self._removed:
            return replace(self._plan, agents=agents)
        gone = self._removed
        subjects = [
            replace(each, subjects=tuple(name for name in each.subjects if name not in gone))
            for each in self._plan.checkpoints
        ]
        return replace(
            self._plan,
            agents=tuple(
                agent
                if agent.poc is None
                else replace(
                    agent,
                    poc=replace(
                        agent.poc, protects=tuple(name for name in agent.poc.protects if name not in gone)
                    ),
                )
                for agent in agents
            ),
            checkpoints=tuple(each for each in subjects if len(each.subjects) > 1),
            criteria=tuple(
                replace(each, by=tuple(name for name in each.by if name.partition(".")[0] not in gone))
                for each in self._plan.criteria
            ),
        )

    def _add(self, edit: PlanEdit) -> None:
        if edit.added is None or edit.added.id != edit.agent:
            self.reasons.append(f"{edit.kind}: {edit.agent} is not described")
        elif edit.agent in self._agents:
            self.reasons.append(f"{edit.kind}: the plan has an agent {edit.agent} already")
        elif edit.agent in self._removed or edit.agent in self._progress.statuses:
            self.reasons.append(f"{edit.kind}: there was an agent {edit.agent}; give the new one another id")
        else:
            self._agents[edit.agent] = edit.added
            self.instructions[edit.added.instructions] = edit.instructions
            self.effects[edit.agent] = Effect.ADDED

    def _remove(self, agent: WorkflowAgent) -> None:
        status = self._progress.status(agent.id)
        needed = [each.id for each in self._plan.agents if agent.id in each.needs]
        if status in _OVER and needed:
            self.reasons.append(f"{agent.id} is verified, and {needed[0]} needs it: it stays")
            return
        del self._agents[agent.id]
        self._removed.add(agent.id)
        self.instructions.pop(agent.instructions, None)
        self.effects[agent.id] = Effect.ENDED if status in _UNDER_WAY else Effect.REMOVED

    def _change(self, agent: WorkflowAgent, edit: PlanEdit) -> None:
        status = self._progress.status(agent.id)
        effect = Effect.WORKS_AGAIN if status in _OVER | _FAILED else Effect.CLAIM_NOT_TAKEN
        if status is AgentStatus.PENDING:
            effect = Effect.GOES_ON
        match edit.kind:
            case EditKind.SET_NEEDS:
                agent, effect = replace(agent, needs=edit.needs), Effect.GOES_ON
            case EditKind.SET_INPUTS:
                agent, effect = replace(agent, inputs=edit.inputs), Effect.GOES_ON
            case EditKind.REINSTRUCT:
                self.instructions[agent.instructions] = edit.instructions
            case EditKind.SET_EVIDENCE:
                agent = replace(agent, evidence=edit.evidence)
            case EditKind.SET_OUTPUTS:
                agent = replace(agent, outputs=edit.outputs)
            case EditKind.SET_VERIFIER:
                agent, effect = replace(agent, verifier=edit.verifier), Effect.NEXT_VERDICT
            case EditKind.SET_BOUNDS:
                self._below_use(agent, edit)
                agent = replace(agent, own_bounds=tuple((dict(agent.own_bounds) | dict(edit.bounds)).items()))
                effect = Effect.AT_ONCE
            case EditKind.ADD_AGENT | EditKind.REMOVE_AGENT:
                raise AssertionError(edit.kind)  # `make` sends them elsewhere
        self._agents[agent.id] = agent
        self.effects[agent.id] = _stronger(self.effects.get(agent.id), effect)

    def _below_use(self, agent: WorkflowAgent, edit: PlanEdit) -> None:
        used = self._progress.used.get(agent.id, {})
        for name, value in edit.bounds:
            if value < used.get(name, 0):
                self.reasons.append(f"{agent.id} used {used[name]} of `{name}` already: {value} is less")


def _stronger(old: Effect | None, new: Effect) -> Effect:
    """Return the effect that says more about an agent that is edited twice."""
    order = (
        Effect.ADDED,
        Effect.WORKS_AGAIN,
        Effect.CLAIM_NOT_TAKEN,
        Effect.NEXT_VERDICT,
        Effect.AT_ONCE,
        Effect.GOES_ON,
    )
    return new if old is None else min(old, new, key=order.index)


def _settled(effect: Effect, plan: WorkflowPlan, name: str, progress: Progress) -> Effect:
    """Return an effect, knowing the needs that an agent has in the end."""
    agent = next((each for each in plan.agents if each.id == name), None)
    if agent is None or progress.status(name) not in _UNDER_WAY | _FAILED:
        return effect
    waits = any(progress.status(need) not in _OVER for need in agent.needs)
    return Effect.ENDED_PENDING if waits else effect


def _with_texts(around: Surroundings | None, texts: Mapping[str, str]) -> Surroundings:
    around = around or Surroundings()
    if around.instructions is None:
        return around
    return replace(around, instructions={**around.instructions, **texts})


# Whether an agent lowers the bar -----------------------------------------------------------------------


def _voids(before: WorkflowPlan, after: WorkflowPlan, edits: Sequence[PlanEdit]) -> list[str]:
    """Return why the approval does not cover what an agent's edits make of the plan."""
    found = list[str]()
    was = {agent.id: agent for agent in before.agents}
    now = {agent.id: agent for agent in after.agents}
    for name, agent in was.items():
        if name not in now:
            found += [f"the proof of concept {name} is removed"] if agent.kind is AgentKind.POC else []
            found += [f"the evidence of {name} is removed"] if agent.evidence else []
            continue
        if set(agent.evidence) - set(now[name].evidence):
            found.append(f"{name} shows less or other evidence")
        if agent.verifier != now[name].verifier:
            found.append(f"{name} has another verifier")
    if before.criteria != after.criteria:
        found.append("success criteria change")
    if before.checkpoints != after.checkpoints:
        found.append("a checkpoint changes")
    for edit in edits:
        if edit.kind is EditKind.REINSTRUCT and edit.agent in was:
            is_judge = was[edit.agent].kind is AgentKind.VERIFIER
            found += [f"the verifier {edit.agent} is instructed otherwise"] if is_judge else []
        if edit.kind is EditKind.SET_BOUNDS and edit.agent in was:
            found += [
                f"{edit.agent} may do more of {name}" for name in _raised(before, was[edit.agent], edit)
            ]
    for name in now.keys() - was.keys():
        found += [f"the new agent {name} {reason}" for reason in _widens(before, now[name])]
    return list(dict.fromkeys(sorted(found)))


def _raised(plan: WorkflowPlan, agent: WorkflowAgent, edit: PlanEdit) -> list[str]:
    own = dict(agent.own_bounds)
    raised = list[str]()
    for name, value in edit.bounds:
        now = own.get(name, getattr(plan.bounds, name))
        if now is not None and value > now:
            raised.append(name)
    return raised


def _widens(plan: WorkflowPlan, agent: WorkflowAgent) -> list[str]:
    """Return what a new agent may do that no agent of the plan was approved to do."""
    others = plan.agents
    found = list[str]()
    if agent.persona not in {each.persona for each in others}:
        found.append(f"has the persona {agent.persona}")
    if agent.runtime not in {each.runtime for each in others}:
        found.append(f"has the runtime {agent.runtime}")
    if agent.workspace is WorkspaceKind.SHARED and all(
        each.workspace is not agent.workspace for each in others
    ):
        found.append("works in the user's own tree")
    claimed = {claim for each in others for claim in claims_of(each.files)}
    for claim in claims_of(agent.files):
        if claim not in claimed and not claimed.intersection(above(claim)):
            found.append(f"changes {claim or 'the whole project'}")
    own, bounds = dict(agent.own_bounds), plan.bounds
    found += [
        f"may do more of {name}"
        for name, value in own.items()
        if (usual := getattr(bounds, name)) is not None and value > usual
    ]
    return found
