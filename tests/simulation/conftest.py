"""Runs worlds for tests, adds up their counts over all workers, and prints them at the end of the test run."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.simulation.engine.kept_worlds import Kept
from tests.simulation.engine.run import Failed, simulate_world
from tests.simulation.engine.shrink import shrunk
from tests.simulation.engine.summary_table import FIRST, table

PROPERTY = "simulated"
ENDS = {"complete", "partial", "failed", "stopped"}


@pytest.fixture
def simulated(record_property):
    """Add the outcome of a world to the summary."""

    def take(outcome):
        record_property(PROPERTY, {**outcome.counts, "worlds": 1, "days": outcome.days})

    return take


@pytest.fixture
def checked_world(simulated):
    """Run a world that must break no law, and return its outcome. A failure of a whole world is shrunk."""

    def run(seed, days, only=None):
        try:
            outcome = simulate_world(seed, days, only)
        except Failed as failed:
            shorter = "" if only else f"\n{shrunk(failed, days)}"
            pytest.fail(f"{failed}{shorter}\nkeep all of it: {Kept(seed, days, only).how}", pytrace=False)
        assert set(outcome.tasks.values()) <= ENDS
        simulated(outcome)
        return outcome

    return run


def pytest_terminal_summary(terminalreporter):
    counts = Counter[str]()
    for report in terminalreporter.getreports("passed"):
        for name, counted in report.user_properties:
            if name == PROPERTY:
                counts.update(counted)
    if counts:
        counts["days"] = round(counts["days"])
        shown = {
            name: counts[name] for name in counts if name in FIRST or name.startswith(("happened", "busy"))
        }
        terminalreporter.section("simulated")
        terminalreporter.write(table(Counter(shown)))
