"""A task: what task.md asks for, and the labels that a user sees (HUB 5.2, 7.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from orchestrator.model.budget import Budget
from orchestrator.model.permission import Permissions


class Phase(StrEnum):
    """Where a task stands, by the document's names (HUB 7.2)."""

    PLANNING = "PLANNING"
    EXPLORING = "EXPLORING"
    DEVELOPING = "DEVELOPING"
    TESTING = "TESTING"
    REVIEWING = "REVIEWING"
    COMPLETE = "COMPLETE"
    BLOCKED = "BLOCKED"
    ITERATE = "ITERATE"


class TaskState(StrEnum):
    """What the PM does with a task at this moment."""

    RUNNING = "running"
    WAITING = "waiting"  # nothing can go on before a question is answered
    STOPPED = "stopped"
    COMPLETE = "complete"
    PARTIAL = "partial"  # it ended, and not all that was asked for is done: see `pm.results`
    FAILED = "failed"


class WorkspaceKind(StrEnum):
    """Where a step may write."""

    READ_ONLY = "read_only"  # a look at the tip of the task's branch
    SHARED = "shared"  # the user's own tree; only where the task says so
    WORKTREE = "worktree"  # a tree of its own on a branch of the task


class AfterRejections(StrEnum):
    """What happens when a step was rejected as often as its bound allows (H9)."""

    ASK = "ask"
    SET_ASIDE = "set-aside"
    REPLAN = "replan"


@dataclass(frozen=True, slots=True)
class Location:
    """A `cwd:` of task.md: a folder here, or `user@host:/path` on a box."""

    path: str
    host: str = ""


class Bring(StrEnum):
    """What of the code on a box is brought home (`bring:`): it stays where it is unless task.md asks."""

    NOTHING = "nothing"
    BRANCH = "branch"  # the commits, into the tree of their step, to be judged and merged here


@dataclass(frozen=True, slots=True)
class Unanswered:
    """What is taken for the answer to a question that nobody answers within `after` seconds."""

    answer: str
    after: float


class Approval(StrEnum):
    """What task.md wants a person to approve of before it is done (`approve:`)."""

    PLAN = "plan"


@dataclass(frozen=True, slots=True)
class AgentWish:
    """What task.md says of one agent (`dev.command: …`); empty fields leave the definition as it is.

    `cwd` is where it works instead of a tree of the task's. `listens` says that a line typed into its pane reaches it.
    `skills` are named in each of its orders.
    """

    runtime: str = ""
    command: tuple[str, ...] = ()
    check: tuple[str, ...] = ()
    model: str = ""
    cwd: Location | None = None
    listens: bool | None = None
    skills: tuple[str, ...] = ()
    permissions: Permissions = field(default_factory=Permissions)


@dataclass(frozen=True, slots=True)
class Config:
    """The section `## Agent Config` of task.md. `skills` are named in each order, `limits` are of the whole task.

    `pm` is the runtime of the PM agent, where an agent is to be the PM. `written` holds each key with its value as it
    stands in the file; two that mean the same are equal however they are written.
    """

    cwd: Location | None = None
    template: str = ""
    runtime: str = ""
    workspace: WorkspaceKind = WorkspaceKind.WORKTREE
    architect: bool = False
    after_rejections: AfterRejections = AfterRejections.REPLAN
    unanswered: Unanswered | None = None
    approve: tuple[Approval, ...] = ()
    permissions: Permissions = field(default_factory=Permissions)
    pm: str = ""
    agents: dict[str, AgentWish] = field(default_factory=dict)
    skills: tuple[str, ...] = ()
    limits: Budget = Budget()  # noqa: RUF009 (it is frozen)
    bring: Bring = Bring.NOTHING
    written: dict[str, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Brief:
    """A task.md as read. `unfilled` is true while it is still the blank template."""

    title: str
    goal: str
    criteria: tuple[str, ...]
    config: Config = field(default_factory=Config)
    unfilled: bool = False
