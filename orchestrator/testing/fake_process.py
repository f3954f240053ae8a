"""A process in a pane, in virtual time: a program is a generator that yields how many seconds pass."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from orchestrator.hosts.processes import Process
from orchestrator.ports.host import LaunchSpec

FOREVER: Final = math.inf
"""Yielded by a program that waits for a typed line or a signal."""

LINES_KEPT: Final = 2000


class Signalled(Exception):
    """Raised in a program: a signal ended it."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"signal {number}")


@dataclass(eq=False, slots=True)
class FakePane:
    """A pane of the imagined tmux server. `run` is what its launcher called itself, or empty."""

    id: str
    session: str
    window: str
    pid: int
    run: str = ""
    dead: bool = False
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=LINES_KEPT))


@dataclass(eq=False, slots=True)
class FakeProcess:
    """One agent, as its program sees it. `ignores` are the signals that do not end it.

    `left_behind` is true while a process that it started in a session of its own lives on. `lingers` is what that one
    does once its parent is gone, `stays` says that TERM does not end it, and `hidden` that it bears no sign of its run.
    `on_end` is called when a signal ends it. `computes` is the share of a processor that it uses while it lives,
    `began` when it began. `orphaned`: its launcher was killed, and nobody will write down how it ends.
    """

    spec: LaunchSpec
    process: Process
    pane: FakePane
    typed: deque[str] = field(default_factory=deque)
    ignores: set[int] = field(default_factory=set)
    left_behind: bool = False
    lingers: Generator[float, None, None] | None = None
    stays: bool = False
    hidden: bool = False
    orphaned: bool = False
    computes: float = 0.0
    began: float = 0.0
    on_end: Callable[[int], None] = lambda _: None
    says: Callable[[str], None] = lambda _: None

    @property
    def run(self) -> str:
        """The run that this is."""
        return self.spec.run

    def say(self, *lines: str) -> None:
        """Print lines."""
        self.pane.lines.extend(lines)
        self.says("".join(f"{line}\r\n" for line in lines))


Program: TypeAlias = Callable[[FakeProcess], Generator[float, None, int]]
