"""Turns what `task doctor` examined into findings: how severe each is, and what to do. Examines nothing itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from orchestrator.cli.extras import remedy
from orchestrator.cli.findings import Finding, Severity
from orchestrator.cli.git_filters import of_filters
from orchestrator.cli.machine_report import CliReport, MachineReport, VersionReply
from orchestrator.cli.screen import typed
from orchestrator.formats.amounts import span_said
from orchestrator.hosts.ssh import LEAST_RSYNC
from orchestrator.workspaces.repository import OLDEST_GIT, WHOLE_GIT

SCARCE: Final = 1_000_000_000
TOO_LITTLE: Final = 20_000_000
"""Free bytes of a disk: below the first the doctor warns, below the second a task cannot run."""

FEW_FILES: Final = 1024
FEW_PROCESSES: Final = 512
FEW_WATCHES: Final = 8192
FEW_INSTANCES: Final = 64

OLDEST_TMUX: Final = (3, 0)
SOUND_TMUX: Final = (3, 6)


def findings(seen: MachineReport) -> list[Finding]:
    """Return all findings."""
    return [*of_programs(seen), *of_machine(seen)]


def of_programs(seen: MachineReport) -> list[Finding]:
    """Return the findings about programs; they need the programs' answers."""
    return [*_of_clis(seen), *_of_own(seen), *_of_programs(seen.programs)]


def of_machine(seen: MachineReport) -> list[Finding]:
    """Return the findings about this machine; they are known at once."""
    return [
        *_of_settings(seen),
        *_of_extensions(seen),
        *_of_folders(seen),
        *_of_clock(seen),
        *_of_limits(seen.limits),
        *([Finding("tmux", Severity.MISSING, seen.tmux_fault)] if seen.tmux_fault else []),
        *_of_daemon(seen),
    ]


def pass_line(passed: Sequence[str], wanted: Iterable[str]) -> str:
    """Return the settings line that passes variables to agents, besides those that pass already."""
    names = ", ".join(f'"{name}"' for name in dict.fromkeys((*passed, *wanted)))
    return f"pass = [{names}]"


# Agent CLIs ---------------------------------------------------------------------------------------


def login_of(seen: CliReport) -> str:
    """Return the logins of a CLI, or that none can be seen."""
    if not seen.asked.path:
        return ""
    return ", ".join(seen.logins) or "not seen"


def _of_clis(seen: MachineReport) -> Iterator[Finding]:
    for each in seen.clis:
        yield from _of_cli(each)
    if seen.clis and not seen.own and not any(each.asked.path for each in seen.clis):
        yield Finding(
            "agents",
            Severity.WARN,
            "no agent CLI is installed: only tasks whose agents are your own programs can run",
            f"for example: {seen.clis[0].cli.install}; or begin with `task start NAME --template tidy`",
        )
    here = [each for each in seen.clis if each.asked.path and each.driven]
    if held := sorted({name for each in here for name in each.held_back}):
        wanted = any(each.held_back and not each.logins for each in here)
        yield Finding(
            "agents",
            Severity.WARN if wanted else Severity.NOTE,
            f"set here, but reaches no agent of {_named(each for each in here if each.held_back)}: {', '.join(held)}",
            f"to pass it to agents, write under [environment] of {seen.settings_file}:\n{pass_line(seen.passed, held)}",
        )
    if unheard := sorted({name for each in here for name in each.unheard}):
        yield Finding(
            "agents",
            Severity.WARN,
            f"set here, but the daemon was started without it: {', '.join(unheard)}",
            "task daemon stop && task daemon start",
        )


def _of_own(seen: MachineReport) -> Iterator[Finding]:
    for each in seen.own:
        if not each.path and not each.placed:
            yield Finding(
                each.name,
                Severity.WARN,
                f"the settings define it, but an agent would find no program {each.word}",
                f"correct `command` under [runtimes.{each.name}] of {seen.settings_file}",
            )


def _named(clis: Iterable[CliReport]) -> str:
    return ", ".join(each.cli.name for each in clis)


def _of_cli(seen: CliReport) -> Iterator[Finding]:
    cli, asked = seen.cli, seen.asked
    if not asked.path:
        return
    if asked.fault:
        yield Finding(
            cli.name, Severity.WARN, f"{asked.path} {asked.fault}", f"{asked.path} {' '.join(cli.asked)}"
        )
    elif cli.tried and (version := _numbers(asked.version)) and version < cli.tried:
        yield Finding(
            cli.name,
            Severity.WARN,
            f"{asked.version} is older than any tested version ({'.'.join(map(str, cli.tried))})",
            cli.install,
        )
    if seen.driven and not cli.tried:
        yield Finding(cli.name, Severity.NOTE, "untested: built from its documentation, never seen to work")
    if not seen.driven:
        yield Finding(cli.name, Severity.NOTE, "is installed, but this version has no runtime for it")
    elif not seen.logins and not seen.held_back and not seen.unheard:
        yield Finding(
            cli.name, Severity.WARN, "no login is seen in files or variables that an agent gets", cli.login
        )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part[:9]) for part in version.split(".")) if version else ()


# Programs -----------------------------------------------------------------------------------------


def _of_programs(programs: dict[str, VersionReply]) -> Iterator[Finding]:
    for name, why in (("tmux", "agents run in it"), ("git", "it keeps the agents' work")):
        if asked := programs.get(name):
            yield from _needed(asked, why)
    for name, why in (("ssh", "remote boxes"), ("rsync", "remote boxes")):
        asked = programs.get(name)
        if asked is not None and not asked.path:
            yield Finding(name, Severity.NOTE, f"is not installed; only {why} need it")
        elif asked is not None:
            yield _too_old(asked) or Finding(name, Severity.OK, asked.version or asked.fault)


def _needed(asked: VersionReply, why: str) -> Iterator[Finding]:
    if not asked.path:
        yield Finding(
            asked.name,
            Severity.MISSING,
            f"is not installed: {why}",
            f"install {asked.name} with your package manager",
        )
    elif asked.fault:
        yield Finding(asked.name, Severity.MISSING, f"{asked.path} {asked.fault}")
    elif too_old := _too_old(asked):
        yield too_old
    elif asked.name == "tmux" and (version := _numbers(asked.version)) and version < SOUND_TMUX:
        yield Finding(
            "tmux",
            Severity.OK,
            f"{_tmux(asked)}; before 3.6 it may lose exit statuses (agents' own are read elsewhere), and "
            "select-layout with an unknown name ends it",
        )
    else:
        yield Finding(asked.name, Severity.OK, _tmux(asked) if asked.name == "tmux" else asked.version)


_OLDEST: Final = (
    (
        "git",
        OLDEST_GIT,
        Severity.MISSING,
        "nothing can keep it from running programs that a repository names",
    ),
    (
        "git",
        WHOLE_GIT,
        Severity.WARN,
        "`task rebase` fails, work of parallel steps is not joined, `task merge` predicts no conflicts",
    ),
    ("tmux", OLDEST_TMUX, Severity.MISSING, "it does not let the PM distinguish the agents' windows"),
    ("rsync", LEAST_RSYNC, Severity.WARN, "remote boxes need a newer one"),
)
"""What fails with versions older than the one given, most severe first. The check of a box has its own table."""


def _too_old(asked: VersionReply) -> Finding | None:
    """Return what fails with a program of this version; None if nothing does, or if the version is unknown."""
    version = _numbers(asked.version)
    for name, wanted, severity, why in _OLDEST:
        if version and asked.name == name and version < wanted:
            shown = _tmux(asked) if name == "tmux" else asked.version
            mend = f"install {name} {'.'.join(map(str, wanted))} or newer"
            return Finding(name, severity, f"{shown} is too old: {why}", mend)
    return None


def _tmux(asked: VersionReply) -> str:
    """Return tmux's version including its letter, such as `3.3a`."""
    return asked.said.removeprefix("tmux").strip() or asked.version


# Machine ------------------------------------------------------------------------------------------


def _of_settings(seen: MachineReport) -> Iterator[Finding]:
    if seen.settings_fault:
        yield Finding(
            "settings",
            Severity.MISSING,
            seen.settings_fault,
            "correct the file; `task config` shows the result",
        )

    if extras := seen.extras_missing:
        names = ", ".join(f"observer.{each}" for each in extras)
        text = f"{names}: the libraries for it are an extra that is not installed"
        yield Finding("settings", Severity.WARN, text, remedy(*extras))


def _of_extensions(seen: MachineReport) -> Iterator[Finding]:
    """Report what installed packages add, and which of that cannot be used."""
    for each in seen.extensions:
        text = f"{each.what} {each.name}, of {each.package}"
        if each.fault:
            yield Finding("extension", Severity.WARN, f"{text}, cannot be used: {each.fault}")
        else:
            yield Finding("extension", Severity.OK, text)


def _of_folders(seen: MachineReport) -> Iterator[Finding]:
    for each in seen.folders:
        if each.fault:
            yield Finding(each.what, Severity.MISSING, each.fault)
        elif each.room is not None and each.room < TOO_LITTLE:
            yield Finding(
                each.what, Severity.MISSING, f"{_bytes(each.room)} free in {each.path}", "make room"
            )
        elif each.inodes is not None and each.inodes < FEW_FILES:
            yield Finding(
                each.what, Severity.MISSING, f"room for {each.inodes} files in {each.path}", "make room"
            )
        elif each.room is not None and each.room < SCARCE:
            yield Finding(each.what, Severity.WARN, f"{_bytes(each.room)} free in {each.path}", "make room")
        else:
            free = f", {_bytes(each.room)} free" if each.room is not None else ""
            yield Finding(each.what, Severity.OK, f"{each.path}{free}")
    if not seen.repository:
        yield Finding(
            "project",
            Severity.WARN,
            "is not a git repository with a commit: agents could only work in your own tree (`workspace: shared`)",
            "git init && git add -A && git commit -m 'Begin'",
        )
    for lock in seen.locks:
        yield Finding(
            "project",
            Severity.WARN,
            f"{lock.path} is {span_said(lock.age)} old, and no living process can hold it: a killed git left it, "
            "and git changes nothing that it locks",
            typed("rm", lock.path),
        )
    yield from of_filters(seen.filters, seen.project)


def _of_clock(seen: MachineReport) -> Iterator[Finding]:
    if seen.late_clock > 0:
        yield Finding(
            "clock",
            Severity.WARN,
            f"is {seen.late_clock / 3600:.1f} h behind files on this disk: deadlines depend on it",
            "set the clock",
        )
    elif seen.synchronised is False:
        yield Finding("clock", Severity.NOTE, "is not kept by NTP", "timedatectl set-ntp true")
    else:
        yield Finding(
            "clock",
            Severity.OK,
            "kept by NTP" if seen.synchronised else "is later than all files on this disk",
        )


_LIMITS: Final = {
    "open files": (FEW_FILES, "ulimit -n 4096"),
    "processes": (FEW_PROCESSES, "ulimit -u 4096"),
    "processes in its control group": (FEW_PROCESSES, "raise its pids.max (TasksMax of a unit of systemd)"),
    "inotify watches": (FEW_WATCHES, "sysctl fs.inotify.max_user_watches=65536"),
    "inotify instances": (FEW_INSTANCES, "sysctl fs.inotify.max_user_instances=128"),
}


def _of_limits(limits: dict[str, int]) -> Iterator[Finding]:
    scarce = [name for name, most in limits.items() if most < _LIMITS[name][0]]
    for name in scarce:
        least, mend = _LIMITS[name]
        yield Finding("limits", Severity.WARN, f"{limits[name]} {name}; at least {least} are needed", mend)
    if limits and not scarce:
        shown = ", ".join(
            f"{'any number of' if most >= 1 << 40 else most} {name}" for name, most in limits.items()
        )
        yield Finding("limits", Severity.OK, shown)


def _of_daemon(seen: MachineReport) -> Iterator[Finding]:
    if not seen.daemon_up:
        yield Finding("daemon", Severity.NOTE, "is not running; `task start` starts it")
    elif seen.daemon_silent is not None:
        yield Finding(
            "daemon",
            Severity.WARN,
            f"has shown no heartbeat for {seen.daemon_silent:.0f} s",
            "task daemon stop && task daemon start",
        )
    elif seen.daemon_version not in {None, seen.version}:
        said = (
            f"is version {seen.daemon_version}; {seen.version} is installed, it will switch when it is idle"
        )
        yield Finding("daemon", Severity.NOTE, said)
    else:
        yield Finding("daemon", Severity.OK, f"is running, version {seen.version}")
    if seen.manager and seen.survives_logout is False:
        yield Finding(
            "daemon",
            Severity.WARN,
            f"{seen.manager} ends it, and its agents, when you log out",
            "loginctl enable-linger",
        )


def _bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000:  # noqa: PLR2004 (the step of the units)
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.0f} TB"
