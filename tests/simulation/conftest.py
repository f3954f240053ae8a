"""Lets worlds live for tests, and adds up what was in them, over all workers, to say it at the end of the run."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.simulation.engine.kept_worlds import Kept
from tests.simulation.engine.run import Failed, live
from tests.simulation.engine.shrink import shrunk
from tests.simulation.engine.summary_table import FIRST, table

PROPERTY = "simulated"
ENDS = {"complete", "partial", "failed", "stopped"}


@pytest.fixture
def simulated(record_property):
    """Take the outcome of a world into the summary."""

    def take(outcome):
        record_property(PROPERTY, {**outcome.counts, "worlds": 1, "days": outcome.days})

    return take


@pytest.fixture
def lived(simulated):
    """Let a world live that must break no law, and return its outcome; one that does is shrunk, as a whole is not."""

    def live_it(seed, days, only=None):
        try:
            outcome = live(seed, days, only)
        except Failed as failed:
            shorter = "" if only else f"\n{shrunk(failed, days)}"
            pytest.fail(f"{failed}{shorter}\nkeep all of it: {Kept(seed, days, only).how}", pytrace=False)
        assert set(outcome.tasks.values()) <= ENDS
        simulated(outcome)
        return outcome

    return live_it


def pytest_terminal_summary(terminalreporter):
    counts = Counter[str]()
    for report in terminalreporter.getreports("passed"):
        for name, told in report.user_properties:
            if name == PROPERTY:
                counts.update(told)
    if counts:
        counts["days"] = round(counts["days"])
        shown = {
            name: counts[name] for name in counts if name in FIRST or name.startswith(("happened", "busy"))
        }
        terminalreporter.section("simulated")
        terminalreporter.write(table(Counter(shown)))
