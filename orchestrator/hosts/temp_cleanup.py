"""Temporary files of interrupted writes, which nobody will ever rename."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from orchestrator.ports.files import TEMPORARY

_OURS: Final = re.compile(rf"{re.escape(TEMPORARY)}[0-9a-f]{{16}}")


def sweep(folders: Iterable[Path], before: float) -> int:
    """Remove temporary files of `DiskFiles` that are directly in these folders, and return how many.

    Only plain files of our user, with names like ours and last changed before `before` (seconds since the epoch): a
    file that is being written is younger. What cannot be examined or removed stays.
    """
    return sum(_swept(folder, before) for folder in folders)


def _swept(folder: Path, before: float) -> int:
    removed = 0
    with suppress(OSError), os.scandir(folder) as there:
        for each in there:
            if not _OURS.fullmatch(each.name):
                continue
            with suppress(OSError):
                found = each.stat(follow_symlinks=False)
                ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid()
                if ours and found.st_mtime < before:
                    Path(each.path).unlink()
                    removed += 1
    return removed
