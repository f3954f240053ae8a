"""A world with one daemon, a few tasks, their agents, a user who answers late, and faults that come by seed."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

from orchestrator import places
from orchestrator.daemon.hints import RequestHint, RunHint
from orchestrator.daemon.watch import task_hint
from orchestrator.hosts import claims
from orchestrator.model.errors import JournalFailed, OrchestratorError
from orchestrator.model.settings import Settings
from orchestrator.ports.host import LaunchSpec
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_host import FakeHost
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from orchestrator.testing.memory_files import MemoryFiles
from orchestrator.testing.simulation.agents import CHECK, Desk, Manners
from orchestrator.testing.simulation.daemon import STATE, Daemon, Killed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.daemon.task import Task

PROJECT: Final = Path("/project")
AGENTS: Final = ("explore", "plan", "architect", "dev", "test", "review")


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user wants done: the task's name, and how its Agent Config reads."""

    name: str
    architect: bool = False
    set_aside: bool = False
    checks: bool = False
    workspace: str = "worktree"

    @property
    def id(self) -> str:
        """The task's id."""
        return f"{self.name}-0123abcd"

    @property
    def folder(self) -> Path:
        """The task's folder in the project."""
        return places.task_folder(PROJECT, self.name)

    @property
    def home(self) -> Path:
        """The PM's own folder of the task."""
        return places.task_home(STATE, self.id)

    def brief(self, goal: str, criteria: tuple[str, ...]) -> str:
        """Return task.md."""
        config = [f"{agent}.command: {agent}" for agent in AGENTS]
        config += [f"workspace: {self.workspace}"]
        config += ["architect: yes"] if self.architect else []
        config += ["rejections: set-aside"] if self.set_aside else []
        config += [f"test.check: {CHECK[0]}"] if self.checks else []
        listed = "\n".join(f"- {criterion}" for criterion in criteria)
        told = "\n".join(config)
        return f"# Task: {self.name}\n\n## Goal\n{goal}\n\n## Success Criteria\n{listed}\n\n## Agent Config\n{told}\n"


@dataclass(slots=True)
class World:
    """Everything there is. `deaf` is the chance that a watcher loses an event.

    `trouble_at` is when the disk last refused something.
    """

    seed: str
    wishes: tuple[Wish, ...]
    manners: Manners = field(default_factory=Manners)
    settings: Settings = field(default_factory=Settings)
    deaf: float = 0.1
    slow: bool = True
    random: Random = field(init=False)
    clock: FakeClock = field(init=False)
    files: MemoryFiles = field(init=False)
    workspaces: FakeWorkspaces = field(init=False)
    desk: Desk = field(init=False)
    host: FakeHost = field(init=False)
    daemon: Daemon = field(init=False)
    complaints: list[str] = field(default_factory=list)
    replies: list[tuple[str, bool, str]] = field(default_factory=list)
    after_turns: list[Callable[[], None]] = field(default_factory=list)
    on_kill: list[Callable[[], None]] = field(default_factory=list)
    trouble_at: float = 0.0
    _requests: int = 0

    def __post_init__(self) -> None:
        """Put the pieces together."""
        self.random = Random(self.seed)  # noqa: S311 (a simulation)
        self.clock = FakeClock()
        self.files = MemoryFiles(now=self.clock.now)
        self.workspaces = FakeWorkspaces(before=self.tree_changes)
        self.desk = Desk(self.files, self.workspaces, self.clock, self.wrote, self.manners, self.seed)
        self.host = FakeHost(self.files, self.clock, self.desk.program_of, told=self._launcher_wrote)
        self.daemon = Daemon(
            self.files, self.host, self.workspaces, self.clock, self.random, self.settings, slow=self.slow
        )
        for wish in self.wishes:
            self.files.make_folder(places.handoffs(wish.folder))

    def tree_changes(self, step: str, path: Path) -> None:
        """Let a worktree that is made be seen on the disk."""
        if step == "make":
            self.save(path / ".git", b"gitdir: elsewhere\n")

    # What others do -------------------------------------------------------------------------------

    def wrote(self, path: Path) -> None:
        """Let the watchers see that somebody wrote a file; they may miss it."""
        self.daemon.news = True
        if self.random.random() < self.deaf:
            return
        for wish in self.wishes:
            if path.is_relative_to(wish.folder) and (hint := task_hint(wish.id, wish.folder, path)):
                self.daemon.hint(hint)

    def _launcher_wrote(self, path: Path) -> None:
        self.daemon.news = True
        if path.name == claims.EXIT and self.random.random() >= self.deaf:
            home = path.parent.parent.parent
            self.daemon.hint(RunHint(home.name, path.parent.name))

    def ask(self, wish: Wish, verb: str, **arguments: str) -> None:
        """Let the user say `task VERB`."""
        self._requests += 1
        request = f"{self._requests:06}"
        said = {"id": request, "verb": verb, "at": self.clock.now(), "arguments": arguments}
        self.save(places.task_requests(wish.home) / f"{request}.json", json.dumps(said).encode())
        self.daemon.news = True
        if self.random.random() >= self.deaf:
            self.daemon.hint(RequestHint(wish.id))

    def start(self, wish: Wish, goal: str, criteria: tuple[str, ...]) -> None:
        """Let the user write task.md and say `task start`."""
        self.edit(wish, goal, criteria)
        self.ask(wish, "start", project=str(PROJECT), name=wish.name)

    def edit(self, wish: Wish, goal: str, criteria: tuple[str, ...]) -> None:
        """Let the user write task.md."""
        self.desk.criteria[wish.folder] = criteria
        path = places.task_brief(wish.folder)
        self.save(path, wish.brief(goal, criteria).encode())
        self.wrote(path)

    def shown(self, wish: Wish) -> dict[str, object]:
        """Return what `task status` would read; nothing before the first projection."""
        path = places.task_state(wish.home)
        if self.files.entry(path) is None:
            return {}
        shown: dict[str, object] = json.loads(self.files.read(path))
        return shown

    def take_replies(self) -> None:
        """Let `task` take the replies that it waited for."""
        for wish in self.wishes:
            folder = places.task_requests(wish.home)
            for entry in self.files.entries(folder):
                if entry.name.endswith(".reply.json"):
                    reply = json.loads(self.files.read(folder / entry.name))
                    self.replies.append((wish.id, reply["ok"], reply["message"]))
                    with self._unseen():
                        self.files.remove(folder / entry.name)

    def save(self, path: Path, data: bytes) -> None:
        """Write a file durably, as `task` and editors do."""
        with self._unseen():
            self.files.make_folder(path.parent)
            self.files.write(path, data)

    @contextmanager
    def _unseen(self) -> Iterator[None]:
        """Change files as another program than the daemon."""
        before, self.files.before = self.files.before, None
        try:
            yield
        finally:
            self.files.before = before

    # Time -----------------------------------------------------------------------------------------

    def go_on(self, *, until: float) -> bool:
        """Let time come to the next thing that happens, before a moment. False if nothing does."""
        moments = [each for each in (self.clock.next_moment(), self.daemon.next_moment()) if each is not None]
        if not moments or min(moments) > until:
            return False
        with self._mortal():
            self.clock.advance(max(0.0, min(moments) - self.clock.monotonic()))
            self.daemon.work()
            for check in self.after_turns:
                check()
        return True

    def boot(self) -> None:
        """Start the daemon on what lies there. It may be killed on the way."""
        with self._mortal():
            self.daemon.boot()

    @contextmanager
    def _mortal(self) -> Iterator[None]:
        """Let the daemon die of what kills it, and the world go on."""
        try:
            yield
        except Killed:
            for told in self.on_kill:
                told()
        except JournalFailed:
            self.daemon.drop()
            for told in self.on_kill:
                told()

    # What is to be seen ---------------------------------------------------------------------------

    def tasks(self) -> dict[str, Task]:
        """Return the tasks that the daemon has open, by id; those that were begun."""
        loop = self.daemon.loop
        return {} if loop is None else {task.id: task for task in loop.tasks.values() if task.begun}


class Complaints(logging.Handler):
    """Collects what the daemon's log says should never happen. A disk that is full is no such thing."""

    def __init__(self, told: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._told = told

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record that an error of ours led to."""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not isinstance(error, OSError | OrchestratorError):
            with suppress(Exception):
                self._told.append(f"{record.getMessage()}: {error!r}")


@contextmanager
def listening(world: World) -> Iterator[None]:
    """Keep what the daemon complains of, and its log off the screen."""
    log = logging.getLogger("orchestrator")
    handler, propagates = Complaints(world.complaints), log.propagate
    log.addHandler(handler)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.propagate = propagates


def spec_words(spec: LaunchSpec) -> str:
    """Return what a run is, for a failure's message."""
    return f"{spec.run} ({spec.environment.get('ORCHESTRATOR_STEP', '?')})"
