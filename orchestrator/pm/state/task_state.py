"""The state of one task. It is never changed in place: `pm.fold` returns the next one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from orchestrator.model.actions import Action
from orchestrator.model.agents import Agent
from orchestrator.model.budget import Measure, Worked
from orchestrator.model.config_changes import ConfigChange
from orchestrator.model.consultation import ConsultationState
from orchestrator.model.coordination import HandoffRecord, RoleStatusRecord
from orchestrator.model.escalation import EscalationCase
from orchestrator.model.file_operations import OperationsRecord
from orchestrator.model.handoff import CriterionMark, Order
from orchestrator.model.permission import PermissionRule
from orchestrator.model.question import Question
from orchestrator.model.run import Run
from orchestrator.model.skills import Skill
from orchestrator.model.task import Brief, Phase, TaskState
from orchestrator.model.turn_end import AgentRecord, HandIn, VerdictGiven
from orchestrator.model.workflow import WorkflowPlan
from orchestrator.model.workflow_records import AdaptationRecord
from orchestrator.pm.state.persistent_map import PersistentMap
from orchestrator.pm.state.questions import Questions
from orchestrator.pm.state.runs import Runs
from orchestrator.pm.state.steps import Steps

NO_CONSULTATION: Final = ConsultationState()


@dataclass(frozen=True, slots=True)
class PMState:
    """Everything that the PM knows of one task. Tables keep the order of arrival.

    What grows with the plan is a `PersistentMap`; dictionaries hold what is open just now, and are copied whole.
    `seen` maps each handled handoff to its hash, `spoke` to the run that it belonged to. `outbox` holds the actions
    whose outcome is not yet known. `notices` are the last ones of all that were given, which `noticed` counts: 0 in
    journals of versions that did not count them.
    `tip` is the commit at which the PM left the task's branch last, empty before anything was merged; `tended` how many
    runs there were when it was last seen to stand there, and `astray` why it could not be put back there.
    `raised` are the limits that the user has changed for this task (None: no such limit), `warned` those that it has
    approached. `edited` is how task.md's Agent Config differs from the active one. Local time is ahead of UTC by
    `utc_offset` seconds. `links` are the folders in the task's own that were links when it began, each with where it
    leads; None if that was not recorded. `records` are what agents of a workflow noted and handed in, by their ids.
    `cases` are the escalations of a workflow by number, `adaptations` the edits of its plan since it began.
    `handoffs` are those from role to role by id, in the order in which they were handed on.
    `plans` are the plans before each adaptation. `handed_in` is what each agent of a workflow handed in, `verdicts`
    what its verifiers said of it. `operations` are the newest records of file operations that the PM carried out, or
    refused, for agents that touch no file; `operated` are, by step, the runs of older ones that were carried out and
    not undone. `role_statuses` is what agents of roles say in their status files, by name.
    `goal_before` is the goal that task.md had before its last change since the task began; empty if it had no other.
    """

    id: str = ""
    name: str = ""
    project: str = ""
    brief: Brief = field(default_factory=lambda: Brief(title="", goal="", criteria=()))
    agents: dict[str, Agent] = field(default_factory=dict)
    base: str = ""
    state: TaskState = TaskState.STOPPED
    why: str = ""
    phase: Phase = Phase.PLANNING
    steps: Steps = field(default_factory=Steps)
    runs: Runs = field(default_factory=Runs)
    orders: dict[str, Order] = field(default_factory=dict)
    questions: Questions = field(default_factory=Questions)
    criteria: tuple[CriterionMark, ...] = ()
    outbox: dict[str, Action] = field(default_factory=dict)
    seen: PersistentMap[str, str] = field(default_factory=PersistentMap)
    spoke: PersistentMap[str, str] = field(default_factory=PersistentMap)
    requests: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    noticed: int = 0
    rules: tuple[PermissionRule, ...] = ()
    started_at: float = 0.0
    moved_at: float = 0.0
    order_second: int = 0
    skills: tuple[Skill, ...] = ()
    consultation: ConsultationState = NO_CONSULTATION
    worked: Worked = Worked()  # noqa: RUF009 (it is frozen)
    raised: dict[str, float | None] = field(default_factory=dict)
    warned: tuple[Measure, ...] = ()
    edited: tuple[ConfigChange, ...] = ()
    utc_offset: int = 0
    links: dict[str, str] | None = None
    tip: str = ""
    tended: int = 0
    astray: str = ""
    records: dict[str, AgentRecord] = field(default_factory=dict)
    cases: dict[str, EscalationCase] = field(default_factory=dict)
    adaptations: tuple[AdaptationRecord, ...] = ()
    handoffs: dict[str, HandoffRecord] = field(default_factory=dict)
    plans: tuple[WorkflowPlan, ...] = ()
    handed_in: dict[str, tuple[HandIn, ...]] = field(default_factory=dict)
    verdicts: dict[str, tuple[VerdictGiven, ...]] = field(default_factory=dict)
    operations: tuple[OperationsRecord, ...] = ()
    operated: PersistentMap[str, tuple[str, ...]] = field(default_factory=PersistentMap)
    role_statuses: dict[str, RoleStatusRecord] = field(default_factory=dict)
    goal_before: str = ""

    @property
    def branch(self) -> str:
        """The task's branch in the project's repository."""
        return f"task/{self.name}"

    @property
    def live_runs(self) -> list[Run]:
        """The runs that are not known to be gone."""
        return list(self.runs.live.values())

    @property
    def open_questions(self) -> list[Question]:
        """The questions that wait for an answer."""
        return list(self.questions.open.values())
