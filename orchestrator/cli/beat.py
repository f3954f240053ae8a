"""Tells by its lock and its heartbeat whether the daemon runs."""

from __future__ import annotations

import fcntl
import os
import time

from orchestrator import layout, own_files
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import ago, clock, stamp

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from typing import Any

LATE = 60.0
"""Seconds; an older heartbeat is reported to the user: the lock is held, but the loop does not turn."""

FRESH = 15.0
"""Seconds; a younger heartbeat gives no alarm, whatever the settings say: then they are not even read."""

_BEAT_BYTES = 64 * 1024
_NUMBERS = ("beat_at", "started_at", "monotonic", "every")
_TABLES = ("settings", "daily", "telemetry")
_PIDS = 1 << 31
LAST = 253_402_300_800  # the year 10000

ROOM = 64 * 1024
"""Free bytes below which the daemon cannot write its journal, and waits."""


def is_fresh(state: str) -> bool:
    """Return whether the daemon's heartbeat is fresh, or there never was one: then there is no reason for an alarm."""
    try:
        beat_at = os.lstat(layout.daemon_beat(state)).st_mtime
    except OSError:
        return True
    return 0 <= time.time() - beat_at < FRESH and not has_died(state)


def has_died(state: str) -> bool:
    """Return whether a daemon has died without being stopped: its lock file exists, and no process holds the lock.

    The kernel releases a lock at the moment its holder ends; a heartbeat may be late for many reasons.
    Raises CommandError: the lock file is not safe to trust.
    """
    lock = layout.daemon_lock(state)
    return (
        os.path.lexists(lock) and _holder(lock) is None and not os.path.lexists(layout.daemon_stopped(state))
    )


def has_room(state: str) -> bool:
    """Return whether the disk of the state folder has room, according to the file system."""
    try:
        disk = os.statvfs(state)
    except OSError:
        return True
    free = disk.f_bfree if os.geteuid() == 0 else disk.f_bavail
    return free * disk.f_frsize >= ROOM and (disk.f_ffree > 0 or not disk.f_files)


class Beat:
    """What lock and heartbeat show at one moment. `up` comes from the kernel, the rest from the daemon."""

    __slots__ = (
        "at",
        "daily",
        "pid",
        "polling",
        "room",
        "settings",
        "started_at",
        "telemetry",
        "up",
        "version",
    )

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
        self.daily: dict[str, Any] = own.get("daily", {})
        self.telemetry: dict[str, Any] = own.get("telemetry", {})
        settings = own.get("settings")
        self.settings: dict[str, Any] = settings if isinstance(settings, dict) else {}

    def as_of(self, updated: float | None = None) -> float | None:
        """Return until when the daemon watched: the time of its last heartbeat or its last write."""
        return max(filter(None, (self.at, updated)), default=None)

    def shape(self, updated: float | None = None) -> dict[str, object]:
        """Return the `daemon` part of each JSON document."""
        return {"up": self.up, "as_of": stamp(self.as_of(updated)), "room": self.room}

    @property
    def late(self) -> bool:
        """Whether the lock is held, but the last heartbeat is older than one can be while the daemon works."""
        return self.up and bool(self.at) and time.time() - (self.at or 0) > LATE

    def words(self, updated: float | None = None) -> str:
        """Return the same in words."""
        said = self._words(updated)
        if self.room:
            return said
        shown = f"; what is shown is as of {clock(updated, time.time())}" if self.up and updated else ""
        return f"{said}; the disk of its folder is full: it goes on once there is room{shown}"

    def _words(self, updated: float | None) -> str:
        now = time.time()
        if not self.up:
            moment = self.as_of(updated)
            return f"daemon down; as of {clock(moment, now)}" if moment else "daemon down"
        if self.late:
            return f"daemon up, but its last heartbeat was {ago(self.at, now)}: see `task daemon status`"
        return "daemon up"


def _holder(lock: str) -> int | None:
    """Return the pid of the process that holds the lock, 0 if it has not written it yet; None if there is none.

    Raises:
        CommandError: the lock file is not a plain file of this user that only this user can write.

    """
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if reason := own_files.distrust_file(lock, os.fstat(descriptor)):
            raise CommandError(Exit.FAILED, reason)
        # A shared lock, released at once: a daemon that starts at this moment has to try again.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        text = os.read(descriptor, 32).strip()
        return pid if text.isdigit() and 0 < (pid := int(text)) < _PIDS else 0
    finally:
        os.close(descriptor)
    return None


def last_word(path: str) -> dict[str, Any]:
    """Return the content of the last heartbeat, of a daemon that runs or not; empty if it is not one.

    Raises:
        CommandError: it is not a plain file of this user, or is too large.

    """
    try:
        said = own_files.own_json(path, _BEAT_BYTES)
    except own_files.Untrusted as error:
        raise CommandError(Exit.FAILED, error.reason) from error
    except (OSError, ValueError):
        return {}
    return (
        {name: value for name, value in said.items() if _fits(name, value)} if isinstance(said, dict) else {}
    )


def _fits(name: str, value: Any) -> bool:  # noqa: ANN401 (whatever JSON gave)
    """Return whether a value of the heartbeat has the type that a daemon writes."""
    if name in _NUMBERS:
        return type(value) in {int, float} and 0 <= value < LAST
    if name == "pid":
        return type(value) is int and 0 < value < _PIDS
    return isinstance(value, dict if name in _TABLES else str)
