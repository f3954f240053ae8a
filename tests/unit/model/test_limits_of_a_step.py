"""Bounds of a single step, ahead of the limits of the settings."""

from __future__ import annotations

from orchestrator.model.limits import Limits, bounded


def test_own_bounds_come_first() -> None:
    limits = bounded(Limits(max_crashes=3), (("max_crashes", 1),))
    assert (limits.max_crashes, limits.max_rejections) == (1, Limits().max_rejections)


def test_step_without_bounds_has_the_settings_limits() -> None:
    limits = Limits()
    assert bounded(limits, ()) is limits


def test_bound_that_is_no_limit_any_more_is_passed_over() -> None:
    """A journal of another version may name it."""
    assert bounded(Limits(), (("max_wishes", 3),)) == Limits()
