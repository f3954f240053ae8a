"""What a report on a box names and what is not here, with the reason: the report is judged by that.

One file for each place on a box, in the task's own folder: so it outlives the daemon, and whoever judges reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from orchestrator.ports.files import Files, Unreadable

_BYTES: Final = 16_777_216
_ENDING: Final = ".json"


class Withheld:
    """The note for one place. One thread at a time."""

    def __init__(self, files: Files, path: Path) -> None:
        self._files = files
        self._path = path
        self._known = _read(files, path)
        self._kept = dict(self._known)

    @property
    def names(self) -> Mapping[str, str]:
        """The names, as paths in the task's folder, and why each is not here."""
        return self._known

    def note(self, name: str, why: str) -> None:
        """Note why something is not here; nothing, if it is."""
        if why:
            self._known[name] = why
        else:
            self._known.pop(name, None)

    def keep(self) -> None:
        """Write what changed to the disk. Raises OSError."""
        if self._known != self._kept:
            self._files.make_folder(self._path.parent)
            self._files.write(self._path, json.dumps(self._known, ensure_ascii=True).encode())
            self._kept = dict(self._known)


def path_of(folder: Path, place: str) -> Path:
    """Return the path of the note for a place, by the name of its mirror."""
    return folder / f"{place}{_ENDING}"


def withheld(files: Files, folder: Path) -> dict[str, str]:
    """Return what is noted for all places of a task."""
    found = dict[str, str]()
    for name in sorted(files.names(folder)):
        if name.endswith(_ENDING):
            found |= _read(files, folder / name)
    return found


def _read(files: Files, path: Path) -> dict[str, str]:
    if files.entry(path) is None:
        return {}
    try:
        noted = json.loads(files.read(path, _BYTES))
    except (ValueError, RecursionError, Unreadable):
        return {}
    pairs = noted.items() if isinstance(noted, dict) else ()
    return {name: why for name, why in pairs if isinstance(name, str) and isinstance(why, str)}
