"""Words as a program receives them, as far as they are known: marks stand for unknown parts.

A mark is a character that no command line may contain [formats/shell/source.py]. So a path with a mark in it is still
a path whose folder may be known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

TOKEN: Final = "\U000f0000"  # noqa: S105 (no password)
"""Some characters without a slash or a space, not beginning with a `-`: a number, a date, a hash, a plain name."""
SOME_FILE: Final = "\U000f0001"
"""A path below the folder before it, of files that were chosen by their names or by git."""
ANY_FILE: Final = "\U000f0002"
"""A path below the folder before it, of any files, hidden ones and `.git` included."""
OWN_PROCESS: Final = "\U000f0003"
"""The number of a process that this command line started."""
ANYTHING: Final = "\U000f0004"
"""Any characters at all."""

SAME_PATH: Final = TOKEN + ANYTHING
"""The previous value of `$PATH`."""

FILE_TEXT: Final = ANYTHING + TOKEN
"""The text of a file in a folder of the run, which may be anything."""

FILES: Final = frozenset({SOME_FILE, ANY_FILE})
MARKS: Final = frozenset({TOKEN, SOME_FILE, ANY_FILE, OWN_PROCESS, ANYTHING})
_SHOWN: Final = dict.fromkeys(map(ord, MARKS), "…")


@dataclass(frozen=True, slots=True)
class Field:
    """One word. `glob`: it may be expanded to names of files; `tilde`: it begins with a home that is not known.

    `many`: it may become none or several words. `bare`: none of its characters is quoted.
    """

    text: str
    glob: bool = False
    tilde: bool = False
    many: bool = False
    bare: bool = True

    @property
    def known(self) -> bool:
        """Return whether at least its kind is known: it is not an arbitrary text."""
        return ANYTHING not in self.text

    @property
    def certain(self) -> bool:
        """Return whether each of its characters is known, and it is one word."""
        return not self.many and MARKS.isdisjoint(self.text)

    @property
    def option(self) -> bool:
        """Return whether it is certainly an option."""
        return self.text.startswith("-") and len(self.text) > 1


def readable(text: str) -> str:
    """Return a text with its marks in a readable form."""
    return text.translate(_SHOWN)


def as_line(fields: Iterable[Field]) -> str:
    """Return a command as one line, for messages."""
    return readable(" ".join(field.text for field in fields))
