"""What the user asks of a task: to start it, to stop it, to change it, to take something back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from orchestrator.model.agents import Agent
from orchestrator.model.skills import Skill
from orchestrator.model.task import Brief
from orchestrator.model.workflow import PlanEdit


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """The user said `task start`: for the first time, or again after the task ended or was stopped.

    `history` are the reports already in the folder at a first start: name and hash. They are never acted on.
    `skills` are those that an agent could load. `chosen` says of each pool in task.md which box was taken, and why
    (the `brief` has that box in its place), and which places on boxes other tasks use, too. `confirmed` is the digest
    of the Agent Config that the user agreed to. `utc_offset` is by how many seconds local time is ahead of UTC.
    `links` are the folders in the task's own that were links at a first start, each with where it leads. `found` is
    where the task's branch was at a first start, if it had commits of its own: those of a task of that name that no
    journal knows any more.
    """

    at: float
    nonce: str
    request: str
    task: str
    name: str
    project: str
    brief: Brief
    agents: dict[str, Agent] = field(default_factory=dict)
    base: str = ""
    history: dict[str, str] = field(default_factory=dict)
    skills: tuple[Skill, ...] = ()
    chosen: tuple[str, ...] = ()
    confirmed: str = ""
    utc_offset: int = 0
    links: dict[str, str] | None = None
    found: str = ""
    kind: Literal["task_started"] = "task_started"


@dataclass(frozen=True, slots=True)
class BriefChanged:
    """task.md was edited while the task runs: goal and criteria count at once, Agent Config from the next start on."""

    at: float
    brief: Brief
    kind: Literal["brief_changed"] = "brief_changed"


@dataclass(frozen=True, slots=True)
class StopAsked:
    """The user said `task stop`."""

    at: float
    request: str
    kind: Literal["stop_asked"] = "stop_asked"


@dataclass(frozen=True, slots=True)
class Answered:
    """The user answered a question. `skills` are those that there are now: one may have been added for it."""

    at: float
    nonce: str
    request: str
    question: str
    text: str
    skills: tuple[Skill, ...] | None = None
    kind: Literal["answered"] = "answered"


@dataclass(frozen=True, slots=True)
class SpawnAsked:
    """The user wants an agent spawned with instructions of their own (`task spawn`, `task order`)."""

    at: float
    nonce: str
    request: str
    agent: Agent
    instructions: str
    kind: Literal["spawn_asked"] = "spawn_asked"


@dataclass(frozen=True, slots=True)
class AdaptAsked:
    """The user edits the plan of a workflow (`task workflow adapt`), for the reason `why`.

    `base` is the hash of the plan that the edits are meant for; empty: whatever it is now.
    """

    at: float
    nonce: str
    request: str
    edits: tuple[PlanEdit, ...]
    base: str = ""
    why: str = ""
    kind: Literal["adapt_asked"] = "adapt_asked"


@dataclass(frozen=True, slots=True)
class RebaseAsked:
    """The user said `task rebase`: the work of a task that rests is to stand upon the commit `base`.

    It was made anew there as `new`, of what the branch has at `old`. `commits` gives by each commit of the old one what
    became of it; empty: `base` has all of it already.
    """

    at: float
    nonce: str
    request: str
    base: str
    old: str
    new: str
    commits: dict[str, str] = field(default_factory=dict)
    kind: Literal["rebase_asked"] = "rebase_asked"


@dataclass(frozen=True, slots=True)
class SessionAsked:
    """The user said `task skill run --state FILE`: commands are to drive the session of a task of skills again."""

    at: float
    request: str
    kind: Literal["session_asked"] = "session_asked"


@dataclass(frozen=True, slots=True)
class UndoAsked:
    """The user said `task undo`: the file operations of a step are to be reversed, in a task that rests.

    Where the step's work is on the task's branch, `new` is a commit upon its tip `old` that has the files as they were
    before that work. Both are empty where the files of the step's last run are put back on disk.
    """

    at: float
    nonce: str
    request: str
    step: str
    old: str = ""
    new: str = ""
    kind: Literal["undo_asked"] = "undo_asked"
