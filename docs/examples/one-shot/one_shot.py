"""Runtime `one-shot`: a program that takes its order as its last argument, works, and exits.

It has no hooks. A script beside it reports for it: that it is up, and how it ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from orchestrator.model.errors import Refused
from orchestrator.model.event import Event, EventKind, Failure
from orchestrator.model.permission import Act
from orchestrator.runtimes import Launching

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from orchestrator.model.agents import Agent
    from orchestrator.model.event import Reply
    from orchestrator.runtimes import Spawn

SCRIPT: Final = "one-shot.sh"

SOURCE: Final = rb"""#!/bin/sh
# Runs the words that it is given, and hands events to the PM before and after.
folder=${0%/*}
printf '{"type": "started"}' | sh "$folder/relay.sh"
status=0
"$@" || status=$?
printf '{"type": "ended", "status": %d}' "$status" | sh "$folder/relay.sh"
exit "$status"
"""

name: Final = "one-shot"
receipts: Final = False
unruled: Final = frozenset(Act)  # it asks for nothing: no rule of permissions holds for it
variables: Final = ()
screens: Final = ()


def listens(agent: Agent) -> bool:
    return False


def launching(spawn: Spawn) -> Launching:
    if not spawn.agent.command:
        raise Refused(f"agent {spawn.agent.name} has no command: write `{spawn.agent.name}.command: ...`")
    argv = ("sh", str(spawn.folder / SCRIPT), *spawn.agent.command, spawn.prompt)
    return Launching(argv, files={SCRIPT: SOURCE})


def event(payload: Mapping[str, Any]) -> Event | None:
    match payload.get("type"), payload.get("status"):
        case "started", _:
            return Event(EventKind.STARTED)
        case "ended", 0:
            return Event(EventKind.ENDED)
        case "ended", int(status):
            return Event(EventKind.FAILED, text=f"it exited with {status}", failure=Failure.OTHER)
        case _:
            return None


def answer(reply: Reply) -> str:
    return ""


def transcripts(environ: Mapping[str, str]) -> tuple[Path, ...]:
    return ()


def appended(lines: Sequence[bytes]) -> list[Event]:
    return []
