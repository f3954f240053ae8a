"""A world with one daemon, a few tasks, their agents, a user who answers late, and faults that come by seed."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from orchestrator import layout
from orchestrator.daemon.core.hints import EventHint, Hint, RequestHint, RunHint, TreeHint
from orchestrator.daemon.ingest.watchers import task_hint
from orchestrator.daemon.projections.state_files import PAGED
from orchestrator.hosts import claims
from orchestrator.model.errors import JournalFailed, OrchestratorError
from orchestrator.model.settings import Settings
from orchestrator.testing.fake_box import Box, Clone
from orchestrator.testing.fake_boxes import FakeBoxes
from orchestrator.testing.fake_clock import START, FakeClock
from orchestrator.testing.fake_host import FakeHost
from orchestrator.testing.fake_process import FakeProcess
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from orchestrator.testing.memory_files import MemoryFiles
from tests.simulation.engine import fault_injection
from tests.simulation.engine.busy_days import Days
from tests.simulation.engine.daemon import STATE, Daemon, Killed
from tests.simulation.engine.notification_sink import NOTIFY, Phone
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.service import Service
from tests.simulation.engine.shared_state import Manners, SharedState
from tests.simulation.engine.user_task import PROJECT, UserTask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.daemon.task import Task


@dataclass(slots=True)
class World:
    """Everything there is. `deaf` is the chance that a watcher loses an event, `slow` that hands take their time.

    `trouble_at` is when the disk last refused something, `written_at` when somebody else than the daemon last
    wrote. `waiting` are the requests that have no reply yet.
    """

    fate: Scenario
    user_tasks: tuple[UserTask, ...]
    manners: Manners = field(default_factory=Manners)
    settings: Settings = field(default_factory=lambda: Settings(notify=NOTIFY))
    deaf: float = 0.1
    slow: bool = True
    begins: float = START
    clock: FakeClock = field(init=False)
    days: Days = field(init=False)
    files: MemoryFiles = field(init=False)
    workspaces: FakeWorkspaces = field(init=False)
    service: Service = field(init=False)
    desk: SharedState = field(init=False)
    host: FakeHost = field(init=False)
    phone: Phone = field(init=False)
    boxes: dict[str, Box] = field(init=False)
    desks: list[SharedState] = field(init=False)
    daemon: Daemon = field(init=False)
    complaints: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    waiting: set[str] = field(default_factory=set)
    after_turns: list[Callable[[], None]] = field(default_factory=list)
    on_kill: list[Callable[[], None]] = field(default_factory=list)
    trouble_at: float = 0.0
    written_at: float = 0.0
    _requests: int = 0
    _deafness: Random = field(init=False)

    def __post_init__(self) -> None:
        """Put the pieces together."""
        self.clock = FakeClock(self.begins)
        self.days = Days(self.clock)
        self.files = MemoryFiles(now=self.clock.now)
        self.workspaces = FakeWorkspaces(before=self.tree_changes)
        self.service = Service(self.clock, self.fate)
        self.desk = SharedState(
            self.files,
            self.workspaces,
            self.clock,
            self.wrote,
            self.manners,
            self.fate,
            fault_injection.life_of,
            self.service,
        )
        self.host = FakeHost(self.files, self.clock, self.desk.program_of, told=self._launcher_wrote)
        self.host.alone = lambda spec: spec.cwd.is_relative_to(STATE / "worktrees")
        self.desks = [self.desk]
        self.boxes = {
            name: self._box(name)
            for name in sorted(set().union(*(user_task.boxes for user_task in self.user_tasks)))
        }
        self._deafness = self.fate.random("deaf")
        slow = self.slow and self.fate.lets("slow")
        self.phone = Phone(self.fate)
        self.daemon = Daemon(
            self.files,
            self.host,
            self.workspaces,
            self.clock,
            self.fate,
            self.settings,
            self.phone,
            slow=slow,
            boxes_of=self._boxes_of if self.boxes else None,
        )
        for user_task in self.user_tasks:
            self.files.make_folder(user_task.handoffs)
            self.files.make_folder(layout.task_events(user_task.home))

    def tree_changes(self, step: str, path: Path) -> None:
        """Let a worktree that is made be seen on the disk."""
        if step == "make":
            self.save(path / ".git", b"gitdir: elsewhere\n")

    def tree_is_gone(self, path: Path) -> None:
        """Let the watchers see that a worktree is gone; they may miss it."""
        self.daemon.news = True
        for user_task in self.user_tasks:
            if path.is_relative_to(layout.task_worktrees(STATE, user_task.id)) and not self._is_missed():
                self.daemon.hint(TreeHint(user_task.id))

    def _box(self, name: str) -> Box:
        """Make a machine, whose clock may go wrong by minutes."""
        skew = self.fate.random(f"boxes.skew.{name}").choice((0.0, 0.0, 300.0, -300.0))
        files = MemoryFiles(now=lambda: self.clock.now() + skew)

        def wrote(_: Path) -> None:
            self.boxes[name].tell()

        clone = Clone(self.workspaces, PROJECT)
        desk = replace(self.desk, files=files, wrote=wrote, box=name, clone=clone)
        self.desks.append(desk)
        return Box(name, self.clock, files, FakeHost(files, self.clock, desk.program_of, told=wrote), clone)

    def _boxes_of(self, post: Callable[[Hint], None]) -> FakeBoxes:
        """Return the boxes as one life of the daemon has them."""
        dice = self.fate.random(f"boxes.life.{self.daemon.boots}")
        deaf = self.deaf if self.fate.lets("boxes-deaf") else 0.0
        return FakeBoxes(STATE, self.files, self.clock, self.boxes, post, self.wrote, dice, deaf)

    @property
    def hosts(self) -> list[FakeHost]:
        """All machines on which runs live: this one, and the boxes."""
        return [self.host, *(box.host for box in self.boxes.values())]

    @property
    def living(self) -> list[FakeProcess]:
        """The agents that live, wherever that is."""
        return [process for host in self.hosts for process in host.living]

    def change_manners(self, manners: Manners) -> None:
        """Let all agents be otherwise from now on."""
        self.manners = manners
        for desk in self.desks:
            desk.manners = manners

    # What others do -------------------------------------------------------------------------------

    def wrote(self, path: Path) -> None:
        """Let the watchers see that somebody wrote a file; they may miss it."""
        self.daemon.news = True
        self.written_at = self.clock.monotonic()
        if self._is_missed():
            return
        for user_task in self.user_tasks:
            if path.is_relative_to(user_task.requests):
                self.daemon.hint(EventHint(user_task.id))
            if path.is_relative_to(user_task.folder) and (
                hint := task_hint(user_task.id, user_task.folder, path)
            ):
                self.daemon.hint(hint)

    def _is_missed(self) -> bool:
        """Tell whether a watcher loses the next event."""
        return self._deafness.random() < self.deaf and self.fate.lets("deaf")

    def _launcher_wrote(self, path: Path) -> None:
        self.daemon.news = True
        if path.name == claims.EXIT and not self._is_missed():
            home = path.parent.parent.parent
            self.daemon.hint(RunHint(home.name, path.parent.name))

    def ask(self, user_task: UserTask, verb: str, **arguments: str) -> None:
        """Let the user say `task VERB`."""
        self._requests += 1
        request = f"{self._requests:06}"
        said = {"id": request, "verb": verb, "at": self.clock.now(), "arguments": arguments}
        self.counts[f"asked by the user: {verb}"] += 1
        self.waiting.add(f"{user_task.id}/{request}")
        self.save(user_task.requests / f"{request}.json", json.dumps(said).encode())
        self.daemon.news = True
        if not self._is_missed():
            self.daemon.hint(RequestHint(user_task.id))

    def start(self, user_task: UserTask, goal: str, criteria: tuple[str, ...]) -> None:
        """Let the user write task.md and say `task start`."""
        self.edit(user_task, goal, criteria)
        self.ask(user_task, "start", project=str(PROJECT), name=user_task.name)

    def edit(self, user_task: UserTask, goal: str, criteria: tuple[str, ...]) -> None:
        """Let the user write task.md."""
        self.desk.criteria[user_task.folder] = criteria
        path = layout.task_brief(user_task.folder)
        self.save(path, user_task.brief(goal, criteria).encode())
        self.wrote(path)

    def shown(self, user_task: UserTask) -> dict[str, Any]:
        """Return what `task status` would read, with the steps of all pages; nothing before the first projection."""
        shown = self.read_json(user_task.shown)
        if shown.get("version") == PAGED:
            folder = layout.task_pages(user_task.home)
            pages = [json.loads(self.files.read(folder / page)) for page in shown["pages"]]
            shown["steps"] = [step for page in pages for step in page]
        return shown

    def read_json(self, path: Path) -> dict[str, Any]:
        """Return what a file of the PM's tells; nothing if it is not there or does not read."""
        if self.files.entry(path) is None:
            return {}
        try:
            shown = json.loads(self.files.read(path))
        except ValueError:
            return {}
        return shown if isinstance(shown, dict) else {}

    def take_replies(self) -> None:
        """Let `task` take the replies that it waited for."""
        for user_task in self.user_tasks:
            for entry in self.files.entries(user_task.requests):
                if entry.name.endswith(".reply.json"):
                    reply = json.loads(self.files.read(user_task.requests / entry.name))
                    self.waiting.discard(f"{user_task.id}/{entry.name.partition('.')[0]}")
                    self.counts["replies: done" if reply["ok"] else "replies: refused"] += 1
                    with self._unseen():
                        self.files.remove(user_task.requests / entry.name)

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
            self.see()
        return True

    def see(self) -> None:
        """Let whoever watches this world look."""
        for check in self.after_turns:
            check()

    def boot(self) -> None:
        """Start the daemon on what lies there. It may be killed on the way."""
        with self._mortal():
            self.daemon.boot()

    @contextmanager
    def _mortal(self) -> Iterator[None]:
        """Let the daemon die of what kills it, and the world go on."""
        try:
            yield
        except (Killed, JournalFailed) as death:
            if isinstance(death, JournalFailed):
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
