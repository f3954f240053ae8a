"""A world whose agents live on a box: a real sshd of its own, with a link that can be cut."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from orchestrator import layout
from orchestrator.hosts.ssh.master import MasterPlace
from orchestrator.model.boxes import Address
from tests.benchmarks.bench import Stopwatch
from tests.benchmarks.waiting import until
from tests.benchmarks.world import Begun, World, brief
from tests.remote.boxes import MISSING, Box, Boxes, boxes

NAME = "alpha"


@dataclass(frozen=True)
class Far:
    """One user, one box, and a world of theirs with a daemon."""

    user: Boxes
    box: Box
    world: World

    @property
    def repo(self) -> Path:
        """Where the agents of a task work there, unless it has a place of its own."""
        return self.box.home / "repo"

    def begin(
        self, name: str, dev: str = "sleep 3600", *, place: Path | None = None, box: str = NAME
    ) -> Begun:
        """Start a task whose developers live on a box: in one place one of them writes at a time."""
        where = f"cwd: {box}:{place or self.repo}\nworkspace:"
        return self.world.start_task(name, brief({"dev": dev}, "worktree").replace("workspace:", where))

    def cloned(self, name: str) -> Path:
        """Return a clone of the project there, made anew."""
        path = self.box.home / name
        subprocess.run(["git", "clone", "-q", str(self.world.project), str(path)], check=True)
        return path

    def more(self, name: str) -> Box:
        """Return another box, with a clone of the project."""
        box = self.user.add(name)
        subprocess.run(["git", "clone", "-q", str(self.world.project), str(box.home / "repo")], check=True)
        return box

    def hang(self) -> Path:
        """Have each ssh hang that makes a connection, as long as a file is there, which is returned.

        Each makes a file of its own beside it meanwhile.
        """
        flag = self.world.root / "hangs"
        flag.touch()
        hangs = f'touch "{flag}.$$"; while [ -e {flag} ]; do sleep 0.05; done'
        self.user.front(self.world.root / "bin", f"case \" $* \" in *' -N '*) {hangs} ;; esac")
        return flag

    def developer(self, task: Begun) -> str:
        """Have a developer begin there; return its run as soon as that is known to live."""
        with task.tail() as journal:
            task.ask("spawn", agent="dev", instructions="Rest.")
            while not (launched := journal.next().launched):
                pass
        (run,) = launched
        alive = layout.run_home(task.home, run) / "pid"
        until(alive.exists, "its process", self.world.complaint)
        return run

    def true(self) -> float:
        """Return the milliseconds of `ssh box true` over the daemon's connection."""
        place = MasterPlace(Address(NAME), layout.box_links(self.world.state), None, 0)
        watch = Stopwatch()
        subprocess.run(place.channel("true"), stdin=subprocess.DEVNULL, check=True)
        return watch.ms

    def there(self, task: Begun) -> Path:
        """Return the task's folder on the box."""
        return layout.task_folder(self.repo, task.folder.name)

    def processes(self) -> tuple[list[int], list[int]]:
        """Return the processes of ours here, beside the daemon, and there: those of sshd, tmux and launchers."""
        daemon = self.world.daemon.pid if self.world.daemon else 0
        there = {process.pid for process in self.box.sessions()} | set(_bearing(f"{self.box.folder}/tmux"))
        here = set(_bearing(f"HOME={self.world.root}")) - there - {daemon}
        return sorted(here), sorted(there)


@contextmanager
def far(**settings: object) -> Iterator[Far]:
    """Have such a world for a while. Raises RuntimeError where the system has no sshd or rsync."""
    if MISSING:
        raise RuntimeError(f"{' and '.join(MISSING)} missing: scripts/setup --boxes installs them")
    with boxes() as user, World(**settings) as world:
        world.environ["PATH"] = f"{user.front(world.root / 'bin')}:{world.environ['PATH']}"
        world.make_repository()
        box = user.add(NAME)
        made = Far(user, box, world)
        made.cloned("repo")
        world.start_daemon()
        try:
            yield made
        finally:
            world.stop_daemon()


def _bearing(word: str) -> Iterator[int]:
    """Yield the processes that have a word in their environment."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if os.fsencode(word) in path.read_bytes():
                yield int(path.parent.name)
        except OSError:
            continue
