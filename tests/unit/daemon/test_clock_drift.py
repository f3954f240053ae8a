"""A machine that slept, or a clock that was set, is noticed by comparing clocks."""

from __future__ import annotations

from orchestrator.daemon.process.clock_drift import Drift, Moved
from orchestrator.testing.fake_clock import FakeClock


def test_passing_time_makes_no_fact() -> None:
    clock = FakeClock()
    drift = Drift(clock)
    clock.advance(86_400)
    assert drift.look() is None


def test_suspend_is_one_fact() -> None:
    clock = FakeClock()
    drift = Drift(clock)
    clock.suspend(28_800)
    assert drift.look() == Moved(slept=28_800, put=0)
    assert drift.look() is None


def test_set_clock_differs_from_a_suspend() -> None:
    clock = FakeClock()
    drift = Drift(clock)
    clock.jump(-3600)
    clock.suspend(60)
    moved = drift.look()
    assert moved is not None
    assert (round(moved.slept), round(moved.put)) == (60, -3600)


def test_moves_both_ways_that_cancel_each_other_are_still_two() -> None:
    clock = FakeClock()
    drift = Drift(clock)
    clock.jump(-600)
    clock.suspend(600)
    assert drift.look() == Moved(slept=600, put=-600)


def test_small_steps_add_up_until_they_count() -> None:
    clock = FakeClock()
    drift = Drift(clock)
    clock.jump(3)
    assert drift.look() is None
    clock.jump(3)
    assert drift.look() == Moved(slept=0, put=6)
