"""The section `[observer]` of the settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ObserverSettings:
    """`[observer]`: the report of each day that `task observe` makes, over the projects of all tasks."""

    daily: str = ""
    """Local time, such as `07:00`, at which the daemon writes the report of the last full day (UTC); empty: never."""

    folder: str = ""
    """Folder for these reports, one file a day; empty: `observer` in the PM's own folder."""
