"""What a system that has no more to give says, and what a person can do about it."""

from __future__ import annotations

import errno
import os
from typing import Final

_REMEDIES: Final = {
    errno.EAGAIN: "no process or thread more may be started: raise `ulimit -u`, or pids.max of the control group",
    errno.EMFILE: "raise `ulimit -n`",
    errno.ENFILE: "raise fs.file-max by sysctl",
    errno.ENOMEM: "end something, or add memory",
}
_NO_THREAD: Final = "can't start new thread"
"""Python's words, for lack of a process, a thread or memory: it has no error of its own for it."""


def cause_of(error: OSError) -> str:
    """Return what the system said, with what helps where a limit was reached."""
    said = error.strerror or str(error)
    remedy = _REMEDIES.get(error.errno or 0)
    return f"{said}: {remedy}" if remedy else said


def is_scarce(error: OSError) -> bool:
    """Return whether a limit was reached, rather than a disk being at fault."""
    return error.errno in _REMEDIES


def no_thread(error: Exception) -> OSError | None:
    """Return the system's error if a thread could not be started; None if this is another error."""
    return (
        OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        if isinstance(error, RuntimeError) and str(error) == _NO_THREAD
        else None
    )
