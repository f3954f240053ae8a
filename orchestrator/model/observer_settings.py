"""The section `[observer]` of the settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ObserverSettings:
    """`[observer]`: what the daemon has `task observe` make of all projects: reports, metrics, traces."""

    daily: str = ""
    """Local time, such as `07:00`, at which the daemon writes the report of the last full day (UTC); empty: never."""

    folder: str = ""
    """Folder for these reports, one file a day; empty: `observer` in the PM's own folder."""

    traces: str = ""
    """URL, such as `http://127.0.0.1:4318`, of the collector to which the daemon sends traces; empty: none are sent."""

    metrics: str = ""
    """File into which the daemon writes metrics of the last seven days for Prometheus; empty: none are written."""

    interval: float = 300.0
    """How often traces are sent and metrics written. Never more often than all folders are read (`daemon.rescan`)."""
