"""The observer's report of each day, written at the time that `observer.daily` says, by a process of its own.

Which reports are missing is read off the folder in which they lie, so a report that was due while the daemon was down
is written at its next start, and one that a killed daemon had begun is begun again.
"""

from __future__ import annotations

import logging
import math
import re
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.model.errors import OrchestratorError
from orchestrator.records.report_days import due_day, minute_of, missing_days

if TYPE_CHECKING:
    from orchestrator.daemon.core.worker_pool import Executor
    from orchestrator.model.observer_settings import ObserverSettings
    from orchestrator.ports.clock import Clock
    from orchestrator.ports.files import Files
    from orchestrator.ports.reporter import DayReporter

log = logging.getLogger("orchestrator.daemon")

AGAIN: Final = 3600.0
"""Seconds after which a report that could not be written is tried again."""

_FILE: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\.md")


@dataclass(slots=True)
class DailyReports:
    """Has reports written that are due. `look` is called by the deciding thread, now and then.

    `_done` is the newest day that is done with, `_newest` the newest report that lies in the folder, `_fault` why one
    could not be written. A worker sets them.
    """

    settings: ObserverSettings
    state: Path
    files: Files
    clock: Clock
    executor: Executor
    reporter: DayReporter
    _done: str = ""
    _newest: str = ""
    _fault: str = ""
    _not_before: float = -math.inf
    _busy: bool = field(default=False)

    @property
    def folder(self) -> Path:
        """The folder in which the reports lie."""
        return Path(self.settings.folder) if self.settings.folder else layout.daily_reports(self.state)

    @property
    def said(self) -> dict[str, str]:
        """What the heartbeat says of them: when they are written, the newest, and why one is missing; empty if off."""
        if not self.settings.daily:
            return {}
        newest = str(layout.daily_report(self.folder, self._newest)) if self._newest else ""
        return {"at": self.settings.daily, "file": newest, "fault": self._fault}

    def look(self) -> None:
        """Have what is due written, unless that is under way."""
        if not self.settings.daily or self._busy:
            return
        due = due_day(self.clock.now(), minute_of(self.settings.daily), self.clock.utc_offset)
        if due == self._done or self.clock.monotonic() < self._not_before:
            return
        self._busy = True
        self.executor.do("daily report", partial(self._work, due))

    def _work(self, due: str) -> None:
        """Write all that is missing up to a day. What cannot be written is tried again later, at the first."""
        try:
            if self._write(due):
                self._done, self._fault = due, ""
        except (OrchestratorError, OSError) as error:
            self._fault, self._not_before = str(error), self.clock.monotonic() + AGAIN
            log.warning("a daily report could not be written, and is tried again in an hour: %s", error)
        finally:
            self._busy = False

    def _write(self, due: str) -> bool:
        """Write what is missing; return False if the daemon ends meanwhile."""
        self.files.make_folder(self.folder)
        found = (_FILE.fullmatch(name) for name in self.files.names(self.folder))
        written = {each[1] for each in found if each}
        self._newest = max(written, default="")
        for day in missing_days(due, written):
            path = layout.daily_report(self.folder, day)
            if not self.reporter.observe(day, path):
                return False
            self._newest = day
            log.info("wrote the observer's report of %s: %s", day, path)
        return True
