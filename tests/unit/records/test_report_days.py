"""Of which days a report is due, by the local clock and by what lies there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.model import coordination
from orchestrator.model.coordination import iso
from orchestrator.records.report_days import MOST, due_day, minute_of, missing_days

HOUR = 3600.0


def moment(text):
    """Return a moment that is one."""
    return coordination.moment(text) or 0.0


@pytest.mark.parametrize(
    ("now", "ahead", "due"),
    [
        ("2025-12-11T06:59:59Z", 0, "2025-12-09"),
        ("2025-12-11T07:00:00Z", 0, "2025-12-10"),
        ("2025-12-11T05:59:00Z", 1, "2025-12-09"),
        ("2025-12-11T06:00:00Z", 1, "2025-12-10"),
        # 07:00 in Tokyo is 22:00 of the day before: the last full day is the one before that.
        ("2025-12-10T22:00:00Z", 9, "2025-12-09"),
        ("2025-12-11T15:00:00Z", -8, "2025-12-10"),
        ("2025-12-11T14:59:00Z", -8, "2025-12-09"),
    ],
)
def test_last_full_day_is_due_at_its_local_time(now, ahead, due):
    assert due_day(moment(now), minute_of("07:00"), lambda _: ahead * HOUR) == due


@given(st.floats(0, 4e9), st.integers(0, 1439), st.sampled_from([-12, -3.5, 0, 5.75, 14]))
def test_a_day_that_is_due_is_over(now, minute, ahead):
    day = due_day(now + 1e6, minute, lambda _: ahead * HOUR)
    assert moment(f"{day}T00:00:00Z") + 86_400 <= now + 1e6


def test_each_day_becomes_due_once_though_clocks_change():
    """A zone goes an hour ahead on one day and back on another, when 02:30 comes twice: no day is left out or new."""
    began = moment("2025-03-25T00:00:00Z")
    spring, autumn = moment("2025-03-30T01:00:00Z"), moment("2025-10-26T01:00:00Z")

    def ahead(at):
        return 2 * HOUR if spring <= at < autumn else HOUR

    days = [due_day(began + number * HOUR / 4, minute_of("02:30"), ahead) for number in range(4 * 24 * 230)]
    assert list(dict.fromkeys(days)) == [iso(began + number * 86_400)[:10] for number in range(-2, 229)]


@pytest.mark.parametrize(
    ("written", "missing"),
    [
        ((), ("2025-12-10",)),
        (("2025-12-10",), ()),
        (("2025-12-07", "2025-12-01"), ("2025-12-08", "2025-12-09", "2025-12-10")),
        (("2025-12-12",), ("2025-12-10",)),  # the clock was set back: that one lies in the future
    ],
)
def test_what_was_missed_since_the_newest_is_made_up_for(written, missing):
    assert missing_days("2025-12-10", written) == missing


def test_after_a_long_time_only_the_last_days_are_made_up_for():
    assert missing_days("2025-12-10", ["2024-01-01"]) == tuple(
        f"2025-12-{n:02}" for n in range(11 - MOST, 11)
    )
