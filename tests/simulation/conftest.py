"""Adds up what was simulated, over all workers, and says it at the end of the run."""

from __future__ import annotations

from collections import Counter

import pytest

from orchestrator.testing.simulation.table import FIRST, table

PROPERTY = "simulated"


@pytest.fixture
def simulated(record_property):
    """Take the outcome of a world into the summary."""

    def take(outcome):
        record_property(PROPERTY, {**outcome.counts, "worlds": 1, "days": outcome.days})

    return take


def pytest_terminal_summary(terminalreporter):
    counts = Counter[str]()
    for report in terminalreporter.getreports("passed"):
        for name, told in report.user_properties:
            if name == PROPERTY:
                counts.update(told)
    if counts:
        counts["days"] = round(counts["days"])
        shown = {name: counts[name] for name in counts if name in FIRST or name.startswith("happened")}
        terminalreporter.section("simulated")
        terminalreporter.write(table(Counter(shown)))
