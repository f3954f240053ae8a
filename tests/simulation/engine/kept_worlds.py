"""Worlds that once broke a law, kept in a file so that they are lived again for ever: one on each line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

FILE: Final = "tests/simulation/kept_worlds.txt"
"""Where they stand: seed, days, and, where a failure was shrunk, the names of all that is to happen, by commas."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A world that is lived again: its seed, for how many days, and what may happen in it, None for anything."""

    seed: str
    days: float
    only: frozenset[str] | None = None

    @property
    def line(self) -> str:
        """What stands in the file."""
        words = [self.seed, repr(self.days)]
        return " ".join(words if self.only is None else [*words, ",".join(sorted(self.only))])

    @property
    def how(self) -> str:
        """The command that keeps it."""
        return f"echo {shlex.quote(self.line)} >> {FILE}"


def read(text: str) -> Iterator[Kept]:
    """Yield the worlds of such a file. What stands behind `#` is for its readers. Raises ValueError: a line is none."""
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
