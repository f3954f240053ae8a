"""What progress.md shows: what the PM knows of a task, and what lies in the task's folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from orchestrator.model.file_operations import OperationsRecord
from orchestrator.model.handoff import CriterionMark
from orchestrator.model.task import Phase, TaskState
from orchestrator.model.usage import Usage


@dataclass(frozen=True, slots=True)
class Milestone:
    """One row of the summary. `last_handoff` is a file name, or empty."""

    label: str
    status: str
    last_handoff: str = ""
    notes: str = ""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """What only a person can say, and the exact command that says it.

    `default` is taken at `deadline` (seconds since the epoch), where policy gives one and nobody has answered.
    """

    text: str
    command: str
    options: tuple[str, ...] = ()
    default: str = ""
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class AgentUsage:
    """What the runs of one agent came to. `time` is seconds."""

    agent: str
    runs: int
    time: float
    used: Usage


@dataclass(frozen=True, slots=True)
class Limited:
    """The usage limit that all work of a task waits for: since when, until when if that was shown, and the next try.

    The service refused at `at` for the last time. Times are seconds since the epoch.
    """

    since: float
    at: float
    until: float | None
    words: str
    refusals: int
    next_try: float


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit on the task's branch, and when it was made (seconds since the epoch)."""

    commit: str
    subject: str
    at: float


@dataclass(frozen=True, slots=True)
class Check:
    """How a check that the daemon ran ended, and the lines that it printed last."""

    what: str
    exit: int | None
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trouble:
    """A step that needed more than one try: what was said of each, and how its last run failed, if it did.

    An attempt may take several `runs` of its agent: after a crash, a hang or a usage limit it goes on in another.
    """

    step: str
    attempts: int
    feedback: tuple[str, ...] = ()
    failed: str = ""
    lines: tuple[str, ...] = ()
    run: str = ""
    runs: int = 0


@dataclass(frozen=True, slots=True)
class PMView:
    """What the PM knows of a task and the scribe cannot see in its folder.

    `last_checkin` is in seconds since the epoch; `steps` says how many of them passed, `runs` agents live, `unseen`
    of which cannot be looked at, as on a box that does not answer. `outcome` are the lines of the result with their
    names; what they say of the branch was seen at `looked_at`. `moved_at` is when a step came into its state last.
    `by_phase` and `idle` are seconds in which agents worked, and in which none did. `limited` is the usage limit
    that all of its work waits for. `id` is the word by which commands reach the task wherever they are typed.
    `notices` are the last ones, stamped; `more_notices` came before them. `brief_fault` is why an edit of task.md
    is not in force. `operations` are the newest file operations that the PM was handed in. `on_word` says of a
    complete task which criteria rest on their judge's word alone.
    """

    task: str
    phase: Phase
    state: TaskState
    last_checkin: float | None = None
    milestones: tuple[Milestone, ...] = ()
    blockers: tuple[str, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    criteria: tuple[CriterionMark, ...] = ()
    outcome: tuple[tuple[str, str], ...] = ()
    looked_at: float | None = None
    moved_at: float = 0.0
    commits: tuple[Commit, ...] = ()
    more_commits: int = 0
    checks: tuple[Check, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    ended: bool = False
    steps: str = ""
    runs: int = 0
    unseen: int = 0
    usage: tuple[AgentUsage, ...] = ()
    by_phase: Mapping[Phase, float] = field(default_factory=dict)
    idle: float = 0.0
    limited: Limited | None = None
    id: str = ""
    notices: tuple[str, ...] = ()
    more_notices: int = 0
    brief_fault: str = ""
    operations: tuple[OperationsRecord, ...] = ()
    on_word: str = ""


@dataclass(frozen=True, slots=True)
class Activity:
    """Something new: a handoff with its summary, or, without one, an artifact."""

    path: str
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file under `artifacts/`, and when it was last changed (seconds since the epoch)."""

    path: str
    at: float


@dataclass(frozen=True, slots=True)
class OnDisk:
    """What lies in a task's folder: the newest of it, and how many more there are. `notes` tell of trouble.

    `activities` came since the last check-in, `earlier` before it. `report` is the page of `task report`, if it is
    there and the task is over.
    """

    activities: tuple[Activity, ...] = ()
    more_activities: int = 0
    earlier: tuple[Activity, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    more_artifacts: int = 0
    notes: tuple[str, ...] = ()
    report: Artifact | None = None
