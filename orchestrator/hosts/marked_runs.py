"""Runs found by the environment of their processes alone: what is left where the files that told of them are gone.

Every process of a run has in its environment which task it is for, and where the run's folder lies. Only Linux shows
that.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Final

from orchestrator.hosts import launcher_process, processes
from orchestrator.hosts.claims import Launched
from orchestrator.hosts.processes import Process
from orchestrator.hosts.run_processes import MARK, Census, Signs, group_of, remove_group
from orchestrator.ports.marked_runs import MarkedRun

BOUND: Final = 5.0
"""Seconds within which killed processes must vanish."""

_LOOK: Final = 0.02  # seconds between two looks at processes that were killed
_RUN: Final = "ORCHESTRATOR_RUN"
_TASK: Final = "ORCHESTRATOR_TASK_DIR"
_ORDER: Final = "ORCHESTRATOR_ORDER"


class LocalMarkedRuns:
    """The port `MarkedRuns` on this machine."""

    def of_task(self, task: Path) -> list[MarkedRun]:
        """Return the runs for a task's folder in its project of which anything lives on this machine."""
        found = dict[str, MarkedRun]()
        wanted = os.path.realpath(task)
        for pid, mark in Census().marked.items():
            said = _variables_of(pid)
            if _ORDER in said and _RUN in said and os.path.realpath(said.get(_TASK, "")) == wanted:
                found.setdefault(mark, MarkedRun(said[_RUN], mark, Path(said[_ORDER]).parent))
        return list(found.values())

    def end(self, run: MarkedRun) -> bool:
        """Kill all processes of a run; return whether none is left."""
        pid, _, start = run.launcher.partition("@")
        if not pid.isdigit():
            return False
        launched = launcher_process.found(run.folder) or Launched(Process(int(pid), start), 0, "")
        group = group_of(launched.process, launched.cgroup)
        signs = Signs(launched.process, launched.session, 0.0, group)
        until = time.monotonic() + BOUND
        while left := Census().of(signs):
            if time.monotonic() >= until:
                return False
            for row in left:
                processes.send(row.process, signal.SIGKILL)
            time.sleep(_LOOK)
        if group is not None:
            remove_group(group)
        return True


def _variables_of(pid: int) -> dict[str, str]:
    """Return the variables of ours that a process was started with."""
    words = os.fsdecode(processes.environment_of(pid)).split("\0")
    pairs = (word.partition("=") for word in words if word.startswith("ORCHESTRATOR_"))
    return {name: value for name, _, value in pairs if name != MARK}
