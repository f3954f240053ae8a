"""Which process is the launcher of a run. What its `pid` says is a claim: anybody of its user may write there.

A launcher is a process that runs the run's own `launch.sh`: no other process can be made one by what a file says. Its
session counts only if `launch.sh` leads that too.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from orchestrator.hosts.claims import Launched
from orchestrator.hosts.launcher import SCRIPT
from orchestrator.hosts.processes import LINUX, Process, alive, pids, row_of, runs_script
from orchestrator.hosts.run_processes import CGROUPS, group_of, members

_GROUP_ENTRY: Final = "0::"


def confirmed(folder: Path, said: Launched) -> Launched | None:
    """Return what a run's `pid` says, as far as the process table agrees; None if it names a stranger.

    Of a launcher that has ended nothing can be asked. Then its session counts unless a stranger leads that now.
    """
    script = str(folder / SCRIPT)
    if alive(said.process):
        agreed = _agreed(said, script)
        if alive(said.process):  # else it ended between the looks, and what they found is of nobody
            return agreed
    return replace(said, session=0) if _is_a_strangers(said.session, script) else said


def _agreed(said: Launched, script: str) -> Launched | None:
    """Return what the process table says of a launcher that lives; None if the process is not one."""
    if not runs_script(said.process.pid, script):
        return None
    row = row_of(said.process.pid)
    session = row.session if row is not None and runs_script(row.session, script) else 0
    return replace(said, session=session)


def found(folder: Path) -> Launched | None:
    """Return the launcher of a run, looked for among all processes; None if none lives, or there is no /proc.

    Its pane is not known then.
    """
    script = str(folder / SCRIPT)
    running = {pid for pid in pids() if runs_script(pid, script)} if LINUX else set[int]()
    rows = {pid: row for pid in running if (row := row_of(pid)) is not None}
    for row in rows.values():
        above = rows.get(row.parent)
        # The leader of the session runs the script too, and so may a child that is about to become something else.
        if above is not None and above.parent not in rows:
            return Launched(
                row.process, row.session if row.session in rows else 0, "", _parent_of_group(row.process)
            )
    return None


def _is_a_strangers(session: int, script: str) -> bool:
    """Return whether a process that is no launcher of the run leads a session."""
    return session != 0 and row_of(session) is not None and not runs_script(session, script)


def _parent_of_group(launcher: Process) -> str:
    """Return the control group in which a launcher made one of its own, as it says itself; empty if it made none."""
    try:
        lines = Path(f"/proc/{launcher.pid}/cgroup").read_text().splitlines()
    except OSError:
        return ""
    within = [line.removeprefix(_GROUP_ENTRY) for line in lines if line.startswith(_GROUP_ENTRY)]
    for parent in (str(mount) + path.rpartition("/")[0] for path in within for mount in CGROUPS):
        group = group_of(launcher, parent)
        if group is not None and launcher.pid in members(group):
            return parent
    return ""
