"""All boxes of one daemon: a monitor for each box on which a task has runs, made on first use (ports/boxes.py)."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.boxes.host_monitor import HostMonitor, Ways
from orchestrator.daemon.boxes.host_registry import HostRegistry
from orchestrator.daemon.boxes.task_files import TaskFiles
from orchestrator.daemon.core import hints as h
from orchestrator.formats.location import address_of
from orchestrator.formats.tree_listing import differing, read_listing
from orchestrator.hosts.ssh.bounds import Bounds
from orchestrator.hosts.ssh.changes import changed_within
from orchestrator.hosts.ssh.channel import Channel
from orchestrator.hosts.ssh.clone_there import advance_head, clone_state
from orchestrator.hosts.ssh.fingerprint import listed, moved_between
from orchestrator.hosts.ssh.host import BoxHost
from orchestrator.hosts.ssh.link import link_to
from orchestrator.hosts.ssh.login import login_environment
from orchestrator.hosts.ssh.lookup import commit_at, file_at
from orchestrator.hosts.ssh.pull import TREE, clear
from orchestrator.hosts.ssh.push import push, push_over
from orchestrator.hosts.ssh.remote_paths import RemotePaths
from orchestrator.hosts.ssh.runs import ROOT
from orchestrator.hosts.ssh.sync import LocalPaths, TaskSync
from orchestrator.hosts.ssh.uncommitted import lies_uncommitted
from orchestrator.hosts.ssh.window import close_window, ensure_window
from orchestrator.hosts.tmux import Tmux
from orchestrator.hosts.tmux_failures import NoServer, NoTarget
from orchestrator.model.errors import Unavailable
from orchestrator.model.pools import pool_of
from orchestrator.model.settings import Settings
from orchestrator.model.task import Location
from orchestrator.ports.box_link import BoxLink, State
from orchestrator.ports.boxes import CloneState, RemoteEnvironment, RemoteFile, RemoteTask
from orchestrator.workspaces.fetching import fetch_head
from orchestrator.workspaces.sending import send_commit

if TYPE_CHECKING:
    from orchestrator.ports.files import Files

log = logging.getLogger(__name__)

SHARED: Final = ("handoffs", "artifacts")
"""The parts of a task's folder that an agent on a box must find there."""


class KeptBoxes(HostRegistry[HostMonitor]):
    """The port `Boxes`, over SSH.

    Args:
        state: the PM's own folder.
        files: the files here.
        environ: the environment of ssh, rsync and git.
        post: sends a hint to the loop.
        tmux: the server here, for the windows that show boxes.
        config: settings of ssh to use in place of the user's own.
        settings: the user's settings: how large files may be that are fetched, and the pools, whose boxes `task hosts`
            lists before they are used.

    """

    def __init__(
        self,
        state: Path,
        files: Files,
        environ: Mapping[str, str],
        post: Callable[[h.Hint], None],
        tmux: Tmux,
        config: Path | None = None,
        settings: Settings | None = None,
    ) -> None:
        super().__init__()
        self._state = state
        self._files = files
        self._environ = environ
        self._post = post
        self._tmux = tmux
        self._config = config
        self._grounds: dict[str, dict[str, str]] = {}
        self._lock = threading.Lock()
        settings = settings or Settings()
        self._pools = settings.hosts
        self._bounds = Bounds(largest=settings.limits.max_artifact_bytes)
        if self._pools:
            with suppress(OSError):
                self._links()
            self._show()

    def keep(self, task: str, remote_tasks: tuple[RemoteTask, ...]) -> None:
        """Record what a task has on boxes, and update the page for `task hosts`."""
        super().keep(task, remote_tasks)
        self._show()

    def environ(self, box: str) -> Mapping[str, str]:
        """Return the environment of a login on a box, as far as it is known."""
        with self._lock:
            return self._grounds.get(box, {})

    def ground(self, remote_task: RemoteTask) -> RemoteEnvironment:
        """Make a task's folders on its box, and return their paths and environment. Raises Refused, Unavailable."""
        self._gate(remote_task.task).open()
        monitor = self._monitor(remote_task.box)
        # Read again for each run: something may have been installed.
        environ = login_environment(monitor.ways.link)
        with self._lock:
            self._grounds[remote_task.box] = environ
        monitor.prepare(remote_task)
        return RemoteEnvironment(Path(self._there(monitor.ways.link, remote_task).own), environ)

    def send(self, remote_task: RemoteTask, instance: str) -> None:
        """Send a task's handoffs and artifacts to its box, and an instance's scratchpad. Raises Unavailable."""
        monitor = self._monitor(remote_task.box)
        shared = self._there(monitor.ways.link, remote_task).shared
        if left := push(
            monitor.ways.link, remote_task.folder, [*SHARED, f"scratchpad/{instance}"], shared, self._environ
        ):
            log.warning("not all was sent to %s: %s", remote_task.box, left)

    def send_workflow(self, remote_task: RemoteTask, sent: Path) -> None:
        """Send the files of a workflow to a box, over those that lie there, and last what is in `sent`.

        Raises Unavailable.
        """
        link = self._monitor(remote_task.box).ways.link
        shared = self._there(link, remote_task).shared
        for folder in (remote_task.folder, sent):
            if left := push_over(link, folder, shared, self._environ):
                raise Unavailable(
                    f"{remote_task.box}: not all files of the workflow were sent: {left[-200:]}"
                )

    def handed_in(self, remote_task: RemoteTask) -> Path | None:
        """Return the folder here with the files of a workflow as they were brought from a box."""
        return self._mirror(remote_task) / TREE if remote_task.workflow else None

    def _mirror(self, remote_task: RemoteTask) -> Path:
        """Return the folder for what is brought of a task from its place on a box."""
        name = hashlib.sha256(f"{remote_task.box}:{remote_task.place}".encode()).hexdigest()[:12]
        return layout.box_mirror(self._state, name, remote_task.task)

    def show(self, remote_task: RemoteTask) -> None:
        """Make the window here that shows a task's session on its box, if it is missing. Raises Unavailable."""
        ensure_window(self._tmux, remote_task.task, self._monitor(remote_task.box).ways.link)

    def leave(self, box: str, task: str) -> None:
        """Close ended windows of a task on a box and its window here, and delete its mirror. Raises Unavailable.

        The record of fetched files stays: if the task goes on, they are fetched into the mirror again without any
        effect.
        """
        self._free(task)
        monitor = self._monitor(box)
        with suppress(NoServer, NoTarget):
            close_window(self._tmux, task, monitor.ways.link)
        monitor.ways.host.close_ended(task)

    def changed(self, box: str, place: str, seconds: float) -> bool:
        """Return whether anything changed in a tree on a box within the last `seconds`. Raises Unavailable."""
        return changed_within(self._monitor(box).ways.link, place, seconds)

    def bring(self, box: str, place: str, project: Path, ref: str) -> str:
        """Fetch HEAD of a repository on a box. Raises Refused, Unavailable."""
        quarantine = layout.box_fetches(self._state)
        return fetch_head(self._monitor(box).ways.link, place, project, ref, self._environ, quarantine)

    def clone_state(self, box: str, place: str, commit: str, ref: str) -> CloneState:
        """Return how HEAD of a repository on a box stands to a commit. Raises Refused, Unavailable."""
        return clone_state(self._monitor(box).ways.link, place, commit, ref)

    def send_commit(self, box: str, place: str, project: Path, commit: str, ref: str) -> None:
        """Send a commit to a repository on a box. Raises Refused, Unavailable."""
        quarantine = layout.box_fetches(self._state)
        send_commit(self._monitor(box).ways.link, place, project, commit, ref, self._environ, quarantine)

    def advance_head(self, box: str, place: str, seen: CloneState, commit: str, ref: str, kept: str) -> None:
        """Let HEAD of a repository on a box stand on a commit that was sent. Raises Refused, Unavailable."""
        advance_head(self._monitor(box).ways.link, place, seen, commit, ref, kept)

    def uncommitted(self, box: str, place: str) -> bool:
        """Return whether a repository on a box has uncommitted work. Raises Unavailable."""
        return lies_uncommitted(self._monitor(box).ways.link, place)

    def fingerprint(self, box: str, place: str, without: str) -> str:
        """Return how a tree on a box stands; empty if nobody can tell. Raises Unavailable."""
        found = listed(self._monitor(box).ways.link, place, without)
        return "" if found is None else str(found)

    def differing(self, box: str, place: str, before: str, now: str) -> tuple[str, ...] | None:
        """Return the files in which a tree on a box differs; None if that is unknown. Raises Unavailable."""
        old, new = read_listing(before), read_listing(now)
        if old is None or new is None:
            return None
        moved = moved_between(self._monitor(box).ways.link, place, old.head, new.head)
        return differing(old, new, moved)

    def file_at(self, box: str, place: str, path: str, task: str) -> RemoteFile | None:
        """Return the file at a path in a folder on a box, if there is one. Raises Unavailable."""
        return file_at(self._monitor(box).ways.link, place, path, task)

    def commit_at(self, box: str, place: str, name: str, base: str, since: float) -> str:
        """Return a commit's full hash if HEAD of a repository on a box has it, else nothing. Raises Unavailable."""
        return commit_at(self._monitor(box).ways.link, place, name, base, since)

    def close(self, patience: float) -> list[str]:
        """End all monitors and connections; runs on the boxes go on.

        Returns the boxes whose monitor has not ended within `patience` seconds: it ends with the process.
        """
        with self._lock:
            monitors, self._monitors = self._monitors, {}
        for monitor in monitors.values():
            monitor.close()
        until = time.monotonic() + patience
        return [
            box for box, monitor in monitors.items() if not monitor.ended(max(0.0, until - time.monotonic()))
        ]

    # -------------------------------------------------------------------------------------------------

    def _free(self, task: str) -> None:
        """Delete the mirrors of a task that keeps nothing any more. Raises Unavailable: a transfer is under way."""
        with self._lock:
            monitors = [self._monitors[box] for box in sorted(self._monitors)]
        with ExitStack() as idle:
            for monitor in monitors:
                idle.enter_context(monitor.idle(task))
            for mirror in layout.boxes(self._state).glob(f"*/{task}"):
                clear(mirror)

    def _monitor(self, box: str) -> HostMonitor:
        with self._lock:
            if box not in self._monitors:
                self._monitors[box] = HostMonitor(box, self._ways(box), self._files, self._post, self._show)
            return self._monitors[box]

    def _ways(self, box: str) -> Ways:
        link = link_to(address_of(Location("/", box)), self._links(), self._environ, self._config)

        def sync(remote_task: RemoteTask) -> TaskSync:
            there = self._there(link, remote_task)
            here = LocalPaths(remote_task.folder, remote_task.home, self._mirror(remote_task))
            files = TaskFiles(self._files, self._gate(remote_task.task))
            return TaskSync(link, files, there, here, self._environ, bounds=self._bounds)

        def channel(remote_tasks: list[RemoteTask]) -> Channel:
            tasks = [self._there(link, remote_task) for remote_task in remote_tasks]
            return Channel(link, tasks, self._environ)

        return Ways(link, BoxHost(link, self._state), sync, channel)

    def _links(self) -> Path:
        folder = layout.box_links(self._state)
        self._files.make_folder(folder)
        return folder

    def _there(self, link: BoxLink, remote_task: RemoteTask) -> RemotePaths:
        """Return where a task is on its box. Raises Unavailable while its home there is unknown."""
        with self._lock:
            known = self._grounds.get(remote_task.box)
        if known is None:
            known = login_environment(link)
            with self._lock:
                self._grounds[remote_task.box] = known
        return RemotePaths(
            remote_task.task,
            remote_task.name,
            remote_task.place,
            f"{normpath(known['HOME'])}/{ROOT}",
            workflow=remote_task.workflow,
        )

    def _show(self) -> None:
        """Write the state of the boxes for `task hosts`; not durable, as it can be made again."""
        rows = []
        with self._lock:
            monitors = dict(self._monitors)
        for box in sorted({*monitors, *(box for pool in self._pools for box in pool.boxes)}):
            monitor, pool = monitors.get(box), pool_of(self._pools, box)
            state, remote_tasks = (monitor.state, monitor.remote_tasks) if monitor else (State(), ())
            rows.append(
                {
                    "address": box,
                    "way": state.way.value,
                    "since": state.since,
                    "why": state.why,
                    "advice": state.advice,
                    "offered": state.offered,
                    "known": state.known,
                    "runs": sum(len(remote_task.runs) for remote_task in remote_tasks),
                    "tasks": sorted({remote_task.name for remote_task in remote_tasks}),
                    "pulled_at": monitor.pulled_at if monitor else 0.0,
                    "failing": monitor.failing() if monitor else [],
                    "missing": sum(len(remote_task.over) for remote_task in remote_tasks),
                    "floods": monitor.floods if monitor else False,
                    "pool": pool.name if pool else "",
                    "cap": pool.cap if pool else 0,
                }
            )
        with suppress(OSError):
            self._files.write(
                layout.boxes_status(self._state), json.dumps({"boxes": rows}).encode(), durable=False
            )
