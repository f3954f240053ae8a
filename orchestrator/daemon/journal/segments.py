"""The files that a journal consists of: the newest is plain and grows, older ones are compressed for the audit.

A segment is named after its first line, `0000000001.jsonl`; a compressed one has a further `.gz`. The compressed file
is written completely before the plain one is removed, so a kill in between leaves both, with the same content. Imports
nothing heavy: `task why` reads them as well.
"""

from __future__ import annotations

import gzip
import math
import zlib
from io import BytesIO
from typing import TYPE_CHECKING, Final

from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from orchestrator.ports.files import Files

PLAIN: Final = ".jsonl"
COMPRESSED: Final = ".jsonl.gz"
MOST: Final = 1 << 30
"""The maximum number of bytes read of one file."""


def segments(names: Iterable[str]) -> list[str]:
    """Return the journal's files among the names in its folder, oldest first: a plain file rather than its copy."""
    by_number = dict[str, str]()
    for name in sorted(names, reverse=True):  # 1.jsonl.gz, 1.jsonl
        if name.endswith((PLAIN, COMPRESSED)):
            by_number[name.partition(".")[0]] = name
    return [by_number[number] for number in sorted(by_number)]


def first_line(name: str) -> float:
    """Return the number of the first line that a segment adds: it replaces what older ones hold from there on."""
    number = name.partition(".")[0]
    return int(number) if number.isascii() and number.isdigit() else math.inf


def unpacked(name: str, data: bytes) -> bytes:
    """Return the lines of a segment. Raises ValueError if it is compressed and cannot be read."""
    if not name.endswith(COMPRESSED):
        return data
    try:
        with gzip.open(BytesIO(data)) as packed:
            lines = packed.read(MOST + 1)
        if len(lines) > MOST:
            raise ValueError(f"{name} has more than {MOST} bytes")
        return lines
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{name} cannot be read: {error}") from error


def compress_closed(files: Files, folder: Path) -> None:
    """Compress every segment but the newest. Repeatable, and safe to be killed.

    Raises:
        OSError: the disk cannot do it now; the plain file stays.

    """
    for name in segments(entry.name for entry in files.entries(folder) if entry.is_file)[:-1]:
        if name.endswith(PLAIN):
            try:
                lines = files.read(folder / name, MOST)
            except Unreadable:  # deleted, or a foreign file
                continue
            # Without a time, so that compressing the same lines again gives the same file.
            files.write(folder / f"{name}.gz", gzip.compress(lines, 6, mtime=0))
            files.remove(folder / name)
