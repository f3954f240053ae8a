"""The daemon as a user service, under the service manager of this system."""

from __future__ import annotations

import os
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from orchestrator import layout, plain_files
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import harmless

if TYPE_CHECKING:  # what a unit holds is imported once there is one
    from orchestrator.cli.unit import Words

_LARGEST: Final = 1 << 20  # bytes of a unit
_DEADLINE: Final = 10.0


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended: its exit status, its output, and its last line for people."""

    code: int
    out: str
    said: str


class Service(ABC):
    """The daemon under one service manager. The commands are those that a person would type.

    `load` starts a written unit, now and at each login; `load_anew` does so if an older unit may be running; `links`
    are the files that this creates. `stop` is empty where a signal is enough. `forget` runs after the unit was
    removed. If there are several commands, the last one decides.
    """

    manager: ClassVar[str]
    template: ClassVar[str]
    unit: Path
    probe: Words
    load: tuple[Words, ...]
    load_anew: tuple[Words, ...]
    unload: tuple[Words, ...]
    forget: tuple[Words, ...]
    start: tuple[Words, ...]
    stop: tuple[Words, ...] = ()
    links: tuple[Path, ...] = ()

    @property
    def reachable(self) -> bool:
        """True if the service manager answers here; a container may have none."""
        return run(self.probe).code == 0

    @property
    def text(self) -> str | None:
        """The installed unit; None if there is none. Raises CommandError if `task daemon install` did not write it."""
        try:
            text = plain_files.read(self.unit, _LARGEST).decode(errors="replace")
        except FileNotFoundError:
            if not self.unit.is_symlink():
                return None
            text = ""
        from orchestrator.cli.unit import MARK

        if MARK not in text or self.unit.is_symlink():
            raise CommandError(
                Exit.FAILED,
                f"{self.unit} was not written by `task daemon install`: move it away, then try again",
            )
        return text

    def rendered(self, state: str, environ: Mapping[str, str]) -> str:
        """Return the unit for a daemon with this state folder. Raises CommandError, see `unit`."""
        from orchestrator.cli.unit import unit

        return unit(self.template, self, state, environ)

    def serves(self, state: str) -> bool:
        """Return whether the installed unit is ours, and for the daemon of this state folder."""
        try:
            text = self.text
        except (CommandError, OSError):
            return False
        wanted = self.assignment(layout.HOME_VARIABLE, state)
        return text is not None and wanted in (line.strip() for line in text.splitlines())

    @abstractmethod
    def words(self, words: Sequence[str]) -> list[str]:
        """Return the words of a command in the unit's notation."""

    @abstractmethod
    def assignment(self, name: str, value: str) -> str:
        """Return the line that sets a variable for the daemon."""

    @abstractmethod
    def path(self, path: str) -> str:
        """Return a path in the unit's notation."""

    @abstractmethod
    def main_pid(self) -> int:
        """Return the pid of the daemon that the service manager started, or 0."""

    @abstractmethod
    def ended_on_request(self, pid: int) -> bool:
        """Return whether the service's last process was this one, and it ended on request."""

    @abstractmethod
    def survives_logout(self) -> bool:
        """Return whether the daemon and its agents keep running after their user has logged out."""


def perform(commands: Iterable[Words], within: float = _DEADLINE) -> Done:
    """Run commands one after the other, and return how the last one ended."""
    done = Done(0, "", "")
    for words in commands:
        done = run(words, within)
    return done


def run(words: Words, within: float = _DEADLINE) -> Done:
    """Run one command of a service manager, for at most `within` seconds."""
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=within,
            env=_with_bus(os.environ),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Done(-1, "", f"`{' '.join(words)}` did not end within {within:.0f} s")
    except OSError as error:
        return Done(-1, "", f"{words[0]}: {error.strerror}")
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    return Done(done.returncode, done.stdout, harmless(lines[-1]) if lines else f"exit {done.returncode}")


def service_here() -> Service | None:
    """Return the daemon's service on this system; None if we know no service manager for it."""
    match sys.platform:
        case "linux":
            from orchestrator.cli.systemd import Systemd

            return Systemd(Path.home())
        case "darwin":
            from orchestrator.cli.launchd import Launchd

            return Launchd(Path.home())
        case _:
            return None


def service_of(state: str) -> Service | None:
    """Return the installed service that runs the daemon of this state folder; None if there is none."""
    service = service_here()
    return service if service is not None and service.serves(state) else None


def _with_bus(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which `systemctl --user` finds its manager; cron, for example, does not set it."""
    runtime = f"/run/user/{os.getuid()}"
    if environ.get("XDG_RUNTIME_DIR") or not Path(runtime).is_dir():
        return dict(environ)
    return {**environ, "XDG_RUNTIME_DIR": runtime}
