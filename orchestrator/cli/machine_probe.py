"""What `task doctor` examines: programs, folders, limits, clock, daemon. Prints and changes nothing."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import orchestrator
from orchestrator import layout, own_files
from orchestrator.cli.agent_environment import AgentEnvironment, environment_of
from orchestrator.cli.beat import LATE, Beat
from orchestrator.cli.exits import CommandError
from orchestrator.cli.extras import OF_OBSERVER, is_installed
from orchestrator.cli.git_filters import filters_at
from orchestrator.cli.machine_report import Folder, MachineReport
from orchestrator.cli.program_probe import ask_all, cli_report, runtime_report
from orchestrator.cli.service import service_of
from orchestrator.extensions import load_all
from orchestrator.formats.settings import load_settings
from orchestrator.hosts.process_limit import most_processes
from orchestrator.hosts.tmux_calls import TmuxCalls
from orchestrator.hosts.tmux_failures import NoServer, NoTarget
from orchestrator.model.errors import OrchestratorError, Refused, Unavailable
from orchestrator.model.settings import Settings
from orchestrator.runtimes.cli_inventory import AGENT_CLIS, AgentCli, program_on
from orchestrator.runtimes.logins import shortened
from orchestrator.workspaces.filters import WantedFilter
from orchestrator.workspaces.git_process import Git, GitFailed
from orchestrator.workspaces.locks import LONGEST_HELD, OF_THE_REPOSITORY, Lock, look_at
from orchestrator.workspaces.repository import Repository

_GIT_DEADLINE: Final = 5.0
_FIRST_COMMIT: Final = ("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
_SKEW: Final = 60.0
_INOTIFY: Final = Path("/proc/sys/fs/inotify")


def _ignore(_: MachineReport) -> None:
    """Do nothing."""


def examine(
    project: Path,
    environ: Mapping[str, str],
    progress: Callable[[list[str]], None],
    known: Callable[[MachineReport], None] = _ignore,
    clis: Sequence[AgentCli] = AGENT_CLIS,
) -> MachineReport:
    """Examine everything that a task of `project` needs.

    Args:
        project: the project's folder.
        environ: this process's environment. If the daemon runs and its environment can be read, that one
            decides which variables reach an agent.
        progress: called with the names of the programs that have not answered yet, each time one answers.
        known: called with what is known about the machine before any program is asked.
        clis: the agent CLIs to ask. Some take seconds of the processor to say their version.

    """
    config = layout.config_file(environ)
    settings, fault = Settings(), ""
    try:
        settings = load_settings(Path(config), environ)
    except (Refused, OSError) as error:
        fault = str(error)
    names = settings.environment.passed
    state = layout.state_folder(environ)
    beat, state_fault = _beat(state)
    theirs = environment_of(beat.pid) if beat is not None and beat.up else None
    house = AgentEnvironment(environ, environ if theirs is None else theirs, names)
    service = service_of(state)
    home = environ.get("HOME", "")
    machine = MachineReport(
        folders=(_state(state, state_fault), _project(project)),
        repository=_is_repository(project),
        locks=_stale_locks(project),
        project=str(project),
        filters=_filters(project),
        tmux_fault=_tmux_fault(settings.tmux.socket, environ),
        settings_fault=fault,
        extensions=load_all(),
        settings_file=shortened(config, home),
        extras_missing=tuple(
            each for each in OF_OBSERVER if getattr(settings.observer, each) and not is_installed(each)
        ),
        passed=names,
        late_clock=_late_clock(state),
        synchronised=_synchronised(),
        limits=_limits(beat.pid if beat is not None and beat.up else os.getpid()),
        daemon_up=beat is not None and beat.up,
        daemon_silent=_silence(beat),
        daemon_version=beat.version if beat is not None else None,
        version=orchestrator.__version__,
        manager=service.manager if service is not None else "",
        survives_logout=service.survives_logout() if service is not None else None,
    )
    known(machine)
    asked, programs = ask_all(house, clis, progress)
    return replace(
        machine,
        clis=tuple(cli_report(each, said, house) for each, said in asked),
        own=tuple(runtime_report(each, house, project) for each in settings.runtimes),
        programs=programs,
    )


# Folders ------------------------------------------------------------------------------------------


def _state(state: str, fault: str) -> Folder:
    """Examine the PM's own folder, or the place where it will be created."""
    try:
        there = own_files.check_state_folder(state)
    except Refused as error:
        return Folder("state", state, str(error))
    if fault:
        return Folder("state", state, fault)
    near = Path(state)
    while not there and not near.exists():
        near = near.parent
    if not os.access(near, os.W_OK | os.X_OK):
        return Folder(
            "state", state, f"{near} is not writable: set {layout.HOME_VARIABLE} to a folder of your own"
        )
    return _with_room(Folder("state", state), near)


def _project(project: Path) -> Folder:
    if not project.is_dir():
        return Folder(
            "project", str(project), f"{project} is not a folder: give the project's folder by --project PATH"
        )
    if not os.access(project, os.W_OK | os.X_OK):
        return Folder("project", str(project), f"{project} is not writable, and tasks lie in it")
    return _with_room(Folder("project", str(project)), project)


def _with_room(folder: Folder, near: Path) -> Folder:
    try:
        found = os.statvfs(near)
    except OSError:
        return folder
    inodes = found.f_favail if found.f_files else None  # some file systems do not count them
    return Folder(folder.what, folder.path, room=found.f_bavail * found.f_frsize, inodes=inodes)


def _is_repository(project: Path) -> bool:
    """Return whether a project has a commit to start from. True if git does not answer: another check reports it."""
    if not project.is_dir() or shutil.which("git") is None:
        return True
    try:
        return bool(Git(project, _GIT_DEADLINE, os.environ).find(*_FIRST_COMMIT))
    except GitFailed:
        return False
    except Unavailable:
        return True


def _stale_locks(project: Path) -> tuple[Lock, ...]:
    """Return the locks in a project's repository that a killed git left behind."""
    try:
        folder = Repository.of(project, _GIT_DEADLINE, os.environ).folder
        there = [lock for name in OF_THE_REPOSITORY if (lock := look_at(folder / name)) is not None]
    except (OrchestratorError, OSError):
        return ()
    return tuple(lock for lock in there if lock.is_stale(LONGEST_HELD))


def _filters(project: Path) -> tuple[WantedFilter, ...]:
    """Return the git filters that the files of a project ask for; none if git cannot tell: others report that."""
    try:
        repository = Repository.of(project, _GIT_DEADLINE, os.environ)
        return filters_at(repository, repository.head(project), os.environ.get("PATH", ""))
    except (OrchestratorError, OSError):
        return ()


def _tmux_fault(socket: str, environ: Mapping[str, str]) -> str:
    """Return why the agents' tmux server takes no command; empty if it does, or if none runs yet."""
    if program_on(environ.get("PATH", ""), "tmux") is None:
        return ""  # another check reports it
    try:
        TmuxCalls(socket, environ).run("list-sessions")
    except (NoServer, NoTarget):
        return ""
    except Unavailable as error:
        return str(error)
    return ""


# Clock, limits, daemon ----------------------------------------------------------------------------


def _late_clock(state: str) -> float:
    """Return by how many seconds the clock is behind this program's files or the daemon's last heartbeat."""
    newest = 0.0
    for path in (Path(orchestrator.__file__), Path(layout.daemon_beat(state))):
        with contextlib.suppress(OSError):
            newest = max(newest, path.stat().st_mtime)
    behind = newest - time.time()
    return behind if behind > _SKEW else 0.0


def _synchronised() -> bool | None:
    """Return whether NTP keeps the clock; None if timedatectl does not say."""
    try:
        done = subprocess.run(
            ["timedatectl", "show", "-p", "NTPSynchronized", "--value"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_GIT_DEADLINE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return {"yes": True, "no": False}.get(done.stdout.strip())


def _limits(pid: int) -> dict[str, int]:
    """Return a process's resource limits: the daemon's, or this process's, which its children inherit."""
    found = {
        "open files": _limit(pid, resource.RLIMIT_NOFILE),
        "processes": _limit(pid, resource.RLIMIT_NPROC),
    }
    found = {name: sys.maxsize if most == resource.RLIM_INFINITY else most for name, most in found.items()}
    for name in ("watches", "instances"):
        with contextlib.suppress(OSError, ValueError):
            found[f"inotify {name}"] = int((_INOTIFY / f"max_user_{name}").read_text())
    if (most := most_processes(pid)) is not None:
        found["processes in its control group"] = most
    return found


def _limit(pid: int, kind: int) -> int:
    """Return a limit of a process; this process's where the system has no `prlimit`."""
    if hasattr(resource, "prlimit"):
        with contextlib.suppress(OSError):
            return resource.prlimit(pid, kind)[0]
    return resource.getrlimit(kind)[0]


def _beat(state: str) -> tuple[Beat | None, str]:
    """Return the daemon's lock and heartbeat; or None, and why they cannot be trusted."""
    try:
        return Beat(state), ""
    except CommandError as error:
        return None, str(error)


def _silence(beat: Beat | None) -> float | None:
    """Return for how many seconds a running daemon has shown no heartbeat, if that is too long."""
    silent = time.time() - beat.at if beat is not None and beat.up and beat.at else 0.0
    return silent if silent > LATE else None
