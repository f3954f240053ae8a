"""The small files in a run's folder that it shares with what an engine runs for it, such as a job or a pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator import plain_files
from orchestrator.model.errors import Unavailable

if TYPE_CHECKING:
    from pathlib import Path

GIVEN_UP: Final = "given up"
"""What stands in the file of a run's place if nobody may begin the run any more."""

_BYTES: Final = 1000


def give_up(placed: Path) -> bool:
    """Claim a run's place for nobody, so that its job begins nothing. Return False if the job was first.

    Raises:
        Unavailable: the file cannot be written.

    """
    try:
        return create(placed, GIVEN_UP) or text_of(placed).startswith(GIVEN_UP)
    except OSError as error:
        raise Unavailable(f"{placed} cannot be written: {error.strerror}") from error


def create(path: Path, text: str) -> bool:
    """Write a small file, unless it is there. Return whether it was not. Raises OSError."""
    try:
        with path.open("xb") as file:
            file.write(f"{text}\n".encode())
    except FileExistsError:
        return False
    return True


def text_of(path: Path, most: int = _BYTES) -> str:
    """Return what stands in a file, up to `most` bytes; empty if there is none."""
    try:
        return plain_files.head(path, most).decode(errors="replace")
    except OSError:
        return ""
