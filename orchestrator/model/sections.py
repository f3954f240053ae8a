"""The small sections of the user's settings: `[tmux]`, `[daemon]`, `[logs]`, `[environment]`, `[templates]`, `[git]`.

A command that needs one of them imports no others: each class costs it more than half a millisecond.
"""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.model.environment import PASSED


@dataclass(frozen=True, slots=True)
class TmuxSettings:
    """`[tmux]`: the tmux server in which agents run."""

    socket: str = "agent-orchestrator"
    """Name of the server's socket (`tmux -L`). `default` is the user's own server."""


@dataclass(frozen=True, slots=True)
class DaemonSettings:
    """`[daemon]`: the background process. Times are seconds."""

    rescan: float = 30.0
    """Interval at which all folders are read in full, in case the system lost a notice of a change."""

    heartbeat_interval: float = 5.0
    """Interval at which the daemon writes that it is alive."""

    workers: int = 8
    """How many slow actions (git, tmux, ssh) go on at the same time."""

    heartbeat_timeout: float = 120.0
    """How old the last sign of life may be, with tasks at work, before `task` commands and channels report it."""

    restart: bool = True
    """Whether the next `task` command restarts a daemon that died.

    Without a service manager it does so at once, with one after `heartbeat_timeout`.
    """

    passivate_after: float = 3600.0
    """How long after its last event a task that is over stays in memory. It is read again when it is needed."""

    archive: str = ""
    """Folder of one archive for the handoffs of all tasks of roles; empty: each task has its own in its folder."""

    reports: bool = True
    """Whether the page that `task report` makes is written when a task ends."""


@dataclass(frozen=True, slots=True)
class LogSettings:
    """`[logs]`: how long logs are kept, and how large they get. Sizes are bytes, times seconds."""

    size: int = 10_485_760
    """Bytes at which the daemon's log, and the PM's log of a task, begin anew. One old file of each stays."""

    pack_after: float = 3600.0
    """How long after the end of a run its terminal log is compressed, once its step is settled."""

    keep: float = 30 * 86400.0
    """How long compressed terminal logs are kept."""

    task_size: int = 268_435_456
    """Bytes of compressed terminal logs that are kept for one task. The oldest are removed first."""


@dataclass(frozen=True, slots=True)
class EnvironmentSettings:
    """`[environment]`: which of the user's environment variables reach an agent."""

    passed: tuple[str, ...] = PASSED
    """Names of variables that agents get. A `*` at the end of a name stands for any rest."""


@dataclass(frozen=True, slots=True)
class TemplateSettings:
    """`[templates]`: where templates of tasks are found."""

    folders: tuple[str, ...] = ()
    """Folders that are searched for a template before the folder `templates` beside the settings file."""


@dataclass(frozen=True, slots=True)
class GitSettings:
    """`[git]`: how git is used."""

    timeout: float = 60.0
    """How long one git command may take, in seconds."""

    kept_refs: int = 20
    """How many refs may keep the abandoned attempts of a complete task. If there are more, one ref holds them all."""
