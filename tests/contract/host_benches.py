"""Where a host is tried out: the host, and agents by script whose lives can be watched."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Protocol

from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.local import LocalHost
from orchestrator.hosts.ssh.host import BoxHost
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.runs import ROOT
from orchestrator.hosts.tmux import Tmux
from orchestrator.ports.host import Host, LaunchSpec
from orchestrator.testing.fake_script import Script, write_script
from tests.remote.boxes import Box
from tests.tmux_server import TmuxSocket


class Bench(Protocol):
    """One host with one open session, and agents that follow scripts."""

    session: str

    @property
    def host(self) -> Host: ...

    def open_session(self) -> None:
        """Open the session, whose log `log` writes."""

    def log(self, line: str) -> None:
        """Add a line to the PM's log."""

    def folder(self, run: str) -> Path:
        """Return the folder of a run."""

    def spec(
        self, run: str, script: Script, *, order: str | None = None, window: str = "dev", resume_of: str = ""
    ) -> LaunchSpec:
        """Return how to launch an agent that follows `script`, perhaps with the session of an earlier run."""

    def events(self, run: str) -> list[dict[str, object]]:
        """Return what an agent told of itself so far."""

    def exists(self, path: Path) -> bool:
        """Tell whether an agent wrote a file."""

    def child_lives(self, run: str) -> bool:
        """Tell whether the process that an agent left behind lives."""

    def kill_launcher(self, run: str) -> None:
        """Kill the launcher of a run that is alive, and nothing else."""


class RealBench:
    """A host with real agents. `root` is where they work, `state` the PM's folder of their task."""

    session = "bench-0123abcd"

    def __init__(self, root: Path, state: Path, host: Host) -> None:
        self.root = root
        self.host = host
        self._state = state
        self._specs: list[LaunchSpec] = []
        for folder in (root, state):
            folder.mkdir(parents=True, exist_ok=True)
        self.open_session()

    @property
    def pm_log(self) -> Path:
        """The file that the first window follows."""
        return self._state / "pm.log"

    def open_session(self) -> None:
        (self._state / "pm.log").touch()
        self.host.open_session(self.session, "a bench", self._state / "pm.log")

    def log(self, line: str) -> None:
        with self.pm_log.open("a") as log:
            log.write(line + "\n")

    def folder(self, run: str) -> Path:
        return self._state / "runs" / run

    def spec(
        self, run: str, script: Script, *, order: str | None = None, window: str = "dev", resume_of: str = ""
    ) -> LaunchSpec:
        home = self._home(resume_of or run)
        home.mkdir(exist_ok=True)
        self.folder(run).mkdir(parents=True, exist_ok=True)
        write_script(home / "script.json", script)
        resume = ["--resume", script.session] if resume_of else []
        words = ["--home", str(home), *resume, *([] if order is None else ["--", order])]
        spec = LaunchSpec(
            run=run,
            folder=self.folder(run),
            argv=(sys.executable, "-m", "orchestrator.testing.fake_cli", *words),
            cwd=self.root,
            session=self.session,
            window=window,
            environment={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
        )
        self._specs.append(spec)
        return spec

    def events(self, run: str) -> list[dict[str, object]]:
        try:
            lines = (self._home(run) / "events.jsonl").read_text().splitlines()
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in lines]

    def exists(self, path: Path) -> bool:
        return path.exists()

    def child_lives(self, run: str) -> bool:
        pid = int((self._home(run) / "child").read_text())
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2]
        except FileNotFoundError:
            return False
        return not state.startswith("Z")

    def kill_launcher(self, run: str) -> None:
        pid = self.host.observe(self.folder(run)).pid
        assert pid
        os.kill(pid, signal.SIGKILL)

    def end_all(self) -> None:
        """End every agent that was launched here."""
        for spec in self._specs:
            self.host.end(spec.folder, kill=True)

    def _home(self, run: str) -> Path:
        return self.root / f"home of {run}"


class LocalBench(RealBench):
    """This machine, with a tmux server of its own."""

    def __init__(self, root: Path, socket: TmuxSocket) -> None:
        super().__init__(root, root, LocalHost(Tmux(socket.name, socket.environ), DiskFiles()))


class BoxBench(RealBench):
    """A box, with a tmux server of its own there; agents work in its home."""

    def __init__(self, box: Box, link: Link, state: Path) -> None:
        self._box = box
        self.there = box.home / ROOT / "tasks" / self.session
        super().__init__(box.home / "it's #{a} bench", state / "tasks" / self.session, BoxHost(link, state))

    @property
    def pm_log(self) -> Path:
        return self.there / "pm.log"

    def end_all(self) -> None:
        super().end_all()
        self._box.end_tmux()
        for each in self._box.home.iterdir():
            shutil.rmtree(each)
