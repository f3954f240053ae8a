"""Random workflows by fresh seeds. `SIMULATION_SEED` draws those of an earlier run again. Each night has 10,000."""

from __future__ import annotations

import pytest

from tests.simulation.engine import fresh_worlds
from tests.simulation.engine.run import Failed
from tests.simulation.workflow_worlds import ANSWERED, BOXED, how_to_keep, kept_workflows, simulate_workflow

FRESH = 4
SMALL = 6
"""Agents that work, at most: four such worlds are some ten seconds of one core."""

ENDS = {"complete", "partial", "failed"}


def checked(seed: str, simulated, most: int = SMALL) -> None:
    try:
        outcome = simulate_workflow(seed, most=most)
    except Failed as failed:
        pytest.fail(f"{failed}\n{how_to_keep(seed, most)}", pytrace=False)
    assert set(outcome.tasks.values()) <= ENDS
    simulated(outcome)


@pytest.mark.parametrize("number", range(FRESH))
def test_fresh_workflows(number, simulated) -> None:
    checked(f"{fresh_worlds.drawn_seed()}.{number}", simulated)


@pytest.mark.parametrize("number", range(FRESH // 2))
def test_fresh_workflows_whose_agents_answer(number, simulated) -> None:
    checked(f"{fresh_worlds.drawn_seed()}.{number}{ANSWERED}", simulated)


def test_fresh_workflow_on_boxes(simulated) -> None:
    """Some of its agents work on boxes, which are often cut off, emptied, replaced, or late. Nights have thousands."""
    checked(f"{fresh_worlds.drawn_seed()}.0{BOXED}", simulated, SMALL // 2)


def test_workflow_whose_boxes_are_cut_off(simulated) -> None:
    """Kept for its size: two seconds, in which runs work on boxes and the daemon dies a few times."""
    outcome = simulate_workflow(f"fb.0{BOXED}", most=SMALL)
    assert set(outcome.tasks.values()) <= ENDS
    assert outcome.counts["runs on boxes"]
    assert outcome.counts["happened: boxes-cut"]
    simulated(outcome)


def test_workflows_that_once_failed(simulated) -> None:
    for seed, most in kept_workflows():
        checked(seed, simulated, most)


@pytest.mark.thorough(reason="two hundred agents take long")
def test_workflow_of_two_hundred_agents(simulated) -> None:
    """Drawn for its size: the first of its seeds that has at least 150 agents at work."""
    checked("wide.2", simulated, 200)
