"""The daemon as a process: the lock, the threads around the loop, its signals and its end."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import sys
import time
import warnings
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

from orchestrator import __version__, places
from orchestrator.daemon import hints as h
from orchestrator.daemon.act.launch import World
from orchestrator.daemon.doing import leases
from orchestrator.daemon.hands import Pool
from orchestrator.daemon.lock import DaemonLock, beat
from orchestrator.daemon.loop import Loop
from orchestrator.daemon.office import Office
from orchestrator.daemon.schedule import Schedule
from orchestrator.daemon.task import Task
from orchestrator.daemon.watch import Watch
from orchestrator.formats.settings import load_settings
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.exit_watch import ExitWatch
from orchestrator.hosts.local import LocalHost
from orchestrator.hosts.processes import Process
from orchestrator.hosts.tmux import Tmux
from orchestrator.model.errors import OrchestratorError, Unavailable
from orchestrator.workspaces.git import GitWorkspaces
from orchestrator.workspaces.leases import Lease

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.model.settings import Settings

log = logging.getLogger("orchestrator.daemon")

CLOCK_MOVED: Final = 5.0
"""Seconds by which wall and monotonic time may drift apart before it counts as a suspend or a set clock."""


class SystemClock:
    """The machine's own clocks."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


class Service:
    """One daemon, from its lock to its last projection."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Take the lock and make everything ready.

        Raises:
            Refused: another daemon runs, or the settings do not read.

        """
        folder = places.state_folder(environ)
        places.make_state_folder(folder)
        self._state = Path(folder)
        self._lock = DaemonLock(self._state)
        self._settings = load_settings(Path(places.config_file(environ)), environ)
        self._clock = SystemClock()
        self._started_at = self._clock.now()
        self._hints: SimpleQueue[h.Hint] = SimpleQueue()
        self._files = DiskFiles()
        self._watch = Watch(self._hints.put, self._state)
        self._exits = ExitWatch(self._ended)
        self._watched_runs: dict[str, str] = {}
        self._hands = Pool(self._settings.daemon.workers)
        self._scribe_hands = Pool(1, finish=True)
        self._host = LocalHost(Tmux(self._settings.tmux.socket, environ), self._files)
        self._loop = Loop(self._office(self._settings, environ), self._watch_task, self._beat, self._hints)
        self._schedule = Schedule(self._settings, self._hints.put)

    def run(self) -> None:
        """Work until told to stop. Raises OSError when the journal can no longer be trusted to the disk."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._told_to_stop)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self._files.make_folder(places.task_homes(self._state))
        self._watch.start()
        self._loop.open()
        self._schedule.start()
        self._beat()
        log.info("up, pid %d, version %s, %d tasks", os.getpid(), __version__, len(self._loop.tasks))
        try:
            self._work()
        finally:
            self._close()

    def _work(self) -> None:
        apart = self._clock.now() - self._clock.monotonic()
        while not self._loop.stopping:
            self._loop.turn(self._patience())
            self._watch_exits()
            moved = self._clock.now() - self._clock.monotonic() - apart
            if abs(moved) >= CLOCK_MOVED:
                apart += moved
                log.warning("the clock moved by %.0f s (asleep, or set): checking in once", moved)
                self._schedule.wake()
                self._hints.put(h.CheckIn())

    def _patience(self) -> float:
        """Return how long the loop may wait for a hint. Never longer than a rescan: the clock may be set."""
        wake_at = self._loop.wake_at()
        longest = self._settings.daemon.rescan
        return longest if wake_at is None else min(max(wake_at - self._clock.now(), 0.0), longest)

    def _close(self) -> None:
        self._schedule.close()
        self._watch.close()
        self._exits.close()
        self._hands.close()
        self._loop.close()
        self._scribe_hands.close()
        self._lock.release()
        log.info("ended; agents in their panes work on")

    def _told_to_stop(self, number: int, _frame: object) -> None:
        if self._loop.stopping:
            log.warning("told twice (signal %d): ending at once", number)
            os._exit(1)
        self._loop.stopping = True
        self._hints.put(h.Stop())

    def _office(self, settings: Settings, environ: Mapping[str, str]) -> Office:
        workspaces = GitWorkspaces(deadline=settings.git.deadline, environ=environ)
        return Office(
            world=World(self._files, self._host, workspaces, settings, environ),
            clock=self._clock,
            hands=self._hands,
            scribe_hands=self._scribe_hands,
            nonce=lambda: secrets.token_hex(8),
            post=self._hints.put,
            state_folder=self._state,
            leases=self._leases,
        )

    def _leases(self, opened_at: float, run: str) -> list[Lease]:
        begun = [task for task in self._loop.tasks.values() if task.begun]
        return [lease for task in begun for lease in leases(task.engine.state, opened_at, run)]

    def _beat(self) -> None:
        self._lock.check()
        beat(self._files, self._state, self._started_at, self._clock.now())

    def _watch_task(self, task: Task) -> None:
        requests = places.task_requests(task.home)
        self._files.make_folder(requests)
        self._watch.requests(task.id, requests)
        if not task.begun:
            return
        if task.rests:
            self._watch.drop(task.where.task)
        else:
            self._watch.task(task.id, task.where.task)

    def _watch_exits(self) -> None:
        """Watch the process of every live run, and of no other."""
        live = {
            run.id: (task, run)
            for task in self._loop.tasks.values()
            for run in (task.engine.state.live_runs if task.begun else ())
            if run.pid is not None
        }
        for name in set(self._watched_runs) - set(live):
            self._exits.remove(name)
            del self._watched_runs[name]
        for name, (task, _) in live.items():
            if name not in self._watched_runs:
                try:
                    seen = self._host.observe(places.run_home(task.home, name))
                except Unavailable as error:
                    log.warning("the end of run %s cannot be watched just now: %s", name, error)
                    continue
                if seen.pid is None:
                    continue
                self._watched_runs[name] = task.id
                if seen.start:
                    self._exits.add(name, Process(seen.pid, seen.start))
                else:  # it ended since it was looked at, while this turn wrote what others read
                    self._ended(name)

    def _ended(self, run: str) -> None:
        task = self._watched_runs.get(run)
        if task is not None:
            self._hints.put(h.RunHint(task, run))


def main() -> int:
    """Run the daemon in the foreground; its log goes to standard error."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    os.umask(0o077)
    # A folder made while its parent is being looked through is told of twice, and watched once.
    warnings.filterwarnings("ignore", module="watchdog")
    try:
        Service(os.environ).run()
    except OrchestratorError as error:
        log.error("%s", error)  # noqa: TRY400 (one sentence for a person)
        return 1
    except OSError:
        log.exception("the disk failed: nothing more is decided, start again when it is well")
        return 1
    return 0
