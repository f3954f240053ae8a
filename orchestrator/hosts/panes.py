"""Panes of a tmux server, wherever it runs: listed, read, typed into, closed. tmux itself checks each target."""

from __future__ import annotations

import re
import time
from typing import Final, Protocol

from orchestrator.hosts.tmux_arguments import (
    all_of,
    checked_pane,
    checked_run,
    checked_target,
    neutral,
    shown,
    typed,
    word,
)
from orchestrator.hosts.tmux_failures import NoServer, NoTarget, TmuxFailed
from orchestrator.model.errors import Unavailable
from orchestrator.ports.host import PaneSeen

TYPED: Final = 780
"""The maximum length of a typed line: Claude Code treats input in pieces of more than 800 as less important."""

LOG: Final = "pm"
"""The name of a session's first window, which follows a log."""

ENTER_PAUSE: Final = 0.05
"""Seconds between a typed line and Enter: programs take input that arrives at once for a paste."""

_EMPTY_ROWS: Final = re.compile(r"\n{3,}")
_PANE_FIELDS: Final = "#{pane_id} #{pane_pid} #{pane_dead} #{@run} #{session_name}:#{window_name}"


class TmuxReply(Protocol):
    """The output of a tmux command, by lines."""

    @property
    def stdout(self) -> list[str]:
        """The lines, without line ends."""
        ...


class Server(Protocol):
    """Runs tmux commands, made of our own words only."""

    def cmd(self, cmd: str, *args: str) -> TmuxReply:
        """Run one command (or several, with ";" as a word between them). Raises NoServer, NoTarget, Unavailable."""
        ...


class Panes:
    """The part of the port `Host` that is about panes and sessions. Safe to call from several threads."""

    def __init__(self, tmux: Server) -> None:
        self._tmux = tmux

    def follow(self, session: str, title: str, log: str) -> None:
        """Make a session if missing: detached, its first window following the end of the file `log`."""
        name = checked_target(session)
        tail = ["tail", "-n", "200", "-F", "--", word(log)]
        titled = [";", "set-option", "-t", f"={name}:", "@title", word(neutral(title))]
        try:
            self._tmux.cmd(
                "new-session", "-d", "-s", name, "-n", LOG, "-x", "200", "-y", "50", *tail, *titled
            )
        except TmuxFailed as error:
            if "duplicate session" not in str(error):
                raise

    def start(self, session: str, window: str, script: str, *, show: bool = False) -> None:
        """Run a script of sh in a new window. Raises NoTarget, NoServer: there is no such session.

        `show`: switch viewers of the session's first window, which is of no interest, to this one.
        """
        # Several words after the name: tmux then runs them as they are, not through a shell.
        run = ["-n", checked_target(window), "/bin/sh", word(script)]
        aim = f"={checked_target(session)}:"
        look = [";", "if-shell", "-F", "-t", aim, "#{==:#{window_index},0}", f"select-window -t '{aim}$'"]
        self._tmux.cmd("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", aim, *run, *(look if show else ()))

    def panes(self) -> list[PaneSeen]:
        """Return every pane of the server, in one call; an empty list if no server runs, or one without a session.

        A server whose last session was closed still answers for a moment, until it ends.
        """
        try:
            answer = self._tmux.cmd("list-panes", "-a", "-F", _PANE_FIELDS)
        except (NoServer, NoTarget):
            return []
        return [seen for line in answer.stdout if (seen := _pane(line))]

    def close_pane(self, pane: str, run: str) -> None:
        """Close a pane if tmux itself finds that it still has the label of the run; no error otherwise."""
        self._if_pane(pane, [_bears(run)], f"kill-pane -t {checked_pane(pane)}")

    def close_session(self, session: str) -> None:
        """End a session and its windows; no error if it does not exist."""
        try:
            self._tmux.cmd("kill-session", "-t", f"={checked_target(session)}")
        except (NoServer, NoTarget):
            return

    def close_ended(self, session: str) -> None:
        """Close the dead panes of a session, and the session if only the window that follows its log is left.

        tmux itself checks both, each at the moment of closing: a run that is launched meanwhile stays.
        """
        name = checked_target(session)
        for each in self.panes():
            if each.session == name and each.dead:
                self._if_pane(each.id, ["#{==:#{pane_dead},1}"], f"kill-pane -t {checked_pane(each.id)}")
        alone = all_of(
            "#{==:#{session_windows},1}", "#{==:#{window_panes},1}", f"#{{==:#{{window_name}},{LOG}}}"
        )
        try:
            self._tmux.cmd("if-shell", "-F", "-t", f"={name}:", alone, f"kill-session -t ={name}")
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

        tmux itself checks each time which run the pane belongs to, and reports whether it sent the keys. Returns False
        if nothing was sent.

        Raises:
            Refused: a text with control characters or line breaks, or of more than 780 characters.
            Unavailable: tmux does not answer; or the line was typed, but the pane was gone before Enter.

        """
        keys = typed(text, TYPED)
        if keys:
            if not self._type(pane, run, f"-H {keys}"):
                return False
            time.sleep(ENTER_PAUSE)
        if self._type(pane, run, "Enter"):
            return True
        if keys:
            raise Unavailable(f"a line was typed into {pane}, but Enter was not: run {run} is gone")
        return False

    def _type(self, pane: str, run: str, keys: str) -> bool:
        # A pane in a mode, a dead one and one with its input off all swallow keys with exit 0.
        listens = "#{==:#{pane_in_mode}#{pane_dead}#{pane_input_off},000}"
        send = f"send-keys -t {checked_pane(pane)} {keys} ; display-message -p sent"
        return self._if_pane(pane, [_bears(run), listens], send) == "sent"

    def _if_pane(self, pane: str, conditions: list[str], command: str) -> str:
        """Let tmux run a command of ours if a pane meets all conditions; return its output, or ""."""
        try:
            answer = self._tmux.cmd("if-shell", "-F", "-t", checked_pane(pane), all_of(*conditions), command)
        except (NoServer, NoTarget):
            return ""
        return "\n".join(answer.stdout).strip()


def _bears(run: str) -> str:
    """Return the condition that a pane has the label of a run."""
    return f"#{{==:#{{@run}},{checked_run(run)}}}"


def _pane(line: str) -> PaneSeen | None:
    """Return a line of `list-panes`, or None if the pane is not ours: only others' `@run` can contain a space."""
    identity, _, rest = line.partition(" ")
    pid, _, rest = rest.partition(" ")
    dead, _, rest = rest.partition(" ")
    run, _, rest = rest.partition(" ")
    session, colon, window = rest.partition(":")
    if not (colon and pid.isdigit()):
        return None
    return PaneSeen(identity, session, window, run, int(pid), dead == "1")
