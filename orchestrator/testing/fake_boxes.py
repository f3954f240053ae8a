"""Boxes in memory and virtual time, by the port `Boxes`. The real host monitor watches them, by the fake clock."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Final, cast

from orchestrator import layout
from orchestrator.daemon.boxes.host_monitor import EVERY, HostMonitor, Ways
from orchestrator.daemon.boxes.host_registry import HostRegistry
from orchestrator.daemon.boxes.task_files import TaskFiles
from orchestrator.daemon.boxes.transfers import AGAIN
from orchestrator.daemon.core import hints as h
from orchestrator.formats.tree_listing import TreeListing, differing, read_listing
from orchestrator.model.errors import Unavailable
from orchestrator.ports.boxes import CloneState, RemoteEnvironment, RemoteFile, RemoteTask
from orchestrator.ports.host import Standing
from orchestrator.testing.fake_box import Box, FakeLink, FarHost, under
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_sync import FakeSync
from orchestrator.testing.memory_files import MemoryFiles

ENVIRON: Final = {"PATH": "/bin", "HOME": "/box"}
TAKES: Final = (0.0, 0.0, 0.01, 0.3, 3.0)
"""Seconds between asking and bringing, of which one is drawn for each round."""


@dataclass
class FakeMonitor(HostMonitor):
    """The monitor of a box, without a thread. It misses a word of the standing channel by a chance: `deaf`."""

    clock: FakeClock = field(default_factory=FakeClock)
    dice: Random = field(default_factory=Random)
    deaf: float = 0.0
    _comes: float | None = None
    _at_it: bool = False

    def begin(self) -> None:
        """Make the first round soon."""
        self._comes, self._at_it = None, False
        self._plan(0.0)

    def hear(self) -> None:
        """Hear of news there, or not until the schedule comes to it."""
        if self.belief is None or self.belief.reachable:
            self._plan(EVERY if self.dice.random() < self.deaf else 0.01)

    def hurry(self) -> None:
        """Make a round soon."""
        self._plan(0.01)

    def close(self) -> None:
        """Do nothing more."""
        self._closing = True

    def _plan(self, seconds: float) -> None:
        moment = self.clock.monotonic() + seconds
        if self._comes is None or moment < self._comes:
            self._comes = moment
            self.clock.after(seconds, partial(self._come, moment))

    def _come(self, moment: float) -> None:
        if self._closing or self._comes != moment:
            return
        self._comes = None
        if self._at_it:  # it waits for something just now
            self._plan(1.0)
            return
        self._at_it = True
        try:
            self.turn(None)
        finally:
            self._at_it = False
        if not self._is_clean:
            self._plan(max(0.0, self._next - self.clock.monotonic()))

    @property
    def _is_clean(self) -> bool:
        """Tell whether a round by schedule would find nothing: nothing was left, or nobody may call again."""
        belief, bringing = self.belief, self._bringing
        if self._closing:
            return True
        if belief is None:
            return False
        left = bringing.due < math.inf or self.troubles or self._contact.failures or not self._all_live
        return belief.reachable and not left and self._due > self.clock.monotonic() + AGAIN

    @property
    def _all_live(self) -> bool:
        """Tell whether each run was seen alive: of one that was not, another look may be waited for."""
        seen = [self.seen(layout.run_home(each.home, run)) for each in self.remote_tasks for run in each.runs]
        return all(each is not None and each.observation.standing is Standing.ALIVE for each in seen)

    @property
    def _deaf(self) -> bool:
        """False: see `hear`."""
        return False

    def _listen(self, remote_tasks: list[RemoteTask]) -> None:
        """Nothing to start here: see `hear`."""

    def _stop_listening(self, *, forget: bool = True) -> None:
        """Nor to stop."""

    def _copy_transcripts(self, folders: list[Path]) -> None:
        """Let time pass between asking and bringing."""
        del folders
        self.clock.sleep(self.dice.choice(TAKES))
        if self._closing:
            raise Unavailable("closed")


class FakeBoxes(HostRegistry[FakeMonitor]):
    """The port `Boxes` of one life of the daemon, over machines that outlive it.

    Args:
        state: The PM's own folder here.
        files: The files here.
        clock: The time.
        machines: All that there are, by name.
        post: Brings a hint to the loop.
        arrived: Called with each file that came here.
        dice: What is drawn.
        deaf: The chance that a standing channel misses something.

    """

    def __init__(  # noqa: PLR0913, PLR0917 (what a life of the daemon has of boxes)
        self,
        state: Path,
        files: MemoryFiles,
        clock: FakeClock,
        machines: Mapping[str, Box],
        post: Callable[[h.Hint], None],
        arrived: Callable[[Path], None],
        dice: Random,
        deaf: float,
    ) -> None:
        super().__init__()
        self._state = state
        self._files = files
        self._clock = clock
        self._machines = machines
        self._post = post
        self._arrived = arrived
        self._dice = dice
        self._deaf = deaf
        self._closed = False

    def environ(self, box: str) -> Mapping[str, str]:
        """Return the environment there."""
        del box
        return ENVIRON

    def ground(self, remote_task: RemoteTask) -> RemoteEnvironment:
        """Make a task's folders there."""
        self._gate(remote_task.task).open()
        monitor = self._monitor(remote_task.box)
        monitor.prepare(remote_task)
        return RemoteEnvironment(
            layout.task_home(self._machines[remote_task.box].root, remote_task.task), ENVIRON
        )

    def send(self, remote_task: RemoteTask, instance: str) -> None:
        """Send what lies in the task's folder here, where it is missing there. A cut leaves a part."""
        link, box = self._link(remote_task.box), self._machines[remote_task.box]
        link.run("send", lambda: None)
        if box.hindered_since is not None:
            raise Unavailable(f"{box.name}: rsync is not there")
        there = layout.task_folder(Path(remote_task.place), remote_task.name)
        folders = (
            layout.handoffs(remote_task.folder),
            layout.artifacts(remote_task.folder),
            layout.scratchpad(remote_task.folder, instance),
        )
        for path in [path for folder in folders for path in under(self._files, folder)]:
            to = there / path.relative_to(remote_task.folder)
            if box.files.entry(to) is None:
                data = self._files.read(path)
                link.run("send", partial(box.files.put, to, data))

    def send_workflow(self, remote_task: RemoteTask, sent: Path) -> None:
        """Send the files of a workflow over those there, and last what is in `sent`. A cut leaves a part."""
        link, box = self._link(remote_task.box), self._machines[remote_task.box]
        if box.hindered_since is not None:
            raise Unavailable(f"{box.name}: rsync is not there")
        there = layout.task_folder(Path(remote_task.place), remote_task.name)
        for root in (remote_task.folder, sent):
            for path in under(self._files, layout.orchestration(root)):
                if "records" not in path.parts:
                    to, data = there / path.relative_to(root), self._files.read(path)
                    link.run("send", partial(box.files.put, to, data))

    def handed_in(self, remote_task: RemoteTask) -> Path | None:
        """Return the folder here with the files of a workflow as they were brought from a box."""
        return self._mirror(remote_task) / "tree" if remote_task.workflow else None

    def show(self, remote_task: RemoteTask) -> None:
        """Nobody looks at panes here."""

    def leave(self, box: str, task: str) -> None:
        """Close what has ended there."""
        if self._closed:
            raise Unavailable("closed")
        # By a way of its own: the monitor of a box that nobody uses would make its rounds for ever.
        FarHost(FakeLink(self._machines[box]), self._state, self._files).close_ended(task)

    def changed(self, box: str, place: str, seconds: float) -> bool:
        """Tell whether a file in a folder there changed of late, by the clock there; those of tasks are left out."""
        files = self._machines[box].files

        def look() -> bool:
            entries = [files.entry(path) for path in under(files, Path(place), without=("tasks",))]
            newest = max((entry.mtime_ns for entry in entries if entry is not None), default=0)
            return files.now() - newest / 1e9 < seconds

        return self._link(box).run("changed", look)

    def bring(self, box: str, place: str, project: Path, ref: str) -> str:
        """Fetch HEAD there."""
        del project, ref
        clone = self._machines[box].clone
        head = self._link(box).run("bring", lambda: clone.head(place))
        clone.workspaces.fetch(head)
        return head

    def clone_state(self, box: str, place: str, commit: str, ref: str) -> CloneState:
        """Return how HEAD there stands to a commit."""
        clone = self._machines[box].clone
        return self._link(box).run("look at HEAD", lambda: clone.state(place, commit, ref))

    def send_commit(self, box: str, place: str, project: Path, commit: str, ref: str) -> None:
        """Send a commit there."""
        clone = self._machines[box].clone
        del project
        if commit in clone.workspaces.away:
            raise Unavailable(f"there is no commit {commit} here")
        self._link(box).run("send a commit", lambda: clone.receive(place, commit, ref))

    def advance_head(self, box: str, place: str, seen: CloneState, commit: str, ref: str, kept: str) -> None:
        """Let HEAD there stand on a commit."""
        clone = self._machines[box].clone
        self._link(box).run("advance HEAD", lambda: clone.advance(place, seen, commit, ref, kept))

    def uncommitted(self, box: str, place: str) -> bool:
        """Nothing is: agents there commit all that they do."""
        del place
        return self._link(box).run("uncommitted", lambda: False)

    def fingerprint(self, box: str, place: str, without: str) -> str:
        """Return what the repository there holds."""
        del without
        clone = self._machines[box].clone
        return self._link(box).run("fingerprint", lambda: str(TreeListing(files=clone.contents(place))))

    def differing(self, box: str, place: str, before: str, now: str) -> tuple[str, ...] | None:
        """Return the files in which the repository there differs."""
        del box, place
        old, new = read_listing(before), read_listing(now)
        return None if old is None or new is None else differing(old, new, {})

    def file_at(self, box: str, place: str, path: str, task: str) -> RemoteFile | None:
        """Return what the commit on which the repository there stands has at a path. Tasks have nothing in it."""
        del task
        clone = self._machines[box].clone
        return self._link(box).run("look up", lambda: clone.file_at(place, path))

    def commit_at(self, box: str, place: str, name: str, base: str, since: float) -> str:
        """Return the commit that a hash names, if the repository there stands on it or on one behind it."""
        del since  # a commit here has no time
        clone = self._machines[box].clone
        return self._link(box).run("look up", lambda: clone.commit_at(place, name, base))

    def close(self) -> None:
        """Let go of all; what lives there goes on."""
        self._closed = True
        for name, monitor in self._monitors.items():
            monitor.close()
            self._machines[name].changed.remove(monitor.hear)
        self._monitors.clear()

    # Parts ----------------------------------------------------------------------------------------

    def _hint(self, hint: h.Hint) -> None:
        if not self._closed:
            self._post(hint)

    def _link(self, box: str) -> FakeLink:
        return cast("FakeLink", self._monitor(box).ways.link)

    def _monitor(self, box: str) -> FakeMonitor:
        if self._closed:
            raise Unavailable("closed")
        if box not in self._monitors:
            monitor = FakeMonitor(
                box,
                self._ways(self._machines[box]),
                self._files,
                self._hint,
                lambda: None,
                now=self._clock.now,
                steady=self._clock.monotonic,
                luck=self._dice.random,
                clock=self._clock,
                dice=self._dice,
                deaf=self._deaf,
            )
            self._monitors[box] = monitor
            self._machines[box].changed.append(monitor.hear)
        return self._monitors[box]

    def _mirror(self, remote_task: RemoteTask) -> Path:
        """Return the folder for what is brought of a task from its place on a box."""
        name = sha256(f"{remote_task.box}:{remote_task.place}".encode()).hexdigest()[:12]
        return layout.box_mirror(self._state, name, remote_task.task)

    def _ways(self, box: Box) -> Ways:
        link = FakeLink(box)

        def sync(remote_task: RemoteTask) -> FakeSync:
            files = TaskFiles(self._files, self._gate(remote_task.task))
            return FakeSync(link, files, remote_task, self._mirror(remote_task), self._arrived)

        def channel(remote_tasks: list[RemoteTask]) -> Any:  # noqa: ANN401 (nobody listens to it)
            raise AssertionError(remote_tasks)

        # By their shape these are what a host monitor wants.
        return Ways(
            cast("Any", link),
            cast("Any", FarHost(link, self._state, self._files)),
            cast("Any", sync),
            channel,
        )
