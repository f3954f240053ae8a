from __future__ import annotations

import pytest

from orchestrator.hosts.ssh.allowance import Allowance


def test_burst_is_free_and_a_flood_waits():
    allowance = Allowance(at_once=10, per_second=2, wait=60)
    allowance.spend(9, 100.0)
    assert allowance.pause(100.0) == 0
    allowance.spend(5, 100.0)
    assert allowance.pause(100.0) == pytest.approx(2.0)
    assert allowance.pause(101.0) == pytest.approx(1.0)
    assert allowance.pause(102.0) == 0


def test_long_run_never_exceeds_the_rate():
    allowance, now, had = Allowance(at_once=10, per_second=2, wait=60), 0.0, 0.0
    while now < 1000:
        allowance.spend(7, now)
        had += 7
        now += allowance.pause(now)
        if not allowance.pause(now):
            now += 0.001
    assert had <= 10 + 2 * now + 7


def test_waits_are_bounded_and_savings_are_one_burst():
    allowance = Allowance(at_once=10, per_second=2, wait=1)
    allowance.spend(1e9, 0.0)
    assert allowance.pause(0.0) == 1
    allowance.spend(11, 1e9)
    assert allowance.pause(1e9) == pytest.approx(0.5)
