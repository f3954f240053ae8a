"""Notifications: what a person wants to know, wherever they are (U5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class NotificationRule(StrEnum):
    """Why somebody is notified. Each rule can be switched off, for all channels or for one."""

    COMPLETE = "complete"  # a task has ended: complete, or failed
    QUESTION = "question"  # a person is asked
    BLOCKED = "blocked"  # something cannot go on, and no question says so
    LIMITED = "limited"  # an agent has reached a usage limit, or the task comes near to its own
    DAEMON = "daemon"  # the daemon itself: died, hangs, came back, has no room


@dataclass(frozen=True, slots=True)
class Notification:
    """One notification. Its id is its identity: two with the same id are the same notification (law 4).

    `at` is when it happened, in seconds since the epoch. `task` is a task's id, `question` the id of one of its
    questions; both may be empty. `until` and `default` are those of `Tell`.
    """

    id: str
    rule: NotificationRule
    title: str
    text: str
    at: float
    task: str = ""
    question: str = ""
    until: float | None = None
    default: str = ""


@dataclass(frozen=True, slots=True)
class Channel:
    """One way to notify somebody: an address that apprise knows, or `tmux://`.

    The address may hold secrets, so no text about a channel shows it. No `rules` means all of them.
    """

    name: str
    url: str
    rules: tuple[NotificationRule, ...] = ()

    @property
    def scheme(self) -> str:
        """The kind of channel: the one part of the address that is no secret."""
        return self.url.partition(":")[0]

    def __str__(self) -> str:
        only = f" rules={','.join(self.rules)}" if self.rules else ""
        return f"{self.scheme}://… name={self.name}{only}"

    def __repr__(self) -> str:
        return f"Channel({self})"


TERMINAL: Final = "terminal"
DESKTOP: Final = "desktop"
DEFAULT_CHANNELS: Final = (Channel(TERMINAL, f"{TERMINAL}://"), Channel(DESKTOP, f"{DESKTOP}://"))
"""The channels of a user who has set none: the bell of the terminals from which they started tasks, a line in tmux for
everybody who is attached there, and the desktop if there is one.
"""
