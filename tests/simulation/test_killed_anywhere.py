"""One small task, with its daemon killed ahead of each change of the disk, a worktree or a pane, ends the same way."""

from __future__ import annotations

import os
from random import Random

import pytest

from tests.simulation.engine import fresh_worlds
from tests.simulation.engine.sweep import run_small_task, sweep

PARTS = 8


@pytest.fixture(scope="module")
def changes():
    ending, faults = run_small_task()
    assert ending.task == "complete"
    assert faults.steps > 200
    return faults.steps


@pytest.mark.thorough(reason="every change: CI takes some, others in each run")
@pytest.mark.parametrize("part", range(PARTS))
def test_a_kill_ahead_of_every_change(changes, part):
    assert sweep(range(1 + part, changes, PARTS)) > 0


@pytest.mark.thorough(reason="every eighth change: CI takes some, others in each run")
@pytest.mark.parametrize("part", range(2))
def test_a_power_cut_ahead_of_every_eighth(changes, part):
    assert sweep(range(1 + part * 8, changes, 16), power=True) > 0


@pytest.mark.parametrize(("every", "power"), [(32, False), (64, True)])
def test_a_kill_ahead_of_some_changes(changes, every, power):
    """CI takes a part of the changes, others in each run."""
    first = Random(f"{os.environ[fresh_worlds.SEED]} {every}").randint(1, every)
    assert sweep(range(first, changes, every), power=power) > 0


def test_kill_ahead_of_an_answer_gives_it_afterwards():
    """The answer is in the outbox, and its event was consumed, so no second request comes.

    Without the answer the run would count as hung after a while, and another would start: the end would be the same.
    """
    well, calm = run_small_task(hooks=True)
    ending, faults = run_small_task(kill_in="answers", hooks=True)
    assert faults.kills == 1
    assert ending == well
    assert faults.world.host.starts.total() == calm.world.host.starts.total()


@pytest.mark.parametrize(
    "every", [pytest.param(1, marks=pytest.mark.thorough(reason="every moment: CI takes each eighth")), 8]
)
def test_a_kill_around_a_nudge(every):
    ending, faults = run_small_task(nudged=True)
    assert ending.task == "complete"
    first = faults.firsts["type"] - Random(f"{os.environ[fresh_worlds.SEED]} nudge").randint(1, every)
    assert sweep(range(first - 28, first + 30, every), nudged=True) > 0
