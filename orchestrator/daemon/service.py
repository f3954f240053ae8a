"""The daemon as a process: the lock, the threads around the loop, its signals and its end."""

from __future__ import annotations

import logging
import os
import secrets
import signal
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

from orchestrator import __version__, layout, own_files
from orchestrator.daemon.boxes.departed_tasks import DepartedTasks
from orchestrator.daemon.boxes.ssh_boxes import KeptBoxes
from orchestrator.daemon.core import hints as h
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.task_paths import Adapters
from orchestrator.daemon.core.worker_pool import WorkerPool, WorkerPoolsByBox
from orchestrator.daemon.ingest.watchers import Watch
from orchestrator.daemon.journal.rolling_log import roll_output
from orchestrator.daemon.loop import Loop
from orchestrator.daemon.process.lock import DaemonLock, beat
from orchestrator.daemon.process.observer_work import ObserverWork
from orchestrator.daemon.process.recovery import ended_well, unforeseen_return
from orchestrator.daemon.process.report_process import ReportProcess
from orchestrator.daemon.process.run_exits import RunExits
from orchestrator.daemon.process.schedule import Schedule, heard
from orchestrator.daemon.process.sd_notify import SdNotify
from orchestrator.daemon.process.upgrade import PACKAGE, Upgrade, give_way, named, trial
from orchestrator.daemon.retention.upkeep import Upkeep
from orchestrator.daemon.task import Task
from orchestrator.extensions import load_all
from orchestrator.formats.settings import load_settings
from orchestrator.formats.settings_stamp import settings_stamp
from orchestrator.hosts.clock import SystemClock
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.local import LocalHost
from orchestrator.hosts.marked_runs import LocalMarkedRuns
from orchestrator.hosts.tmux import Tmux, kept_config
from orchestrator.model.task import WorkspaceKind
from orchestrator.notifications.subprocess_sender import SubprocessSender
from orchestrator.workspaces.git import GitWorkspaces
from orchestrator.workspaces.leases import Lease

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.model.settings import Settings

log = logging.getLogger("orchestrator.daemon")

STOPS: Final = (signal.SIGTERM, signal.SIGINT)

BOX_WORKERS: Final = 4
"""How many things are done at once on one box: half of what its connection carries; the monitor has the rest."""

BOXES_END: Final = 5.0
"""Seconds that an ending daemon waits for work on boxes; its own programs there are killed before that."""

LAST_WORDS: Final = 2.0
"""Seconds that an ending daemon waits for a notification that is being sent."""


class Service:
    """One daemon, from its lock to its last projection, or to the version that takes its place."""

    def __init__(self, environ: Mapping[str, str], notify: SdNotify, inherited: int | None = None) -> None:
        """Take the lock, or keep the `inherited` one, and prepare everything.

        Raises:
            Refused: another daemon runs, or the settings cannot be parsed.

        """
        folder = layout.state_folder(environ)
        own_files.make_state_folder(folder)
        self._state = Path(folder)
        self._lock = DaemonLock(self._state, inherited)
        self._notify = notify
        config = Path(layout.config_file(environ))
        self._stamp = settings_stamp(config)
        self._settings = heard(load_settings(config, environ), notify.watchdog)
        self._clock = SystemClock()
        self._started_at = self._read_at = self._clock.now()
        self._hints: SimpleQueue[h.Hint] = SimpleQueue()
        self._files = DiskFiles(self._state)
        self._watch = Watch(self._hints.put, self._state, self._settings.daemon.archive)
        self._executor = WorkerPool(self._settings.daemon.workers)
        self._box_executors = WorkerPoolsByBox(BOX_WORKERS)
        self._scribe_executor = WorkerPool(1, finish=True)
        self._notification_executor = WorkerPool(1)
        notify_settings = self._settings.notify
        self._sender = SubprocessSender(notify_settings.timeout, self._settings.tmux.socket, environ)
        self._reporter = ReportProcess(environ)
        tmux_config = kept_config(self._files, layout.tmux_config(self._state))
        self._tmux = Tmux(self._settings.tmux.socket, environ, config=tmux_config)
        self._host = LocalHost(self._tmux, self._files)
        self._exits = RunExits(self._host, self._hints.put)
        self._boxes = KeptBoxes(
            self._state, self._files, environ, self._hints.put, self._tmux, settings=self._settings
        )
        for extension in load_all():
            if extension.fault:
                log.error(
                    "%s %s of %s: %s", extension.what, extension.name, extension.package, extension.fault
                )
        self._context = context = self._opened_context(self._settings, environ)
        rescan = self._settings.daemon.rescan
        in_force, on_disk = f"{__version__} {self._stamp}", partial(named, PACKAGE, config)
        self._upgrade = Upgrade(in_force, on_disk, self._executor, self._clock, rescan, trial)
        self._schedule = Schedule(self._settings, self._hints.put)
        self._loop = Loop(
            context,
            self._watch_task,
            self._beat,
            self._hints,
            self._rescanned,
            self._schedule.wake,
            self._passivated,
            self._let_go,
        )
        self._departed = DepartedTasks(context)
        self._upkeep = Upkeep(context, self._workspaces)
        self._observer = ObserverWork(
            self._settings.observer, self._state, self._files, self._clock, self._executor, self._reporter
        )
        self._stopped_by_hand = self._ends_well = False
        self._stuck: list[str] = []
        self._return = None if inherited is not None else unforeseen_return(self._state, self._started_at)

    def run(self) -> None:
        """Work until told to stop, or until a newly installed version takes over.

        Raises:
            OSError: the journal can no longer be written reliably.

        """
        for number in STOPS:
            signal.signal(number, self._on_stop_signal)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)  # our predecessor blocked them: see `_give_way`
        with suppress(OSError):  # a folder is in its place; the file only prevents a false alarm
            layout.daemon_stopped(self._state).unlink()
        self._files.make_folder(layout.task_homes(self._state))
        self._watch.start()
        self._loop.open()
        self._departed.look()
        self._upkeep.sweep(self._loop.tasks.values(), self._loop.passive.tasks)
        self._observer.look()
        self._schedule.start()
        self._beat()
        self._notify.ready(self._status)
        tasks, passive = len(self._loop.tasks), len(self._loop.passive)
        log.info("up, pid %d, version %s, %d tasks, %d passive", os.getpid(), __version__, tasks, passive)
        if self._return is not None and any(
            task.begun and not task.rests for task in self._loop.tasks.values()
        ):
            self._context.desk.announce(self._return)
        gives_way = False
        try:
            gives_way = self._work()
            self._ends_well = True
        finally:
            self._close()
            if not gives_way:
                self._end()
        if gives_way:
            self._give_way()

    def _work(self) -> bool:
        """Take turns until told to stop; return True if another version must take over instead."""
        while not self._loop.stopping:
            self._loop.turn(self._patience())
            self._exits.look(self._live_processes)
            if self._upgrade.due(quiet=self._quiet) and not self._loop.stopping:
                return True
        self._notify.stopping()
        return False

    @property
    def _quiet(self) -> bool:
        """Return whether no work is under way and no hint waits. Workers post their hint before they become idle."""
        pools = (self._executor, self._box_executors, self._scribe_executor, self._notification_executor)
        return all(each.idle for each in pools) and self._hints.empty()

    @property
    def _live_processes(self) -> dict[str, tuple[str, Path, int]]:
        """Return the live runs of this machine, each with its task, the task's own folder, and its process."""
        return {
            run.id: (task.id, task.home, run.pid)
            for task in self._loop.tasks.values()
            for run in (task.engine.state.live_runs if task.begun else ())
            if run.pid is not None and not run.on_box
        }

    @property
    def _status(self) -> str:
        """Return the line that a service manager shows."""
        tasks = [task for task in self._loop.tasks.values() if task.begun]
        at_work = sum(not task.rests for task in tasks)
        return f"{len(tasks) + len(self._loop.passive)} tasks, {at_work} at work"

    def _patience(self) -> float:
        """Return how long the loop may wait for a hint. Never longer than a rescan: the clock may be set."""
        wake_at = self._loop.wake_at()
        longest = self._settings.daemon.rescan
        return longest if wake_at is None else min(max(wake_at - self._clock.now(), 0.0), longest)

    def _close(self) -> None:
        self._schedule.close()
        self._watch.close()
        self._exits.close()
        self._box_executors.stop()
        stuck = self._boxes.close(BOXES_END)
        self._end_notifying()
        self._reporter.close()
        self._executor.close()
        self._stuck = [*stuck, *self._box_executors.ended(BOXES_END)]
        if self._stuck:
            log.warning("ending although this is still running: %s", ", ".join(self._stuck))
        self._loop.close()
        self._scribe_executor.close()

    def _end_notifying(self) -> None:
        """Wait a moment for a notification that is being sent; otherwise its delivery stays unknown."""
        until = self._clock.monotonic() + LAST_WORDS
        while not self._notification_executor.idle and self._clock.monotonic() < until:
            self._clock.sleep(0.01)
        self._sender.close()
        self._notification_executor.close()

    def _end(self) -> None:
        if self._stopped_by_hand:
            with suppress(OSError):  # it only prevents a false alarm
                layout.daemon_stopped(self._state).touch(0o600)
        if self._ends_well:
            ended_well(self._state, self._started_at)
        log.info("ended; agents in their panes work on")
        self._lock.release()  # whoever sees that finds the last line in the log
        if self._ends_well and self._stuck:
            # Python would wait for these threads forever.
            logging.shutdown()
            os._exit(0)

    def _give_way(self) -> None:
        """Become the other version, unless a stop signal came just before; a later one is handled by that version."""
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
        if self._loop.stopping:
            self._notify.stopping()
            self._end()
            return
        log.info("version %s gives way to what is on disk; agents in their panes work on", __version__)
        self._notify.beat("the version on disk takes over")
        give_way(self._lock, self._notify)

    def _on_stop_signal(self, number: int, _frame: object) -> None:
        if self._loop.stopping:
            log.warning("second stop signal (%d): ending at once", number)
            ended_well(self._state, self._started_at)
            os._exit(0)  # exit status 0: a service manager must not restart us
        self._stopped_by_hand = number == signal.SIGINT  # Ctrl-C
        self._loop.stopping = True
        self._hints.put(h.Stop())

    def _opened_context(self, settings: Settings, environ: Mapping[str, str]) -> Context:
        self._workspaces = workspaces = GitWorkspaces(deadline=settings.git.timeout, environ=environ)
        return Context(
            adapters=Adapters(
                self._files,
                self._host,
                workspaces,
                settings,
                environ,
                self._boxes,
                LocalMarkedRuns(),
                self._reporter,
            ),
            clock=self._clock,
            executor=self._executor,
            scribe_executor=self._scribe_executor,
            nonce=lambda: secrets.token_hex(8),
            post=self._hints.put,
            state_folder=self._state,
            leases=self._leases,
            sender=self._sender,
            notification_executor=self._notification_executor,
            box_executors=self._box_executors.of,
        )

    def _leases(self) -> list[Lease] | None:
        return self._loop.leases()

    def _beat(self) -> None:
        self._lock.check()
        settings: dict[str, str | float] = {
            "stamp": self._stamp,
            "read_at": self._read_at,
            "fault": self._upgrade.fault[:2000],
        }
        every = self._settings.daemon.heartbeat_interval
        more = {"polling": self._watch.polling, **self._observer.said}
        beat(self._files, self._state, self._started_at, self._clock, every, settings, more)
        self._notify.beat(self._status)
        with suppress(OSError):  # the output stays where it is; retried at the next beat
            roll_output(layout.daemon_log(self._state), self._settings.logs.size)

    def _watch_task(self, task: Task) -> None:
        requests = layout.task_requests(task.home)
        self._files.make_folder(requests)
        self._files.make_folder(layout.task_events(task.home))
        self._watch.requests(task.id, requests)
        if not task.begun:
            return
        if task.rests:
            self._watch.drop(task.where.task)
            self._watch.drop(task.where.trees)
        else:
            self._watch.task(task.id, task.where.task)
            if task.engine.state.brief.config.workspace is WorkspaceKind.WORKTREE:
                self._files.make_folder(task.where.trees)
                self._watch.trees(task.id, task.where.trees)

    def _rescanned(self) -> None:
        self._watch.homes()
        self._departed.look()
        self._upgrade.look()
        self._observer.look()
        self._upkeep.sweep(self._loop.tasks.values(), self._loop.passive.tasks)
        self._upkeep.pack(self._loop.tasks.values())

    def _passivated(self, task: Task) -> None:
        """Release what is held for a passivated task, and have its leftovers compressed."""
        self._unwatch(task)
        self._upkeep.passivated(task)

    def _let_go(self, task: Task) -> None:
        """Release what is held for a task that its user deletes or archives, and have its boxes cleaned up."""
        self._departed.look()
        self._unwatch(task)
        self._upkeep.forget(task)

    def _unwatch(self, task: Task) -> None:
        self._watch.drop(layout.task_requests(task.home))
        if task.begun:
            self._watch.drop(task.where.task)
            self._watch.drop(task.where.trees)
