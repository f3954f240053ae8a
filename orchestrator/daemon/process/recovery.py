"""Whether the previous daemon ended as requested; if not, the user is notified.

Its last beat identifies it, `daemon.ended` says which one ended well. An alarm about its death uses the same id.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from orchestrator import layout, own_files
from orchestrator.daemon.core.notifier import notification_id
from orchestrator.formats.timestamps import moment_said
from orchestrator.model.notification import Notification, NotificationRule

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DEATH: Final = "death"
HANG: Final = "hang"

_ENDED_BYTES: Final = 4096
_YEAR_10000: Final = 253_402_300_800


def incident(kind: str, beat: Mapping[str, Any]) -> str:
    """Return the id of the notification that the daemon of a beat is dead or hangs: the same for every sender."""
    return notification_id(NotificationRule.DAEMON, f"{kind}:{beat.get('pid')}:{beat.get('started_at')}")


def ended_well(state: Path, started_at: float) -> None:
    """Record that this daemon ended as requested. It only saves a person a notification."""
    with suppress(OSError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(layout.daemon_ended(state), flags, 0o600), "wb") as file:  # noqa: PTH123 (a descriptor)
            file.write(_name(os.getpid(), started_at).encode())


def unforeseen_return(state: Path, at: float) -> Notification | None:
    """Return the notification that the last daemon was killed or crashed, if it was."""
    try:
        beat = own_files.own_json(str(layout.daemon_beat(state)))
    except (OSError, ValueError):
        return None
    if not isinstance(beat, dict):
        return None
    try:
        ended = own_files.own_bytes(str(layout.daemon_ended(state)), _ENDED_BYTES).decode(errors="replace")
    except OSError:
        ended = ""
    if ended == _name(beat.get("pid"), beat.get("started_at")):
        return None
    last = beat.get("beat_at")
    when = (
        moment_said(last) if isinstance(last, int | float) and 0 <= last < _YEAR_10000 else "an unknown time"
    )
    text = f"It was killed, crashed, or went down with the machine; its last beat was at {when}. It goes on from there."
    return Notification(incident(DEATH, beat), NotificationRule.DAEMON, "the daemon is up again", text, at)


def _name(pid: object, started_at: object) -> str:
    return f"{pid} {started_at}"
