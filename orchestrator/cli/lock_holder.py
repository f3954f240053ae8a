"""Which process holds the daemon's lock, according to the kernel: the pid in the lock file proves nothing."""

from __future__ import annotations

import os
import signal

from orchestrator import layout
from orchestrator.cli.beat import Beat, last_word
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.hosts.processes import Process, send, start_of

_LOCKS = "/proc/locks"
_REMEDY = "find out what these processes are, end the holder, then: task daemon start"
_FIELDS = 8  # 1: FLOCK ADVISORY WRITE 4711 00:2f:1234 0 EOF


def terminate_daemon(state: str, beat: Beat) -> None:
    """Send SIGTERM to the daemon, if possible through a pidfd, which no other process can take over.

    Raises:
        CommandError: nothing proves that the process named in the lock is the daemon; no signal was sent.

    """
    named = Process(beat.pid, start_of(beat.pid))
    if not named.start:
        return  # it has ended
    if reason := _mismatch(state, named):
        raise CommandError(Exit.FAILED, f"{reason}: no signal was sent; {_REMEDY}")
    send(named, signal.SIGTERM)


def doubt(state: str, beat: Beat) -> str:
    """Return why the process named in the lock may not be the daemon, and what to do; empty if it is.

    A daemon of an older version wrote no start time; it is trusted if the kernel names no holder.
    """
    said = last_word(layout.daemon_beat(state))
    if "process" not in said and not _holders(layout.daemon_lock(state)):
        return ""
    reason = _mismatch(state, Process(beat.pid, start_of(beat.pid)))
    return reason and f"{reason}; {_REMEDY}"


def _mismatch(state: str, named: Process) -> str:
    """Return why the process named in the lock does not seem to hold it; empty if it does.

    Either the kernel names it as the holder, or its start time is the one that the daemon wrote into its heartbeat.
    """
    lock = layout.daemon_lock(state)
    holders = _holders(lock)
    said = last_word(layout.daemon_beat(state))
    if named.pid in holders or (
        not holders and said.get("pid") == named.pid and said.get("process") == named.start
    ):
        return ""
    others = (
        f"held by process {', '.join(map(str, sorted(holders)))}" if holders else "held by an unknown process"
    )
    return f"{lock} is {others} and names process {named.pid}, and nothing proves that this is the daemon"


def _holders(lock: str) -> set[int]:
    """Return the processes that hold an exclusive lock on a file; none where there is no /proc/locks."""
    try:
        inode = os.stat(lock, follow_symlinks=False).st_ino  # noqa: PTH116 (no pathlib here)
        with open(_LOCKS, encoding="ascii", errors="replace") as file:  # noqa: PTH123 (no pathlib here)
            lines = [line.split() for line in file]
    except OSError:
        return set()
    # On some file systems the device number differs from stat's: inode and kind of lock are enough.
    found = {
        words[4]
        for words in lines
        if len(words) == _FIELDS
        and words[1] == "FLOCK"
        and words[3] == "WRITE"
        and words[5].endswith(f":{inode}")
    }
    return {int(pid) for pid in found if pid.isdigit() and int(pid) > 0}
