"""The folders `orchestration/` and `data/` of a task: read with suspicion, as agents write there, and written whole.

A folder beneath it that is a link leads elsewhere, and is neither read nor written.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.formats.text import FILE_BYTES
from orchestrator.model.workflow import OUTPUT_FOLDER
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.ports.files import Files

SHARED: Final = 0o755
FILE: Final = 0o644


@dataclass(frozen=True, slots=True)
class WorkflowFolder:
    """The files of a workflow. `task` is the task's folder. Paths are given beneath `orchestration/`."""

    files: Files
    task: Path

    @property
    def root(self) -> Path:
        """The folder itself."""
        return layout.orchestration(self.task)

    def read(self, path: str, most: int = FILE_BYTES) -> bytes:
        """Return a file; nothing if it is not there.

        Raises:
            Unreadable: it is no plain file, is larger than `most`, or lies behind a link.

        """
        place = self.place(path)
        if place is None or self.files.entry(place) is None:
            return b""
        return self.files.read(place, most)

    def write(self, path: str, data: bytes) -> None:
        """Write a file whole, with its folders, unless it is like that already.

        Raises:
            Unreadable: it lies behind a link.
            OSError: the disk cannot do it.

        """
        place = self.place(path, make=True)
        if place is None:
            return
        try:
            if self.files.entry(place) is not None and self.files.read(place, FILE_BYTES) == data:
                return
        except Unreadable:
            pass  # it is replaced
        self.files.write(place, data, FILE, durable=False)

    def replace(self, path: str, data: bytes, there: bytes) -> bool:
        """Write a file that was read as `there`. Return False if somebody wrote it since, or is at it: theirs stands.

        Raises:
            Unreadable: it lies behind a link.
            OSError: the disk cannot do it.

        """
        place = self.place(path, make=True)
        if place is None or data == there:
            return True
        beside = self.files.exchange(place, data, FILE)
        if beside is None:
            return True
        try:
            is_open = self.files.being_written(beside)  # first: nobody can open it any more
            late = is_open or self.files.read(beside, FILE_BYTES) != there
        except Unreadable:  # such as a link
            late = False
        if late:
            self.files.rename(beside, place)
        else:
            self.files.remove(beside, durable=False)
        return not late

    def append(self, path: str, data: bytes) -> None:
        """Add to the end of a file, durably. Raises Unreadable, OSError."""
        place = self.place(path, make=True)
        if place is None:
            return
        log = self.files.open_log(place)
        try:
            log.append(data)
        finally:
            log.close()

    def tail(self, path: str, most: int) -> bytes:
        """Return the end of a file, from the first whole line on; nothing if it is not there. Raises Unreadable."""
        place = self.place(path)
        entry = self.files.entry(place) if place is not None else None
        if place is None or entry is None:
            return b""
        start = max(0, entry.size - most)
        data = self.files.read(place, most + 1, start)
        return data.partition(b"\n")[2] if start else data

    def move(self, path: str, to: str) -> str:
        """Give a file another name that is free: `to`, or that with a number. Return it; empty if there was no file.

        Raises Unreadable, OSError.
        """
        place, target = self.place(path), self.place(to, make=True)
        if place is None or target is None or self.files.entry(place) is None:
            return ""
        free, number = target, 1
        while self.files.entry(free) is not None:
            number += 1
            free = target.with_name(f"{target.stem}_{number}{target.suffix}")
        self.files.rename(place, free)
        return f"{to.rpartition('/')[0]}/{free.name}"

    def remove(self, path: str) -> None:
        """Remove a file, if it is there. Raises Unreadable, OSError."""
        place = self.place(path)
        if place is not None and self.files.entry(place) is not None:
            self.files.remove(place)

    def make(self, path: str) -> None:
        """Make a folder. Raises Unreadable, OSError."""
        self.place(f"{path}/.", make=True)

    def output(self, agent: str, path: str) -> bytes | None:
        """Return a file of an agent's `task_output/`; None if it is not there or cannot be read."""
        try:
            place = self.place(f"agents/{agent}/{OUTPUT_FOLDER}/{path}")
            if place is None or (entry := self.files.entry(place)) is None or not entry.is_file:
                return None
            return self.files.read(place)
        except (Unreadable, OSError):
            return None

    def digest(self, agent: str, path: str) -> str:
        """Return the SHA-256 of a file of an agent's `task_output/`; empty if it is not there or cannot be read."""
        data = self.output(agent, path)
        return "" if data is None else sha256(data).hexdigest()

    def set_aside(self, path: str, data: bytes) -> None:
        """Keep a copy of a file that cannot be read, before it is written anew. Raises Unreadable, OSError."""
        name = path.replace("/", "-")
        self.write(f"records/unreadable/{sha256(data).hexdigest()[:8]}-{name}", data)

    def place(self, path: str, *, make: bool = False) -> Path | None:
        """Return the place of a file, or None if a folder on the way to it is not there, and is not to be made.

        The task's folder itself is never made: somebody moved it or took it away, and is asked about it.

        Raises:
            Unreadable: a folder on the way is none, such as a link; or the task's folder is gone.

        """
        folder = self.root
        *above, name = path.split("/")
        for part in ["", *above]:
            folder = folder / part if part else folder
            entry = self.files.entry(folder)
            if entry is None and not make:
                return None
            if entry is None:
                if self.files.entry(self.task) is None:
                    raise Unreadable(f"{self.task} is gone")
                self.files.make_folder(folder, SHARED)
            elif not entry.is_folder:
                raise Unreadable(f"{folder} is no folder")
        return folder / name


@dataclass(frozen=True, slots=True)
class DataFolder(WorkflowFolder):
    """The folder `data/` of a task whose agents are roles. Paths are given beneath it."""

    @property
    def root(self) -> Path:
        """The folder itself."""
        return layout.role_data(self.task)
