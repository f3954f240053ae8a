"""A box as a host: runs in panes of a tmux server there, distinguished by their claim files, over the link.

The daemon names paths on a box by its own: `tasks/ID/runs/RUN` of its state folder stands for the same path below
`runs.ROOT` there. After a `Cut` it is safe to try again: the claim decides (law 4).
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files as package_files
from pathlib import Path, PurePosixPath
from typing import Final

from orchestrator.hosts.claims import CLAIMED, EXIT, PID
from orchestrator.hosts.launcher import SCRIPT, scripts
from orchestrator.hosts.panes import Panes
from orchestrator.hosts.ssh import runs, sftp
from orchestrator.hosts.ssh.box_tmux import SOCKET, BoxTmux
from orchestrator.hosts.ssh.runs import PER_RUN, ROOT, Answered, RunQuery
from orchestrator.hosts.tmux_arguments import checked_target, shown
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.box_link import BoxLink
from orchestrator.ports.host import LaunchSpec, Observation, Standing

_AT_ONCE: Final = 200  # runs: the system limits a word to 128 KB, and a command line over ssh is one word
_CLAIMS: Final = (CLAIMED, PID, EXIT)
_TMUX_CONFIG: Final = b"\n".join(
    package_files(room).joinpath("tmux.conf").read_bytes() for room in ("orchestrator.hosts", __package__)
)


class BoxHost(Panes):
    """The port `Host` on a box. Safe to call from several threads.

    Every call asks the box, and raises as `Link.run` does: `Unreachable` if nothing was asked, `Cut` if the result is
    unknown, `NotLetIn` if a person must do something first. Folders are given as those of the daemon's state folder,
    `state`; argv, cwd and environment of a launch are the box's own. `socket` names the tmux server there.
    """

    def __init__(self, link: BoxLink, state: Path, socket: str = SOCKET) -> None:
        super().__init__(BoxTmux(link, socket))
        self._link = link
        self._state = state
        self._seen: dict[Path, Observation] = {}

    # Launching ------------------------------------------------------------------------------------

    def open_session(self, session: str, title: str, log: Path) -> None:
        """Make the task's session there if missing: its first window follows a file that says what this is.

        The file has the same path there as the PM's `log` here, and shows what is added to it there.
        """
        there = self._there(log)
        words = f"Agents that the PM on {platform.node()} has sent here: {title}. Its log is there, in {log}."
        answer = self._ask("begin", there, shown(words), stdin=_TMUX_CONFIG)
        self.follow(session, title, f"{answer.home}/{ROOT}/{there}")

    def launch(self, spec: LaunchSpec) -> None:
        """Write the run's scripts there and open it in a window of its own; do nothing if it was claimed before.

        Raises:
            Refused: the spec contains something that cannot be launched.
            NoTarget, NoServer: there is no such session; `open_session` makes it.
            Cut: it may start all the same: observe, or launch it again, or end it.
            Unavailable: tmux or the disk cannot do it now.

        """
        # Checked before anything is done.
        for name in (spec.session, spec.window):
            checked_target(name)
        scripts(spec)
        there = self._there(spec.folder)
        inbox = f"{PurePosixPath(there).parent.parent}/requests/events"
        ready = self._ask("prepare", there, self._known(spec.folder), inbox)
        if b"claimed" in ready.lines:
            return
        folder = f"{ready.home}/{ROOT}/{there}"
        with sftp.opened(self._link) as box:
            for name, content in scripts(replace(spec, folder=Path(folder))).items():
                box.put(f"{folder}/{name}", content)
        self.start(spec.session, spec.window, f"{folder}/{SCRIPT}", show=True)

    # Watching and ending --------------------------------------------------------------------------

    def observe(self, folder: Path) -> Observation:
        """Return the state of the run of this folder. Raises Unavailable if that is unknown now."""
        try:
            return self.observe_all([folder])[folder]
        except KeyError:
            raise Unavailable(self._missing(folder)) from None

    def observe_all(self, folders: Sequence[Path]) -> dict[Path, Observation]:
        """Return the states of runs, in one round trip for up to 200; runs without a certain state are left out.

        A run whose claim was seen and does not exist any more has no certain state either: it may live.
        """
        states: dict[Path, Observation] = {}
        for first in range(0, len(folders), _AT_ONCE):
            states |= self._observed(folders[first : first + _AT_ONCE])
        return states

    def _observed(self, folders: Sequence[Path]) -> dict[Path, Observation]:
        asked = [RunQuery(self._there(folder), self._alive(folder)) for folder in folders]
        ended = self._link.run(runs.observing(asked), most=PER_RUN * (len(asked) + 1))
        seen = zip(folders, runs.read_observations(runs.read_answer(ended.out), asked), strict=True)
        return {folder: each for folder, each in seen if each is not None and self._believed(folder, each)}

    def cpu(self, folder: Path) -> float | None:
        """Return the processor time of a run's living processes, in seconds; None if none lives, or it is unknown."""
        return runs.read_used(self._ask("cpu", self._there(folder)))

    def fence(self, folder: Path) -> None:
        """Claim a run there that nobody has claimed yet: a launcher that comes later starts nothing.

        A launcher that claimed it over a minute ago, and reported no pid, starts nothing either.
        """
        self._ask("fence", self._there(folder), self._known(folder))

    def end(self, folder: Path, *, kill: bool) -> None:
        """Signal every process of the run; its launcher survives TERM, and writes `exit` when all have ended."""
        self._ask("end", self._there(folder), self._known(folder), "KILL" if kill else "TERM")

    # What is known --------------------------------------------------------------------------------

    def _alive(self, folder: Path) -> Observation | None:
        """Return the last observation of a run that lived: while its process runs, there is nothing new to read."""
        seen = self._seen.get(folder)
        return seen if seen is not None and seen.standing is Standing.ALIVE else None

    def _known(self, folder: Path) -> str:
        """Return whether a run was seen claimed, by us or by its fetched files, in the script's words."""
        claimed = folder in self._seen or any((folder / name).exists() for name in _CLAIMS)
        return "known" if claimed else ""

    def _believed(self, folder: Path, seen: Observation) -> bool:
        """Record a claim that was seen; return whether the new observation is consistent with it."""
        match seen.standing:
            case Standing.NOT_CLAIMED:
                return not self._known(folder)
            case Standing.GONE:
                self._seen.pop(folder, None)
            case Standing.CLAIMED | Standing.ALIVE | Standing.LEFT:
                self._seen[folder] = seen
        return True

    def _missing(self, folder: Path) -> str:
        return (
            f"{self._link.address}: nothing certain is known of run {folder.name}: was the box emptied, or is a disk "
            "not mounted?"
        )

    # Asking ---------------------------------------------------------------------------------------

    def _ask(self, verb: str, folder: str, *words: str, stdin: bytes = b"") -> Answered:
        ended = self._link.run(runs.command(verb, folder, *words), stdin=stdin)
        answer = runs.read_answer(ended.out)
        if not answer.whole:
            message = " ".join(ended.err.decode(errors="backslashreplace").split())
            raise Unavailable(
                f"{self._link.address} could not {verb} {folder}: {message or f'exit {ended.status}'}"
            )
        if b"missing" in answer.lines:
            raise Unavailable(self._missing(Path(folder)))
        return answer

    def _there(self, path: Path) -> str:
        """Return the path of a state folder's file below our root there. Raises Refused."""
        if not path.is_relative_to(self._state) or ".." in path.parts or path == self._state:
            raise Refused(f"{path} is not a run's path below {self._state}")
        return path.relative_to(self._state).as_posix()
