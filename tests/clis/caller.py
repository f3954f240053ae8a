"""The daemon's own launch of a run, by a process that may die in the middle of it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from orchestrator.daemon.actions.launch import launch
from orchestrator.daemon.core.task_paths import Adapters, TaskPaths
from orchestrator.daemon.ingest.run_lifecycle import LAUNCHED
from orchestrator.hosts.clock import SystemClock
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.local import LocalHost
from orchestrator.hosts.tmux import Tmux
from orchestrator.model.agents import Agent
from orchestrator.model.handoff import Order
from orchestrator.model.plan import Step, StepState
from orchestrator.model.run import Life, Purpose, Run
from orchestrator.model.settings import Settings
from orchestrator.model.task import Phase, TaskState
from orchestrator.pm.state.runs import Runs
from orchestrator.pm.state.steps import Steps
from orchestrator.pm.state.task_state import PMState
from orchestrator.ports.host import LaunchSpec
from orchestrator.workspaces.git import GitWorkspaces

TASK: Final = "t-1"
SOON: Final = 0.01
"""Seconds from `launched` in which a pane is being opened (measured: 5 to 20 ms)."""


class Dies(StrEnum):
    """Where a launching process is killed."""

    NEVER = "never"
    BEFORE = "launched is written, no pane was asked for"
    WHILE = "a pane is being opened"
    AFTER = "the pane was asked for, nobody has claimed it"


@dataclass(frozen=True, slots=True)
class Call:
    """All that it takes to launch one run.

    `tmux` is the name of a server's socket, `session` what it goes on with, and `transcript` where that is kept.
    """

    where: TaskPaths
    tmux: str
    environ: Mapping[str, str]
    user: Mapping[str, str]
    agent: Agent
    number: int
    text: str
    session: str = ""
    transcript: str = ""

    @property
    def run(self) -> str:
        return f"r-{self.number:x}"

    def state(self) -> PMState:
        """Return the state of a task in which this run is to be launched."""
        name, step = f"pm-20261120-{self.number:06}.md", "dev:one"
        run = Run(self.run, step, 1, "dev", "dev", Purpose.WORK, 0.0, order=name, life=Life.STARTING)
        runs = [run]
        if self.session:
            before = replace(
                run, id="r-0", order="", life=Life.GONE, session=self.session, transcript=self.transcript
            )
            runs = [before, replace(run, resumes=before.id)]
        return PMState(
            id=TASK,
            name="t",
            agents={"dev": self.agent},
            state=TaskState.RUNNING,
            steps=Steps([Step(step, "dev", "Do it", "", Phase.DEVELOPING, state=StepState.WORKING)]),
            runs=Runs(runs),
            orders={name: Order(name, self.run, step, "dev", 0.0, self.text)},
        )


class _MortalFiles(DiskFiles):
    """Files whose user is killed once `launched` is written: at once, or a little later."""

    def __init__(self, dies: Dies) -> None:
        super().__init__()
        self._dies = dies

    def write(self, path: Path, data: bytes, *rest: Any, **more: Any) -> None:
        super().write(path, data, *rest, **more)
        if path.name == LAUNCHED and self._dies is Dies.BEFORE:
            _die()
        if path.name == LAUNCHED and self._dies is Dies.WHILE:
            threading.Timer(SOON, _die).start()


class _MortalHost(LocalHost):
    """A host whose user is killed once a pane was asked for."""

    def launch(self, spec: LaunchSpec) -> None:
        super().launch(spec)
        _die()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def place_call(call: Call, dies: Dies = Dies.NEVER) -> None:
    """Launch a run as the daemon does, or go on with a launch that was cut off.

    Raises what `launch` raises.
    """
    files = DiskFiles() if dies is Dies.NEVER else _MortalFiles(dies)
    kind = _MortalHost if dies is Dies.AFTER else LocalHost
    host = kind(Tmux(call.tmux, dict(call.user)), files)
    world = Adapters(files, host, GitWorkspaces(), Settings(), call.environ)
    state = call.state()
    launch(world, state, state.runs[call.run], call.where, SystemClock())


def place_and_die(call: Call, dies: Dies) -> bool:
    """Launch a run from a process of its own that is killed there; return whether it was."""
    process = multiprocessing.get_context("spawn").Process(target=place_call, args=(call, dies))
    process.start()
    process.join()
    return process.exitcode == -signal.SIGKILL
