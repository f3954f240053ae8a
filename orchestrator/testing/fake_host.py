"""A host in memory and virtual time, by the port `Host`, for simulations.

Its launchers write the claim files of the real ones, and run programs that are generators
(`testing.fake_process`). What the PM does goes through `before`; what launchers and agents do does not, for they
are other programs and live on when the daemon is killed.
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
from orchestrator.hosts.claims import left_behind, read_exit, read_launched, standing
from orchestrator.hosts.launcher import PANE_LOG, lay_down
from orchestrator.hosts.panes import TYPED
from orchestrator.hosts.processes import Process
from orchestrator.hosts.tmux_arguments import checked_pane, checked_run, checked_target, neutral, shown, typed
from orchestrator.model.errors import Unavailable
from orchestrator.model.run import Leftover
from orchestrator.ports.host import LaunchSpec, Observation, PaneSeen
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_process import FOREVER, FakePane, FakeProcess, Program, Signalled
from orchestrator.testing.memory_files import MemoryFiles

Step: TypeAlias = Literal["open", "launch", "signal", "close", "type"]
"""What changes something in the world of panes and processes."""

CLAIM_AFTER: Final = 0.004
SAY_AFTER: Final = 0.003
END_AFTER: Final = 0.005
"""Seconds: until a launcher claims its run, from there to its word, and from an agent's end to its `exit`."""


class FakeHost:
    """The port `Host`, in memory. `program_of` gives the program that a run's agent is.

    `before` is called ahead of each change that the caller makes, with what it is about, and may raise (a
    BaseException too) to kill the caller there. `told` is called with each file that a launcher has written, as a
    watcher would be. `launchers_wait` is how many seconds more a launcher takes,
    `signalled` is called with each agent that is told to end. `alone` tells of which runs nobody else may be where they
    work. `starts` counts the agents that
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
        told: Callable[[Path], None] = lambda _: None,
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
        self._told = told
        self._sessions: dict[str, Path] = {}
        self._panes: dict[str, FakePane] = {}
        self._living: dict[Process, FakeProcess] = {}
        self._programs: dict[Process, Generator[float, None, int]] = {}
        self._waits: dict[Process, int] = {}
        self._numbers = itertools.count()
        self._pids = itertools.count(100)
        self._boot = 1

    # The port: launching --------------------------------------------------------------------------

    def open_session(self, session: str, title: str, log: Path) -> None:
        """Make the session if missing; its first window follows `log`."""
        name = checked_target(session)
        neutral(title)
        self._answers()
        if name not in self._sessions:
            self._step("open", name)
            self._sessions[name] = log
            self._pane(name, "pm")

    def launch(self, spec: LaunchSpec) -> None:
        """Lay down the run's scripts and open a window, in which its launcher begins a little later."""
        session, window = checked_target(spec.session), checked_target(spec.window)
        checked_run(spec.run)
        if self._files.entry(spec.folder / claims.CLAIMED) is not None:
            return
        try:
            lay_down(self._files, spec)
        except OSError as error:
            raise Unavailable(f"the run's folder cannot be written: {error}") from error
        self._answers()
        if session not in self._sessions:
            raise Unavailable(f"there is no session {session}")
        self._step("launch", spec.run)
        pane = self._pane(session, window)
        self._clock.after(CLAIM_AFTER + self.launchers_wait(spec), partial(self._claim, spec, pane))

    # The port: watching and ending ----------------------------------------------------------------

    def observe(self, folder: Path) -> Observation:
        """Tell how far the run of this folder is, as `LocalHost` does."""
        launched = read_launched(self._files, folder)
        ended = read_exit(self._files, folder)
        claimed = self._files.entry(folder / claims.CLAIMED) is not None
        process = self._living.get(launched.process) if launched is not None else None
        lives = process is not None and not process.orphaned
        seen = standing(launched, ended, lives=lives, claimed=claimed)
        if process is None or (process.hidden and process.process not in self._programs):
            return seen
        return left_behind(seen, [_left(process)], "fake")

    def cpu(self, folder: Path) -> float | None:
        """Return the processor time that the program of a run says it uses."""
        launched = read_launched(self._files, folder)
        process = self._living.get(launched.process) if launched else None
        return (
            None if process is None else process.computes * max(0.0, self._clock.monotonic() - process.began)
        )

    def fence(self, folder: Path) -> None:
        """Claim a run that nobody claimed yet."""
        if self._files.entry(folder) is not None and self._files.create(folder / claims.CLAIMED, b""):
            self._files.create(folder / claims.EXIT, claims.ENDED_BEFORE_IT_BEGAN)

    def end(self, folder: Path, *, kill: bool) -> None:
        """Signal the run and what it left behind. One that was not claimed is forestalled."""
        self.fence(folder)
        launched = read_launched(self._files, folder)
        process = self._living.get(launched.process) if launched else None
        if process is None:
            return
        self._step("signal", process.run)
        self.signalled(process)
        number = signal.SIGKILL if kill else signal.SIGTERM
        self._signal(process, number)
        if kill or not process.stays:
            self._end_left(process)

    # The port: panes ------------------------------------------------------------------------------

    def panes(self) -> list[PaneSeen]:
        """Return every pane."""
        self._answers()
        return [
            PaneSeen(pane.id, pane.session, pane.window, pane.run, pane.pid, pane.dead)
            for pane in self._panes.values()
        ]

    def close_pane(self, pane: str, run: str) -> None:
        """Close a pane if it still bears that run."""
        checked_run(run)
        self._answers()
        there = self._panes.get(checked_pane(pane))
        if there is not None and there.run == run:
            self._step("close", pane)
            self._close(there)

    def close_ended(self, session: str) -> None:
        """Close the dead panes of a session, and the session if it has but its first one."""
        self._answers()
        name = checked_target(session)
        for pane in [pane for pane in self._panes.values() if pane.session == name and pane.dead]:
            self._step("close", pane.id)
            self._close(pane)
        if [pane.window for pane in self._panes.values() if pane.session == name] == ["pm"]:
            self.close_session(session)

    def close_session(self, session: str) -> None:
        """End a session and its windows."""
        self._answers()
        if checked_target(session) in self._sessions:
            self._step("close", session)
            del self._sessions[session]
            for pane in [pane for pane in self._panes.values() if pane.session == session]:
                self._close(pane)

    def capture(self, pane: str, lines: int) -> str:
        """Return the last lines that a pane shows."""
        self._answers()
        there = self._panes.get(checked_pane(pane))
        if there is None or lines <= 0:
            return ""
        told = self._log_of(there) if there.window == "pm" and not there.run else list(there.lines)
        return "\n".join(shown("\n".join(told)).rstrip().split("\n")[-lines:])

    def type_line(self, pane: str, run: str, text: str) -> bool:
        """Type one line into a pane that bears `run`; False if it does not, or is dead."""
        typed(text, TYPED)
        checked_run(run)
        self._answers()
        there = self._panes.get(checked_pane(pane))
        listener = next((each for each in self._living.values() if each.pane is there), None)
        if there is None or there.run != run or there.dead or listener is None:
            return False
        self._step("type", run)
        self.typed[run, text] += 1
        if self.typed[run, text] > 1:
            self.typed_again.append(f"{text!a} was typed into {run} again")
        listener.typed.append(text)
        if self._waits.get(listener.process) is None:
            self._go_on(listener)
        return True

    # The world around it --------------------------------------------------------------------------

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
        """The agents that are gone, and of which something lives that can be told to be theirs."""
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
            self._told(process.spec.folder / claims.EXIT)

    # Launchers and agents -------------------------------------------------------------------------

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
            self._told(process.spec.folder / claims.EXIT)
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
        """End what an agent left behind, if it can be told; where that lives itself, nothing is left when it ends."""
        if process.hidden:
            return
        process.left_behind = False
        if process.pane.dead and process.process not in self._programs:
            self._living.pop(process.process, None)
            self._told(process.spec.folder / claims.EXIT)

    def _put(self, path: Path, text: str) -> None:
        self._files.put(path, text.encode())
        self._told(path)

    def _log(self, spec: LaunchSpec, text: str) -> None:
        path = spec.folder / PANE_LOG
        there = self._files.read(path) if self._files.entry(path) is not None else b""
        if len(there) < spec.log_bytes:
            self._files.put(path, (there + text.encode())[: spec.log_bytes])

    # Parts ----------------------------------------------------------------------------------------

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

    def _log_of(self, pane: FakePane) -> list[str]:
        log = self._sessions[pane.session]
        return self._files.read(log).decode(errors="replace").split("\n")


def _left(process: FakeProcess) -> Leftover:
    """Return what outlives a launcher: its agent, or what that left behind."""
    return Leftover(process.process.pid * 1000, "left behind" if process.left_behind else "agent")
