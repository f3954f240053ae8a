"""Worlds by seed: the whole daemon, with everything going wrong, held to every law after every fact and turn.

How much there was of what is in the summary of the run: see `conftest`.
"""

from __future__ import annotations

import pytest

from orchestrator.testing.simulate import spread
from orchestrator.testing.simulation.run import Failed, live
from orchestrator.testing.simulation.shrink import shrunk

DAYS = 10_200
PARTS = 32
IN_CI = {0, 1, 3, 4, 10, 12, 13, 16}
"""Those that take some seconds each; all of them are part of `scripts/test nightly`."""
ENDS = {"complete", "partial", "failed", "stopped"}


@pytest.mark.parametrize(
    "part",
    [pytest.param(part, marks=[] if part in IN_CI else [pytest.mark.thorough]) for part in range(PARTS)],
)
def test_days(part, simulated):
    lived = 0.0
    for number, world in enumerate(spread("ci", DAYS)):
        if number % PARTS != part:
            continue
        try:
            outcome = live(world.seed, world.days)
        except Failed as failed:
            pytest.fail(f"{failed}\n{shrunk(failed, world.days)}", pytrace=False)
        assert set(outcome.tasks.values()) <= ENDS
        lived += outcome.days
        simulated(outcome)
    assert lived > 0


@pytest.mark.parametrize(("seed", "days"), [("ci.14", 150.0), ("sg.3", 6.0)])
def test_worlds_that_once_broke_a_law_break_none(seed, days):
    """One in which a task was stopped as peace came, one in which the check before any change could never run."""
    assert set(live(seed, days).tasks.values()) <= ENDS


def test_there_are_as_many_days_as_we_say():
    assert sum(world.days for world in spread("ci", DAYS)) >= 10_000
