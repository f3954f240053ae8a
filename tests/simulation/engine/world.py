"""A world: one daemon, a few tasks, their agents, a user who answers late, and faults by seed."""

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
from orchestrator.daemon.projections.state_document import PAGED
from orchestrator.hosts import claims
from orchestrator.model.errors import JournalFailed, OrchestratorError
from orchestrator.model.settings import Settings
from orchestrator.testing.fake_box import Box
from orchestrator.testing.fake_boxes import FakeBoxes
from orchestrator.testing.fake_clock import START, FakeClock
from orchestrator.testing.fake_clone import Clone
from orchestrator.testing.fake_host import FakeHost
from orchestrator.testing.fake_process import FakeProcess
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from orchestrator.testing.memory_files import MemoryFiles
from tests.simulation.engine import fault_injection
from tests.simulation.engine.busy_days import Days
from tests.simulation.engine.daemon import STATE, Daemon, Killed
from tests.simulation.engine.law import CRASHES, Finding, Law
from tests.simulation.engine.notification_sink import NOTIFY, Phone
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.service import Service
from tests.simulation.engine.shared_state import Behaviour, SharedState
from tests.simulation.engine.user_task import PROJECT, UserTask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.daemon.task import Task


@dataclass(slots=True)
class World:
    """Everything there is.

    deaf: the probability that a watcher loses an event. slow: workers take time. trouble_at: when the disk last
    refused a change. written_at: when somebody other than the daemon last wrote. waiting: the requests whose reply
    nobody has taken, and when each was made. deleted: the tasks that the user deleted, by id, with their last states.
    returned: the tasks that gave their sessions back to commands.
    after_turns: called after each turn of the daemon. on_kill: called when
    the daemon was killed.
    """

    scenario: Scenario
    user_tasks: tuple[UserTask, ...]
    behaviour: Behaviour = field(default_factory=Behaviour)
    settings: Settings = field(default_factory=lambda: Settings(notify=NOTIFY))
    deaf: float = 0.1
    slow: bool = True
    begins: float = START
    clock: FakeClock = field(init=False)
    days: Days = field(init=False)
    files: MemoryFiles = field(init=False)
    workspaces: FakeWorkspaces = field(init=False)
    service: Service = field(init=False)
    shared: SharedState = field(init=False)
    host: FakeHost = field(init=False)
    phone: Phone = field(init=False)
    boxes: dict[str, Box] = field(init=False)
    shared_states: list[SharedState] = field(init=False)
    daemon: Daemon = field(init=False)
    complaints: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    waiting: dict[str, float] = field(default_factory=dict)
    deleted: dict[str, str] = field(default_factory=dict)
    returned: set[str] = field(default_factory=set)
    after_turns: list[Callable[[], None]] = field(default_factory=list)
    on_kill: list[Callable[[], None]] = field(default_factory=list)
    trouble_at: float = 0.0
    written_at: float = 0.0
    _requests: int = 0
    _deafness: Random = field(init=False)

    def __post_init__(self) -> None:
        """Connect the parts."""
        self.clock = FakeClock(self.begins)
        self.days = Days(self.clock)
        self.files = MemoryFiles(now=self.clock.now)
        self.workspaces = FakeWorkspaces(before=self.tree_changes)
        self.service = Service(self.clock, self.scenario)
        self.shared = SharedState(
            self.files,
            self.workspaces,
            self.clock,
            self.wrote,
            self.behaviour,
            self.scenario,
            fault_injection.life_of,
            self.service,
            helped={user_task.folder for user_task in self.user_tasks if user_task.helped},
        )
        self.host = FakeHost(self.files, self.clock, self.shared.program_of, written=self._launcher_wrote)
        self.host.alone = lambda spec: spec.cwd.is_relative_to(STATE / "worktrees")
        self.shared_states = [self.shared]
        self.boxes = {
            name: self._box(name)
            for name in sorted(set().union(*(user_task.boxes for user_task in self.user_tasks)))
        }
        self._deafness = self.scenario.random("deaf")
        slow = self.slow and self.scenario.allows("slow")
        self.phone = Phone(self.scenario)
        self.daemon = Daemon(
            self.files,
            self.host,
            self.workspaces,
            self.clock,
            self.scenario,
            self.settings,
            self.phone,
            slow=slow,
            boxes_of=self._boxes_of if self.boxes else None,
        )
        for user_task in self.user_tasks:
            self.files.make_folder(user_task.handoffs)
            self.files.make_folder(layout.task_events(user_task.home))

    def tree_changes(self, step: str, path: Path) -> None:
        """Show a new worktree on the disk."""
        if step == "make":
            self.save(path / ".git", b"gitdir: elsewhere\n")

    def tree_is_gone(self, path: Path) -> None:
        """Notify the watchers that a worktree was removed. They may miss it."""
        self.daemon.needs_rescan = True
        for user_task in self.user_tasks:
            if path.is_relative_to(layout.task_worktrees(STATE, user_task.id)) and not self._is_missed():
                self.daemon.hint(TreeHint(user_task.id))

    def _box(self, name: str) -> Box:
        """Create a box. Its clock may be off by minutes."""
        skew = self.scenario.random(f"boxes.skew.{name}").choice((0.0, 0.0, 300.0, -300.0))
        files = MemoryFiles(now=lambda: self.clock.now() + skew)

        def wrote(_: Path) -> None:
            self.boxes[name].tell()

        clone = Clone(self.workspaces, PROJECT)
        shared = replace(self.shared, files=files, wrote=wrote, box=name, clone=clone)
        self.shared_states.append(shared)
        return Box(
            name, self.clock, files, FakeHost(files, self.clock, shared.program_of, written=wrote), clone
        )

    def _boxes_of(self, post: Callable[[Hint], None]) -> FakeBoxes:
        """Return the boxes for one life of the daemon."""
        dice = self.scenario.random(f"boxes.life.{self.daemon.boots}")
        deaf = self.deaf if self.scenario.allows("boxes-deaf") else 0.0
        return FakeBoxes(STATE, self.files, self.clock, self.boxes, post, self.wrote, dice, deaf)

    @property
    def present(self) -> list[UserTask]:
        """The tasks that the user has not deleted."""
        return [user_task for user_task in self.user_tasks if user_task.id not in self.deleted]

    @property
    def hosts(self) -> list[FakeHost]:
        """All machines that have runs: this one, and the boxes."""
        return [self.host, *(box.host for box in self.boxes.values())]

    @property
    def living(self) -> list[FakeProcess]:
        """The agents that live, on all machines."""
        return [process for host in self.hosts for process in host.living]

    def change_behaviour(self, behaviour: Behaviour) -> None:
        """Change how all agents behave from now on."""
        self.behaviour = behaviour
        for shared in self.shared_states:
            shared.behaviour = behaviour

    # What others do -------------------------------------------------------------------------------

    def wrote(self, path: Path) -> None:
        """Notify the watchers that somebody wrote a file. They may miss it."""
        self.daemon.needs_rescan = True
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
        """Return whether a watcher loses the next event."""
        return self._deafness.random() < self.deaf and self.scenario.allows("deaf")

    def _launcher_wrote(self, path: Path) -> None:
        self.daemon.needs_rescan = True
        if path.name == claims.EXIT and not self._is_missed():
            home = path.parent.parent.parent
            self.daemon.hint(RunHint(home.name, path.parent.name))

    def ask(self, user_task: UserTask, verb: str, **arguments: str) -> None:
        """Make a request, as `task VERB` does."""
        self._requests += 1
        request = f"{self._requests:06}"
        content = {"id": request, "verb": verb, "at": self.clock.now(), "arguments": arguments}
        self.counts[f"asked by the user: {verb}"] += 1
        self.waiting[f"{user_task.id}/{request}"] = self.clock.monotonic()
        self.save(user_task.requests / f"{request}.json", json.dumps(content).encode())
        self.daemon.needs_rescan = True
        if not self._is_missed():
            self.daemon.hint(RequestHint(user_task.id))

    def start(self, user_task: UserTask, goal: str, criteria: tuple[str, ...]) -> None:
        """Write task.md and, the first time, the files of its design; and make a start request."""
        self.edit(user_task, goal, criteria)
        for path, text in user_task.design().items():
            place = layout.orchestration(user_task.folder) / path
            if self.files.entry(place) is None:
                self.save(place, text.encode())
        self.ask(user_task, "start", project=str(PROJECT), name=user_task.name)

    def edit(self, user_task: UserTask, goal: str, criteria: tuple[str, ...]) -> None:
        """Write task.md, as its user does."""
        self.shared.criteria[user_task.folder] = criteria
        path = layout.task_brief(user_task.folder)
        self.save(path, user_task.brief(goal, criteria).encode())
        self.wrote(path)

    def shown(self, user_task: UserTask) -> dict[str, Any]:
        """Return what `task status` reads, with the steps of all pages: an empty dict before the first projection."""
        shown = self.read_json(user_task.shown)
        if shown.get("version") == PAGED:
            folder = layout.task_pages(user_task.home)
            pages = [json.loads(self.files.read(folder / page)) for page in shown["pages"]]
            shown["steps"] = [step for page in pages for step in page]
        return shown

    def read_json(self, path: Path) -> dict[str, Any]:
        """Return the content of a JSON file of the PM: an empty dict if it is missing or damaged."""
        if self.files.entry(path) is None:
            return {}
        try:
            shown = json.loads(self.files.read(path))
        except ValueError:
            return {}
        return shown if isinstance(shown, dict) else {}

    def take_replies(self) -> None:
        """Take the replies, as `task` does that waits for them."""
        for user_task in self.user_tasks:
            for entry in self.files.entries(user_task.requests):
                if entry.name.endswith(".reply.json"):
                    reply = json.loads(self.files.read(user_task.requests / entry.name))
                    self.waiting.pop(f"{user_task.id}/{entry.name.partition('.')[0]}", None)
                    self.counts["replies: done" if reply["ok"] else "replies: refused"] += 1
                    with self.unseen():
                        self.files.remove(user_task.requests / entry.name)

    def has_reply(self, request: str) -> bool:
        """Return whether the daemon has answered a request, given as the task's id and its own."""
        task, _, number = request.partition("/")
        folder = layout.task_requests(layout.task_home(STATE, task))
        return self.files.entry(folder / f"{number}.reply.json") is not None

    def save(self, path: Path, data: bytes) -> None:
        """Write a file durably, as `task` and editors do."""
        with self.unseen():
            self.files.make_folder(path.parent)
            self.files.write(path, data)

    @contextmanager
    def unseen(self) -> Iterator[None]:
        """Change files as a program other than the daemon."""
        before, self.files.before = self.files.before, None
        try:
            yield
        finally:
            self.files.before = before

    # Time -----------------------------------------------------------------------------------------

    def go_on(self, *, until: float) -> bool:
        """Advance to the next event that is due by a time, and let it happen. Return False if there is none."""
        moments = [each for each in (self.clock.next_moment(), self.daemon.next_moment()) if each is not None]
        if not moments or min(moments) > until:
            return False
        with self._mortal():
            self.clock.advance(max(0.0, min(moments) - self.clock.monotonic()))
            self.daemon.work()
            self.see()
        return True

    def see(self) -> None:
        """Call those who check this world after each turn."""
        for check in self.after_turns:
            check()

    def boot(self) -> None:
        """Start the daemon. It may be killed on the way."""
        with self._mortal():
            self.daemon.boot()

    @contextmanager
    def _mortal(self) -> Iterator[None]:
        """Let a kill end the daemon, and not the world."""
        try:
            yield
        except (Killed, JournalFailed) as death:
            if isinstance(death, JournalFailed):
                self.daemon.drop()
            for react in self.on_kill:
                react()

    # Looking -------------------------------------------------------------------------------------

    def tasks(self) -> dict[str, Task]:
        """Return the tasks that the daemon has open and that have begun, by id."""
        loop = self.daemon.loop
        return {} if loop is None else {task.id: task for task in loop.tasks.values() if task.begun}


class Complaints(logging.Handler):
    """Collects unexpected errors from the daemon's log. A full disk, for example, is expected."""

    def __init__(self, found: list[Finding]) -> None:
        super().__init__(logging.ERROR)
        self._found = found

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the record of an unexpected error."""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not isinstance(error, OSError | OrchestratorError):
            with suppress(Exception):
                law = Law.NO_CRASH if isinstance(error, CRASHES) else Law.NO_UNEXPECTED_ERROR
                self._found.append(Finding(law, f"{record.getMessage()}: {error!r}"))


@contextmanager
def listening(world: World) -> Iterator[None]:
    """Collect what the daemon complains of, and keep its log off the screen."""
    log = logging.getLogger("orchestrator")
    handler, propagates = Complaints(world.complaints), log.propagate
    log.addHandler(handler)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.propagate = propagates
