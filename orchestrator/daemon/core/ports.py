"""The ports that worktrees are given (`prepare.ports:`): numbers that no other worktree of any task has.

One file in the PM's own folder says who has which. Nobody is asked whether a program listens there: it may start later.
"""

from __future__ import annotations

import json
import logging
from threading import Lock
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.model.errors import Refused
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from orchestrator.ports.files import Files

log = logging.getLogger(__name__)

FIRST: Final = 20_000
LAST: Final = 29_999
"""The range of the numbers: above those of services, below those that systems give to outgoing connections."""

_LARGEST: Final = 4 * 1_048_576
_lock = Lock()  # workers launch runs of several tasks at once, all in this process


def ports_of(files: Files, home: Path, tree: str, names: Sequence[str]) -> dict[str, int]:
    """Return the number that each variable of a worktree has, and give it one if it has none yet.

    Args:
        files: the disk.
        home: the folder of the task; its name is the task's id.
        tree: the name of the worktree, the same in all its lives.
        names: the variables.

    Raises:
        Refused: no number is left.
        OSError: the disk cannot do it now.

    """
    if not names:
        return {}
    path = layout.ports(layout.state_above(home))
    with _lock:
        known = _read(files, path)
        given = {port: who for port, who in known.items() if _is_there(files, home, who)}
        own = {
            who.split(" ")[2]: port for port, who in given.items() if who.startswith(f"{home.name} {tree} ")
        }
        free = (port for port in range(FIRST, LAST + 1) if port not in given)
        for name in names:
            if name not in own:
                port = next(free, 0)
                if not port:
                    raise Refused(
                        f"all {LAST - FIRST + 1} ports are given to worktrees: delete tasks that are over"
                    )
                own[name], given[port] = port, f"{home.name} {tree} {name}"
        if given != known:
            written = {str(port): who for port, who in sorted(given.items())}
            files.write(path, json.dumps(written, indent=0).encode())
    return {name: own[name] for name in names}


def _is_there(files: Files, home: Path, who: str) -> bool:
    """Return whether the task that was given a port still has its folder."""
    entry = files.entry(home.parent / who.split(" ", maxsplit=1)[0])
    return entry is not None and entry.is_folder


def _read(files: Files, path: Path) -> dict[int, str]:
    """Return who has which port; nothing if the file is not there or was damaged."""
    if files.entry(path) is None:
        return {}
    try:
        found = json.loads(files.read(path, _LARGEST))
        pairs = found.items() if isinstance(found, dict) else ()
        return {int(port): str(who) for port, who in pairs if port.isdecimal() and _is_entry(who)}
    except (Unreadable, ValueError, RecursionError) as error:
        log.warning("%s cannot be read, so ports are given out anew: %s", path, error)
        return {}


def _is_entry(who: object) -> bool:
    words = who.split(" ") if isinstance(who, str) else []
    return len(words) == 3 and all(words) and "/" not in words[0] and not words[0].startswith(".")  # noqa: PLR2004 (task, tree, variable)
