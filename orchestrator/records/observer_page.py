"""The observer's figures as one page of HTML: `task observe --html`. It holds all that it shows, and loads nothing."""

from __future__ import annotations

from typing import Final

from orchestrator.model.coordination import IssueSeverity, iso
from orchestrator.records.advice import recommendations
from orchestrator.records.observed_sources import Reading
from orchestrator.records.observer import Observation, days, share
from orchestrator.reporting.html import template

MOST: Final = 200
"""Rows of a table at most: agents may have any number of names, and the page is to open at once."""

_WIDTH: Final = 1000
"""Units across a bar."""

_NARROWEST: Final = 2.0
"""Units: a shorter bar is drawn so wide, or nobody would see it."""


def page(found: Observation, reading: Reading) -> str:
    """Return the page about a period, and about what was read for it."""
    first, last = iso(found.since)[:10], iso(found.until - 1)[:10]
    counted = days(found)
    return template("observer.html.jinja").render(
        found=found,
        reading=reading,
        period=first if first == last else f"{first} to {last}",
        end=min(found.until, found.made_at),
        advice=recommendations(found)[:MOST],
        days=counted,
        severities=list(IssueSeverity),
        longest=max((each.seconds.p90 or 0.0 for each in found.routes), default=0.0),
        busiest=max((counts.total() for _, counts in counted), default=0),
        most=MOST,
        share=share,
        width=width,
    )


def width(part: float, whole: float) -> float:
    """Return how wide the bar of a part is, in units of a thousandth of the widest."""
    return round(max(_WIDTH * part / whole, _NARROWEST), 2) if whole else _NARROWEST
