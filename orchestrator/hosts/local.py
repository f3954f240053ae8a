"""This machine as a host: runs in panes of a tmux server, told apart by their claim files."""

from __future__ import annotations

import re
import signal
import time
from pathlib import Path
from typing import Final

from orchestrator.hosts import claims, processes
from orchestrator.hosts.claims import Launched, read_exit, read_launched
from orchestrator.hosts.launcher import lay_down
from orchestrator.hosts.processes import Process
from orchestrator.hosts.tmux import NoServer, NoTarget, Tmux, TmuxFailed
from orchestrator.hosts.tmux_words import (
    all_of,
    checked_pane,
    checked_run,
    checked_target,
    neutral,
    shown,
    typed,
    word,
)
from orchestrator.model.errors import Unavailable
from orchestrator.model.run import Exit
from orchestrator.ports.files import Files
from orchestrator.ports.host import LaunchSpec, Observation, PaneSeen, Standing

TYPED: Final = 780
"""The most characters of a typed line: Claude Code demotes what comes in pieces of more than 800."""

ENTER_PAUSE: Final = 0.05
"""Seconds between a typed line and Enter: programs take what comes at once for a paste."""

KILL_BOUND: Final = 2.0
"""Seconds in which killed processes must vanish and their launcher write `exit`; then it is killed too."""

_LOOK: Final = 0.005  # seconds between two looks at the process table while killing
_EMPTY_ROWS: Final = re.compile(r"\n{3,}")
_PANE_FIELDS: Final = "#{pane_id} #{pane_pid} #{pane_dead} #{@run} #{session_name}:#{window_name}"


class LocalHost:
    """The port `Host` on this machine. Safe to call from several threads."""

    def __init__(self, tmux: Tmux, files: Files) -> None:
        self._tmux = tmux
        self._files = files
        self._alive: dict[Path, tuple[Process, Observation]] = {}

    # Launching ------------------------------------------------------------------------------------

    def open_session(self, session: str, title: str, log: Path) -> None:
        """Make the task's session if missing: detached, its first window following the PM's `log`."""
        name = checked_target(session)
        follow = ["tail", "-n", "200", "-F", "--", word(str(log))]
        titled = [";", "set-option", "-t", f"={name}:", "@title", word(neutral(title))]
        try:
            self._tmux.cmd(
                "new-session", "-d", "-s", name, "-n", "pm", "-x", "200", "-y", "50", *follow, *titled
            )
        except TmuxFailed as error:
            if "duplicate session" not in str(error):
                raise

    def launch(self, spec: LaunchSpec) -> None:
        """Lay down the run's scripts and open it in a window of its own; nothing, if it was claimed before.

        Raises:
            Refused: the spec holds what cannot be launched.
            NoTarget, NoServer: there is no such session; `open_session` makes it.
            Unavailable: tmux or the disk cannot do it now. It may come all the same: observe, or end.

        """
        session, window = checked_target(spec.session), checked_target(spec.window)
        try:
            if self._files.entry(spec.folder / claims.CLAIMED) is not None:
                return
            script = lay_down(self._files, spec)
        except OSError as error:
            raise Unavailable(f"the run's folder cannot be written: {error}") from error
        # Several words after the name: tmux then runs them as they are, not through a shell.
        run = ["-n", window, "/bin/sh", str(script)]
        self._tmux.cmd("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", f"={session}:", *run)

    # Watching and ending --------------------------------------------------------------------------

    def observe(self, folder: Path) -> Observation:
        """Tell how far the run of this folder is. Raises Unavailable if the disk cannot be read now."""
        try:
            return self._observe(folder)
        except OSError as error:
            raise Unavailable(f"the files of run {folder.name} cannot be read: {error}") from error

    def _observe(self, folder: Path) -> Observation:
        # What a launcher wrote of itself never changes, and it lives until it has told of its end: as long as the
        # process of one that was seen alive runs, there is nothing new to read.
        known, seen = self._alive.get(folder, (None, None))
        if known is not None and seen is not None and processes.alive(known):
            return seen
        seen = self._read(folder)
        if seen.standing is Standing.ALIVE and seen.pid is not None:
            self._alive[folder] = Process(seen.pid, seen.start), seen
        else:
            self._alive.pop(folder, None)
        return seen

    def _read(self, folder: Path) -> Observation:
        launched = read_launched(self._files, folder)
        # The order counts: a launcher found dead has written its `exit` by then, if it ever will.
        lives = launched is not None and processes.alive(launched.process)
        ended = read_exit(self._files, folder)
        pid, pane = (launched.process.pid, launched.pane) if launched else (None, "")
        if ended is not None:
            return Observation(Standing.GONE, pid, pane, ended)
        if launched is not None:
            if lives:
                return Observation(Standing.ALIVE, pid, pane, start=launched.process.start)
            return Observation(Standing.GONE, pid, pane, Exit(lost=True))
        claimed = self._files.entry(folder / claims.CLAIMED) is not None
        return Observation(Standing.CLAIMED if claimed else Standing.NOT_CLAIMED)

    def cpu(self, folder: Path) -> float | None:
        """Return the processor time of a run's living processes, in seconds; None if none lives."""
        try:
            launched = read_launched(self._files, folder)
        except OSError as error:
            raise Unavailable(f"the files of run {folder.name} cannot be read: {error}") from error
        return None if launched is None else processes.used(launched.process, launched.session)

    def end(self, folder: Path, *, kill: bool) -> None:
        """Signal every process of the run; its launcher outlives TERM, and writes `exit` when all is over.

        A run that was not claimed yet is claimed here: a launcher that comes later starts nothing.
        """
        try:
            self._forestall(folder)
            launched = read_launched(self._files, folder)
            if launched is None:
                return
            if kill:
                self._kill(launched)
            else:
                _send(launched, signal.SIGTERM)
        except OSError as error:
            raise Unavailable(f"run {folder.name} cannot be ended now: {error}") from error

    def _forestall(self, folder: Path) -> None:
        if self._files.entry(folder) is None:
            return
        if self._files.create(folder / claims.CLAIMED, b""):
            self._files.create(folder / claims.EXIT, claims.ENDED_BEFORE_IT_BEGAN)

    def _kill(self, launched: Launched) -> None:
        """Kill all but the launcher, and the leader above it, so that it can tell; then these too.

        The leader's end would hang up the agent, which would then have ended by another signal than it did.
        """
        deadline = time.monotonic() + KILL_BOUND
        while time.monotonic() < deadline:
            left = processes.processes_of(launched.process, launched.session)
            if not left:
                return
            for process in left:
                if process.pid not in {launched.process.pid, launched.session}:
                    processes.send(process, signal.SIGKILL)
            time.sleep(_LOOK)
        _send(launched, signal.SIGKILL)

    # Panes ----------------------------------------------------------------------------------------

    def panes(self) -> list[PaneSeen]:
        """Return every pane of the server, in one call; an empty list when no server runs."""
        try:
            answer = self._tmux.cmd("list-panes", "-a", "-F", _PANE_FIELDS)
        except NoServer:
            return []
        return [seen for line in answer.stdout if (seen := _pane(line))]

    def close_pane(self, pane: str, run: str) -> None:
        """Close a pane if tmux itself finds that it still bears the run; no error otherwise."""
        self._if_pane(pane, [_bears(run)], f"kill-pane -t {checked_pane(pane)}")

    def close_session(self, session: str) -> None:
        """End a session and its windows; no error if there is none."""
        try:
            self._tmux.cmd("kill-session", "-t", f"={checked_target(session)}")
        except (NoServer, NoTarget):
            return

    def capture(self, pane: str, lines: int) -> str:
        """Return the last `lines` that a pane shows, without control characters; empty if it is gone.

        Several empty rows in a row count as one: tmux puts "Pane is dead" at the foot of an empty screen.
        """
        try:
            answer = self._tmux.cmd("capture-pane", "-p", "-S", f"-{lines:d}", "-t", checked_pane(pane))
        except (NoServer, NoTarget):
            return ""
        rows = _EMPTY_ROWS.sub("\n\n", shown("\n".join(answer.stdout))).strip("\n").split("\n")
        return "\n".join(rows[-lines:]) if lines > 0 else ""

    def type_line(self, pane: str, run: str, text: str) -> bool:
        """Type one line, then Enter; an empty text is Enter alone.

        tmux itself checks each time whom the keys go to, and says whether it sent them. Returns False if
        nothing was sent.

        Raises:
            Refused: a text with control characters or line breaks, or of more than 780 characters.
            Unavailable: tmux does not answer; or the line was typed, but the pane was not there for Enter.

        """
        keys = typed(text, TYPED)
        if keys:
            if not self._type(pane, run, f"-H {keys}"):
                return False
            time.sleep(ENTER_PAUSE)
        if self._type(pane, run, "Enter"):
            return True
        if keys:
            raise Unavailable(
                f"a line was typed into {pane}, but Enter was not: run {run} is not there any more"
            )
        return False

    def _type(self, pane: str, run: str, keys: str) -> bool:
        # A pane in a mode, a dead one and one with its input off all swallow keys with exit 0.
        listens = "#{==:#{pane_in_mode}#{pane_dead}#{pane_input_off},000}"
        send = f"send-keys -t {checked_pane(pane)} {keys} ; display-message -p sent"
        return self._if_pane(pane, [_bears(run), listens], send) == "sent"

    def _if_pane(self, pane: str, conditions: list[str], command: str) -> str:
        """Let tmux run a command of ours if a pane meets all conditions; return what it printed, or ""."""
        try:
            answer = self._tmux.cmd("if-shell", "-F", "-t", checked_pane(pane), all_of(*conditions), command)
        except (NoServer, NoTarget):
            return ""
        return "\n".join(answer.stdout).strip()


def _send(launched: Launched, number: signal.Signals) -> None:
    """Signal every process of a run."""
    for process in processes.processes_of(launched.process, launched.session):
        processes.send(process, number)


def _bears(run: str) -> str:
    """Return the condition that a pane bears a run."""
    return f"#{{==:#{{@run}},{checked_run(run)}}}"


def _pane(line: str) -> PaneSeen | None:
    """Return a line of `list-panes`, or None if it is none of ours: only others' `@run` can hold a space."""
    identity, _, rest = line.partition(" ")
    pid, _, rest = rest.partition(" ")
    dead, _, rest = rest.partition(" ")
    run, _, rest = rest.partition(" ")
    session, colon, window = rest.partition(":")
    if not (colon and pid.isdigit()):
        return None
    return PaneSeen(identity, session, window, run, int(pid), dead == "1")
