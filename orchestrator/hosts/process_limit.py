"""How many processes and threads the control groups of a process allow to all its processes together."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
MOUNT: Final = Path("/sys/fs/cgroup")


def most_processes(pid: int, *, proc: Path = PROC, mount: Path = MOUNT) -> int | None:
    """Return the smallest `pids.max` of the control groups that a process is in.

    Returns None if none limits it, or if there are no readable control groups. `proc` and `mount` are where the system
    shows its processes and its control groups.
    """
    try:
        lines = (proc / str(pid) / "cgroup").read_text().splitlines()
    except OSError:
        return None
    least: int | None = None
    for line in lines:
        _, controllers, path = line.split(":", 2)
        # In the first version of control groups each controller has a tree of its own.
        if controllers and "pids" not in controllers.split(","):
            continue
        tops = (mount / controllers,) if controllers else (mount, mount / "unified")
        for top in tops:
            group = top / path.lstrip("/")
            for each in (group, *group.parents):
                if each == top.parent:
                    break
                if (most := _most(each)) is not None:
                    least = most if least is None else min(least, most)
    return least


def _most(group: Path) -> int | None:
    try:
        return int((group / "pids.max").read_text())
    except (OSError, ValueError):  # "max", or a group without this limit
        return None
