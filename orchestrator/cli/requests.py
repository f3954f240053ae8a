"""Requests to the daemon: each is a file that waits until the daemon reads it; and the daemon's replies."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from orchestrator import layout, own_files
from orchestrator.cli.beat import Beat
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.progress import Waiting
from orchestrator.daemon.ingest.requests import REPLY, REQUEST_BYTES
from orchestrator.hosts.disk import DiskFiles

PATIENCE: Final = 15.0
_FIRST_PAUSE: Final = 0.005
_LONGEST_PAUSE: Final = 0.1
_PAUSE_SHARE: Final = 10  # a pause is a tenth of the time already waited: so late at most is the reply seen


class NeedsYes(CommandError):
    """The daemon grants a request only if the user agrees to `text`; the next request then carries `confirm`."""

    def __init__(self, text: str, confirm: str) -> None:
        self.confirm = confirm
        super().__init__(Exit.FAILED, text)


def ask(home: str, verb: str, arguments: dict[str, str]) -> str:
    """Send a request about a task and return the daemon's reply.

    Raises:
        CommandError: the daemon refuses it; or it is down or silent, and the request stays pending.

    """
    return answer_to(home, send(home, verb, arguments))


def send(home: str, verb: str, arguments: dict[str, str]) -> str:
    """Write a request where the daemon finds it, atomically and durably, and return its id.

    Raises:
        CommandError: it is longer than the daemon accepts.

    """
    now = time.time()
    request = f"{time.strftime('%Y%m%d%H%M%S', time.gmtime(now))}-{os.urandom(4).hex()}"
    said = {"id": request, "verb": verb, "at": now, "arguments": arguments}
    data = json.dumps(said).encode()
    if len(data) > REQUEST_BYTES:
        raise CommandError(
            Exit.USAGE, "the text is too long to send: put it into a file of the project and name that file"
        )
    folder, disk = Path(layout.task_requests(home)), DiskFiles(Path(home).parents[1])
    disk.make_folder(folder)
    disk.write(folder / f"{request}.json", data)
    with suppress(OSError):  # a rescan finds the request too
        os.utime(home)  # the wake-up marker: the daemon does not watch the requests of a task that is over
    return request


def waiting(home: str, verb: str) -> str | None:
    """Return the id of a pending request of this verb; None if there is none."""
    folder = Path(layout.task_requests(home))
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            said = own_files.own_json(str(path))
        except (OSError, ValueError):
            continue
        if not path.name.endswith(REPLY) and isinstance(said, dict) and said.get("verb") == verb:
            return path.stem
    return None


def answer_to(home: str, request: str) -> str:
    """Wait for the reply to a request, remove it, and return its message. Raises what `ask` raises."""
    began = time.monotonic()
    with Waiting("waiting for the daemon's reply") as waiting_shown:
        while (message := reply_so_far(home, request, waited := time.monotonic() - began)) is None:
            waiting_shown.look()
            time.sleep(min(max(waited / _PAUSE_SHARE, _FIRST_PAUSE), _LONGEST_PAUSE))
    return message


def reply_so_far(home: str, request: str, waited: float) -> str | None:
    """Return the reply to a request, and remove it; None as long as there is none. Waits for nothing.

    Args:
        home: the task's own folder.
        request: the request's id.
        waited: for how many seconds its sender has waited.

    Raises:
        CommandError: as `ask` does.

    """
    folder = Path(layout.task_requests(home))
    path = folder / f"{request}{REPLY}"
    if not path.exists():
        if not (folder / f"{request}.json").exists() and not path.exists():
            return "the daemon read the request; another `task` command took the reply"
        beat = Beat(layout.state_folder(os.environ))
        if not beat.up:
            raise CommandError(
                Exit.DOWN,
                f"{beat.words()}; the request stays pending until it runs again: `task daemon start`",
            )
        if waited > PATIENCE:
            raise CommandError(
                Exit.DOWN,
                f"the daemon did not reply within {PATIENCE:.0f} s; the request stays pending; to see how the daemon "
                "is: `task daemon status`",
            )
        return None
    reply = own_files.own_json(str(path))
    path.unlink(missing_ok=True)
    if reply.get("confirm"):
        raise NeedsYes(str(reply["message"]), str(reply["confirm"]))
    if not reply["ok"]:
        raise CommandError(Exit.FAILED, str(reply["message"]))
    return str(reply["message"])
