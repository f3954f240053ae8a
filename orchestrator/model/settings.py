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
    """`[tmux]`: the tmux server in which agents run."""

    socket: str = "agent-orchestrator"
    """Name of the server's socket (`tmux -L`). `default` is the user's own server."""


@dataclass(frozen=True, slots=True)
class DaemonSettings:
    """`[daemon]`: the background process. Times are seconds."""

    rescan: float = 30.0
    """Interval at which all folders are read in full, in case the system lost a notice of a change."""

    beat: float = 5.0
    """Interval at which the daemon writes that it is alive."""

    workers: int = 8
    """How many slow actions (git, tmux, ssh) go on at the same time."""

    alarm: float = 120.0
    """How old the last sign of life may be, with tasks at work, before `task` commands and channels report it."""

    restart: bool = True
    """Whether the next `task` command restarts a daemon that died.

    Without a service manager it does so at once, with one after `alarm`.
    """

    shelve_after: float = 3600.0
    """How long after its last news a task that is over stays in memory. It is read again when something comes."""


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

    deadline: float = 60.0
    """How long one git command may take, in seconds."""

    kept_refs: int = 20
    """How many refs may keep the abandoned attempts of a complete task. If there are more, one ref holds them all."""


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """`[notify]`: where, of what, when and how often the user is notified. Times are seconds."""

    channels: tuple[Channel, ...] = DEFAULT_CHANNELS
    """Addresses to notify: any that apprise knows, or `tmux://`, `terminal://`, `desktop://`. An empty list: none.

    ` name=NAME` after an address names the channel, ` rules=RULE,RULE` restricts it.
    """

    rules: tuple[NotificationRule, ...] = tuple(NotificationRule)
    """What is notified about: `complete`, `question`, `blocked`, `limited`, `daemon`."""

    urgent: tuple[NotificationRule, ...] = ()
    """Rules whose messages wait neither for `digest` nor for the end of the quiet hours."""

    quiet: str = ""
    """Quiet hours in local time, such as `22:00-07:00`. Messages that come then are sent together afterwards."""

    per_hour: int = 20
    """How many messages one channel gets in any hour."""

    digest: float = 60.0
    """Messages that come within this time of a channel's last one are sent together."""

    deadline: float = 20.0
    """How long sending one message may take."""

    pause: float = 10.0
    """First pause before a message that a channel refused is sent again. It doubles up to `longest_pause`."""

    longest_pause: float = 1800.0
    """Longest pause before a message is sent again."""

    tries: int = 12
    """How often a message is sent before it is given up. Questions are bounded by `give_up_question` alone."""

    give_up: float = 86400.0
    """How long a message is tried before it is given up."""

    give_up_question: float = 604800.0
    """How long a message about a question is tried before it is given up."""

    kept: int = 200
    """How many messages that are over stay listed in `task notify list`."""


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
