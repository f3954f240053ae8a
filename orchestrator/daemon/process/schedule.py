"""The schedule: APScheduler posts hints by interval, and decides nothing."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from apscheduler.executors.debug import DebugExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

from orchestrator.daemon.core import hints as h

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.model.settings import Settings


BEATS_PER_WATCHDOG: Final = 3
"""How many beats are sent within the time limit of a service manager's watchdog."""


class Schedule:
    """Check-ins, rescans and beats. Late ones are not dropped, and never come in a burst."""

    def __init__(self, settings: Settings, post: Callable[[h.Hint], None]) -> None:
        """Plan the hints; `start` begins to send them."""
        logging.getLogger("apscheduler").setLevel(logging.WARNING)
        # Late runs are dropped after 1 s by default (measured on 3.11).
        late = {"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
        # A hint is posted at once, without a thread, which may not be available just then.
        inline = {"default": DebugExecutor()}
        self._scheduler = BackgroundScheduler(timezone="UTC", job_defaults=late, executors=inline)
        for hint, seconds in (
            (h.CheckIn(), settings.limits.check_in_interval),
            (h.Rescan(), settings.daemon.rescan),
            (h.Beat(), settings.daemon.heartbeat_interval),
        ):
            # Not by its name, "interval": that is looked up in installed packages, which may be replaced just then.
            every = IntervalTrigger(seconds=seconds, timezone="UTC")
            self._scheduler.add_job(post, every, args=[hint])

    def start(self) -> None:
        """Begin to send the hints."""
        self._scheduler.start()

    def wake(self) -> None:
        """Read the clock again: after a clock was set back, jobs would wait that much longer (measured)."""
        self._scheduler.wakeup()

    def close(self) -> None:
        """End it."""
        self._scheduler.shutdown(wait=False)


def heard(settings: Settings, watchdog: float | None) -> Settings:
    """Return the settings with beats frequent enough for a service manager's watchdog, if there is one."""
    if watchdog is None or settings.daemon.heartbeat_interval <= watchdog / BEATS_PER_WATCHDOG:
        return settings
    return replace(
        settings, daemon=replace(settings.daemon, heartbeat_interval=watchdog / BEATS_PER_WATCHDOG)
    )
