"""The command line by which a run's program is started in a container. Pure: what is mounted, passed, and limited."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.formats.container_options import WRITABLE
from orchestrator.hosts.run_processes import MARK
from orchestrator.model.errors import Refused

if TYPE_CHECKING:
    from orchestrator.hosts.containers.engine import Engine, Identity
    from orchestrator.model.container_settings import ContainerSettings
    from orchestrator.ports.host import LaunchSpec

SCRIPT: Final = "container.sh"
"""The script in the run's folder that starts the container, waits for it, and sees that it is gone."""

MARKER: Final = "container"
"""A file in the run's folder from before its container is made until it is known to be gone."""

STARVED: Final = "oom"
"""A file in the run's folder that says that the program was killed for want of memory in its container."""

MONITOR: Final = "conmon.pid"
LABEL: Final = "agent-orchestrator.run"
"""The label of a container; its value is the folder of its run."""

MONITOR_INTERVAL: Final = 30
"""Seconds between two looks at the process that stands by a container."""

_OWN: Final = frozenset({"PATH", "SHELL", "TMPDIR"})
"""Variables whose values are of this machine: an image has its own."""

_TMPFS: Final = "rw,exec,nosuid,nodev,mode=1777"
"""Options of a tmpfs. Where the image has the folder, its mode counts: so the owner must be given too (measured)."""

_NO_PATH: Final = frozenset(',"\n')
_NAMED: Final = 40

SHIELD: Final = """\
trap : INT QUIT TERM
folder=$1
shift
"$@"
status=$?
if [ "$status" = 137 ]; then
    for each in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
        while read -r key count; do
            if [ "$key" = oom_kill ] && [ "$count" != 0 ]; then
                echo 'killed: it used more memory than its container may'
                : >"$folder/oom"
            fi
        done <"$each"
    done 2>/dev/null
fi
exit "$status"
"""
"""What runs the program within the container.

TERM goes to every process of a run. This shell lets that pass which the engine sends on to it, so that a program gets
it once. In a container it also knows whether the kernel killed for want of memory.
"""


def container_name(run: str, folder: Path) -> str:
    """Return the name of a run's container. Ids of runs may coincide, in the folders of two users."""
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]
    return f"orchestrator-{run[:_NAMED]}-{digest}"


def label_of(folder: Path) -> str:
    """Return the label of a run's container."""
    return f"{LABEL}={folder}"


def arguments(
    engine: Engine, image: str, spec: LaunchSpec, options: ContainerSettings, identity: Identity
) -> tuple[str, ...]:
    """Return the program of a run as it starts in a container: `container.sh` with its arguments.

    Raises:
        Refused: a folder has a name that cannot be mounted.

    """
    name, folder = container_name(spec.run, spec.folder), spec.folder
    watched = ("--conmon-pidfile", str(folder / MONITOR)) if engine.monitored else ()
    return (
        *("sh", str(folder / SCRIPT), engine.program, name, str(MONITOR_INTERVAL if engine.monitored else 0)),
        *("--name", name, "--label", label_of(folder), *watched, *engine.options),
        *confinement(options, identity),
        *("--interactive", "--workdir", str(spec.cwd)),
        *_home(spec, options, identity),
        *_variables(spec),
        *_mounts(spec, options),
        *options.options,
        *("--entrypoint", "sh", image, "-c", SHIELD, "sh", str(folder), *spec.argv),
    )


def trial(engine: Engine, image: str, options: ContainerSettings, identity: Identity) -> tuple[str, ...]:
    """Return the words of a command that shows whether containers like those of runs can be made of an image."""
    return (
        *("run", *engine.options, *confinement(options, identity)),
        *(*options.options, "--entrypoint", "sh", image, "-c", ":"),
    )


def confinement(options: ContainerSettings, identity: Identity) -> tuple[str, ...]:
    """Return the options that every container has: what it must not, and the limits of what it may."""
    return (
        *("--rm", "--init", "--pull", "never", "--read-only", "--cap-drop", "all"),
        # The pane's log is bounded; the engine's own would not be. A check of its health is no work of an agent's.
        *("--log-driver", "none", "--no-healthcheck"),
        # SELinux would keep it from mounted folders that bear no label for containers.
        *("--security-opt", "no-new-privileges", "--security-opt", "label=disable"),
        *("--memory", options.memory, "--cpus", options.cpus, "--pids-limit", str(options.pids)),
        *("--network", options.network, "--tmpfs", f"/tmp:{_TMPFS},{identity.tmpfs}", *identity.options),  # noqa: S108 (in the container)
    )


def _home(spec: LaunchSpec, options: ContainerSettings, identity: Identity) -> Iterator[str]:
    """Yield the options for the user's home: at the same path, empty, and gone with the container."""
    home = spec.environment.get("HOME", "")
    if not home:
        return
    yield from ("--env", f"HOME={home}")
    mounted = {*map(str, spec.writable), *map(str, spec.readable), *(path for path, _ in _extra(options))}
    if home not in {"/", "/tmp"} | mounted:  # noqa: S108 (as above)
        yield from ("--tmpfs", f"{_mountable(home)}:{_TMPFS},{identity.tmpfs}")


def _variables(spec: LaunchSpec) -> Iterator[str]:
    """Yield the options that pass variables by name: their values may be secrets, and stand in no list of processes."""
    for name in dict.fromkeys((*spec.environment, "TERM", MARK)):
        if name not in _OWN | {"HOME"}:
            yield from ("--env", name)


def _mounts(spec: LaunchSpec, options: ContainerSettings) -> Iterator[str]:
    """Yield the options that mount folders; the engine puts what lies within another one on top of it.

    What is to be read stays read-only also where it lies in a folder that may be written, and the other way round.
    """
    folders = dict.fromkeys(map(str, spec.readable), False) | dict.fromkeys(map(str, spec.writable), True)
    for path, writable in (folders | dict(_extra(options))).items():
        mount = f"type=bind,source={_mountable(path)},destination={path}"
        yield from ("--mount", mount if writable else f"{mount},readonly")


def _extra(options: ContainerSettings) -> Iterator[tuple[str, bool]]:
    """Yield what the user's settings mount, and whether it may be written."""
    for text in options.mounts:
        yield text.removesuffix(WRITABLE), text.endswith(WRITABLE)


def _mountable(path: str) -> str:
    if _NO_PATH & set(path):
        raise Refused(
            f"{path[:100]!a} cannot be mounted in a container: its name has a comma, a quotation mark or a line break"
        )
    return path
