"""The archive of all tasks of a daemon: they write one after the other, and it is read only once (C6).

It may have ten thousands of handoffs, and each of them changes a few times. Another daemon has an archive of its own:
`task observe --merge` takes what that has, while this one is down.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from orchestrator.records.archive import open_archive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orchestrator.ports.files import Files
    from orchestrator.records.archive import HandoffArchive


@dataclass(slots=True)
class _Kept:
    lock: Lock = field(default_factory=Lock)
    archive: HandoffArchive | None = None


_kept: dict[Path, _Kept] = {}


@contextmanager
def open_shared(files: Files, root: Path) -> Iterator[HandoffArchive]:
    """Provide the archive in a folder, complete, to one writer at a time.

    It is read anew after an error, and where its index was removed: then more may be missing.

    Raises:
        Refused: a link or something else lies in the way.
        OSError: the disk fails.

    """
    kept = _kept.setdefault(root, _Kept())
    with kept.lock:
        archive, kept.archive = kept.archive, None  # whatever becomes of the writer
        if archive is None or not archive.is_there:
            archive = open_archive(files, root)
        yield archive
        kept.archive = archive


def forget() -> None:
    """Forget what this process knows of all archives: for tests in which another process begins."""
    _kept.clear()
