"""Reporters: they write the page about a task that has ended, and the observer's report of a day."""

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
