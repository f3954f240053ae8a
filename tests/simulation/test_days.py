"""Worlds by seed: the whole daemon with all faults, checked against every law after each fact and each turn.

The summary of the run has the counts, and how many of the days were busy: see `conftest`. Most days of these worlds are
quiet: a task waits for a user who is away. `test_fresh_worlds` has the busy ones.
"""

from __future__ import annotations

import pytest

from tests.simulation.simulate import spread

DAYS = 10_200
PARTS = 64
IN_CI = {12}
"""One that takes some ten seconds. `scripts/test nightly` runs all."""


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(
            part,
            marks=[]
            if part in IN_CI
            else [pytest.mark.thorough(reason="a part of the same days goes in CI")],
        )
        for part in range(PARTS)
    ],
)
def test_days(part, checked_world):
    days = 0.0
    for number, world in enumerate(spread("ci", DAYS)):
        if number % PARTS == part:
            days += checked_world(world.seed, world.days).days
    assert days > 0


def test_number_of_days_is_as_documented():
    assert sum(world.days for world in spread("ci", DAYS)) >= 10_000
