"""The host kinds for containers: each run's program in a container of its own, with the files of this machine.

The container's processes bear the mark of the run, so that they are seen, counted and ended as those of any run. A
container that nobody waits for any more counts as left behind by its run, and is removed through the engine.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.resources import files as package_files
from pathlib import Path
from typing import TYPE_CHECKING, Final

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
from orchestrator.hosts.engine_host import PROFILE_MARK, CurrentSection, EngineHost
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.host import Host, LaunchSpec, Observation

if TYPE_CHECKING:
    from orchestrator.model.container_settings import ContainerSettings

_SOURCE: Final = package_files("orchestrator.hosts.containers").joinpath(SCRIPT).read_bytes()
REMOVALS: Final = 3
"""How often a container is removed until it is gone. Podman, once its conmon was killed, does it the second time."""

_IGNORED: Final = "limits are not supported"
"""Podman's warning where it is not root's and control groups are of version 1; it exits 0 all the same."""

_UNKNOWN: Final = ("no such image", "image not known")


class ContainerKind:
    """The port `HostKind` by a container engine. A host's name is an image, or `IMAGE#PROFILE`."""

    def __init__(self, engine: Engine, environ: Mapping[str, str] | None = None) -> None:
        """Take an engine. `environ` is by default the environment of this process."""
        self._engine = engine
        self._environ = os.environ if environ is None else environ
        self.options: CurrentSection[ContainerSettings] = CurrentSection("containers", self._environ)
        """`[containers]` of the settings, read anew at each call."""

    def lacks(self, name: str) -> str:
        """Return what keeps containers from being made of an image; no image is ever pulled."""
        engine, environ = self._engine, self._environ
        image, _, profile = name.partition(PROFILE_MARK)
        if engine.absent(environ):
            return f"{engine.program} is not installed: install it by your package manager"
        try:
            status, _, why = engine.call(environ, "image", "inspect", "--format", "{{.Id}}", "--", image)
            if status and any(each in why.lower() for each in _UNKNOWN):
                return f"there is no image {image} here, and none is fetched unasked: `{engine.program} pull {image}`"
            if status == 0:
                words = trial(engine, image, self.options.of(profile)(), self._identity())
                status, _, why = engine.call(environ, *words)
                if _IGNORED in why.lower():
                    return f"{engine.program} does not limit containers here: {why}"
        except (Unavailable, Refused) as problem:
            return f"{problem}: `{engine.program} info` tells more"
        return f"{engine.program} cannot run containers here: {why}" if status else ""

    def host(self, name: str, local: Host) -> Host:
        """Return this machine, with each program in a container of an image. Raises Refused."""
        image, _, profile = name.partition(PROFILE_MARK)
        if not image or image.startswith("-"):
            raise Refused(f"{name[:80]!a} is no image")
        return ContainerHost(local, self._engine, image, self._environ, self.options.of(profile))

    def _identity(self) -> Identity:
        return self._engine.identity(os.geteuid(), os.getegid(), self._environ)


class ContainerHost(EngineHost):
    """This machine, with each program in a container of its own."""

    marker = MARKER

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
        seen = super().observe(folder)
        if seen.exit is not None and seen.exit.signal == signal.SIGKILL and os.path.lexists(folder / STARVED):
            return replace(seen, exit=replace(seen.exit, out_of_memory=True))
        return seen

    def called(self, folder: Path) -> str:
        """Return the name of a run's container."""
        return f"container {container_name(folder.name, folder)}"

    def kill(self, folder: Path) -> None:
        """Remove the container of a run: the engine does that best while its own processes live."""
        self._engine.call(self._environ, *self._engine.removal, container_name(folder.name, folder))

    def remove(self, folder: Path) -> None:
        """Remove the container of a run, if there is one. Raises Unavailable."""
        name, engine = container_name(folder.name, folder), self._engine
        listing = ("ps", "--all", "--quiet", "--filter", f"label={label_of(folder)}")
        for _ in range(REMOVALS):
            _, _, why = engine.call(self._environ, *engine.removal, name)
            status, left, said = engine.call(self._environ, *listing)
            if status == 0 and not left.strip():
                return
        raise Unavailable(f"container {name} cannot be removed: {said if status else why}")
