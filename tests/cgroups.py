"""Control groups of runs that a test has killed: nobody else removes them, and they are the machine's own."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from orchestrator.hosts.claims import launched_by
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.run_processes import group_of, remove_group
from orchestrator.ports.files import Unreadable


def remove_groups(root: Path) -> bool:
    """Remove the control groups that launchers beneath a folder say they made; False if somebody is in one."""
    done = True
    for folder, _, files in os.walk(root):
        if "pid" in files:
            with suppress(OSError, Unreadable):
                launched = launched_by(DiskFiles().read(Path(folder, "pid")))
                if (
                    launched is not None
                    and (group := group_of(launched.process, launched.cgroup)) is not None
                ):
                    remove_group(group)
                    done &= not group.exists()
    return done
