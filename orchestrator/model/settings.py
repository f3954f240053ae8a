"""The user's settings, as the rest of the program sees them. `formats.settings` reads the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from orchestrator.model.limits import Limits
from orchestrator.model.notification import DEFAULT_CHANNELS, Channel, NotificationRule
from orchestrator.model.permission import Policy
from orchestrator.model.pools import Pool
from orchestrator.model.prices import Price
from orchestrator.model.programs import Program

PASSED = (
    "COLORTERM",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LOGNAME",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
)
"""The variables that reach an agent unless the settings say otherwise. None of them holds a secret."""

NEVER_PASSED = ("LD_", "DYLD_", "TMUX", "ORCHESTRATOR_")
"""No variable whose name begins so reaches an agent from outside, whatever the settings say."""


@dataclass(frozen=True, slots=True)
class TmuxSettings:
    """`[tmux]`. `socket` names the server's socket (`tmux -L`); `default` is the user's own server."""

    socket: str = "agent-orchestrator"


@dataclass(frozen=True, slots=True)
class DaemonSettings:
    """`[daemon]`. `rescan`, `beat` and `alarm` are seconds, `workers` is how many slow things go on at once.

    After `alarm` without a beat, with tasks at work, the next `task` command says so, and starts a daemon that
    is dead again if `restart` is true; where no service manager looks after it, it does that at once. A task that is
    over is shelved when nothing came for `shelve_after` seconds, but not before its logs are packed: it is read again
    when something does.
    """

    rescan: float = 30.0
    beat: float = 5.0
    workers: int = 8
    alarm: float = 120.0
    restart: bool = True
    shelve_after: float = 3600.0


@dataclass(frozen=True, slots=True)
class LogSettings:
    """`[logs]`. Sizes are bytes, `pack_after` and `keep` seconds.

    The daemon's log and the PM's log of a task begin anew at `size`; one old one of each stays. What the terminal of
    a run showed is packed `pack_after` its end, once its step is settled; packed, it is kept for `keep`, and of all
    runs of one task together no more than `task_size`: the oldest go first.
    """

    size: int = 10_485_760
    pack_after: float = 3600.0
    keep: float = 30 * 86400.0
    task_size: int = 268_435_456


@dataclass(frozen=True, slots=True)
class EnvironmentSettings:
    """`[environment]`. `passed` (in the file: `pass`) are names; a `*` at the end stands for any rest."""

    passed: tuple[str, ...] = PASSED


@dataclass(frozen=True, slots=True)
class TemplateSettings:
    """`[templates]`. `folders` are searched for a task's template before the one beside the settings file."""

    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GitSettings:
    """`[git]`. `deadline` is how many seconds one git command may take.

    When a task is complete and what was kept of its tries is on more than `kept_refs` refs, one ref holds it all.
    """

    deadline: float = 60.0
    kept_refs: int = 20


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """`[notify]`: who is told, of what, when, how often. Times are seconds, `quiet` is local time.

    A channel gets at most `per_hour` messages in any hour. What comes within `digest` of its last message, or in
    its quiet hours, is kept and told together; the rules of `urgent` wait for neither. One message may take
    `deadline`. A channel that refuses is asked again after `pause`, which doubles up to `longest_pause`: `tries`
    times for `give_up` at most, for a question as often as it takes in `give_up_question`. Of what is over,
    `kept` news stay to be looked at. Without any `channels` set there are the usual ones; with an empty list, none.
    """

    channels: tuple[Channel, ...] = DEFAULT_CHANNELS
    rules: tuple[NotificationRule, ...] = tuple(NotificationRule)
    urgent: tuple[NotificationRule, ...] = ()
    quiet: str = ""
    per_hour: int = 20
    digest: float = 60.0
    deadline: float = 20.0
    pause: float = 10.0
    longest_pause: float = 1800.0
    tries: int = 12
    give_up: float = 86400.0
    give_up_question: float = 604800.0
    kept: int = 200


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that the user may set; each field is a section of the settings file of the same name.

    Of `runtimes` each table `[runtimes.NAME]` is one, of `hosts` each `[hosts.NAME]`, of `prices` each `[prices.NAME]`.
    """

    limits: Limits = field(default_factory=Limits)
    tmux: TmuxSettings = field(default_factory=TmuxSettings)
    daemon: DaemonSettings = field(default_factory=DaemonSettings)
    logs: LogSettings = field(default_factory=LogSettings)
    environment: EnvironmentSettings = field(default_factory=EnvironmentSettings)
    templates: TemplateSettings = field(default_factory=TemplateSettings)
    git: GitSettings = field(default_factory=GitSettings)
    notify: NotifySettings = field(default_factory=NotifySettings)
    permissions: Policy = field(default_factory=Policy)
    runtimes: tuple[Program, ...] = ()
    hosts: tuple[Pool, ...] = ()
    prices: tuple[Price, ...] = ()


TABLES: Final = ("runtimes", "hosts", "prices")
"""The fields of Settings that are no section, but tables of names of the user's own."""


@dataclass(frozen=True, slots=True)
class Explained:
    """One setting, for `task config`: `where` is `default`, `FILE:LINE`, or the name of a variable."""

    key: str
    value: str
    where: str
