"""The host kinds for containers: each run's program in a container of its own, with the files of this machine.

The container's processes bear the mark of the run, so that they are seen, counted and ended as those of any run. A
container that nobody waits for any more counts as left behind by its run, and is removed through the engine.
"""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files as package_files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.formats.settings import load_section
from orchestrator.hosts.containers.command import (
    MARKER,
    SCRIPT,
    STARVED,
    arguments,
    container_name,
    label_of,
    trial,
)
from orchestrator.hosts.containers.engine import Engine, Identity, client_variables
from orchestrator.hosts.wrapped import WrappedHost
from orchestrator.model.errors import BadFile, Refused, Unavailable
from orchestrator.model.run import Leftover
from orchestrator.ports.host import Host, LaunchSpec, Observation, Standing

if TYPE_CHECKING:
    from orchestrator.model.container_settings import ContainerSettings

log = logging.getLogger(__name__)

_SOURCE: Final = package_files("orchestrator.hosts.containers").joinpath(SCRIPT).read_bytes()
REMOVALS: Final = 3
"""How often a container is removed until it is gone. Podman, once its conmon was killed, does it the second time."""

_IGNORED: Final = "limits are not supported"
"""Podman's warning where it is not root's and control groups are of version 1; it exits 0 all the same."""

_UNKNOWN: Final = ("no such image", "image not known")


class ContainerKind:
    """The port `HostKind` by a container engine. A host's name is an image."""

    def __init__(self, engine: Engine, environ: Mapping[str, str] | None = None) -> None:
        """Take an engine. `environ` is by default the environment of this process."""
        self._engine = engine
        self._environ = os.environ if environ is None else environ
        self._options: ContainerSettings | None = None

    def lacks(self, name: str) -> str:
        """Return what keeps containers from being made of an image; no image is ever pulled."""
        engine, environ = self._engine, self._environ
        if engine.absent(environ):
            return f"{engine.program} is not installed: install it by your package manager"
        try:
            status, _, why = engine.call(environ, "image", "inspect", "--format", "{{.Id}}", "--", name)
            if status and any(each in why.lower() for each in _UNKNOWN):
                return f"there is no image {name} here, and none is fetched unasked: `{engine.program} pull {name}`"
            if status == 0:
                words = trial(name, self.options(), self._identity())
                status, _, why = engine.call(environ, *words)
                if _IGNORED in why.lower():
                    return f"{engine.program} does not limit containers here: {why}"
        except (Unavailable, Refused) as problem:
            return f"{problem}: `{engine.program} info` tells more"
        return f"{engine.program} cannot run containers here: {why}" if status else ""

    def host(self, name: str, local: Host) -> Host:
        """Return this machine, with each program in a container of an image. Raises Refused."""
        if not name or name.startswith("-"):
            raise Refused(f"{name[:80]!a} is no image")
        return ContainerHost(local, self._engine, name, self._environ, self.options)

    def options(self) -> ContainerSettings:
        """Return `[containers]` of the user's settings as they are now, or as they last were without a fault.

        Raises:
            Refused: they were never read without a fault.

        """
        try:
            self._options = load_section(Path(layout.config_file(self._environ)), self._environ, "containers")
        except BadFile as problem:
            if self._options is None:
                raise Refused(str(problem)) from problem
            log.warning("containers are made by the settings as they were: %s", problem)
        return self._options

    def _identity(self) -> Identity:
        return self._engine.identity(os.geteuid(), os.getegid(), self._environ)


class ContainerHost(WrappedHost):
    """This machine, with each program in a container of its own."""

    def __init__(
        self,
        local: Host,
        engine: Engine,
        image: str,
        environ: Mapping[str, str],
        options: Callable[[], ContainerSettings],
    ) -> None:
        super().__init__(local)
        self._options = options
        self._engine = engine
        self._image = image
        self._environ = environ

    def wrap(self, spec: LaunchSpec) -> LaunchSpec:
        """Return the launch by the engine.

        Raises:
            Refused: the settings or the folders cannot be used.
            Unavailable: the engine does not answer.

        """
        options = self._options()
        # Some of what a run may write comes to be with others: a workflow's folder, a cache.
        spec = replace(spec, writable=tuple(path for path in spec.writable if path.is_dir()))
        identity = self._engine.identity(os.geteuid(), os.getegid(), self._environ)
        return replace(
            spec,
            argv=arguments(self._engine, self._image, spec, options, identity),
            environment=spec.environment | client_variables(self._environ),
            files=spec.files | {SCRIPT: _SOURCE},
        )

    def observe(self, folder: Path) -> Observation:
        """As `Host`. A run whose container nobody waits for is not gone before that is removed."""
        seen = self.local.observe(folder)
        if seen.standing is not Standing.GONE or seen.exit is None:
            return seen
        if seen.exit.signal == signal.SIGKILL and os.path.lexists(folder / STARVED):
            seen = replace(seen, exit=replace(seen.exit, out_of_memory=True))
        if not _may_have_one(folder):
            return seen
        left = Leftover(seen.pid or 0, f"container {container_name(folder.name, folder)}")
        return replace(seen, standing=Standing.LEFT, left=(left,))

    def end(self, folder: Path, *, kill: bool) -> None:
        """As `Host`. A container that nobody waits for is removed with what runs in it.

        Raises:
            Unavailable: also if the engine does not answer.

        """
        has_one = _may_have_one(folder)
        if has_one and kill:
            # Ahead of the processes, among which conmon may be: an engine cleans up best while that lives.
            with suppress(Unavailable):
                self._engine.call(self._environ, *self._engine.removal, container_name(folder.name, folder))
        self.local.end(folder, kill=kill)
        # Once more: `podman run` may have been making it.
        if has_one and (kill or self.local.observe(folder).standing is Standing.GONE):
            self._remove(folder)

    def _remove(self, folder: Path) -> None:
        """Remove the container of a run, if there is one. Raises Unavailable."""
        name, engine = container_name(folder.name, folder), self._engine
        listing = ("ps", "--all", "--quiet", "--filter", f"label={label_of(folder)}")
        for _ in range(REMOVALS):
            _, _, why = engine.call(self._environ, *engine.removal, name)
            status, left, said = engine.call(self._environ, *listing)
            if status == 0 and not left.strip():
                break
        else:
            raise Unavailable(f"container {name} cannot be removed: {said if status else why}")
        (folder / MARKER).unlink(missing_ok=True)


def _may_have_one(folder: Path) -> bool:
    """Return whether a run's container may exist: nobody has seen that it is gone."""
    return os.path.lexists(folder / MARKER)
