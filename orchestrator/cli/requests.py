"""Requests: what the user asks of the daemon, each a file that waits until it is heard, and its reply."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from orchestrator import layout
from orchestrator.cli.beat import Beat
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.daemon.ingest.requests import REPLY, REQUEST_BYTES
from orchestrator.hosts.disk import DiskFiles

PATIENCE: Final = 15.0
_FIRST_PAUSE: Final = 0.005
_LONGEST_PAUSE: Final = 0.1


class NeedsYes(CommandError):
    """The daemon grants a request only once a person has agreed to `text`; it then brings `confirm` along."""

    def __init__(self, text: str, confirm: str) -> None:
        self.confirm = confirm
        super().__init__(Exit.FAILED, text)


def ask(home: str, verb: str, arguments: dict[str, str]) -> str:
    """Send a request to a task and return what the daemon replies.

    Raises:
        CommandError: the daemon refuses it; or it is down or silent, and the request waits.

    """
    return answer_to(home, send(home, verb, arguments))


def send(home: str, verb: str, arguments: dict[str, str]) -> str:
    """Put a request where the daemon finds it, whole and durably, and return its id.

    Raises:
        CommandError: it is longer than the daemon would read.

    """
    now = time.time()
    request = f"{time.strftime('%Y%m%d%H%M%S', time.gmtime(now))}-{os.urandom(4).hex()}"
    said = {"id": request, "verb": verb, "at": now, "arguments": arguments}
    data = json.dumps(said).encode()
    if len(data) > REQUEST_BYTES:
        raise CommandError(
            Exit.USAGE, "that is too long to be sent: put it into a file of the project and name the file"
        )
    folder, disk = Path(layout.task_requests(home)), DiskFiles(Path(home).parents[1])
    disk.make_folder(folder)
    disk.write(folder / f"{request}.json", data)
    with suppress(OSError):  # a rescan finds it too
        os.utime(home)  # the bell: nobody watches the requests of a task that is over
    return request


def waiting(home: str, verb: str) -> str | None:
    """Return the id of a request of this verb that the daemon has not heard yet."""
    folder = Path(layout.task_requests(home))
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            said = layout.own_json(str(path))
        except (OSError, ValueError):
            continue
        if not path.name.endswith(REPLY) and isinstance(said, dict) and said.get("verb") == verb:
            return path.stem
    return None


def answer_to(home: str, request: str) -> str:
    """Wait for the reply to a request, take it, and return its message. Raises what `ask` raises."""
    folder = Path(layout.task_requests(home))
    path = folder / f"{request}{REPLY}"
    deadline, pause = time.monotonic() + PATIENCE, _FIRST_PAUSE
    while not path.exists():
        if not (folder / f"{request}.json").exists() and not path.exists():
            return "it was heard; another `task` took the reply"
        beat = Beat(layout.state_folder(os.environ))
        if not beat.up:
            raise CommandError(
                Exit.DOWN,
                f"{beat.words()}; the request waits and is heard when it is back: `task daemon start`",
            )
        if time.monotonic() > deadline:
            raise CommandError(
                Exit.DOWN,
                f"the daemon did not reply within {PATIENCE:.0f} s; the request stays and may yet be heard: "
                "`task daemon status` tells how the daemon is",
            )
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)
    reply = layout.own_json(str(path))
    path.unlink(missing_ok=True)
    if reply.get("confirm"):
        raise NeedsYes(str(reply["message"]), str(reply["confirm"]))
    if not reply["ok"]:
        raise CommandError(Exit.FAILED, str(reply["message"]))
    return str(reply["message"])
