"""The text of a shell script during parsing: the reader's position, and here-documents still to be read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from orchestrator.formats.shell.tree import HereText

MOST_WORDS: Final = 4000
DEEPEST: Final = 24

_BLANK: Final = re.compile(r"(?:[ \t]|\\\n)*")
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f\U000f0000-\U000f00ff]")
"""Characters that a shell may drop or treat as a line end, and private ones that represent unknown text."""


class Doubt(Exception):
    """A script is ambiguous; the message continues a sentence that begins with "it"."""


@dataclass(slots=True)
class HereDocument:
    """A here-document whose text follows after the current line; it is put into `text`."""

    text: HereText
    end: str
    expands: bool
    tabs: bool


@dataclass(slots=True)
class Source:
    """A text, and the position of the reader. `depth` is its nesting depth."""

    text: str
    at: int = 0
    depth: int = 0
    words: int = 0
    due: list[HereDocument] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Refuse characters on which shells disagree. Raises Doubt."""
        if _CONTROL.search(self.text):
            raise Doubt("holds a control character")
        if self.depth > DEEPEST:
            raise Doubt("is nested too deeply")

    def ahead(self, count: int = 1) -> str:
        """Return the next characters."""
        return self.text[self.at : self.at + count]

    def starts(self, *texts: str) -> bool:
        """Return whether one of these texts comes next."""
        return self.text.startswith(texts, self.at)

    def take(self, text: str) -> bool:
        """Skip a text if it comes next; return whether it did."""
        if not self.text.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def blank(self) -> None:
        """Skip spaces, tabs, continued lines, and a comment."""
        found = _BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at
        if self.ahead() == "#":
            end = self.text.find("\n", self.at)
            self.at = end if end >= 0 else len(self.text)

    def enter(self) -> None:
        """Go one level deeper. Raises Doubt."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise Doubt("is nested too deeply")

    def counted(self) -> None:
        """Count a word. Raises Doubt."""
        self.words += 1
        if self.words > MOST_WORDS:
            raise Doubt(f"has more than {MOST_WORDS} words")
