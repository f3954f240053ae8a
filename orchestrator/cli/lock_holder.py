"""Who holds the daemon's lock, by what the kernel says: the text in the lock is only what somebody wrote there."""

from __future__ import annotations

import os
import signal

from orchestrator import layout
from orchestrator.cli.beat import Beat, last_word
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.hosts.processes import Process, send, start_of

_LOCKS = "/proc/locks"
_REMEDY = "look who they are, end the holder, then start the daemon"
_FIELDS = 8  # 1: FLOCK ADVISORY WRITE 4711 00:2f:1234 0 EOF


def tell_to_end(state: str, beat: Beat) -> None:
    """Send SIGTERM to the daemon; where that can be, by a descriptor that cannot become another process.

    Raises:
        CommandError: nothing proves that the process which the lock names is the daemon; nobody is signalled.

    """
    named = Process(beat.pid, start_of(beat.pid))
    if not named.start:
        return  # it has ended
    if reason := _doubt(state, named):
        raise CommandError(Exit.FAILED, f"{reason}: nobody was signalled; {_REMEDY}")
    send(named, signal.SIGTERM)


def doubt(state: str, beat: Beat) -> str:
    """Return why the process that the lock names may not be the daemon, and what to do; nothing if it is.

    A daemon of an older version wrote no start time, and is believed where the kernel tells nothing either.
    """
    said = last_word(layout.daemon_beat(state))
    if "process" not in said and not _holders(layout.daemon_lock(state)):
        return ""
    reason = _doubt(state, Process(beat.pid, start_of(beat.pid)))
    return reason and f"{reason}; {_REMEDY}"


def _doubt(state: str, named: Process) -> str:
    """Return what speaks against the process that the lock names: it must be the one that holds it.

    The kernel says so, or the process bears the start time that the daemon wrote into its beat.
    """
    lock = layout.daemon_lock(state)
    holders = _holders(lock)
    said = last_word(layout.daemon_beat(state))
    if named.pid in holders or (
        not holders and said.get("pid") == named.pid and said.get("process") == named.start
    ):
        return ""
    others = f"held by process {', '.join(map(str, sorted(holders)))}" if holders else "held by somebody"
    return f"{lock} is {others} and names process {named.pid}, of which nothing shows that it is the daemon"


def _holders(lock: str) -> set[int]:
    """Return the processes that hold a lock on a file alone; none where the system does not tell (no /proc)."""
    try:
        inode = os.stat(lock, follow_symlinks=False).st_ino  # noqa: PTH116 (no pathlib here)
        with open(_LOCKS, encoding="ascii", errors="replace") as file:  # noqa: PTH123 (no pathlib here)
            lines = [line.split() for line in file]
    except OSError:
        return set()
    # The device is another number than stat's on some file systems: the inode and the kind of lock are enough.
    found = {
        words[4]
        for words in lines
        if len(words) == _FIELDS
        and words[1] == "FLOCK"
        and words[3] == "WRITE"
        and words[5].endswith(f":{inode}")
    }
    return {int(pid) for pid in found if pid.isdigit() and int(pid) > 0}
