"""One line of progress for what takes longer than people like to wait: on the error output, if that is a terminal.

Each line overwrites the one before, and nothing of it is left in the end. With `--json` there is none.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager

from orchestrator.cli.screen import columns, cut

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

SECOND = 1.0
"""Seconds of a wait that are not told of, and between two lines about it."""

OFTEN = 0.2
"""Seconds between two counts."""


def is_shown() -> bool:
    """Return whether progress is shown."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and "--json" not in sys.argv


def show(text: str) -> None:
    """Show a line in the place of the one before; an empty text clears it."""
    if is_shown():
        print(f"\r\033[K{cut(text, columns() - 1)}", end="", file=sys.stderr, flush=True)


@contextmanager
def doing(text: str) -> Iterator[None]:
    """Show what is being done, as long as it is."""
    show(f"{text} …")
    try:
        yield
    finally:
        show("")


class Waiting:
    """A line that says, from the first second on, for what and how long a command has waited. Call `look` often."""

    __slots__ = ("_began", "_next", "_text")

    def __init__(self, text: str) -> None:
        self._text, self._began = text, time.monotonic()
        self._next = self._began + SECOND

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._next > self._began + SECOND:
            show("")

    def look(self) -> None:
        """Show how long it has been, once a second."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + SECOND
            show(f"{self._text}, {now - self._began:.0f} s …")


class Counting:
    """A line that says how many things a command has been through. Call `step` for each."""

    __slots__ = ("_count", "_next", "_text", "_what")

    def __init__(self, text: str, what: str) -> None:
        self._text, self._what, self._count = text, what, 0
        self._next = 0.0

    def __enter__(self) -> Self:
        show(f"{self._text} …")
        self._next = time.monotonic() + OFTEN
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        show("")

    def step(self) -> None:
        """Count one more."""
        self._count += 1
        now = time.monotonic()
        if now >= self._next:
            self._next = now + OFTEN
            show(f"{self._text}: {self._count:,} {self._what} …")
