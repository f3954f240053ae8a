"""Upgrades: another version, or other settings, on disk are noticed, tried in a process of their own, and taken over.

The process stays, with its pid and its lock; the state is recovered as after any restart.
"""

from __future__ import annotations

import logging
import os
import re
import subprocess
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.daemon.process.command import COMMAND
from orchestrator.formats.settings_stamp import settings_stamp
from orchestrator.model.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from orchestrator.daemon.core.worker_pool import Executor
    from orchestrator.daemon.process.lock import DaemonLock
    from orchestrator.daemon.process.sd_notify import SdNotify
    from orchestrator.ports.clock import Clock

log = logging.getLogger(__name__)

PACKAGE: Final = Path(__file__).parents[2]
"""The folder of this version. Not resolved: a link may change its target, and the old target may stay forever."""

CHECK: Final = "--check"
LOCK: Final = "--lock-fd="
PATIENCE: Final = 600.0
"""Seconds to wait for a quiet moment. After that any moment will do: a daemon can be stopped at any time."""

TRIAL: Final = 60.0
"""Seconds within which the other version must report that it can be used."""

LONGEST_PAUSE: Final = 3600.0
_VERSION: Final = re.compile(r'^__version__ = "([^"\s]+)"', re.MULTILINE)


@dataclass(slots=True)
class Upgrade:
    """What is known of the program and the settings on disk: `look` at every rescan, and give way when `due`.

    `own` names what is in force: version and settings, in the form in which `on_disk` names what is there. `pause` is
    the first wait before something unusable is tried again, `tried` returns the answer of a trial. `fault` is why what
    is on disk cannot be used, if it cannot.
    """

    own: str
    on_disk: Callable[[], str]
    executor: Executor
    clock: Clock
    pause: float
    tried: Callable[[], str]
    fault: str = ""
    _seen: str = ""
    _trying: bool = False  # a trial takes seconds on a busy machine: one at a time
    _tries: int = 0
    _again_at: float = 0.0
    _proven: tuple[str, float] = field(default=("", 0.0))

    def look(self) -> None:
        """Look at what is on disk; try it when it is found for the second time.

        What was not there the last time may still be incomplete.
        """
        found, at = self.on_disk(), self.clock.monotonic()
        if found != self._seen:
            self._seen, self._tries, self._again_at, self._proven = found, 0, 0.0, ("", 0.0)
            self.fault = ""
        elif found not in {"", self.own, self._proven[0]} and at >= self._again_at and not self._trying:
            self._tries += 1
            self._again_at = at + min(self.pause * 2.0**self._tries, LONGEST_PAUSE)
            self._trying = True
            self.executor.do("daemon/upgrade", partial(self._try, found))

    def due(self, *, quiet: bool) -> bool:
        """Return whether what is on disk must take over now; `quiet`: no work is under way."""
        version, since = self._proven
        if not version or version != self._seen:
            return False
        if not quiet and self.clock.monotonic() - since < PATIENCE:
            return False
        return self.on_disk() == version

    def _try(self, version: str) -> None:
        try:
            self._judge(version)
        finally:
            self._trying = False

    def _judge(self, version: str) -> None:
        try:
            answer = self.tried()
        except Unavailable as error:
            log.warning("%s is on disk but cannot be used: %s", _named(version), error)
            self.fault = str(error)
            return
        if answer != version:
            log.warning("%s is on disk, but what would be started is %s", _named(version), _named(answer))
            return
        log.info("%s is on disk and takes over at a quiet moment", _named(version))
        self.fault = ""
        self._proven = (version, self.clock.monotonic())


def named(package: Path, config: Path) -> str:
    """Return the name of the program and the settings on disk; empty if the version cannot be read now."""
    version = version_of(package)
    return f"{version} {settings_stamp(config)}" if version else ""


def _named(name: str) -> str:
    version, _, settings = name.partition(" ")
    return f"version {version} with {f'settings {settings}' if settings != 'none' else 'no settings file'}"


def version_of(package: Path) -> str:
    """Return the version of the package in a folder; empty if that cannot be read now."""
    try:
        found = _VERSION.search((package / "__init__.py").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return ""
    return found[1] if found else ""


def trial() -> str:
    """Let the program on disk import everything and read the settings; return the name that it prints.

    Raises:
        Unavailable: it fails; the message has its last words.

    """
    try:
        done = subprocess.run(
            [*COMMAND, CHECK],
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TRIAL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(str(error)) from error
    if done.returncode:
        words = done.stderr.strip().splitlines() or ["no output"]
        raise Unavailable(f"exit {done.returncode}: {words[-1][:500]}")
    return done.stdout.strip()


def give_way(lock: DaemonLock, notify: SdNotify) -> NoReturn:
    """Become the program on disk. It continues with this process's pid and lock.

    Raises:
        Unavailable: that program does not exist any more.

    """
    try:
        os.execve(  # noqa: S606 (no shell is the point)
            COMMAND[0], [*COMMAND, f"{LOCK}{lock.handed_on()}"], {**os.environ, **notify.variables}
        )
    except OSError as error:
        raise Unavailable(f"the version on disk could not take over: {error}") from error
