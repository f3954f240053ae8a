"""Composite skills by fresh seeds: how phases end, whatever happens. `SIMULATION_SEED` draws them again."""

from __future__ import annotations

import pytest

from tests.simulation.engine import fresh_worlds
from tests.simulation.engine.run import Failed
from tests.simulation.skill_worlds import simulate_skills

FRESH = 2
MORE = 24
ENDS = {"complete", "partial", "failed"}


def checked(seed: str, simulated) -> None:
    try:
        outcome = simulate_skills(seed)
    except Failed as failed:
        pytest.fail(
            f"{failed}\nagain: tests.simulation.skill_worlds.simulate_skills({seed!r})", pytrace=False
        )
    assert set(outcome.tasks.values()) <= ENDS
    simulated(outcome)


@pytest.mark.parametrize("number", range(FRESH))
def test_fresh_skills(number, simulated) -> None:
    """Each takes a second or two of one core."""
    checked(f"{fresh_worlds.drawn_seed()}.{number}", simulated)


def test_what_was_handed_in_outlives_a_power_cut(simulated) -> None:
    """The power failed after the last phase: the state file said that all was complete, and memory files were gone."""
    checked("try.5", simulated)


@pytest.mark.thorough(reason="two worlds of the same kind go in CI")
@pytest.mark.parametrize("number", range(MORE))
def test_more_fresh_skills(number, simulated) -> None:
    checked(f"{fresh_worlds.drawn_seed()}.more.{number}", simulated)
