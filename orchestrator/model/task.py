"""A task: what task.md asks for, and the labels that a user sees (H3, H10)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from orchestrator.model.budget import Budget
from orchestrator.model.hands import Deletes, Hands
from orchestrator.model.permission import Permissions
from orchestrator.model.workspace import WorkspaceKind as WorkspaceKind  # noqa: PLC0414 (most code has it from here)

if TYPE_CHECKING:
    # At run time only the journal's codec needs these.
    from orchestrator.model.composite import SkillPlan
    from orchestrator.model.workflow import WorkflowPlan

DELIVERY: Final = "delivery"
"""The plan family of a task that names none."""

WORKFLOW: Final = "workflow"
"""The plan family of a task whose agents, with their dependencies and verifiers, were planned ahead."""

ROLES: Final = "roles"
"""The plan family of a task on which five roles work one after the other, each handing on to the next."""

SKILLS: Final = "skills"
"""The plan family of a task that carries out a session of a composite skill, phase by phase."""

MARKDOWN: Final = "markdown"
"""The handoff format of a task that names none."""

COORDINATION: Final = "coordination"
"""The handoff format in which agents hand on from role to role, as JSON."""


class Phase(StrEnum):
    """How far a task is, as its user sees it (H10)."""

    PLANNING = "PLANNING"  # the PM or the plan agent lays out the work
    EXPLORING = "EXPLORING"  # explore reads the project
    DEVELOPING = "DEVELOPING"  # dev or architect works on a subtask
    TESTING = "TESTING"  # test judges the work
    REVIEWING = "REVIEWING"  # review judges the work, or the whole task
    COMPLETE = "COMPLETE"  # every success criterion is met, with evidence
    BLOCKED = "BLOCKED"  # nothing goes on before a person answers; it resumes where it was
    ITERATE = "ITERATE"  # work goes back to an earlier phase; it is passed through at once


class TaskState(StrEnum):
    """What the PM does with a task at this moment."""

    RUNNING = "running"  # agents work, or the PM waits for a time that it knows
    WAITING = "waiting"  # nothing can go on before a question is answered
    STOPPED = "stopped"  # the user stopped it; `task start` resumes it
    COMPLETE = "complete"  # every step passed and every success criterion is met, with evidence
    PARTIAL = "partial"  # it ended or was abandoned, and some of what was asked for is done: see `pm.results`
    FAILED = "failed"  # it ended or was abandoned, and nothing of what was asked for was delivered


class AfterRejections(StrEnum):
    """What happens when a step was rejected as often as its bound allows (H9)."""

    ASK = "ask"
    SET_ASIDE = "set-aside"
    REPLAN = "replan"


class AcceptedEvidence(StrEnum):
    """What must show that a success criterion is met (`evidence:`)."""

    ANY = "any"  # what its judge wrote itself is enough, and the result says where nothing else does
    INDEPENDENT = "independent"  # something else; a criterion without it leaves the task complete in part


class Recheck(StrEnum):
    """When work is tested again that was put upon what others merged meanwhile (`recheck:`)."""

    ALWAYS = "always"  # its check runs again whenever the task's branch has gained anything
    OVERLAP = "overlap"  # only where both sides changed the same files


@dataclass(frozen=True, slots=True)
class Location:
    """A `cwd:` of task.md: a folder here, or `user@host:/path` on a box."""

    path: str
    host: str = ""


class Bring(StrEnum):
    """What of the code on a box is exchanged with it (`bring:`): it stays where it is unless task.md asks."""

    NOTHING = "nothing"
    BRANCH = "branch"  # commits come to be judged and merged here, and the task's branch is sent there


@dataclass(frozen=True, slots=True)
class Unanswered:
    """What is taken for the answer to a question that nobody answers within `after` seconds."""

    answer: str
    after: float


class Approval(StrEnum):
    """What task.md wants a person to approve of before it is done (`approve:`)."""

    PLAN = "plan"


@dataclass(frozen=True, slots=True)
class AgentOverrides:
    """What task.md says of one agent (`dev.command: …`); empty fields leave the definition as it is."""

    runtime: str = ""
    """The agent program that this agent is run with."""

    command: tuple[str, ...] = ()
    """A command that is the agent: any program that writes a report. Split as in a shell, but run by none."""

    check: tuple[str, ...] = ()
    """A command whose exit status is the verdict of this agent's steps. The daemon runs it before the agent starts."""

    model: str = ""
    """The model that the agent program is asked to use."""

    cwd: Location | None = None
    """Where this agent works instead of a tree of the task; only dev and architect, and agents of a
    workflow or a skill, may work on another machine."""

    host: str = ""
    """The host kind that this agent is run by, and what names the host within it: `KIND:NAME`."""

    listens: bool | None = None
    """`yes` or `no`: whether a line that is typed into its pane reaches it."""

    hands: Hands | None = None
    """How its work gets onto the disk: its program writes files itself (`own`), or it writes text, and the PM carries
    out the file operations in it (`operations`)."""

    deletes: Deletes | None = None
    """What becomes of deletes among its file operations: a question (`ask`, the default), `refuse` or `allow`."""

    skills: tuple[str, ...] = ()
    """Skills that each order of this agent names, separated by commas."""

    permissions: Permissions = field(default_factory=Permissions)
    """What this agent may do without a person being asked, ahead of the task's rules."""


@dataclass(frozen=True, slots=True)
class Config:
    """The section `## Agent Config` of task.md."""

    cwd: Location | None = None
    """Where dev and architect work: `/path`, `user@host:/path`, `ssh://user@host:port/path`, or `POOL:/path`.

    `KIND:NAME:/path` is `host: KIND:NAME` and `cwd: /path` in one word. `~/` begins a path on this machine only.
    """

    host: str = ""
    """The host kind that agents are run by, and what names the host within it: `KIND:NAME`. Otherwise this machine."""

    family: str = DELIVERY
    """The plan family: which steps the work goes through, and in which order."""

    handoffs: str = MARKDOWN
    """The format in which agents write their reports; otherwise that of the family, markdown in most."""

    template: str = ""
    """The template whose agents and commands the task uses."""

    runtime: str = ""
    """The agent program that all agents are run with; otherwise the first one that is installed."""

    workspace: WorkspaceKind = WorkspaceKind.WORKTREE
    """Where agents write: git worktrees of the task, the user's own tree, or nowhere."""

    architect: bool = False
    """`yes` or `no`: whether the architect settles the design before the work begins."""

    outboxes: bool = False
    """`yes` or `no`: whether each agent hands in through `scratchpad/AGENT/outbox/`, from where the PM publishes into
    `handoffs/`. In a sandbox no agent can then hand in for another."""

    after_rejections: AfterRejections = AfterRejections.REPLAN
    """What happens to a step that was rejected too often, or when a success criterion is not met at the end."""

    evidence: AcceptedEvidence = AcceptedEvidence.ANY
    """Whether what a judge wrote itself is enough for a success criterion; with `independent`, the judge is asked for
    something else, and without it the task ends complete in part."""

    parallel: int = 0
    """How many agents may work at once; by default, and at most, as many as `limits.max_concurrent_runs` allows."""

    recheck: Recheck = Recheck.ALWAYS
    """When a subtask's check runs again after its work was put upon what others merged meanwhile: `always`, or
    `overlap` for only where both changed the same files."""

    unanswered: Unanswered | None = None
    """What counts as the answer to a question that nobody answers, and after which time: `set-aside after 4 h`."""

    approve: tuple[Approval, ...] = ()
    """What a person must approve before it is carried out."""

    permissions: Permissions = field(default_factory=Permissions)
    """What agents may do without a person being asked: `allow run npm test; deny fetch; otherwise ask`."""

    pm: str = ""
    """The agent program that takes the PM's part; otherwise built-in rules do."""

    agents: dict[str, AgentOverrides] = field(default_factory=dict)
    """What is said of single agents."""

    skills: tuple[str, ...] = ()
    """Skills that every order names, separated by commas."""

    limits: Budget = Budget()  # noqa: RUF009 (it is frozen)
    """What the whole task may use before a person is asked: `2M tokens; $20; 8 h`, or `none`."""

    bring: Bring = Bring.NOTHING
    """What of the code on a box is exchanged with it: with `branch` its commits come here, and the task's go there."""

    session: str = ""
    """The state file of the session that a task of the family `skills` carries out, from the project's folder:
    `task skill run --daemon` writes it here."""

    prepare: tuple[tuple[str, ...], ...] = ()
    """The commands that make a worktree ready before agents work in it: `npm ci && make assets`. Each is split as in a
    shell, but run by none. What they leave must be ignored by git."""

    prepare_inputs: tuple[str, ...] = ()
    """Files in the worktree, parted by commas, by whose content the commands run again: `package-lock.json`."""

    prepare_copy: tuple[str, ...] = ()
    """Files of the project that git ignores and each worktree gets a copy of, parted by commas: `.env`."""

    prepare_caches: tuple[str, ...] = ()
    """Variables, parted by commas, each of which names a folder that all worktrees of the task share:
    `PIP_CACHE_DIR`."""

    prepare_ports: tuple[str, ...] = ()
    """Variables, parted by commas, each of which is a number from 20000 to 29999 that no other worktree of any task is
    given: `WEB_PORT`."""

    written: dict[str, str] = field(default_factory=dict, compare=False)
    """Each key with its value as it stands in the file; two that mean the same are equal however they are written."""

    @property
    def prepares(self) -> bool:
        """True if something has to be done in a worktree before anybody works in it."""
        return bool(self.prepare or self.prepare_copy)


@dataclass(frozen=True, slots=True)
class Brief:
    """A task.md as read, with the workflow or the session of a skill that its plan family reads beside it, if any.

    `unfilled` is true while it is still the blank template.
    """

    title: str
    goal: str
    criteria: tuple[str, ...]
    config: Config = field(default_factory=Config)
    unfilled: bool = False
    workflow: WorkflowPlan | None = None
    skill: SkillPlan | None = None
