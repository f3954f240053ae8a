"""A machine in memory and virtual time: its panes, its launchers, and the agents that they run.

Launchers write the claim files of the real ones, and run programs that are generators (`testing.fake_process`). What
the PM does goes through `before`; what launchers and agents do does not, for they are other programs and live on when
the daemon is killed.
"""

from __future__ import annotations

import itertools
import signal
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, Literal, TypeAlias

from orchestrator.hosts import claims
from orchestrator.hosts.launcher import PANE_LOG
from orchestrator.hosts.processes import Process
from orchestrator.model.errors import Unavailable
from orchestrator.ports.host import LaunchSpec
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_process import FOREVER, FakePane, FakeProcess, Program, Signalled
from orchestrator.testing.memory_files import MemoryFiles

Step: TypeAlias = Literal["open", "launch", "signal", "close", "type"]
"""What changes something in the world of panes and processes."""

CLAIM_AFTER: Final = 0.004
SAY_AFTER: Final = 0.003
END_AFTER: Final = 0.005
"""Seconds: until a launcher claims its run, from there to its word, and from an agent's end to its `exit`."""


class FakeMachine:
    """Panes and processes, in memory. `program_of` gives the program that a run's agent is.

    `before` is called ahead of each change that the caller makes, with what it is about, and may raise (a
    BaseException too) to kill the caller there. `written` is called with each file that a launcher has written, as a
    watcher would be. `launchers_wait` is how many seconds more a launcher takes, `signalled` is called with each agent
    that is asked to end. `alone` says of which runs nobody else may be where they work. `starts` counts the agents that
    were started, by run and by boot: a power cut takes a claim that was not yet on the disk, and its agent. `typed`
    counts what was typed into which run. While `frozen`, every call that needs tmux raises Unavailable.
    """

    def __init__(
        self,
        files: MemoryFiles,
        clock: FakeClock,
        program_of: Callable[[LaunchSpec], Program],
        *,
        before: Callable[[Step, str], None] | None = None,
        written: Callable[[Path], None] = lambda _: None,
    ) -> None:
        self.before = before
        self.starts: Counter[tuple[str, int]] = Counter()
        self.typed: Counter[tuple[str, str]] = Counter()
        self.doubled: list[str] = []
        self.typed_again: list[str] = []
        self.started: list[str] = []
        self.signalled: Callable[[FakeProcess], None] = lambda _: None
        self.launchers_wait: Callable[[LaunchSpec], float] = lambda _: 0.0
        self.alone: Callable[[LaunchSpec], bool] = lambda _: False
        self.frozen = False
        self._files = files
        self._clock = clock
        self._program_of = program_of
        self._written = written
        self._sessions: dict[str, Path] = {}
        self._panes: dict[str, FakePane] = {}
        self._living: dict[Process, FakeProcess] = {}
        self._programs: dict[Process, Generator[float, None, int]] = {}
        self._waits: dict[Process, int] = {}
        self._numbers = itertools.count()
        self._pids = itertools.count(100)
        self._boot = 1

    @property
    def living(self) -> list[FakeProcess]:
        """The agents that live."""
        return [each for each in self._living.values() if each.process in self._programs]

    def kill_server(self) -> None:
        """Let the tmux server die: every pane is gone, and every agent hears that its terminal is."""
        self._sessions.clear()
        for pane in list(self._panes.values()):
            self._close(pane)

    def lose_power(self) -> None:
        """Let the machine go down and come up again: nobody lives, and nobody had a last word."""
        self._boot += 1
        self._sessions.clear()
        self._panes.clear()
        self._living.clear()
        self._programs.clear()
        self._waits.clear()

    def signal(self, run: str, number: int) -> None:
        """Do as somebody would who sends a signal to the agent of a run."""
        for process in [each for each in self._living.values() if each.run == run]:
            self._signal(process, number)

    def left_behind(self, run: str) -> bool:
        """Tell whether a process lives that the agent of a run started in a session of its own."""
        return any(each.left_behind for each in self._living.values() if each.run == run)

    @property
    def left(self) -> list[FakeProcess]:
        """The agents that are gone, and of which something lives that is known to be theirs."""
        return [
            each
            for each in self._living.values()
            if each.left_behind and not each.hidden and each.process not in self._programs
        ]

    def kill_launcher(self, run: str) -> None:
        """Kill the launcher of a run: its agent hears that its terminal is gone, and may live on."""
        for process in [each for each in self.living if each.run == run and not each.orphaned]:
            process.orphaned = True
            process.pane.dead = True
            self._signal(process, signal.SIGHUP)
            self._written(process.spec.folder / claims.EXIT)

    def _claim(self, spec: LaunchSpec, pane: FakePane) -> None:
        if self._panes.get(pane.id) is not pane:
            return
        if self._files.entry(spec.folder / claims.CLAIMED) is not None:
            pane.lines.append("This run was launched before: nothing is started.")
            pane.dead = True
            return
        self._files.put(spec.folder / claims.CLAIMED)
        self._clock.after(SAY_AFTER, partial(self._begin, spec, pane, self._boot))

    def _begin(self, spec: LaunchSpec, pane: FakePane, boot: int) -> None:
        if boot != self._boot:
            return
        process = FakeProcess(spec, Process(pane.pid, f"{next(self._numbers)}@{boot}"), pane)
        process.says = partial(self._log, spec)
        process.began = self._clock.monotonic()
        pane.run = spec.run
        words = {
            "pid": process.process.pid,
            "start": process.process.start,
            "session": process.process.pid,
            "pane": pane.id,
        }
        self._put(spec.folder / claims.PID, "".join(f"{name} {value}\n" for name, value in words.items()))
        self.starts[spec.run, self._boot] += 1
        self.started.append(spec.run)
        if self.starts[spec.run, self._boot] > 1:
            self.doubled.append(f"run {spec.run} was started again")
        self.doubled += [
            f"run {spec.run} was started in {spec.cwd}, where something of {each.run} lives"
            for each in self._living.values()
            if self.alone(spec) and each.spec.cwd == spec.cwd and not each.hidden
        ]
        self._living[process.process] = process
        self._programs[process.process] = self._program_of(spec)(process)
        if pane.id in self._panes:
            self._go_on(process)
        else:
            self._signal(process, signal.SIGHUP)

    def _go_on(self, process: FakeProcess, number: int | None = None) -> None:
        """Let a program run until it next waits, unless it was woken by something else meanwhile."""
        key = process.process
        if key not in self._programs or self._waits.get(key) != number:
            return
        self._waits.pop(key, None)
        try:
            seconds = next(self._programs[key])
        except StopIteration as end:
            self._end(process, f"code {end.value}")
        except Signalled as end:
            self._end(process, f"signal {end.number}")
        else:
            if seconds != FOREVER:
                self._waits[key] = number = next(self._numbers)
                self._clock.after(seconds, partial(self._go_on, process, number))

    def _signal(self, process: FakeProcess, number: int) -> None:
        if process.process in self._programs and (number not in process.ignores or number == signal.SIGKILL):
            process.on_end(number)
            with suppress(Signalled):
                self._programs[process.process].close()
            self._end(process, f"signal {number}")

    def _end(self, process: FakeProcess, how: str) -> None:
        del self._programs[process.process]
        self._waits.pop(process.process, None)
        self._clock.after(END_AFTER, partial(self._write_down, process, how))

    def _write_down(self, process: FakeProcess, how: str) -> None:
        if process.process not in self._living:
            return
        process.pane.dead = True
        if not process.left_behind:
            del self._living[process.process]
        if process.orphaned:
            self._written(process.spec.folder / claims.EXIT)
        else:
            self._put(process.spec.folder / claims.EXIT, f"{how}\noom_kills 0\n")
        self._linger(process)

    def _linger(self, process: FakeProcess) -> None:
        """Let what an agent left behind go on until it next waits; it may end by itself."""
        if process.process not in self._living or process.lingers is None:
            return
        seconds = next(process.lingers, None)
        if seconds is None:
            process.hidden = False
            self._end_left(process)
        elif seconds != FOREVER:
            self._clock.after(seconds, partial(self._linger, process))

    def _end_left(self, process: FakeProcess) -> None:
        """End what an agent left behind, if it is known; where that lives itself, nothing is left when it ends."""
        if process.hidden:
            return
        process.left_behind = False
        if process.pane.dead and process.process not in self._programs:
            self._living.pop(process.process, None)
            self._written(process.spec.folder / claims.EXIT)

    def _put(self, path: Path, text: str) -> None:
        self._files.put(path, text.encode())
        self._written(path)

    def _log(self, spec: LaunchSpec, text: str) -> None:
        path = spec.folder / PANE_LOG
        there = self._files.read(path) if self._files.entry(path) is not None else b""
        if len(there) < spec.log_bytes:
            self._files.put(path, (there + text.encode())[: spec.log_bytes])

    def _step(self, step: Step, about: str) -> None:
        if self.before is not None:
            self.before(step, about)

    def _answers(self) -> None:
        if self.frozen:
            raise Unavailable("tmux does not answer: is its server frozen?")

    def _pane(self, session: str, window: str) -> FakePane:
        pane = FakePane(f"%{next(self._numbers)}", session, window, next(self._pids))
        self._panes[pane.id] = pane
        return pane

    def _close(self, pane: FakePane) -> None:
        del self._panes[pane.id]
        for process in [each for each in self._living.values() if each.pane is pane]:
            self._signal(process, signal.SIGHUP)
