"""The host kind `slurm`: each run's program as a job of a cluster, on folders that its nodes share with this machine.

Where the job runs on this very machine, its processes bear the mark of the run, and are seen and ended as those of any.
A job whose `srun` was killed counts as left behind by its run until Slurm, the job itself, or the marks tell that it
has ended. That Slurm does not list a job is no such evidence: its controller may have forgotten it (measured).
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files as package_files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.hosts.engine_calls import call_engine
from orchestrator.hosts.engine_files import GIVEN_UP, create, give_up, text_of
from orchestrator.hosts.engine_host import PROFILE_MARK, CurrentSection, EngineHost
from orchestrator.hosts.slurm.command import (
    ENDED,
    MARKER,
    OUTCOME,
    OVER,
    PLACED,
    QUEUE,
    SCRIPT,
    SILENT,
    allocation,
    arguments,
    ended_as,
    job_name,
    reason_of,
    state_of,
)
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.host import Host, LaunchSpec, Observation, Standing

if TYPE_CHECKING:
    from orchestrator.model.slurm_settings import SlurmSettings

_SOURCE: Final = package_files("orchestrator.hosts.slurm").joinpath(SCRIPT).read_bytes()
_CLIENT: Final = ("HOME", "PATH", "LANG", "SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT")
_PARTITION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.,+-]{0,99}")

LOOKS: Final = 24
LOOK: Final = 0.25
"""How often Slurm is asked whether a job that was cancelled has ended, and seconds between two of these questions.

It takes 0.3 s; 3 to 6 s where its `srun` was killed, for which the node waits (measured).
"""

FEW: Final = 4
"""How often it is asked while the processes here still run."""

_INVISIBLE: Final = 78
"""The exit status of a trial job that does not see the state folder."""

_TRIAL: Final = f'test -w "$1" || exit {_INVISIBLE}'


class SlurmKind:
    """The port `HostKind` by Slurm. A host's name is a partition, or `PARTITION#PROFILE`.

    The partition `default` is the cluster's own.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        """Take an environment; by default that of this process."""
        self._environ = os.environ if environ is None else environ
        self.options: CurrentSection[SlurmSettings] = CurrentSection("slurm", self._environ)
        """`[slurm]` of the settings, read anew at each call."""

    def lacks(self, name: str) -> str:
        """Return what keeps jobs from running in a partition; a trial job shows it where a place is free at once."""
        for program in ("srun", "squeue", "scancel"):
            if shutil.which(program, path=self._environ.get("PATH")) is None:
                return f"{program} is not installed: install Slurm's client programs, as on the cluster's login node"
        partition, _, profile = name.partition(PROFILE_MARK)
        try:
            place = allocation(_partition(partition), self.options.of(profile)())
            status, _, why = self._call("srun", "--test-only", *place, "true")
            if status:
                return f"Slurm would not take such a job: {why}"
            state = _nearest(Path(layout.state_folder(self._environ)))
            words = ("--immediate=1", "--chdir=/", *place, "sh", "-c", _TRIAL, "sh", str(state))
            status, _, why = self._call("srun", *words)
        except (Unavailable, Refused) as problem:
            return f"{problem}: `sinfo` tells more"
        if status == _INVISIBLE:
            return f"the nodes of Slurm cannot write in {state}: it must be on a file system that they share"
        return ""  # with another status no place is free at once, and each job looks for itself

    def host(self, name: str, local: Host) -> Host:
        """Return this machine, with each program as a job in a partition. Raises Refused."""
        partition, _, profile = name.partition(PROFILE_MARK)
        return SlurmHost(local, _partition(partition), self._environ, self.options.of(profile))

    def _call(self, *words: str) -> tuple[int, str, str]:
        return call_engine(words, client_variables(self._environ))


class SlurmHost(EngineHost):
    """This machine, with each program as a job of Slurm, which may be pending before it begins."""

    marker = MARKER

    def __init__(
        self, local: Host, partition: str, environ: Mapping[str, str], options: CurrentSection[SlurmSettings]
    ) -> None:
        super().__init__(local)
        self._partition = partition
        self._environ = environ
        self._options = options

    def wrap(self, spec: LaunchSpec) -> LaunchSpec:
        """Return the launch by `srun`. Raises Refused if the settings cannot be used."""
        return replace(
            spec,
            argv=arguments(self._partition, spec, self._options()),
            environment=client_variables(self._environ) | spec.environment,
            files=spec.files | {SCRIPT: _SOURCE},
        )

    def observe(self, folder: Path) -> Observation:
        """As `Host`. A run whose job is pending has no pid yet; one whose job Slurm ended says so."""
        seen = super().observe(folder)
        if seen.standing is Standing.ALIVE and not os.path.lexists(folder / PLACED):
            return replace(seen, pid=None, start="", queued=_reason(folder))
        if seen.exit is None:
            return seen
        how = ended_as(seen.exit, state_of(text_of(folder / OUTCOME)))
        never = seen.standing is Standing.GONE and text_of(folder / PLACED).startswith(GIVEN_UP)
        return replace(seen, exit=how, pid=None if never else seen.pid)

    def called(self, folder: Path) -> str:
        """Return the job of a run, by its number and node if it is known to have begun."""
        number, node, _ = _place(folder)
        where = f" ({number} on {node})" if node else ""
        return f"job {job_name(folder.name, folder)}{where}"

    def ask(self, folder: Path) -> bool:
        """Have Slurm send TERM to a job's program: an `srun` that hears it ends its job at once, without a grace."""
        number, _, _ = _place(folder)
        if not number or os.path.lexists(folder / OVER):
            return False
        words = ("--me", "--name", job_name(folder.name, folder), "--signal=TERM", number)
        try:
            status, _, _ = self._call("scancel", *words)
        except Unavailable:
            return False
        return status == 0

    def kill(self, folder: Path) -> None:
        """Kill what runs in the job of a run, and let its `srun` see that: without it Slurm takes seconds for more."""
        self._call("scancel", "--me", "--name", job_name(folder.name, folder), "--signal=KILL", "--full")
        self._cancelled(folder, FEW)

    def remove(self, folder: Path) -> None:
        """Cancel the job of a run, and see that it has ended.

        Raises:
            Unavailable: Slurm does not answer, or nothing proves that the job has ended.

        """
        if os.path.lexists(folder / OVER):
            return
        given_up = give_up(folder / PLACED)
        state = self._cancelled(folder)
        if state in ENDED or given_up:
            with suppress(OSError):
                create(folder / OUTCOME, state)
            return
        if state:
            raise Unavailable(f"{self.called(folder)} is {state} in Slurm, and was asked to end")
        _, node, boot = _place(folder)
        if boot != _boot():
            raise Unavailable(
                f"Slurm does not know {self.called(folder)}, which proves nothing: end what it runs "
                f"on {node or 'its node'}, then make the file {folder / OVER}"
            )

    def _cancelled(self, folder: Path, looks: int = LOOKS) -> str:
        """Cancel a job, and return its state in Slurm once it has ended, or after a while; empty if none is listed."""
        name = job_name(folder.name, folder)
        self._call("scancel", "--me", "--name", name)
        state = ""
        for look in range(looks):
            if look:
                time.sleep(LOOK)
            words = ("--me", "--name", name, "--states", "all", "--noheader", "--format", "%T")
            status, listed, why = self._call("squeue", *words)
            if status:
                raise Unavailable(f"`squeue` failed: {why}")
            state = state_of(listed)
            if not state or state in ENDED:
                break
        return state

    def _call(self, *words: str) -> tuple[int, str, str]:
        return call_engine(words, client_variables(self._environ))


def client_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return those of the variables that Slurm's programs need: those of a job that the daemon runs in are not."""
    return {name: environ[name] for name in _CLIENT if name in environ}


def _partition(name: str) -> str:
    if name and not _PARTITION.fullmatch(name):
        raise Refused(f"{name[:80]!a} is no partition")
    return name


def _nearest(folder: Path) -> Path:
    """Return a folder, or the one around it in which it will be made."""
    return next(each for each in (folder, *folder.parents) if each.exists() or each == each.parent)


def _reason(folder: Path) -> str:
    """Return why a run's job is pending, as Slurm said it last."""
    silent = 0.0
    with suppress(OSError):
        silent = (folder / SILENT).lstat().st_mtime
    return reason_of(text_of(folder / QUEUE), silent)


def _place(folder: Path) -> tuple[str, str, str]:
    """Return the number of a run's job, its node, and the boot of that; empty if it has not begun."""
    words = text_of(folder / PLACED).split()
    return (words[0], words[1], words[2]) if len(words) == len(("job", "node", "boot")) else ("", "", "")


def _boot() -> str:
    return text_of(Path("/proc/sys/kernel/random/boot_id")).strip()
