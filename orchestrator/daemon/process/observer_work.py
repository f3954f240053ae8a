"""What the daemon has the observer do: the report of each day, traces, metrics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.daemon.process.daily_reports import DailyReports
from orchestrator.daemon.process.telemetry import Telemetry

if TYPE_CHECKING:
    from orchestrator.daemon.core.worker_pool import Executor
    from orchestrator.daemon.process.report_process import ReportProcess
    from orchestrator.model.observer_settings import ObserverSettings
    from orchestrator.ports.clock import Clock
    from orchestrator.ports.files import Files


class ObserverWork:
    """Has done what is due and set. `look` is called by the deciding thread, now and then."""

    def __init__(
        self,
        settings: ObserverSettings,
        state: Path,
        files: Files,
        clock: Clock,
        executor: Executor,
        reporter: ReportProcess,
    ) -> None:
        self._daily = DailyReports(settings, state, files, clock, executor, reporter)
        self._telemetry = Telemetry(settings, clock, executor, reporter)

    def look(self) -> None:
        """Have what is due done, unless that is under way."""
        self._daily.look()
        self._telemetry.look()

    @property
    def said(self) -> dict[str, object]:
        """What the heartbeat says of it; the values are empty of what is off."""
        return {"daily": self._daily.said, "telemetry": self._telemetry.said}
