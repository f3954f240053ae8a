"""Status messages to a service manager: up, alive, ending (sd_notify(3), the protocol of systemd's `Type=notify`)."""

from __future__ import annotations

import logging
import os
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import MutableMapping

log = logging.getLogger(__name__)

SOCKET: Final = "NOTIFY_SOCKET"
VARIABLES: Final = (SOCKET, "WATCHDOG_USEC", "WATCHDOG_PID")
_DEADLINE: Final = 1.0


@dataclass(slots=True)
class SdNotify:
    """The connection to the service manager that started us; without one, messages go nowhere.

    `variables` are its environment variables. They are taken out of the environment, so that no process that we start
    can send messages in our name, and are passed only to our successor.
    """

    variables: dict[str, str] = field(default_factory=dict)
    _failed: bool = False

    @classmethod
    def taken_from(cls, environ: MutableMapping[str, str]) -> SdNotify:
        """Take the variables out of an environment."""
        return cls({name: environ.pop(name) for name in VARIABLES if name in environ})

    @property
    def watchdog(self) -> float | None:
        """Return the seconds within which the manager expects each beat; None if it expects none."""
        interval, whom = self.variables.get("WATCHDOG_USEC", ""), self.variables.get("WATCHDOG_PID", "")
        if not interval.isdecimal() or int(interval) == 0 or whom not in {"", str(os.getpid())}:
            return None
        return int(interval) / 1e6

    def ready(self, status: str) -> None:
        """Report that the daemon is up."""
        self._send("READY=1", f"STATUS={status}", "WATCHDOG=1")

    def beat(self, status: str) -> None:
        """Report that the loop turns."""
        self._send("WATCHDOG=1", f"STATUS={status}")

    def stopping(self) -> None:
        """Report that the daemon is ending."""
        self._send("STOPPING=1", "STATUS=ending; agents in their panes work on")

    def _send(self, *words: str) -> None:
        address = self.variables.get(SOCKET, "")
        if not address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as way:
                way.settimeout(_DEADLINE)
                way.sendto("\n".join(words).encode(), f"\0{address[1:]}" if address[0] == "@" else address)
            self._failed = False
        except (OSError, ValueError) as error:
            if not self._failed:
                log.warning("the service manager cannot be notified (%s): %s", ", ".join(words), error)
            self._failed = True
