"""`task watch`: how long until there is something to see, until a key is obeyed, and until a change is shown."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import termios
import time
from collections.abc import Iterator

from orchestrator import layout
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.floors import bare_python
from tests.benchmarks.idle import processor_seconds
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.status import TASK, Calls, lay_down
from tests.benchmarks.waiting import PATIENCE
from tests.benchmarks.world import World

TASKS, STEPS, AGENTS = 5, 20, 10
TIMES = 10.0
"""A quarter of a second where an empty interpreter takes 25 ms."""

REST = 10.0
"""Seconds for which it is watched at rest."""

_FLOOR_IS = "python3 -c pass"
_WHOLE = b"Quit"
"""The last word of the first frame, and of each whole one."""

_PHASES = ("DEVELOPING", "REVIEWING")


class Screen:
    """A terminal of 80 columns and 24 lines on which `task watch` runs."""

    def __init__(self, world: World) -> None:
        self._terminal, inside = os.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        actions = [(os.POSIX_SPAWN_DUP2, inside, stream) for stream in range(3)]
        environ = {**world.environ, "TERM": "xterm-256color"}
        self._pid = os.posix_spawn(
            str(TASK), [str(TASK), "watch"], environ, file_actions=actions, setsid=True
        )
        os.close(inside)

    def until(self, text: bytes) -> None:
        """Wait until the terminal is given a text."""
        seen = b""
        while text not in seen:
            if not select.select([self._terminal], [], [], PATIENCE)[0]:
                raise RuntimeError(f"task watch never showed {text!r}")
            seen = seen[-len(text) :] + os.read(self._terminal, 1 << 16)

    def drain(self, seconds: float) -> None:
        """Take for a while what the terminal is given."""
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            if select.select([self._terminal], [], [], left)[0]:
                os.read(self._terminal, 1 << 16)

    @property
    def worked(self) -> float:
        """The milliseconds of processor time that it has taken so far."""
        return processor_seconds(self._pid) * 1000

    def press(self, key: bytes) -> None:
        os.write(self._terminal, key)

    def until_ended(self) -> None:
        """Take what it still says, and wait until it has ended."""
        try:
            while select.select([self._terminal], [], [], PATIENCE)[0] and os.read(self._terminal, 1 << 16):
                pass
        except OSError:  # nobody has the terminal any more
            pass
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        if status:
            raise RuntimeError(f"task watch ended with status {os.waitstatus_to_exitcode(status)}")

    def close(self) -> None:
        """End it, whatever it does."""
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        os.close(self._terminal)


def rows(bench: Bench) -> Iterator[Row]:
    with World() as world:
        for number in range(TASKS):
            lay_down(world, f"part-{number}", STEPS, AGENTS)
        yield from _starts(bench, world)
        yield _changes(bench, world)
        yield _rests(bench, world)


def _starts(bench: Bench, world: World) -> Iterator[Row]:
    what = f"task watch, {TASKS} tasks, {TASKS * AGENTS} agents"
    floor, first, worked, obeyed = Calls(), list[float](), list[float](), list[float]()
    for _ in bench.times(9, what):
        floor.call(bare_python(), world, terminal=False)
        watch = Stopwatch()
        screen = Screen(world)
        try:
            screen.until(_WHOLE)
            first.append(watch.ms)
            worked.append(screen.worked)
            screen.press(b"q")
            screen.until_ended()
            obeyed.append(watch.ms)
        finally:
            screen.close()
    yield Row(f"{what}, its first frame", "ms", first, floor.clock, _FLOOR_IS, Reach(Of.RATIO, TIMES))
    yield Row(f"{what}, processor time until then", "ms", worked, reach=Reach(Of.MEDIAN, 250))
    said = "a key pressed at the first frame waits for Textual"
    yield Row(f"{what}, begun and ended by a key", "ms", obeyed, floor.clock, _FLOOR_IS, note=said)


def _changes(bench: Bench, world: World) -> Row:
    what, taken = "task watch, a change on disk on the screen", list[float]()
    # The newest task stands in the first row.
    state = layout.task_state(layout.task_home(world.state, f"part-{TASKS - 1}-0a1b2c3d"))
    before, after = _PHASES
    screen = Screen(world)
    try:
        screen.press(b"?")
        screen.until(b"keys of task watch")
        screen.press(b"q")
        screen.until(_WHOLE)
        for _ in bench.times(25, what):
            part = state.with_name("state.json.part")
            part.write_text(state.read_text().replace(before, after))
            watch = Stopwatch()
            part.rename(state)
            screen.until(after.encode())
            taken.append(watch.ms)
            before, after = after, before
        screen.press(b"q")
        screen.until_ended()
    finally:
        screen.close()
    return Row(what, "ms", taken, reach=Reach(Of.MEDIAN, 100))


def _rests(bench: Bench, world: World) -> Row:
    what, taken = f"task watch at rest, {TASKS * AGENTS} agents", list[float]()
    screen = Screen(world)
    try:
        screen.until(_WHOLE)
        screen.press(b"?")
        screen.until(b"keys of task watch")
        screen.press(b"q")
        screen.drain(REST)  # until all that it imports late is there
        for _ in bench.times(3, what):
            before = screen.worked
            screen.drain(REST)
            taken.append((screen.worked - before) / (REST * 1000) * 100)
        screen.press(b"q")
        screen.until_ended()
    finally:
        screen.close()
    return Row(what, "% of a core", taken, reach=Reach(Of.MEDIAN, 2))
