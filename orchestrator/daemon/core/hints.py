"""Hints: where to look. They come from watchers, schedules and workers, and never make a fact by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from orchestrator.model.facts import Fact


@dataclass(frozen=True, slots=True)
class HandoffHint:
    """Something happened to one name in a task's `handoffs/`."""

    task: str
    name: str


@dataclass(frozen=True, slots=True)
class OutboxHint:
    """Something happened in the outbox of one of a task's agents."""

    task: str


@dataclass(frozen=True, slots=True)
class ArtifactHint:
    """Something happened in a task's `artifacts/`."""

    task: str
    path: str


@dataclass(frozen=True, slots=True)
class BriefHint:
    """A task's task.md may have been edited."""

    task: str


@dataclass(frozen=True, slots=True)
class WorkflowHint:
    """The notes of a workflow's agent may have been edited; or, where that is empty, the shared status."""

    task: str
    agent: str = ""


@dataclass(frozen=True, slots=True)
class RoleStatusHint:
    """The status file of a role's agent may have been edited."""

    task: str


@dataclass(frozen=True, slots=True)
class ArchiveHint:
    """Something happened to one file of a task's archive of handoffs."""

    task: str
    handoff: str


@dataclass(frozen=True, slots=True)
class SharedArchiveHint:
    """Something happened to one file of the archive of all tasks: whose handoff it is, the tasks know."""

    handoff: str


@dataclass(frozen=True, slots=True)
class RequestHint:
    """A request may wait for a task; the task may be new."""

    task: str


@dataclass(frozen=True, slots=True)
class EventHint:
    """A run's program may have reported something."""

    task: str


@dataclass(frozen=True, slots=True)
class RunHint:
    """A run may have come alive or ended."""

    task: str
    run: str


@dataclass(frozen=True, slots=True)
class TreeHint:
    """Something happened to the folder of a task's worktrees: one may be gone."""

    task: str


@dataclass(frozen=True, slots=True)
class BoxHint:
    """The believed state of a box on which a task has runs may have changed."""

    task: str


@dataclass(frozen=True, slots=True)
class SayHint:
    """A worker has a line for the user of a task."""

    task: str
    text: str


@dataclass(frozen=True, slots=True)
class OutcomeHint:
    """A worker has finished an action. The fact is None if the outcome is visible on disk."""

    task: str
    fact: Fact | None


@dataclass(frozen=True, slots=True)
class NotificationHint:
    """The notifier's next deadline may have changed."""


@dataclass(frozen=True, slots=True)
class Rescan:
    """Look at everything: watchers lose events."""


@dataclass(frozen=True, slots=True)
class CheckIn:
    """The heartbeat of every task."""


@dataclass(frozen=True, slots=True)
class Beat:
    """Time to show that the loop turns."""


@dataclass(frozen=True, slots=True)
class Stop:
    """End the daemon at the next quiet moment. The runs live on."""


TaskHint: TypeAlias = (
    HandoffHint
    | OutboxHint
    | ArtifactHint
    | BriefHint
    | WorkflowHint
    | RoleStatusHint
    | ArchiveHint
    | RequestHint
    | EventHint
    | RunHint
    | TreeHint
    | BoxHint
    | SayHint
    | OutcomeHint
)
Hint: TypeAlias = TaskHint | SharedArchiveHint | NotificationHint | Rescan | CheckIn | Beat | Stop
