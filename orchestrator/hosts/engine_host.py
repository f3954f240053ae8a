"""The base of hosts whose programs run in something of an engine's, such as a container or a job.

That may outlive whoever waits for it here. A marker in the run's folder stands for it until it is known to be gone.
"""

from __future__ import annotations

import logging
import os
from abc import abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from orchestrator import layout
from orchestrator.formats.settings import load_section
from orchestrator.hosts.wrapped import WrappedHost
from orchestrator.model.errors import BadFile, Refused, Unavailable
from orchestrator.model.run import Leftover
from orchestrator.ports.host import Observation, Standing

if TYPE_CHECKING:
    from orchestrator.ports.host import Host

PROFILE_MARK: Final = "#"
"""Stands between what names a host within its kind and its profile of settings: `podman:alpine#offline`."""

log = logging.getLogger(__name__)
S = TypeVar("S")


class EngineHost(WrappedHost):
    """This machine, with each program in something of an engine's that has a `marker` in the run's folder."""

    marker: str

    def __init__(self, local: Host) -> None:
        super().__init__(local)
        self._asked: set[Path] = set()

    @abstractmethod
    def called(self, folder: Path) -> str:
        """Return how a person would call what a run has with the engine, such as `container NAME`."""

    def ask(self, folder: Path) -> bool:
        """Have the engine send TERM to a run's program; return whether it did.

        For engines whose program here would end what it waits for at TERM, instead of passing it on. By default none.
        """
        return False

    @abstractmethod
    def kill(self, folder: Path) -> None:
        """Kill what a run has with the engine. Raises Unavailable if the engine does not answer."""

    @abstractmethod
    def remove(self, folder: Path) -> None:
        """See that what a run has with the engine is gone, and end it if not. Raises Unavailable if it may live."""

    def observe(self, folder: Path) -> Observation:
        """As `Host`. A run is not gone before what it has with the engine is known to be."""
        seen = self.local.observe(folder)
        if seen.standing is not Standing.GONE or seen.exit is None or not self._may_live(folder):
            return seen
        return replace(seen, standing=Standing.LEFT, left=(Leftover(seen.pid or 0, self.called(folder)),))

    def end(self, folder: Path, *, kill: bool) -> None:
        """As `Host`. What nobody waits for is removed with what runs in it.

        Raises:
            Unavailable: also if the engine does not answer.

        """
        may_live = self._may_live(folder)
        if may_live and not kill and self._was_asked(folder):
            return
        if may_live and kill:
            # Ahead of the processes here, which may be what the engine tidies up by.
            with suppress(Unavailable):
                self.kill(folder)
        self.local.end(folder, kill=kill)
        # Once more: the engine may just have been making it.
        if may_live and (kill or self.local.observe(folder).standing is Standing.GONE):
            self.remove(folder)
            (folder / self.marker).unlink(missing_ok=True)

    def _was_asked(self, folder: Path) -> bool:
        """Return whether the engine sent TERM to a run's program, now or before; then nothing here gets it.

        A second TERM would interrupt what a program does at its end. KILL reaches everything.
        """
        if self.local.observe(folder).standing is not Standing.ALIVE:
            self._asked.discard(folder)
            return False
        if folder not in self._asked and not self.ask(folder):
            return False
        self._asked.add(folder)
        return True

    def _may_live(self, folder: Path) -> bool:
        """Return whether nobody has seen yet that what a run has with the engine is gone."""
        return os.path.lexists(folder / self.marker)


class CurrentSection(Generic[S]):
    """A section of the user's settings as it is now, or as it last was without a fault."""

    def __init__(self, section: str, environ: Mapping[str, str], profile: str = "") -> None:
        """Take a section's name; what its profile `[SECTION.PROFILE]` says, if one is named, goes before the rest."""
        self._section = section
        self._environ = environ
        self._profile = profile
        self._last: S | None = None

    def of(self, profile: str) -> CurrentSection[S]:
        """Return the section with a profile; itself if none is named."""
        return CurrentSection(self._section, self._environ, profile) if profile else self

    def __call__(self) -> S:
        """Return the section. Raises Refused if it was never read without a fault."""
        try:
            path = Path(layout.config_file(self._environ))
            self._last = load_section(path, self._environ, self._section, self._profile)
        except BadFile as problem:
            if self._last is None:
                raise Refused(str(problem)) from problem
            log.warning("[%s] of the settings stays as it was: %s", self._section, problem)
        return self._last
