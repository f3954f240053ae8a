"""Changes: what a decision alters in the state. They are journaled, and replay folds them (law 3).

Changes of runs, steps and the consultation are defined beside what they alter; changes of the task as a whole are
defined here, and so is the list of all changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from orchestrator.model.agents import Agent
from orchestrator.model.budget import Measure
from orchestrator.model.config_changes import ConfigChange
from orchestrator.model.file_operations import OperationsRecord
from orchestrator.model.handoff import CriterionMark, Order
from orchestrator.model.permission import PermissionRule
from orchestrator.model.question import Question
from orchestrator.model.skills import Skill
from orchestrator.model.task import Brief, Phase, TaskState
from orchestrator.pm.state.consultation_changes import ConsultationChange
from orchestrator.pm.state.handoff_changes import HandoffChange
from orchestrator.pm.state.run_changes import RunChange, RunOpened
from orchestrator.pm.state.step_changes import StepAdded, StepChange
from orchestrator.pm.state.workflow_changes import WorkflowChange


@dataclass(frozen=True, slots=True)
class TaskBegun:
    """The task exists. `seen` are the handoffs that existed before it: its history.

    `links` are the folders in the task's own that were links then, each with where it leads. It is None in journals of
    versions that did not record it.
    """

    id: str
    name: str
    project: str
    brief: Brief
    agents: dict[str, Agent]
    base: str
    at: float
    seen: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] | None = None
    kind: Literal["task_begun"] = "task_begun"


@dataclass(frozen=True, slots=True)
class TaskMoved:
    """The PM's state of the task has changed. `at` is 0 in journals of versions that did not record it."""

    to: TaskState
    why: str
    at: float = 0.0
    kind: Literal["task_moved"] = "task_moved"


@dataclass(frozen=True, slots=True)
class PhaseMoved:
    """The label that the user sees has changed."""

    to: Phase
    kind: Literal["phase_moved"] = "phase_moved"


@dataclass(frozen=True, slots=True)
class BriefTaken:
    """What task.md asks for now, and with which agents."""

    brief: Brief
    agents: dict[str, Agent] | None = None
    base: str = ""
    kind: Literal["brief_taken"] = "brief_taken"


@dataclass(frozen=True, slots=True)
class BaseMoved:
    """The task's work is based on another commit. `commits` are the steps' commits on the new base, by step."""

    base: str
    commits: dict[str, str] = field(default_factory=dict)
    kind: Literal["base_moved"] = "base_moved"


@dataclass(frozen=True, slots=True)
class BranchPlaced:
    """The PM left the task's branch at the commit `tip`; or it could not put the branch there, for `astray`.

    `runs` is how many runs there were when all was settled and the branch was looked at, 0 where not all was settled.
    """

    tip: str
    runs: int = 0
    astray: str = ""
    kind: Literal["branch_placed"] = "branch_placed"


@dataclass(frozen=True, slots=True)
class ConfigEdited:
    """How task.md's Agent Config differs from the active one; empty if it does not."""

    changes: tuple[ConfigChange, ...]
    kind: Literal["config_edited"] = "config_edited"


@dataclass(frozen=True, slots=True)
class SkillsFound:
    """The skills that are installed now."""

    skills: tuple[Skill, ...]
    kind: Literal["skills_found"] = "skills_found"


@dataclass(frozen=True, slots=True)
class CriteriaMarked:
    """Which success criteria are met, and by what evidence."""

    marks: tuple[CriterionMark, ...]
    kind: Literal["criteria_marked"] = "criteria_marked"


@dataclass(frozen=True, slots=True)
class RuleGiven:
    """A person gave a permission for more than one request."""

    rule: PermissionRule
    kind: Literal["rule_given"] = "rule_given"


@dataclass(frozen=True, slots=True)
class BudgetWarned:
    """A task approaches one of its limits; `text` is the notification for the user."""

    measure: Measure
    text: str
    kind: Literal["budget_warned"] = "budget_warned"


@dataclass(frozen=True, slots=True)
class BudgetRaised:
    """The user lets a task use more: up to `most`, or without a limit."""

    measure: Measure
    most: float | None = None
    kind: Literal["budget_raised"] = "budget_raised"


@dataclass(frozen=True, slots=True)
class OrderGiven:
    """An order was given; it stays open until a report answers it or its run is gone."""

    order: Order
    kind: Literal["order_given"] = "order_given"


@dataclass(frozen=True, slots=True)
class OrderClosed:
    """No report is expected on an order any more."""

    order: str
    kind: Literal["order_closed"] = "order_closed"


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """A person is asked."""

    question: Question
    kind: Literal["question_asked"] = "question_asked"


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """A question is closed. An answer of `(withdrawn)` means that it no longer matters."""

    question: str
    text: str
    at: float
    by: str = ""
    kind: Literal["question_answered"] = "question_answered"


@dataclass(frozen=True, slots=True)
class HandoffSeen:
    """A file in `handoffs/` was handled, with this content; `run` is the run that it belonged to, if any."""

    name: str
    sha256: str
    run: str = ""
    kind: Literal["handoff_seen"] = "handoff_seen"


@dataclass(frozen=True, slots=True)
class OperationsRecorded:
    """What became of the file operations that a run handed in."""

    record: OperationsRecord
    kind: Literal["operations_recorded"] = "operations_recorded"


@dataclass(frozen=True, slots=True)
class OperationsUndone:
    """The file operations that these runs handed in were reversed."""

    runs: tuple[str, ...]
    at: float
    kind: Literal["operations_undone"] = "operations_undone"


@dataclass(frozen=True, slots=True)
class RequestAcknowledged:
    """A request of the user was handled; handling it again does nothing."""

    request: str
    kind: Literal["request_acknowledged"] = "request_acknowledged"


@dataclass(frozen=True, slots=True)
class Noticed:
    """A line that the user can read."""

    text: str
    kind: Literal["noticed"] = "noticed"


@dataclass(frozen=True, slots=True)
class ActionClosed:
    """The outcome of an action is known."""

    action: str
    kind: Literal["action_closed"] = "action_closed"


@dataclass(frozen=True, slots=True)
class ZoneSet:
    """Names and messages give local time, `utc_offset` seconds ahead of UTC."""

    utc_offset: int
    kind: Literal["zone_set"] = "zone_set"


@dataclass(frozen=True, slots=True)
class TimesShifted:
    """The timers of runs and pausing steps moved `by` seconds later, and the deadlines for people by `put` seconds."""

    by: float
    put: float
    kind: Literal["times_shifted"] = "times_shifted"


TaskChange: TypeAlias = (
    TaskBegun
    | TaskMoved
    | PhaseMoved
    | BriefTaken
    | ConfigEdited
    | SkillsFound
    | CriteriaMarked
    | RuleGiven
    | BudgetWarned
    | BudgetRaised
)
"""Changes of what the task is, what it asks for, and what applies to it."""

BranchChange: TypeAlias = BaseMoved | BranchPlaced
"""Changes of where the task's branch is, and of what it builds on."""

WordChange: TypeAlias = OrderGiven | OrderClosed | QuestionAsked | QuestionAnswered
"""Changes of what waits for an answer: orders to runs, questions to people."""

NoteChange: TypeAlias = (
    HandoffSeen | OperationsRecorded | OperationsUndone | RequestAcknowledged | Noticed | ActionClosed
)
"""Changes of what was handled, or is there for the user to read."""

ClockChange: TypeAlias = TimesShifted | ZoneSet
"""Changes of times, after the clock changed."""

Change: TypeAlias = (
    TaskChange
    | BranchChange
    | WordChange
    | NoteChange
    | ClockChange
    | WorkflowChange
    | HandoffChange
    | ConsultationChange
    | StepAdded
    | StepChange
    | RunOpened
    | RunChange
)
