"""Reporters: they write the page about a task that has ended, the observer's report of a day, metrics, and traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path


class Reporter(Protocol):
    """Writes a task's report from what lies on disk. May take as long as a page takes, with a bound."""

    def write(self, task: str) -> bool:
        """Write the report of a task, by its id, into its folder; a report that lies there is replaced.

        Return False if the daemon ends before that is done: it is asked again after its next start.

        Raises:
            Unavailable: it could not be written; the message says why.

        """
        ...


class DayReporter(Protocol):
    """Writes the observer's report of a day, from what lies on disk. May take long, with a bound."""

    def observe(self, day: str, path: Path) -> bool:
        """Write the report of a day (`YYYY-MM-DD`, UTC) over all projects into a file, which is whole or not there.

        Return False if the daemon ends before that is done: it is asked again after its next start.

        Raises:
            Unavailable: it could not be written; the message says why.

        """
        ...


class TelemetryReporter(Protocol):
    """Sends traces and writes metrics over all projects, from what lies on disk. May take long, with a bound."""

    def send_traces(self, endpoint: str) -> bool:
        """Send what has ended since the last time to a collector; it is known to the next process what was sent.

        Return False if the daemon ends before that is done.

        Raises:
            Unavailable: the collector did not take it, or what sends is not installed; the message says why.

        """
        ...

    def write_metrics(self, path: Path) -> bool:
        """Write the figures of the last seven days into a file, which is whole or as it was.

        Return False if the daemon ends before that is done.

        Raises:
            Unavailable: they could not be written; the message says why.

        """
        ...
