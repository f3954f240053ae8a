"""A host: where panes live and runs are launched."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.model.run import Exit, Leftover

RELAY: Final = "relay.sh"
"""The script by which an agent's program tells of itself: laid down beside `LaunchSpec.files`, where there are any."""


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """All that the launcher of one run needs. `folder` is the run's own folder in the PM's state.

    `environment` is everything that the agent gets, but for two variables that the host itself sets: `TERM`,
    which depends on the pane, and `ORCHESTRATOR_LAUNCHER`, by which it finds the processes of the run.
    `session` names the task's tmux session, `window` the new window in it. `files` are laid down in the run's folder
    by name, and `order` as its order where that is another machine. `writable` are the folders that its
    program must be able to write, `readable` those that it must be able to read besides: a host of a kind may keep it
    from all others. It need not be able to write what is `readable`, also where that lies in a folder that is
    `writable`. Sizes are bytes.
    """

    run: str
    folder: Path
    argv: tuple[str, ...]
    cwd: Path
    session: str
    window: str
    environment: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    log_bytes: int = 10_485_760
    order: bytes = b""
    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()


class Standing(StrEnum):
    """How far a launch got, by its claim files."""

    NOT_CLAIMED = "not_claimed"
    CLAIMED = "claimed"  # claimed, but no pid was written yet
    ALIVE = "alive"
    LEFT = "left"  # its launcher is gone, and processes that the run started live
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Observation:
    """What the files of a run and the process table say of it at this moment.

    `queued` says why its program has not begun though its launcher lives, where an engine has it wait: it has no `pid`
    then. `exit` tells how its program ended: given when GONE or LEFT. `pid` is its launcher, or where that is gone the
    first of what is LEFT, all of which `left` names, to a bound. `start` is an opaque word that tells the process `pid`
    from a later one of the same number; given when ALIVE, and when LEFT where the host can tell.
    """

    standing: Standing
    pid: int | None = None
    pane: str = ""
    exit: Exit | None = None
    start: str = ""
    left: tuple[Leftover, ...] = ()
    queued: str = ""


@dataclass(frozen=True, slots=True)
class PaneSeen:
    """One pane of our tmux server. `run` is the `@run` that its launcher set, or empty."""

    id: str
    session: str
    window: str
    run: str
    pid: int
    dead: bool


class Host(Protocol):
    """Where panes live: this machine, or one over SSH. Every call ends by a deadline of its own.

    All raise `Unavailable` when the host or its tmux cannot do it now.
    """

    def open_session(self, session: str, title: str, log: Path) -> None:
        """Make the task's detached session if missing; its first window shows the PM's `log` as it grows."""
        ...

    def launch(self, spec: LaunchSpec) -> None:
        """Lay down launch.sh in the run's folder and open it in a window of its own.

        Safe to repeat: a second launcher of the same run finds `claimed` and ends without running anything.
        """
        ...

    def observe(self, folder: Path) -> Observation:
        """Tell how far the run of this folder is, from its claim files and the process table alone.

        It is GONE when nothing that it started lives any more, as far as the host can tell; LEFT until then.
        """
        ...

    def cpu(self, folder: Path) -> float | None:
        """Return how many seconds of processor time the living processes of a run have used, children waited for too.

        None where that cannot be told: nothing of it lives, or nobody knows.
        """
        ...

    def fence(self, folder: Path) -> None:
        """Claim a run that nobody claimed yet; it is gone, by TERM, and a launcher that comes late starts nothing.

        One whose launcher came first, even a moment ago, is left alone.
        """
        ...

    def end(self, folder: Path, *, kill: bool) -> None:
        """Signal the run's whole process group and everything it left behind: TERM, or KILL if `kill`.

        Never signals a process whose start time differs from the one recorded. No error if it is gone. A run
        that was not claimed yet is fenced.
        """
        ...

    def panes(self) -> list[PaneSeen]:
        """Return every pane of the server in one call; an empty list when no server runs."""
        ...

    def close_pane(self, pane: str, run: str) -> None:
        """Close a pane if it still bears that run; no error otherwise."""
        ...

    def close_session(self, session: str) -> None:
        """End a session and its windows; no error if there is none."""
        ...

    def close_ended(self, session: str) -> None:
        """Close what has ended in a session, and the session if nothing is left but the window that follows its log.

        A window in which something lives stays, with its session: whose it is, is not asked. No error if there is none.
        """
        ...

    def capture(self, pane: str, lines: int) -> str:
        """Return the last lines that a pane shows, with control characters taken out; empty if it is gone.

        Several empty rows in a row are shown as one.
        """
        ...

    def type_line(self, pane: str, run: str, text: str) -> bool:
        """Type one line and Enter, if tmux itself finds that the pane bears `run` and is not in a mode.

        `text` is sent byte for byte, never interpreted; an empty one is Enter alone. Returns False if nothing was
        sent. Raises Refused for a text with control characters or line breaks, or of more than 780 characters;
        and Unavailable also when the line was typed but could not be entered.
        """
        ...
