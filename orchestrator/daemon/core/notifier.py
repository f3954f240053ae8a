"""The notifier: notifications of all tasks and of the daemon itself go into the spool here, and are sent from it.

Sending has workers of its own, so that a channel that hangs delays nothing else. Its next deadline is asked for like
any deadline of a task; with an empty spool there is none (law 9).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.core.hints import NotificationHint
from orchestrator.model.errors import OrchestratorError
from orchestrator.model.notification import Notification, NotificationRule
from orchestrator.notifications.delivery import Delivery
from orchestrator.notifications.envelope import Envelope
from orchestrator.notifications.spool import Spool
from orchestrator.notifications.wording import harmless

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.daemon.core.hints import Hint
    from orchestrator.daemon.core.worker_pool import Executor
    from orchestrator.model.notify_settings import NotifySettings
    from orchestrator.ports.clock import Clock
    from orchestrator.ports.files import Files
    from orchestrator.ports.sender import Sender

log = logging.getLogger(__name__)

REST: Final = 30.0
"""Seconds until a spool that could not be read or written is retried."""

INCIDENT: Final = 3600.0
"""Seconds without a trouble after which the same trouble is a new notification."""

_KEPT: Final = 100
"""How many of the daemon's own notifications are kept in memory while they cannot be written to the disk."""


@dataclass(slots=True)
class Notifier:
    """One user's notifier. `asks` is set by the loop: whether a question still waits for its answer."""

    files: Files
    state_folder: Path
    settings: NotifySettings
    clock: Clock
    sender: Sender
    executor: Executor
    post: Callable[[Hint], None]
    asks: Callable[[Notification], bool] = lambda _: True
    _spool: Spool = field(init=False)
    _rounds: Delivery = field(init=False)
    _wake_at: float | None = None
    _queued: bool = False
    _lock: Lock = field(default_factory=Lock)
    _unput: dict[str, Notification] = field(default_factory=dict)
    _troubles: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find the spool; its folder is made with the first notification."""
        self._spool = Spool(self.files, layout.notifications(self.state_folder))
        try:
            self._spool.adopt(layout.former_notifications(self.state_folder))
        except OSError:
            log.exception("what lies in the spool of an earlier version stays there")
        self._rounds = Delivery(self._spool, self.settings, self.sender, self.clock, self._still_asked)

    def put(self, notification: Notification) -> None:
        """Put a notification into the spool, at most once ever, and have it sent soon. Repeatable. Raises OSError."""
        if self._spool.put(envelope_of(notification)):
            self.look()

    def report(self, trouble: str, title: str, text: str) -> None:
        """Notify of a trouble of the daemon itself; `trouble` names it, and it is sent once as long as it goes on."""
        now = self.clock.monotonic()
        last, self._troubles[trouble] = self._troubles.get(trouble), now
        if last is None or now - last >= INCIDENT:
            at = self.clock.now()
            self.announce(
                Notification(
                    notification_id(NotificationRule.DAEMON, f"{trouble}:{at}"),
                    NotificationRule.DAEMON,
                    title,
                    text,
                    at,
                )
            )

    def announce(self, notification: Notification) -> None:
        """Send a notification of the daemon's own, as soon as it can be written to the disk."""
        with self._lock:
            self._unput[notification.id] = notification
            for old in list(self._unput)[:-_KEPT]:
                del self._unput[old]
        self.look()

    def look(self) -> None:
        """Have a worker look into the spool and send what is due."""
        with self._lock:
            if self._queued:
                return
            self._queued = True
        self.executor.do("daemon/notifications", self._work)

    def see_what_is_due(self) -> None:
        """Look into the spool if its time has come."""
        moment = self.wake_at()
        if moment is not None and self.clock.now() >= moment:
            self.look()

    def wake_at(self) -> float | None:
        """Return when to send something next, by the wall clock; None if there is nothing to send."""
        return None if self._queued else self._wake_at

    def _still_asked(self, notification: Notification) -> bool:
        return self.asks(notification)

    def _work(self) -> None:
        try:
            self._put_own()
            wake_at = self._rounds.go()
        except (OrchestratorError, OSError) as error:
            log.warning("no notification can be sent now: %s", error)
            wake_at = self.clock.now() + REST
        finally:
            with self._lock:
                self._queued = False
        if wake_at != self._wake_at:
            self._wake_at = wake_at
            self.post(NotificationHint())

    def _put_own(self) -> None:
        with self._lock:
            own = list(self._unput.values())
        for notification in own:
            self._spool.put(envelope_of(notification))
            with self._lock:
                self._unput.pop(notification.id, None)


def envelope_of(notification: Notification) -> Envelope:
    """Return a notification as stored in the spool: safe to display, and without secrets."""
    clean = Notification(
        notification.id,
        notification.rule,
        harmless(notification.title),
        harmless(notification.text),
        notification.at,
        notification.task,
        notification.question,
    )
    return Envelope(clean)


def notification_id(rule: NotificationRule, seed: str) -> str:
    """Return an id that is the same for the same rule and seed."""
    return f"{rule}-{blake2b(seed.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"
