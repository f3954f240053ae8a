"""Worlds by seed: the whole daemon, with everything going wrong, held to every law after every fact and turn.

How much there was of what, and how many of the days were busy, is in the summary of the run: see `conftest`. Most days
of these worlds are quiet: in them a task waits for a user who is away. Busy ones are what `test_fresh_worlds` is for.
"""

from __future__ import annotations

import pytest

from tests.simulation.simulate import spread

DAYS = 10_200
PARTS = 32
IN_CI = {0, 1, 3, 4, 10, 12, 13, 16}
"""Those that take some seconds each; all of them are part of `scripts/test nightly`."""


@pytest.mark.parametrize(
    "part",
    [pytest.param(part, marks=[] if part in IN_CI else [pytest.mark.thorough]) for part in range(PARTS)],
)
def test_days(part, lived):
    days = 0.0
    for number, world in enumerate(spread("ci", DAYS)):
        if number % PARTS == part:
            days += lived(world.seed, world.days).days
    assert days > 0


def test_there_are_as_many_days_as_we_say():
    assert sum(world.days for world in spread("ci", DAYS)) >= 10_000
