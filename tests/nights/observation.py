"""What was seen of one night from the outside: the service's log, processes, git, files, and every sentence shown.

Plain data, so that it can be kept as JSON and judged again (`python -m tests.nights judge FILE`). Times are seconds
since the epoch, in real time; `factor` says how many seconds of the night one of them stands for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter


class Outcome(StrEnum):
    """How the service answered a request. OPEN: it had not, when the night ended."""

    ANSWERED = "answered"
    REFUSED = "refused"
    HUNG = "hung"
    CUT = "cut"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Request:
    """One request at the service. `run` is the run whose order it carries, empty where it carries none.

    `main` tells an agent's turn from what a CLI asks for its own ends. `call` is the tool call that the model answered
    with, as text; empty where it said something, so that the turn was over. `step` counts the answers of the turn.
    """

    number: int
    at: float
    ended: float | None
    outcome: Outcome
    vendor: str
    main: bool = True
    trouble: str = ""
    run: str = ""
    call: str = ""
    step: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Order:
    """What a run was for, as its prompt told: agent, task, part of the shop, and the folder in which it was to work.

    `earlier` is how many orders of runs before it its conversation held.
    """

    run: str
    task: str
    agent: str
    tree: str
    part: str = ""
    text: str = ""
    earlier: int = 0


@dataclass(frozen=True, slots=True)
class Window:
    """A time in which the service refused a vendor's requests: `limit`, `overload`, `login`.

    By the service it was to end at `stated_end` (0: it did not say), and ended at `until`.
    """

    vendor: str
    kind: str
    since: float
    stated_end: float
    until: float


@dataclass(slots=True)
class Life:
    """One process that bears a run's name, and from when to when it was seen. `first` of its run: no hook, no tool."""

    run: str
    pid: int
    begun: float
    last: float
    command: str
    first: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """Something that was shown: `source` is a command or a file, all of one `round` were taken one after the other.

    `took` is how many seconds before `at` the looking began: what is shown may be as old as that.
    """

    at: float
    round: int
    source: str
    task: str
    text: str
    code: int = 0
    took: float = 0.0


@dataclass(frozen=True, slots=True)
class Missing:
    """A name that a sentence bore and that led nowhere at that moment: `kind` is `ref`, `commit` or `file`."""

    at: float
    round: int
    source: str
    task: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class TreeSeen:
    """A working tree: its commit, and the content (as git hashes it) of each file that is not committed."""

    at: float
    path: str
    head: str
    dirty: dict[str, str]


@dataclass(frozen=True, slots=True)
class RefsSeen:
    """The commit of each ref of the repository; noted when one has changed."""

    at: float
    refs: dict[str, str]


@dataclass(frozen=True, slots=True)
class Happening:
    """Trouble that was brought about, or came by itself. `outage`: no agent could be expected to work meanwhile."""

    at: float
    until: float
    what: str
    outage: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """A question that a person had to answer. `planned`: the night says that it needs one for this."""

    at: float
    answered: float | None
    task: str
    question: str
    text: str
    answer: str
    planned: bool


@dataclass(frozen=True, slots=True)
class TipJudged:
    """What the judge's own look at a commit found: its files, whether the tests pass, and which criteria hold."""

    commit: str
    tests_pass: bool
    criteria: dict[str, bool]
    files: tuple[str, ...] = ()
    said: str = ""


@dataclass(frozen=True, slots=True)
class TaskSeen:
    """One task of the night: when it was begun, when it was first shown as ended, its branch and where that began.

    `config` are the lines of its task.md that are its user's wishes.
    """

    name: str
    began: float
    ended: float | None
    branch: str
    base: str
    tip: str
    ahead: int
    criteria: tuple[str, ...]
    config: tuple[str, ...] = ()


DEAD_DAEMON: Final = "the daemon died by itself"


@dataclass(slots=True)
class Observation:
    """All that was seen of one night."""

    night: str
    factor: float
    began: float
    ended: float
    morning: float
    versions: dict[str, str] = field(default_factory=dict)
    tasks: list[TaskSeen] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    lives: list[Life] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    named: int = 0
    trees: list[TreeSeen] = field(default_factory=list)
    refs: list[RefsSeen] = field(default_factory=list)
    moves: list[RefsSeen] = field(default_factory=list)
    """Where git's own log says that the tasks' branches stood, to the second: a look at the refs may miss one."""
    kept_blobs: set[str] = field(default_factory=set)
    kept_commits: set[str] = field(default_factory=set)
    tips: list[TipJudged] = field(default_factory=list)
    task_files: list[str] = field(default_factory=list)
    commits: dict[str, int] = field(default_factory=dict)
    """How many files each commit of the repository changes."""
    surveys: dict[str, str] = field(default_factory=dict)
    """What each tip of a task's branch has beyond where that began: `2 commits, 4 files changed, +26 -0`."""
    happenings: list[Happening] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """What went wrong in the bench itself: a night with such a fault was not measured."""


_CODEC: Final = TypeAdapter(Observation)


def keep(seen: Observation, path: Path) -> None:
    """Write an observation down."""
    path.write_bytes(_CODEC.dump_json(seen))


def kept(path: Path) -> Observation:
    """Read one again. Raises ValueError."""
    return _CODEC.validate_json(path.read_bytes())
