"""A reporter: writes the page about a task that has ended."""

from __future__ import annotations

from typing import Protocol


class Reporter(Protocol):
    """Writes a task's report from what lies on disk. May take as long as a page takes, with a bound."""

    def write(self, task: str) -> bool:
        """Write the report of a task, by its id, into its folder; a report that lies there is replaced.

        Return False if the daemon ends before that is done: it is asked again after its next start.

        Raises:
            Unavailable: it could not be written; the message says why.

        """
        ...
