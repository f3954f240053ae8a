"""Composite skills by fresh seeds: how phases end, whatever happens. `SIMULATION_SEED` draws them again."""

from __future__ import annotations

import pytest

from tests.simulation.engine import fresh_worlds
from tests.simulation.engine.run import Failed
from tests.simulation.skill_worlds import simulate_skills

FRESH = 26
ENDS = {"complete", "partial", "failed"}


def checked(seed: str, simulated, *, back: bool = False) -> None:
    try:
        outcome = simulate_skills(seed, back=back)
    except Failed as failed:
        pytest.fail(
            f"{failed}\nagain: tests.simulation.skill_worlds.simulate_skills({seed!r}, {back=})",
            pytrace=False,
        )
    assert set(outcome.tasks.values()) <= ENDS | ({"stopped"} if back else set())
    simulated(outcome)


@pytest.mark.parametrize("seed", ["try.5", "third.35"])
def test_what_was_handed_in_outlives_a_power_cut(seed, simulated) -> None:
    """Memory files are made durable as their phase ends, and again at the end: agents need not have seen to that."""
    checked(seed, simulated)


def test_edit_of_the_state_file_moves_nothing(simulated) -> None:
    """An agent took the task's name out of it ahead of the last phase's end."""
    checked("third.54", simulated)


@pytest.mark.parametrize("seed", ["back.1", "back.5"])
def test_commands_take_sessions_back(seed, simulated) -> None:
    """They stop the tasks, take the sessions back, and carry them on to their ends."""
    checked(seed, simulated, back=True)


@pytest.mark.thorough(reason="kept worlds of the same kind go in CI")
@pytest.mark.parametrize("number", range(FRESH))
def test_fresh_skills(number, simulated) -> None:
    """Each takes a second or two of one core."""
    checked(f"{fresh_worlds.drawn_seed()}.{number}", simulated)


@pytest.mark.thorough(reason="kept worlds of the same kind go in CI")
@pytest.mark.parametrize("number", range(FRESH))
def test_fresh_skills_that_commands_take_back(number, simulated) -> None:
    checked(f"{fresh_worlds.drawn_seed()}.back.{number}", simulated, back=True)
