"""The terminal before Textual has it: the first frame is painted, and what is typed waits for Textual."""

from __future__ import annotations

import os
import signal
import sys
import termios
from collections.abc import Sequence
from types import FrameType, TracebackType
from typing import Any, Final, Self

ENTER: Final = "\033[?1049h"
"""Turns to the terminal's other screen. Textual sends the very same."""

_NO_CURSOR, _NO_WRAP = "\033[?25l", "\033[?7l"
_LEAVE: Final = "\033[?7h\033[?1049l\033[?25h"
_COLUMNS, _LINES = 80, 24
_LOCAL: Final = termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG
_INPUT: Final = termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR
"""What Textual turns off, too: so the keys that it finds waiting are those that were pressed, Ctrl-C among them."""


class EarlyScreen:
    """The terminal of this process, from the first frame on. However it ends, the terminal is as it was before.

    before: the terminal's modes, to be restored.
    painted: whether the first frame was painted.
    taken: whether Textual has taken the terminal over; from then on it is Textual that leaves the other screen.
    """

    def __init__(self) -> None:
        self.before: list[Any] = []
        self.painted = False
        self.taken = False
        self._keyboard = sys.__stdin__.fileno() if sys.__stdin__ else -1
        self._terminal = sys.__stderr__.fileno() if sys.__stderr__ else -1  # where Textual writes
        self._on_term: Any = None

    def __enter__(self) -> Self:
        """Have keys wait unseen. Raises termios.error: there is no terminal."""
        self.before = termios.tcgetattr(self._keyboard)
        modes = termios.tcgetattr(self._keyboard)
        modes[0] &= ~_INPUT
        modes[3] &= ~_LOCAL
        self._on_term = signal.signal(signal.SIGTERM, _end)
        termios.tcsetattr(self._keyboard, termios.TCSANOW, modes)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the terminal back."""
        if not self.taken:
            self.take()
            self._write(_LEAVE if self.painted else "")
        termios.tcsetattr(self._keyboard, termios.TCSANOW, self.before)

    def size(self) -> tuple[int, int]:
        """Return the terminal's columns and lines. Some terminals do not know them: then what Textual takes."""
        known = os.get_terminal_size(self._terminal)
        return known.columns or _COLUMNS, known.lines or _LINES

    def paint(self, lines: Sequence[str]) -> None:
        """Show lines from the top of the screen down, each in a line of its own."""
        self.painted = True
        placed = "".join(f"\033[{place};1H{line}\033[0m" for place, line in enumerate(lines, 1))
        self._write(f"{ENTER}{_NO_CURSOR}{_NO_WRAP}\033[2J{placed}")

    def take(self) -> None:
        """Let Textual have the terminal, and its own way to end."""
        if not self.taken:
            self.taken = True
            signal.signal(signal.SIGTERM, self._on_term)

    def _write(self, text: str) -> None:
        data = text.encode(errors="replace")
        while data:
            data = data[os.write(self._terminal, data) :]


def _end(number: int, _frame: FrameType | None) -> None:
    """End as the signal would have it, but with the terminal given back."""
    raise SystemExit(128 + number)
