"""Whether the daemon is there, by its lock and its beat."""

from __future__ import annotations

import fcntl
import os
import time

from orchestrator import layout
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import ago, clock, stamp

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from typing import Any

LATE = 60.0
"""A beat older than this many seconds is said to the user: the lock is held, yet the loop does not turn."""

FRESH = 15.0
"""A beat younger than this many seconds is no cause for alarm, whatever the settings say: nobody reads them then."""

_BEAT_BYTES = 64 * 1024
_NUMBERS = ("beat_at", "started_at", "monotonic", "every")
_PIDS = 1 << 31
_LAST = 253_402_300_800  # the year 10000

ROOM = 64 * 1024
"""Where fewer bytes than these are free, the daemon cannot write down what happens, and waits."""


def is_fresh(state: str) -> bool:
    """Tell whether the daemon beat just now and lives, or never was: then there is nothing to be alarmed about."""
    try:
        beat_at = os.lstat(layout.daemon_beat(state)).st_mtime
    except OSError:
        return True
    return 0 <= time.time() - beat_at < FRESH and not has_died(state)


def has_died(state: str) -> bool:
    """Tell whether a daemon is known to have ended, and not on purpose: its lock lies there, and nobody holds it.

    The system gives a lock back in the moment in which its holder ends; a beat is late for many reasons.
    Raises CommandError: the lock is not to be believed.
    """
    lock = layout.daemon_lock(state)
    return (
        os.path.lexists(lock) and _holder(lock) is None and not os.path.lexists(layout.daemon_stopped(state))
    )


def has_room(state: str) -> bool:
    """Tell whether the disk that holds the daemon's own folder has room, by what the file system says now."""
    try:
        disk = os.statvfs(state)
    except OSError:
        return True
    free = disk.f_bfree if os.geteuid() == 0 else disk.f_bavail
    return free * disk.f_frsize >= ROOM and (disk.f_ffree > 0 or not disk.f_files)


class Beat:
    """What lock and beat say at one moment; all but `up` is the daemon's own word."""

    __slots__ = ("at", "pid", "polling", "room", "settings", "started_at", "up", "version")

    def __init__(self, state: str) -> None:
        holder = _holder(layout.daemon_lock(state))
        said = last_word(layout.daemon_beat(state))
        self.up = holder is not None
        self.room = has_room(state)
        self.pid: int = holder or 0
        self.at: float | None = said.get("beat_at")
        own = said if said.get("pid") == holder else {}
        self.started_at: float | None = own.get("started_at")
        self.version: str | None = own.get("version")
        self.polling: str = own.get("polling", "")
        settings = own.get("settings")
        self.settings: dict[str, Any] = settings if isinstance(settings, dict) else {}

    def as_of(self, updated: float | None = None) -> float | None:
        """Return until when the daemon watched: its last beat, or the last thing it wrote."""
        return max(filter(None, (self.at, updated)), default=None)

    def shape(self, updated: float | None = None) -> dict[str, object]:
        """Return the `daemon` part of each JSON document."""
        return {"up": self.up, "as_of": stamp(self.as_of(updated)), "room": self.room}

    def words(self, updated: float | None = None) -> str:
        """Return the same for people."""
        said = self._words(updated)
        if self.room:
            return said
        return f"{said}; the disk of its folder is full: what happens is heard when there is room"

    def _words(self, updated: float | None) -> str:
        now = time.time()
        if not self.up:
            moment = self.as_of(updated)
            return f"daemon down; as of {clock(moment, now)}" if moment else "daemon down"
        if self.at and now - self.at > LATE:
            return f"daemon up, but its last beat was {ago(self.at, now)}: see `task daemon status`"
        return "daemon up"


def _holder(lock: str) -> int | None:
    """Return the pid of the process that holds the lock, 0 if it has not said so yet; None: nobody does.

    Raises:
        CommandError: the lock is no plain file, another user's, or others can write it: it may name anybody.

    """
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if reason := layout.distrust_file(lock, os.fstat(descriptor)):
            raise CommandError(Exit.FAILED, reason)
        # Shared and at once given back: a daemon that starts in this very moment has to try again.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        text = os.read(descriptor, 32).strip()
        return pid if text.isdigit() and 0 < (pid := int(text)) < _PIDS else 0
    finally:
        os.close(descriptor)
    return None


def last_word(path: str) -> dict[str, Any]:
    """Return what the daemon, up or not, wrote into its beat last; of what is no beat's, nothing.

    Raises:
        CommandError: it is no plain file, or too large; or others may have written it.

    """
    try:
        said = layout.own_json(path, _BEAT_BYTES)
    except layout.Untrusted as error:
        raise CommandError(Exit.FAILED, error.reason) from error
    except (OSError, ValueError):
        return {}
    return (
        {name: value for name, value in said.items() if _fits(name, value)} if isinstance(said, dict) else {}
    )


def _fits(name: str, value: Any) -> bool:  # noqa: ANN401 (whatever JSON gave)
    """Tell whether a value of the beat is of the kind that a daemon writes there."""
    if name in _NUMBERS:
        return type(value) in {int, float} and 0 <= value < _LAST
    if name == "pid":
        return type(value) is int and 0 < value < _PIDS
    return isinstance(value, dict if name == "settings" else str)
