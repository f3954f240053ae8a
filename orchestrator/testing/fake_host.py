"""A host in memory and virtual time, by the port `Host`, for simulations."""

from __future__ import annotations

import signal
from functools import partial
from pathlib import Path

from orchestrator.hosts import claims
from orchestrator.hosts.claims import left_behind, read_exit, read_launched, standing
from orchestrator.hosts.launcher import lay_down
from orchestrator.hosts.panes import TYPED
from orchestrator.hosts.tmux_arguments import checked_pane, checked_run, checked_target, neutral, shown, typed
from orchestrator.model.errors import Unavailable
from orchestrator.model.run import Leftover
from orchestrator.ports.host import LaunchSpec, Observation, PaneSeen
from orchestrator.testing.fake_machine import CLAIM_AFTER, FakeMachine
from orchestrator.testing.fake_process import FakePane, FakeProcess


class FakeHost(FakeMachine):
    """The port `Host`, in memory, on a `FakeMachine`."""

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
        """Signal the run and what it left behind. One that was not claimed is fenced."""
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
        text = self._log_of(there) if there.window == "pm" and not there.run else list(there.lines)
        return "\n".join(shown("\n".join(text)).rstrip().split("\n")[-lines:])

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

    def _log_of(self, pane: FakePane) -> list[str]:
        log = self._sessions[pane.session]
        return self._files.read(log).decode(errors="replace").split("\n")


def _left(process: FakeProcess) -> Leftover:
    """Return what outlives a launcher: its agent, or what that left behind."""
    return Leftover(process.process.pid * 1000, "left behind" if process.left_behind else "agent")
