"""The documents about all tasks, and about why one is where it is."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from orchestrator.model.task import Phase, TaskState
from scripts.reference.documents.parts import Daemon, Limit, Moment, described
from scripts.reference.documents.status import Question


@described
class ListedTask(TypedDict):
    """A task in a list."""

    id: str
    """Its id."""
    task: str
    """Its name."""
    project: str | None
    """Folder of its project."""
    phase: Phase | None
    """Its phase; at rest, its last one."""
    state: TaskState | Literal["requested", "damaged", "removing"]
    """Its state; `requested`: not begun; `damaged`: unreadable; `removing`: it is being deleted or archived."""
    limited: Limit | None
    """The usage limit that all its work waits for."""
    steps_passed: int
    """Steps that passed."""
    steps_set_aside: int
    """Steps that were given up."""
    steps_total: int
    """All steps."""
    agents_live: int
    """Live runs."""
    criteria: int
    """Success criteria of task.md."""
    criteria_met: int
    """Success criteria known to be met."""
    criteria_attested: int
    """Of these, those that nothing shows but what their judge wrote itself."""
    questions_open: int
    """Open questions."""
    branch_moved: str | None
    """Where the branch of a task at rest is, if it is not where the PM left it."""
    folder_missing: bool
    """Whether its folder in its project is missing; only looked for while it is at rest."""
    last_checkin: Moment | None
    """When the PM last looked at the whole."""
    updated: Moment | None
    """When its state was last written."""


@described
class List(TypedDict):
    """All tasks."""

    tasks: list[ListedTask]
    """The tasks, the one that changed last first."""
    daemon: Daemon
    """How the daemon stands."""


@described
class ArchivedTask(TypedDict):
    """An archived task."""

    id: str
    """Its id."""
    task: str
    """Its name."""
    project: str
    """Folder of its project."""
    state: str
    """Its state when it was archived."""
    archived_at: Moment | None
    """When it was archived."""
    size: int
    """Bytes of its file."""
    file: str
    """Its file."""


@described
class Archived(TypedDict):
    """All archived tasks."""

    archived: list[ArchivedTask]
    """The tasks, the one that was archived last first."""


@described
class AskedQuestion(Question):
    """An open question, and whose it is."""

    task: str
    """Name of the task."""
    task_id: str
    """Id of the task."""
    project: str
    """Folder of its project."""


@described
class Questions(TypedDict):
    """All open questions."""

    questions: list[AskedQuestion]
    """The questions, task by task."""


@described
class Decision(TypedDict):
    """One decision of the PM."""

    at: Moment
    """When it was made."""
    sentences: list[str]
    """What happened, and what the PM did."""


@described
class Why(TypedDict):
    """Why the PM did what it did."""

    decisions: list[Decision]
    """The decisions, oldest first."""
