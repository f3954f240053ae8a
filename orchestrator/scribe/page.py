"""A page that is written anew again and again, and for which somebody may have put something else in its place."""

from __future__ import annotations

import logging
from itertools import count
from pathlib import Path
from typing import Final

from orchestrator.ports.files import Files

ASIDE: Final = ".set-aside-"
"""What stands between a page's name and a number in the name of what stood in its place."""

log = logging.getLogger(__name__)


def put_page(files: Files, path: Path, data: bytes, mode: int = 0o600) -> None:
    """Put a page in place, whole. A folder that stands there is kept under another name (law 11).

    Raises:
        OSError: the disk would not.

    """
    try:
        files.write(path, data, mode)
    except IsADirectoryError:
        aside = next(
            each for n in count(1) if files.entry(each := path.with_name(f"{path.name}{ASIDE}{n}")) is None
        )
        files.rename(path, aside)
        log.warning("%s was a folder: it is kept as %s", path, aside.name)
        files.write(path, data, mode)
