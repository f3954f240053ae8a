"""What every host kind must do. The suite runs real programs in a tmux server of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.host_kinds import HOST_KINDS
from orchestrator.hosts.local import LocalHost
from orchestrator.hosts.tmux import Tmux
from orchestrator.ports.host import Host, LaunchSpec, Observation, Standing
from orchestrator.ports.host_kind import HostKind

SESSION = "contract-0123abcd"
PATIENCE = 30.0
"""Seconds until a test gives up; a container may take a while to begin."""

T = TypeVar("T")


@dataclass
class Bench:
    """A host of the kind, with the folders of a task here. `tree` is where its programs work."""

    host: Host
    root: Path

    @property
    def tree(self) -> Path:
        """The working directory of each run."""
        return self.root / "tree"

    def run(self, name: str, script: str) -> Path:
        """Have a script of `sh` run on the host, and return the run's folder."""
        folder = self.root / "state" / "runs" / name
        folder.mkdir(parents=True)
        spec = LaunchSpec(
            run=name,
            folder=folder,
            argv=("sh", "-c", script),
            cwd=self.tree,
            session=SESSION,
            window="dev",
            environment={
                "PATH": os.environ["PATH"],
                "HOME": str(self.root),
                "ORCHESTRATOR_RUN": name,
                "WORD": "a b",
            },
            writable=(folder, self.tree),
        )
        self.host.launch(spec)
        return folder

    def until(self, folder: Path, holds: Callable[[Observation], T]) -> T:
        """Wait until something holds of what is observed of a run."""
        deadline = time.monotonic() + PATIENCE
        while not (found := holds(self.host.observe(folder))):
            assert time.monotonic() < deadline, f"{self.host.observe(folder)}: {self._panes()}"
            time.sleep(0.02)
        return found

    def until_gone(self, folder: Path) -> Observation:
        """Wait until a run is gone with all that it started, and return what is observed."""
        return self.until(
            folder, lambda seen: seen if seen.standing is Standing.GONE else None
        ) or Observation(Standing.GONE)

    def until_there(self, path: Path) -> str:
        """Wait until a file is there and not empty, and return its text."""
        deadline = time.monotonic() + PATIENCE
        while not (path.exists() and path.read_text()):
            assert time.monotonic() < deadline, f"{path} is missing: {self._panes()}"
            time.sleep(0.02)
        return path.read_text()

    def _panes(self) -> list[str]:
        return [self.host.capture(pane.id, 20) for pane in self.host.panes()]


class HostKindContract:
    """Subclass it, and set `kind` to the name of a host kind; `name` gives what names a host of it, in a folder."""

    kind: str

    def name(self, folder: Path) -> str:
        """Return the name of a host for one test, which may make what it wants in `folder`."""
        raise NotImplementedError

    def it(self) -> HostKind:
        """Return the kind, which must be registered under its name."""
        return HOST_KINDS.find(self.kind)

    @contextmanager
    def bench(self) -> Iterator[Bench]:
        """Make a host in a world of its own, and end all that was started in it."""
        root = Path(tempfile.mkdtemp(prefix="kind-", dir="/tmp")).resolve()
        for folder in ("tree", "own", "state"):
            (root / folder).mkdir()
        (root / "state" / "pm.log").touch()
        socket = str(root / "tmux")
        local = LocalHost(Tmux(socket, os.environ), DiskFiles(root / "state"))
        host = self.it().host(self.name(root / "own"), local)
        made = Bench(host, root)
        try:
            host.open_session(SESSION, "contract", root / "state" / "pm.log")
            yield made
        finally:
            with ExitStack() as last:  # also if a host cannot end a run
                last.callback(shutil.rmtree, root, ignore_errors=True)
                last.callback(
                    subprocess.run, ["tmux", "-S", socket, "kill-server"], check=False, capture_output=True
                )
                for run in (root / "state" / "runs").glob("*"):
                    last.callback(host.end, run, kill=True)

    def test_it_can_be_used_here(self) -> None:
        """Nothing is missing for the host of this suite."""
        with tempfile.TemporaryDirectory() as folder:
            lacks = self.it().lacks(self.name(Path(folder)))
            assert lacks == "", lacks

    def test_program_runs_in_its_tree_and_its_exit_is_known(self) -> None:
        """A program gets its arguments, environment and working directory, can write there, and its exit is seen."""
        with self.bench() as bench:
            folder = bench.run("r1", 'printf "%s|%s" "$WORD" "$PWD" >said.part; mv said.part said; exit 7')
            seen = bench.until_gone(folder)
            assert seen.exit is not None
            assert seen.exit.code == 7  # noqa: PLR2004 (what the script says)
            assert (bench.tree / "said").read_text() == f"a b|{bench.tree}"

    def test_same_run_is_launched_once(self) -> None:
        """A launch that is repeated starts nothing."""
        with self.bench() as bench:
            folder = bench.run("r1", "echo x >>lives; exec sleep 60")
            bench.until_there(bench.tree / "lives")
            spec = LaunchSpec(
                "r1",
                folder,
                ("sh", "-c", "echo x >>lives"),
                bench.tree,
                SESSION,
                "dev",
                writable=(bench.tree,),
            )
            bench.host.launch(spec)
            bench.until(folder, lambda seen: seen.standing is Standing.ALIVE)
            assert (bench.tree / "lives").read_text() == "x\n"

    def test_term_ends_a_run(self) -> None:
        """A program that hears TERM is gone after it, and has a last word."""
        with self.bench() as bench:
            folder = bench.run(
                # The terminal hangs up once the launcher has ended, which may be ahead of the last word.
                "r1",
                'trap "" HUP; trap "echo bye >last; exit 0" TERM; echo up >up; while :; do sleep 0.1; done',
            )
            bench.until_there(bench.tree / "up")
            bench.host.end(folder, kill=False)
            bench.until_gone(folder)
            assert (bench.tree / "last").read_text() == "bye\n"

    def test_kill_ends_what_ignores_term_and_its_children(self) -> None:
        """A program that ignores TERM, and the children that it left in sessions of their own, are ended by KILL."""
        with self.bench() as bench:
            script = "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo up >up; exec sleep 60' & wait"
            folder = bench.run("r1", script)
            bench.until_there(bench.tree / "up")
            bench.host.end(folder, kill=False)
            assert bench.host.observe(folder).standing is not Standing.GONE
            bench.host.end(folder, kill=True)
            bench.until_gone(folder)

    def test_run_that_was_fenced_starts_nothing(self) -> None:
        """A launch that comes after the run was given up starts no program."""
        with self.bench() as bench:
            folder = bench.root / "state" / "runs" / "r1"
            folder.mkdir(parents=True)
            bench.host.fence(folder)
            spec = LaunchSpec(
                "r1",
                folder,
                ("sh", "-c", "echo x >lives"),
                bench.tree,
                SESSION,
                "dev",
                writable=(bench.tree,),
            )
            bench.host.launch(spec)
            bench.until_gone(folder)
            assert not (bench.tree / "lives").exists()

    def test_pane_shows_what_it_prints(self) -> None:
        """What a program prints is seen in its pane, and a line that is typed there reaches it."""
        with self.bench() as bench:
            bench.run("r1", 'echo "a word"; read line; echo "$line" >typed; exec sleep 60')
            deadline = time.monotonic() + PATIENCE
            while not (
                panes := [pane for pane in bench.host.panes() if pane.run == "r1"]
            ) or "a word" not in (bench.host.capture(panes[0].id, 20)):
                assert time.monotonic() < deadline
                time.sleep(0.02)
            assert bench.host.type_line(panes[0].id, "r1", "hello there")
            assert bench.until_there(bench.tree / "typed") == "hello there\n"
