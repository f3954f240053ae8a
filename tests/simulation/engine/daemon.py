"""The daemon in its simulated world: it boots from the disk, gets time and hints, and may be killed anywhere."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import Final

from orchestrator.daemon.boxes.departed_tasks import DepartedTasks
from orchestrator.daemon.core import archived_handoffs, role_statuses, shared_status
from orchestrator.daemon.core import hints as h
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.task_paths import Adapters as Reach
from orchestrator.daemon.loop import Loop
from orchestrator.daemon.task import Task
from orchestrator.model.settings import Settings
from orchestrator.ports.no_boxes import NoBoxes
from orchestrator.ports.sender import Sender
from orchestrator.testing.fake_boxes import FakeBoxes
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_host import FakeHost
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from orchestrator.testing.memory_files import MemoryFiles
from orchestrator.workspaces.leases import Lease
from tests.simulation.engine.law import Broken, Finding, Law
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.transcripts import HOME

log = logging.getLogger("orchestrator.simulation")  # what the daemon's own worker pool would log

STATE: Final = Path("/pm")
SLOW: Final = (0.0, 0.0, 0.001, 0.02, 0.3, 5.0)
PROMPT: Final = (0.0,)

TURNS_AT_ONCE: Final = 200
"""More turns than these without time passing mean that the loop spins."""


ALIKE: Final = 3
STRIDE: Final = 144
"""After `ALIKE` quiet check-ins in a row, only one of `STRIDE` is made (one a day), until something happens."""


class Killed(BaseException):
    """The daemon was killed here. This is no `Exception`, so that nothing catches it and goes on."""


@dataclass(slots=True)
class FakeExecutor:
    """A worker pool in virtual time: in order for each key, in any order across keys. After a kill it does nothing.

    pauses: the seconds of which one is drawn before each piece of work.
    """

    clock: FakeClock
    random: Random
    pauses: tuple[float, ...]
    dropped: bool = False
    _queues: dict[str, deque[Callable[[], None]]] = field(default_factory=dict)

    def do(self, key: str, work: Callable[[], None]) -> None:
        """Schedule work for a little later."""
        queue = self._queues.setdefault(key, deque())
        queue.append(work)
        if len(queue) == 1:
            self._plan(key)

    def close(self) -> None:
        """Do nothing more."""
        self.dropped = True

    @property
    def idle(self) -> bool:
        """True when there is nothing to do."""
        return not any(self._queues.values())

    def _plan(self, key: str) -> None:
        self.clock.after(self.random.choice(self.pauses), partial(self._work, key))

    def _work(self, key: str) -> None:
        if self.dropped:
            return
        queue = self._queues[key]
        try:
            queue[0]()
        except Exception:
            log.exception("work of %s failed", key)
        queue.popleft()
        if queue:
            self._plan(key)


@dataclass(slots=True)
class Daemon:
    """One user's daemon.

    slow: its workers take time; otherwise they work at once. loop: None while the daemon is down. needs_rescan:
    something may have changed without a hint; otherwise a rescan is skipped, since it would find nothing.
    checked_in_at: the time of the last check-in. is_quiet: no agent ran and nothing happened since the check-in before;
    after some quiet ones in a row most are skipped, and counted in left_out. boxes_of: makes the boxes for one life of
    the daemon, where there are boxes.
    """

    files: MemoryFiles
    host: FakeHost
    workspaces: FakeWorkspaces
    clock: FakeClock
    scenario: Scenario
    settings: Settings
    sender: Sender
    slow: bool = True
    loop: Loop | None = None
    needs_rescan: bool = True
    boots: int = 0
    turns: int = 0
    passivated: int = 0
    check_ins: int = 0
    quiet: int = 0
    left_out: int = 0
    checked_in_at: float = 0.0
    booted_at: float = 0.0
    is_quiet: bool = False
    _in_a_row: int = 0
    _happened: bool = True
    boxes_of: Callable[[Callable[[h.Hint], None]], FakeBoxes] | None = None
    _boxes: FakeBoxes | None = None
    _departed: DepartedTasks | None = None
    _executor: FakeExecutor = field(init=False)
    _hints: SimpleQueue[h.Hint] = field(default_factory=SimpleQueue)
    _check_in_at: float = 0.0
    _rescan_at: float = 0.0
    _nonces: Random = field(init=False)
    _pauses: Random = field(init=False)

    def __post_init__(self) -> None:
        """Draw from the scenario."""
        self._nonces, self._pauses = self.scenario.random("nonce"), self.scenario.random("pauses")

    def boot(self) -> None:
        """Start from what lies on the disk."""
        self.boots += 1
        role_statuses.forget()
        archived_handoffs.forget()
        shared_status.forget()  # what a module remembers ends with its process
        self.booted_at = self.clock.monotonic()
        self._hints = SimpleQueue()
        self._executor = FakeExecutor(self.clock, self._pauses, SLOW if self.slow else PROMPT)
        self._boxes = self.boxes_of(self._box_hint) if self.boxes_of else None
        context = self._context()
        self._departed = departed = DepartedTasks(context)
        self.loop = Loop(
            context,
            lambda _: None,
            lambda: None,
            self._hints,
            rescanned=departed.look,
            passivated=self._count_passivated,
            let_go=lambda _: departed.look(),
        )
        self._check_in_at = self.clock.monotonic() + self.settings.limits.check_in_interval
        self._rescan_at = self.clock.monotonic() + self.settings.daemon.rescan
        self.needs_rescan = self._happened = True
        self.loop.open()
        departed.look()

    def drop(self, *, power: bool = False, torn: int = 0) -> None:
        """End the process without warning: all that it had in memory is lost."""
        self._executor.close()
        if self._boxes is not None:
            self._boxes.close()
        self.loop = self._departed = None
        self.files.crash(power=power, torn=torn)

    def hint(self, hint: h.Hint) -> None:
        """Give it a hint, if it is up."""
        if self.loop is not None:
            self._hints.put(hint)

    def _box_hint(self, hint: h.Hint) -> None:
        """Take a hint about files that came from a box. A rescan must look at them too."""
        self.needs_rescan = True
        self.hint(hint)

    def next_moment(self) -> float | None:
        """Return the monotonic time at which it wants to act by itself, or None."""
        if self.loop is None:
            return None
        moments = [self._next_check_in()]
        if self.needs_rescan or self._has_open_work():
            moments.append(self._rescan_at)
        if (wake_at := self.loop.wake_at()) is not None:
            moments.append(wake_at - self.clock.now() + self.clock.monotonic())
        if self._departed is not None and (next_try := self._departed.next_try) is not None:
            moments.append(max(self._rescan_at, next_try))
        return min(moments)

    def work(self) -> None:
        """Take turns until there is nothing more to do now."""
        if (loop := self.loop) is None:
            return
        self._happened |= not self._hints.empty()
        self._beat()
        for _ in range(TURNS_AT_ONCE):
            self.turns += 1
            loop.turn(0)
            if self.loop is not loop:
                return
            wake_at = loop.wake_at()
            if self._hints.empty() and (wake_at is None or wake_at > self.clock.now()):
                return
        raise Broken([Finding(Law.NO_SPINNING, f"{TURNS_AT_ONCE} turns at one moment")])

    @property
    def idle(self) -> bool:
        """True when no worker has anything to do."""
        return self._executor.idle

    def _beat(self) -> None:
        now = self.clock.monotonic()
        if now >= self._rescan_at:
            self._rescan_at = now + self.settings.daemon.rescan
            self.needs_rescan = False
            self._hints.put(h.Rescan())
        if now >= self._check_in_at:
            self._check_in(now)
            self._hints.put(h.CheckIn())

    def _check_in(self, now: float) -> None:
        interval = self.settings.limits.check_in_interval
        self.is_quiet = not self._happened and not self._has_live_runs()
        self._in_a_row = self._in_a_row + 1 if self.is_quiet else 0
        self.check_ins += 1
        self.quiet += self.is_quiet
        self.left_out += int((now - self._check_in_at) / interval)
        self._check_in_at = self.checked_in_at = now
        self._happened = False
        self._check_in_at += interval

    def _next_check_in(self) -> float:
        """Return the time of the next check-in. Those that would find what the last ones found are skipped."""
        alike = self._in_a_row >= ALIKE and not self._happened and not self._awaits_passivation()
        left_out = STRIDE if alike else 1
        return self._check_in_at + (left_out - 1) * self.settings.limits.check_in_interval

    def _has_live_runs(self) -> bool:
        return self.loop is not None and any(
            task.begun and task.engine.state.live_runs for task in self.loop.tasks.values()
        )

    def _has_open_work(self) -> bool:
        """Return whether a rescan has something to do again, though nothing changed."""
        return self.loop is not None and any(
            task.begun and (task.engine.state.outbox or task.behind) for task in self.loop.tasks.values()
        )

    def _count_passivated(self, _: Task) -> None:
        self.passivated += 1

    def _awaits_passivation(self) -> bool:
        """Return whether a task is to be passivated."""
        return self.loop is not None and any(task.is_over for task in self.loop.tasks.values())

    def _context(self) -> Context:
        return Context(
            adapters=Reach(
                self.files,
                self.host,
                self.workspaces,
                self.settings,
                {"PATH": "/bin", "HOME": HOME},
                self._boxes or NoBoxes(),
            ),
            clock=self.clock,
            executor=self._executor,
            scribe_executor=self._executor,
            nonce=lambda: f"{self._nonces.getrandbits(64):016x}",
            post=self._hints.put,
            state_folder=STATE,
            leases=self._leases,
            sender=self.sender,
        )

    def _leases(self) -> list[Lease] | None:
        return self.loop.leases() if self.loop is not None else None
