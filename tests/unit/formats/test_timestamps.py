"""A moment is said by the clock, and with its day if that is not today's."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.timestamps import moment_said, stamped, unstamped
from orchestrator.testing.local_zone import local_zone


def at(text, zone="UTC"):
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


@pytest.mark.parametrize(
    ("then", "now", "expected"),
    [
        ("2026-11-22 12:47:59", "2026-11-22 23:59:59", "12:47"),
        ("2026-11-22 12:47:00", "2026-11-23 00:00:01", "Sun 22 Nov 12:47"),
        ("2026-11-23 00:05:00", "2026-11-22 23:59:59", "Mon 23 Nov 00:05"),
        ("2027-01-01 00:05:00", "2026-12-31 23:59:59", "Fri 1 Jan 2027 00:05"),
        ("2026-11-22 12:47:00", None, "Sun 22 Nov 2026 12:47"),
    ],
)
def test_a_time_on_another_day_has_its_date(then, now, expected):
    with local_zone("UTC"):
        assert moment_said(at(then), now and at(now)) == expected


def test_the_day_is_that_of_the_local_clock():
    then, now = at("2026-11-22 23:30"), at("2026-11-23 00:30")
    with local_zone("Europe/Berlin"):
        assert moment_said(then, now) == "00:30"
    with local_zone("UTC"):
        assert moment_said(then, now) == "Sun 22 Nov 23:30"


def test_what_no_calendar_has_is_unknown():
    assert moment_said(1e18, 0.0) == "an unknown time"


@given(st.integers(0, 4_000_000_000), st.text(max_size=20))
def test_a_stamp_is_said_by_the_clock_of_its_reader(then, text):
    with local_zone("America/New_York"):
        assert unstamped(stamped(then, text), then + 5.0) == f"{moment_said(then, then + 5.0)} {text}"


@pytest.mark.parametrize(
    "text",
    ["", "12:47 as older versions wrote it", "2026-11-22", "2026-11-22T12:47:00", "x2026-11-22T12:47:00Z y"],
)
def test_text_without_a_stamp_stays_as_it_is(text):
    assert unstamped(text, 0.0) == text


def test_a_stamp_is_of_no_zone():
    with local_zone("Asia/Kathmandu"):
        assert stamped(at("2026-11-22 12:47:03"), "x") == "2026-11-22T12:47:03Z x"
    assert datetime.fromisoformat(stamped(0.0, "").strip()) == datetime(1970, 1, 1, tzinfo=UTC)
