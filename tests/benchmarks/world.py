"""A world of its own for a benchmark: home, state, project, tmux server. All that starts in it ends with it."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from orchestrator import layout, own_files
from orchestrator.cli.requests import send
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.local import LocalHost
from orchestrator.hosts.tmux import Tmux
from orchestrator.model.errors import OrchestratorError
from tests.benchmarks.journal import JournalTail
from tests.benchmarks.waiting import until
from tests.tmux_server import TmuxSocket

_PASSED = ("PATH", "LANG", "TMPDIR", "TZ")
_SOCKET = "bench"
_ENDING = 10.0


@dataclass(frozen=True)
class Begun:
    """A task that was started: its own folder, and its folder in the project."""

    home: Path
    folder: Path

    def tail(self) -> JournalTail:
        return JournalTail(layout.task_journal(self.home))

    def first_run(self) -> str:
        """Return the run that the start of the task launched, as soon as it lives."""
        runs = layout.task_runs(self.home)
        return until(lambda: next((path.parent.name for path in runs.glob("*/pid")), ""), "the first run")

    @property
    def rests(self) -> bool:
        """Whether the task is shown as stopped, with all its agents gone."""
        shown = json.loads(layout.task_state(self.home).read_text())
        return shown["state"] == "stopped" and {agent["state"] for agent in shown["agents"]} == {"gone"}

    def ask(self, verb: str, **arguments: str) -> None:
        """Have a request heard, and wait for the daemon's reply."""
        request = send(str(self.home), verb, arguments)
        path = layout.task_requests(self.home) / f"{request}.reply.json"
        reply = json.loads(until(lambda: path.read_text() if path.exists() else "", f"a reply to {verb}"))
        path.unlink()
        if not reply["ok"]:
            raise RuntimeError(f"{verb} was refused: {reply['message']}")


class World:
    """Private folders, and the daemon and tmux server that live in them.

    `settings` are keys of the settings file as variables: `limits__max_concurrent_runs=100`.
    """

    def __init__(self, **settings: object) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="bench-"))
        self.state, self.project = self.root / "state", self.root / "project"
        self.environ = {name: os.environ[name] for name in _PASSED if name in os.environ} | {
            "HOME": str(self.root),
            "XDG_CONFIG_HOME": str(self.root / "config"),
            "ORCHESTRATOR_HOME": str(self.state),
            "ORCHESTRATOR_TMUX__SOCKET": _SOCKET,
            # The path of a socket must be shorter than 104 bytes, and that of TMPDIR may not be.
            "TMUX_TMPDIR": tempfile.mkdtemp(prefix="bench-", dir="/tmp"),
            **{f"ORCHESTRATOR_{key.upper()}": str(value) for key, value in settings.items()},
        }
        self.socket = TmuxSocket(Path(self.environ["TMUX_TMPDIR"]), _SOCKET, self.environ)
        self.host = LocalHost(Tmux(_SOCKET, self.environ), DiskFiles())
        self.daemon: subprocess.Popen[bytes] | None = None
        self.project.mkdir()
        own_files.make_state_folder(str(self.state))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            error.add_note(f"the daemon's log ends so:\n{self.complaint()}")
        with ExitStack() as last_first:
            last_first.callback(shutil.rmtree, self.root, ignore_errors=True)
            last_first.callback(shutil.rmtree, self.socket.folder, ignore_errors=True)
            last_first.callback(self.socket.kill)
            last_first.callback(self._end_runs)
            last_first.callback(self.stop_daemon)

    # The daemon -----------------------------------------------------------------------------------

    def start_daemon(self) -> None:
        """Start a daemon and wait for its first beat, which it gives when it has caught up."""
        with (self.root / "daemon.log").open("ab") as log:
            self.daemon = subprocess.Popen(
                [sys.executable, "-P", "-m", "orchestrator.daemon"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env=self.environ,
                start_new_session=True,
            )
        beat, own = layout.daemon_beat(self.state), f'"pid": {self.daemon.pid},'
        until(lambda: beat.exists() and own in beat.read_text(), "the daemon's first beat", self.complaint)

    def stop_daemon(self) -> None:
        """Stop the daemon; kill it if it does not end."""
        if self.daemon is not None:
            self.daemon.terminate()
            try:
                self.daemon.wait(_ENDING)
            except subprocess.TimeoutExpired:
                self.daemon.send_signal(signal.SIGKILL)
                self.daemon.wait()
            self.daemon = None

    def kill_daemon(self) -> None:
        """Kill the daemon."""
        assert self.daemon is not None
        self.daemon.kill()
        self.daemon.wait()
        self.daemon = None

    def complaint(self) -> str:
        """Return what the daemon said last."""
        log = self.root / "daemon.log"
        return log.read_text(errors="replace")[-2000:] if log.exists() else ""

    # Tasks ----------------------------------------------------------------------------------------

    def start_task(self, name: str, brief: str) -> Begun:
        """Lay down a task as `task start` does, and have the daemon begin it."""
        folder = layout.task_folder(self.project, name)
        for each in (layout.handoffs(folder), layout.artifacts(folder), layout.scratchpad(folder)):
            each.mkdir(parents=True)
        layout.task_brief(folder).write_text(brief)
        home = layout.task_home(self.state, f"{name}-{secrets.token_hex(4)}")
        task = Begun(home, folder)
        task.ask("start", project=str(self.project), name=name)
        return task

    def make_repository(self) -> None:
        """Make the project a git repository with one commit."""
        (self.project / "README.md").write_text("A project to measure with.\n")
        who = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
        for words in (["init", "-q", "-b", "main"], ["add", "README.md"], ["commit", "-q", "-m", "Begin"]):
            subprocess.run(["git", *who, *words], cwd=self.project, env=self.environ, check=True)

    def _end_runs(self) -> None:
        """End whatever an agent may have left: each run by its own id."""
        for folder in self.state.glob("tasks/*/runs/*"):
            if (folder / "exit").exists():
                continue
            with suppress(OrchestratorError, OSError):
                self.host.end(folder, kill=True)


def brief(agents: dict[str, str], workspace: str) -> str:
    """Return a task.md in which each agent is a program of ours."""
    everyone = {"explore", "plan", "dev", "test", "review", *agents}
    commands = {name: agents.get(name, "sleep 3600") for name in sorted(everyone)}
    return (
        "# Task: Measure\n\n## Goal\nKnow how long it takes.\n\n## Success Criteria\n- It was measured\n\n"
        f"## Agent Config\nworkspace: {workspace}\n"
        + "".join(f"{name}.command: {command}\n" for name, command in commands.items())
    )
