"""The documents about this machine and about boxes."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from orchestrator.ports.box_link import Way
from scripts.reference.documents.parts import Daemon, Finding, Moment, described
from scripts.reference.documents.status import Failing


@described
class FailingTask(Failing):
    """Files of one task that cannot be brought from a box."""

    task: str
    """Name of the task."""
    task_id: str
    """Id of the task."""


@described
class Box(TypedDict):
    """A box, as the daemon last found it."""

    address: str
    """The box."""
    state: Way | Literal[""]
    """Whether it can be reached."""
    since: Moment | None
    """Since when that is so."""
    why: str
    """Why."""
    advice: str
    """What to do about it."""
    offered: str | None
    """Fingerprint of the key that it shows."""
    known: str | None
    """Fingerprint of the key on file."""
    pool: str | None
    """Its pool."""
    cap: int | None
    """How many runs at once; the others wait."""
    runs: int
    """Live runs there."""
    tasks: list[str]
    """Tasks that use it."""
    pulled_at: Moment | None
    """When all files were last brought from there."""
    failing: list[FailingTask]
    """What cannot be brought though it answers."""
    missing: int
    """Runs that ended there and not all of whose files are here."""
    overflowing: bool
    """Whether it reports more changes than are looked at."""


@described
class EngineHost(TypedDict):
    """Containers of an image, or a part of a cluster, tried now."""

    host: str
    """The host, as task.md names it."""
    usable: bool
    """Whether agents can be run there now."""
    why: str
    """What keeps them from it; empty if nothing does."""
    runs: int
    """Live runs there."""
    tasks: list[str]
    """Tasks of which runs live or lived there."""


@described
class Hosts(TypedDict):
    """All boxes, containers and clusters."""

    boxes: list[Box]
    """The boxes."""
    engines: list[EngineHost]
    """The containers and clusters."""
    daemon: Daemon
    """How the daemon stands."""


@described
class Cli(TypedDict):
    """An agent CLI on this machine."""

    name: str
    """Name of its runtime."""
    path: str | None
    """Where its program is; null: it is not installed."""
    version: str | None
    """Its version."""
    logins: list[str]
    """Files and variables with a login that an agent would find."""
    held_back: list[str]
    """Variables with a login that reach no agent."""
    signals: str | None
    """How it reports what it does; null: this version has no runtime for it."""
    tested: bool
    """Whether its runtime was tested against the real program."""
    install: str
    """Command that installs it."""


@described
class OwnRuntime(TypedDict):
    """A runtime that the settings define."""

    name: str
    """Its name."""
    program: str
    """Its program, as written."""
    path: str | None
    """Where that is; null: nowhere."""
    signals: str
    """How it reports what it does."""


@described
class Doctor(TypedDict):
    """Whether a task could run on this machine; of a host of a kind (`doctor podman:IMAGE`) it has findings alone."""

    can_run: bool
    """Whether it could; the exit code is 0 then, else 1."""
    clis: list[Cli]
    """Agent CLIs."""
    runtimes: list[OwnRuntime]
    """Runtimes that the settings define."""
    findings: list[Finding]
    """All that was found."""


@described
class BoxSeen(TypedDict):
    """A box as `doctor` finds it; null: it did not say."""

    address: str
    """The box."""
    cwd: str | None
    """The folder that was asked for."""
    state: Way
    """Whether it can be reached."""
    since: Moment | None
    """Since when that is so."""
    why: str
    """Why."""
    advice: str
    """What to do about it."""
    offered: str | None
    """Fingerprint of the key that it shows."""
    known: str | None
    """Fingerprint of the key on file."""
    system: str | None
    """Its operating system."""
    home: str | None
    """Home of the user there."""
    disk: int | None
    """Bytes free."""
    clock_offset: float | None
    """Seconds by which its clock is ahead."""
    lingering: str | None
    """Whether processes of the user survive a logout: `yes`, `no`, `unneeded`."""
    tmux: str | None
    """Version of tmux."""
    rsync: str | None
    """Version of rsync."""
    git: str | None
    """Version of git."""
    programs: dict[str, str | None]
    """Version of each agent CLI; null: it is not there."""
    commands: dict[str, bool]
    """Whether each command is there."""


@described
class DoctorHost(TypedDict):
    """Whether agents could work on a box."""

    can_run: bool
    """Whether they could; the exit code is 0 then, else 1."""
    box: BoxSeen
    """The box."""
    findings: list[Finding]
    """All that was found."""


@described
class StartCheck(TypedDict):
    """Whether a task could start."""

    can_run: bool
    """Whether it could; the exit code is 0 then, else 1."""
    findings: list[Finding]
    """All that was found."""
