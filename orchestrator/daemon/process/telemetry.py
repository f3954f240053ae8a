"""Traces and metrics, sent and written now and then if the settings say where, by a process of its own each time.

So the libraries that do it cost the daemon no memory. What was sent the process itself keeps.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.model.errors import OrchestratorError

if TYPE_CHECKING:
    from orchestrator.daemon.core.worker_pool import Executor
    from orchestrator.model.observer_settings import ObserverSettings
    from orchestrator.ports.clock import Clock
    from orchestrator.ports.reporter import TelemetryReporter

log = logging.getLogger("orchestrator.daemon")


@dataclass(slots=True)
class Telemetry:
    """Has traces sent and metrics written. `look` is called by the deciding thread, now and then.

    `_fault` says why the last time failed, `_at` when all went well last (seconds since the epoch). A worker sets them.
    """

    settings: ObserverSettings
    clock: Clock
    executor: Executor
    reporter: TelemetryReporter
    _at: float | None = None
    _fault: str = ""
    _not_before: float = -math.inf
    _busy: bool = field(default=False)

    @property
    def said(self) -> dict[str, str | float | None]:
        """What the heartbeat says: where to, when it went well last, and why it did not since; empty if off."""
        if not self._on:
            return {}
        return {
            "traces": self.settings.traces,
            "metrics": self.settings.metrics,
            "at": self._at,
            "fault": self._fault,
        }

    def look(self) -> None:
        """Have it done if it is time, unless it is under way."""
        if not self._on or self._busy or self.clock.monotonic() < self._not_before:
            return
        self._busy, self._not_before = True, self.clock.monotonic() + self.settings.interval
        self.executor.do("telemetry", self._work)

    @property
    def _on(self) -> bool:
        return bool(self.settings.traces or self.settings.metrics)

    def _work(self) -> None:
        """Do both, whatever becomes of the other."""
        faults = list[str]()
        try:
            for what, work in self._tasks():
                try:
                    if not work():
                        return
                except (OrchestratorError, OSError) as error:
                    faults.append(f"{what}: {error}")
        finally:
            self._busy = False
        fault = "; ".join(faults)
        if fault and fault != self._fault:
            log.warning("telemetry is tried again in %g s: %s", self.settings.interval, fault)
        self._fault = fault
        self._at = self._at if fault else self.clock.now()

    def _tasks(self) -> Iterator[tuple[str, partial[bool]]]:
        if self.settings.traces:
            yield "traces", partial(self.reporter.send_traces, self.settings.traces)
        if self.settings.metrics:
            yield "metrics", partial(self.reporter.write_metrics, Path(self.settings.metrics))
