"""Quiet hours are hours of the wall: over midnight, and on the days on which the clocks change."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.notifications.policy import quiet_end
from orchestrator.testing.local_zone import local_zone

BERLIN = "Europe/Berlin"


def at(text, zone=BERLIN):
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


@pytest.mark.parametrize(
    ("quiet", "now", "until"),
    [
        ("22:00-07:00", "2026-05-01 21:59:59", "2026-05-01 21:59:59"),
        ("22:00-07:00", "2026-05-01 22:00:00", "2026-05-02 07:00:00"),
        ("22:00-07:00", "2026-05-02 00:30:30", "2026-05-02 07:00:00"),
        ("22:00-07:00", "2026-05-02 06:59:59", "2026-05-02 07:00:00"),
        ("22:00-07:00", "2026-05-02 07:00:00", "2026-05-02 07:00:00"),
        ("12:00-13:30", "2026-05-02 12:15:00", "2026-05-02 13:30:00"),
        ("12:00-13:30", "2026-05-02 13:30:00", "2026-05-02 13:30:00"),
        ("00:01-00:00", "2026-05-02 00:01:00", "2026-05-03 00:00:00"),
        ("", "2026-05-02 03:00:00", "2026-05-02 03:00:00"),
        # The night of 29 March has no 02:30: it is over when the clock shows 03:00.
        ("22:00-02:30", "2026-03-29 01:59:00", "2026-03-29 03:00:00"),
        ("22:00-07:00", "2026-03-28 23:00:00", "2026-03-29 07:00:00"),
        # That of 25 October has 02:00 to 03:00 twice.
        ("22:00-07:00", "2026-10-24 23:00:00", "2026-10-25 07:00:00"),
        ("22:00-02:30", "2026-10-25 01:00:00", "2026-10-25 02:30:00"),
    ],
)
def test_they_end_when_the_clock_on_the_wall_says_so(quiet, now, until):
    with local_zone(BERLIN):
        assert quiet_end(quiet, at(now)) == at(until)


@given(
    begin=st.integers(0, 1439),
    length=st.integers(1, 1439),
    moment=st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31)),  # noqa: DTZ001 (drawn as UTC)
    zone=st.sampled_from([BERLIN, "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "UTC"]),
)
def test_at_their_end_they_are_over_and_until_then_they_are_not(begin, length, moment, zone):
    end = (begin + length) % 1440
    quiet = f"{begin // 60:02}:{begin % 60:02}-{end // 60:02}:{end % 60:02}"
    now = moment.replace(tzinfo=ZoneInfo("UTC")).timestamp()
    with local_zone(zone):
        until = quiet_end(quiet, now)
        assert until >= now
        assert until - now <= timedelta(hours=26).total_seconds()
        assert quiet_end(quiet, until) == until
        if until > now:
            before = max(now, until - 60)
            assert quiet_end(quiet, before) == until
