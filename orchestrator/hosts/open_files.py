"""A tmux server that has reached its limit of open files: it silently takes no call until one is free."""

from __future__ import annotations

import os
import resource
from typing import Final

ENOUGH: Final = 4096
"""The maximum that a server of two hundred agents opens: about three for each agent, and some for each call."""

_SPARE: Final = 4
"""A server with so few files left may be waiting for one: it needs several for a window, and closes them again."""


def let_open_more(pid: int) -> str:
    """Raise the limit of open files of this user's process, if it lacks files; return what was found and what to do.

    Returns an empty string if it does not lack files, or cannot be examined. `pid` may be 0: no process.
    """
    if not pid or not hasattr(resource, "prlimit"):
        return ""
    try:
        opened = len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208 (names, not paths)
        soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        if soft == resource.RLIM_INFINITY or opened + _SPARE < soft:
            return ""
        most = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, max(soft, ENOUGH))
        if most > soft:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, hard))
            return f"its server had {opened} of {soft} files open; its limit is {most} now"
    except (OSError, ValueError):
        return ""
    return (
        f"its server has {opened} of {soft} files open, and takes no call until its limit is raised: "
        f"sudo prlimit --pid {pid} --nofile={ENOUGH}"
    )
