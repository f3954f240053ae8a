"""Put a notification of a task into the user's spool. Repeatable: each is put there at most once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.facts import Notified
from orchestrator.model.notification import Notification

if TYPE_CHECKING:
    from orchestrator.daemon.core.notifier import Notifier
    from orchestrator.model.actions import Notify


def notify(desk: Notifier, task: str, action: Notify, at: float) -> Notified:
    """Put the notification there. Raises OSError: the disk cannot do it now."""
    news = Notification(
        id=action.id,
        rule=action.rule,
        title=action.title,
        text=action.text,
        at=action.at,
        task=task,
        question=action.question,
        until=action.until,
        default=action.default,
    )
    desk.put(news)
    return Notified(at, action.id)
