"""`python -m orchestrator.notifications.senders.fallback ID`: sends one notification while no daemon does.

Started by the dead man's alarm, which does not wait for it. It goes round once: what a channel refuses now, the next
daemon tries again.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.formats.settings import load_settings
from orchestrator.hosts.clock import SystemClock
from orchestrator.hosts.disk import DiskFiles
from orchestrator.notifications.default_channels import at_hand
from orchestrator.notifications.delivery import Delivery
from orchestrator.notifications.spool import Spool
from orchestrator.notifications.subprocess_sender import SubprocessSender

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMAND: Final = (sys.executable, "-P", "-m", "orchestrator.notifications.senders.fallback")


def main(arguments: Sequence[str]) -> int:
    """Send the notification with this id."""
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr
    )
    os.umask(0o077)
    environ = os.environ
    settings = load_settings(Path(layout.config_file(environ)), environ)
    state = Path(layout.state_folder(environ))
    spool = Spool(DiskFiles(state), layout.notifications(state))
    sender = SubprocessSender(settings.notify.timeout, settings.tmux.socket, environ)
    Delivery(spool, at_hand(settings.notify, environ), sender, SystemClock()).go(only=arguments[0])
    return 0


def start(notification: str, state: str, environ: Mapping[str, str]) -> None:
    """Have a notification sent by a process of its own, whose log is the daemon's. Raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
    log = os.open(layout.daemon_log(state), flags, 0o600)
    os.set_blocking(log, True)
    try:
        subprocess.Popen(
            [*COMMAND, notification],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=dict(environ),
            start_new_session=True,
        )
    finally:
        os.close(log)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
