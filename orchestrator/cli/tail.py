"""The end of a growing text file, and the lines added to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from orchestrator import own_files
from orchestrator.cli.screen import harmless
from orchestrator.formats.terminal import without_sequences

_CHUNK: Final = 65_536
_MOST: Final = 8 * 1_048_576
_LONGEST_LINE: Final = 65_536


def readable(line: str) -> str:
    """Return a line as a terminal would show it: without control sequences, after its last carriage return."""
    return harmless(without_sequences(line)).rstrip()


def last_lines(path: Path, count: int) -> list[str]:
    """Return the last lines of a file, read from its end."""
    with own_files.own_file(str(path)) as file:
        position, data = file.seek(0, 2), b""
        while position and data.count(b"\n") <= count and len(data) < _MOST:
            step = min(_CHUNK, position)
            position = file.seek(position - step)
            data = file.read(step) + data
    return data.decode(errors="replace").split("\n")[:-1][-count:] if count else []


def last_packed_lines(path: Path, count: int) -> list[str]:
    """Return the last lines of a compressed file, or of its beginning if that is larger than any that we compress."""
    import gzip

    with own_files.own_file(str(path)) as packed, gzip.open(packed) as file:
        data = file.read(own_files.LARGEST)
    lines = data.decode(errors="replace").removesuffix("\n").split("\n")
    return lines[-count:] if count and data else []


class Tail:
    """The lines added to a file. A missing file has none yet; a file that became shorter was replaced."""

    def __init__(self, path: Path, *, from_end: bool) -> None:
        self._path = path
        self._rest = b""
        self._position = path.stat().st_size if from_end and path.exists() else 0

    def lines(self) -> Iterator[str]:
        """Yield each line completed since the last call."""
        try:
            with own_files.own_file(str(self._path)) as file:
                if file.seek(0, 2) < self._position:
                    self._position, self._rest = 0, b""
                file.seek(self._position)
                while chunk := file.read(_CHUNK):
                    self._position += len(chunk)
                    *whole, self._rest = (self._rest + chunk).split(b"\n")
                    self._rest = self._rest[-_LONGEST_LINE:]
                    yield from (line.decode(errors="replace") for line in whole)
        except FileNotFoundError:
            return
