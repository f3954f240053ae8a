"""`[notify]` of the user's settings: how people are notified."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.model.notification import DEFAULT_CHANNELS, Channel, NotificationRule


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

    timeout: float = 20.0
    """How long sending one message may take."""

    retry_pause: float = 10.0
    """First pause before a message that a channel refused is sent again. It doubles up to `max_retry_pause`."""

    max_retry_pause: float = 1800.0
    """Longest pause before a message is sent again."""

    tries: int = 12
    """How often a message is sent before it is given up. Questions are bounded by `give_up_question` alone."""

    give_up: float = 86400.0
    """How long a message is tried before it is given up."""

    give_up_question: float = 604800.0
    """How long a message about a question is tried before it is given up."""

    kept: int = 200
    """How many messages that are over stay listed in `task notify list`."""
