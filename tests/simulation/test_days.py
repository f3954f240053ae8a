"""Worlds by seed: the whole daemon, with everything going wrong, held to every law after every turn."""

from __future__ import annotations

import pytest

from orchestrator.testing.simulation.run import live

SHORT = [f"s{number}" for number in range(16)]
LONG = [f"l{number}" for number in range(16)]


@pytest.mark.parametrize("seed", SHORT)
def test_a_busy_day_and_a_half(seed):
    outcome = live(seed, 1.5)
    assert set(outcome.tasks.values()) <= {"complete", "failed", "stopped", "waiting"}


@pytest.mark.parametrize("seed", LONG)
def test_a_fortnight(seed):
    outcome = live(seed, 14.0)
    assert outcome.days > 13.0
    assert outcome.kills > 0
