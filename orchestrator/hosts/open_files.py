"""A process that has as many files open as it may: tmux then takes no call, and says nothing, until it has one free."""

from __future__ import annotations

import os
import resource
from typing import Final

ENOUGH: Final = 4096
"""As many files as a server of two hundred agents opens at most: some three for each of them, and for each call."""

_SPARE: Final = 4
"""A server that has so few left may be waiting for one: it needs several for a window, and gives them back."""


def let_open_more(pid: int) -> str:
    """Let a process of this user open more files, if that is what it lacks; return what was found, and what to do.

    Returns an empty string where it does not lack files, or cannot be looked at. `pid` may be 0: nobody.
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
            return f"its server had {opened} of {soft} files open; it may open {most} now"
    except (OSError, ValueError):
        return ""
    return (
        f"its server has {opened} of {soft} files open, and takes no call until it may open more: "
        f"sudo prlimit --pid {pid} --nofile={ENOUGH}"
    )
