"""Worlds that once broke a law, kept in a file and replayed by the tests. Each is one line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

FILE: Final = "tests/simulation/kept_worlds.txt"
"""The file. A line has a seed, the days, and, if the failure was shrunk, the events that may occur, by commas."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A world to replay: its seed, its days, and the events that may occur in it, None for all."""

    seed: str
    days: float
    only: frozenset[str] | None = None

    @property
    def line(self) -> str:
        """The line of the file."""
        words = [self.seed, repr(self.days)]
        return " ".join(words if self.only is None else [*words, ",".join(sorted(self.only))])

    @property
    def how(self) -> str:
        """The command that adds it to the file."""
        return f"echo {shlex.quote(self.line)} >> {FILE}"


def read(text: str) -> Iterator[Kept]:
    """Yield the worlds of such a file. `#` begins a comment. Raises ValueError if a line is wrong."""
    for number, line in enumerate(text.splitlines(), 1):
        match line.partition("#")[0].split():
            case []:
                continue
            case [seed, days]:
                yield Kept(seed, float(days))
            case [seed, days, only]:
                yield Kept(seed, float(days), frozenset(only.split(",")))
            case _:
                raise ValueError(f"line {number} is not 'SEED DAYS' or 'SEED DAYS NAME,NAME': {line!a}")
