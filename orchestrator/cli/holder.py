"""Who holds the daemon's lock, by what the kernel says: the text in the lock is only what somebody wrote there."""

from __future__ import annotations

import os
import signal

from orchestrator import places
from orchestrator.cli.beat import Beat, last_word
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.hosts.processes import Process, send, start_of

_LOCKS = "/proc/locks"
_FIELDS = 8  # 1: FLOCK ADVISORY WRITE 4711 00:2f:1234 0 EOF


def tell_to_end(state: str, beat: Beat) -> None:
    """Send SIGTERM to the daemon, if the process that the lock names is provably the one that holds it.

    The kernel says so, or that process bears the start time that the daemon wrote into its beat; where that can be,
    it is signalled by a descriptor that cannot become another process.

    Raises:
        CommandError: nothing proves it; nobody is signalled.

    """
    named = Process(beat.pid, start_of(beat.pid))
    if not named.start:
        return  # it has ended
    lock = places.daemon_lock(state)
    holders = _holders(lock)
    said = last_word(places.daemon_beat(state))
    beats = said.get("pid") == named.pid and said.get("process") == named.start
    if named.pid not in holders and (holders or not beats):
        others = f"held by process {', '.join(map(str, sorted(holders)))}" if holders else "held by somebody"
        raise CommandError(
            Exit.FAILED,
            f"{lock} is {others} and names process {named.pid}, of which nothing shows that it is the daemon: "
            "nobody was signalled; look who they are, end the holder, then start the daemon",
        )
    send(named, signal.SIGTERM)


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
