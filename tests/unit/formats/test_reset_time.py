"""When a limit ends, read from what agent programs print: never long past, never far ahead."""

import json
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.reset_time import FURTHEST, PAST, reset_time
from orchestrator.formats.text import names
from orchestrator.model.usage_limit import Reset
from orchestrator.runtimes.codex_rollout import events_of
from orchestrator.testing.local_zone import local_zone

FIXTURES = Path(__file__).parents[2] / "fixtures" / "clis"
BERLIN = "Europe/Berlin"
NOON = "2026-11-20 12:00:00"


def at(text, zone="UTC"):
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5-hour limit reached ∙ resets 3pm (Europe/Berlin)", "2026-11-20 14:00:00"),
        ("You've hit your session limit · resets 3:30pm (Europe/Berlin)", "2026-11-20 14:30:00"),
        ("resets 11am (UTC)", "2026-11-21 11:00:00"),
        ("Your limit will reset at 3pm (America/New_York).", "2026-11-20 20:00:00"),
        ("resets at 15:00", "2026-11-20 14:00:00"),
        ("resets at 12:59", "2026-11-21 11:59:00"),
        ("resets Nov 21 at 3am (UTC)", "2026-11-21 03:00:00"),
        ("resets Nov 25, 3:00 AM (UTC)", "2026-11-25 03:00:00"),
        ("weekly limit · resets Mon 12:00am (UTC)", "2026-11-23 00:00:00"),
        ("resets tomorrow at 9:00 am UTC", "2026-11-21 09:00:00"),
        ("Claude AI usage limit reached|1795186800", "2026-11-20 15:00:00"),
        ("Claude AI usage limit reached|1795186800000", "2026-11-20 15:00:00"),
        ('{"resets_at": 1795186800}', "2026-11-20 15:00:00"),
        ("You've hit your usage limit. Upgrade, or try again at 3:05 PM.", "2026-11-20 14:05:00"),
        ("or try again at Nov 21st, 2026 3:05 PM.", "2026-11-21 14:05:00"),
        ("try again in 3h 12m", "2026-11-20 15:12:00"),
        ("Please try again in 20s. Visit https://x", "2026-11-20 12:00:20"),
        ("Please try again\nin 1m30.5s.", "2026-11-20 12:01:30.5"),
        ("Please try again in 250ms", "2026-11-20 12:00:00.25"),
        ("Please retry after 3600 seconds", "2026-11-20 13:00:00"),
        ("retry after 5 minutes", "2026-11-20 12:05:00"),
        ("Retry-After: 90", "2026-11-20 12:01:30"),
        ('{"retry_after": 90}', "2026-11-20 12:01:30"),
        ("in 2 days 3 hours", "2026-11-22 15:00:00"),
        ("Try again in 2 days, 3 hours and 5 minutes.", "2026-11-22 15:05:00"),
        ("Usage limit reached. It will reset in 2 hours 5 minutes.", "2026-11-20 14:05:00"),
        ("Your quota will reset after 2h30m5s.", "2026-11-20 14:30:05"),
        ("resets at 2026-11-20T18:00:00Z", "2026-11-20 18:00:00"),
        ("resets at 2026-11-20T18:00:00.123+02:00", "2026-11-20 16:00:00"),
        ("until 2026-11-20 18:00", "2026-11-20 17:00:00"),
        ("Access resets at 11:11 AM UTC.", "2026-11-21 11:11:00"),
        ("Access resets at 3:11\N{NARROW NO-BREAK SPACE}PM GMT.", "2026-11-20 15:11:00"),
        ("try again in 5s. Please try again in 20s", "2026-11-20 12:00:20"),
    ],
)
def test_it_is_read_from_what_programs_print(text, expected):
    with local_zone(BERLIN):
        reset = reset_time(text, at(NOON))
    assert reset is not None
    assert reset.moments[-1] == at(expected)


@pytest.mark.parametrize(
    ("text", "within", "by_clock"),
    [
        ("resets 3pm (UTC)", 60, True),
        ("resets 3:30pm (UTC)", 60, True),
        ("try again at Nov 21st, 2026 3:05 PM.", 60, True),
        ("resets at 15:00:30", 0, True),
        ("resets at 2026-11-20T18:00Z", 60, True),
        ("resets at 2026-11-20T18:00:00Z", 0, True),
        ("usage limit reached|1795186800", 0, True),
        ("try again in 20s", 0, False),
        ("try again in 3h 12m", 60, False),
        ("try again in less than a minute", 60, False),
        ("Try again in 2 days, 3 hours", 3600, False),
        ("Retry-After: 90", 0, False),
    ],
)
def test_what_is_not_shown_is_what_is_not_known(text, within, by_clock):
    reset = reset_time(text, at(NOON))
    assert reset is not None
    assert (reset.within, reset.by_clock) == (within, by_clock)


@pytest.mark.parametrize(
    ("now", "text", "expected"),
    [
        ("2026-11-20 12:47:30", "resets 12:47pm (UTC)", ["2026-11-20 12:47:00", "2026-11-21 12:47:00"]),
        ("2026-11-20 13:01:59", "resets 12:47pm (UTC)", ["2026-11-20 12:47:00", "2026-11-21 12:47:00"]),
        ("2026-11-20 13:02:01", "resets 12:47pm (UTC)", ["2026-11-21 12:47:00"]),
        ("2026-11-20 12:46:59", "resets 12:47pm (UTC)", ["2026-11-20 12:47:00"]),
        ("2026-11-21 00:00:30", "resets 11:59pm (UTC)", ["2026-11-20 23:59:00", "2026-11-21 23:59:00"]),
        ("2026-11-20 12:47:30", "try again at Nov 20th, 2026 12:47 PM", ["2026-11-20 12:47:00"]),
        ("2026-11-20 12:00:30", "resets_at: 1795176000", ["2026-11-20 12:00:00"]),
        ("2026-11-20 12:00:30", "resets at 2026-11-20T12:00:00Z", ["2026-11-20 12:00:00"]),
    ],
)
def test_a_time_just_past_is_not_only_tomorrows(now, text, expected):
    with local_zone("UTC"):
        reset = reset_time(text, at(now))
    assert reset is not None
    assert list(reset.moments) == [at(each) for each in expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Access resets at 3:11 PM GMT+1.", "2026-11-20 14:11:00"),
        ("Access resets at 3:11 PM GMT-3.", "2026-11-20 18:11:00"),
        ("Access resets at 6:56 PM GMT+5:45.", "2026-11-20 13:11:00"),
        ("Access resets at 10:11 AM EST.", "2026-11-20 15:11:00"),
        ("Access resets at 10:11 AM PDT.", "2026-11-20 17:11:00"),
        ("resets 3pm (GMT+1)", "2026-11-20 14:00:00"),
        ("resets 3pm (+05:30)", "2026-11-21 09:30:00"),
        ("resets 3pm (CST)", "2026-11-20 21:00:00"),
    ],
)
def test_zones_are_read_as_programs_write_them(text, expected):
    with local_zone(BERLIN):
        reset = reset_time(text, at(NOON))
    assert reset is not None
    assert reset.moments == (at(expected),)


@pytest.mark.parametrize("text", ["try again at 9:05 AM", "until 2026-11-20 18:00"])
def test_a_time_of_an_unknown_zone_says_nothing(text):
    assert reset_time(text, at(NOON), None) is None
    assert reset_time(f"{text} UTC", at(NOON), None) is not None


def test_a_time_without_a_zone_is_of_its_own_machine():
    with local_zone(BERLIN):
        reset = reset_time("try again at 9:05 AM", at(NOON), ZoneInfo("America/New_York"))
    assert reset == Reset((at("2026-11-20 14:05:00"),), 60.0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "This request would exceed your account's rate limit.",
        "resets soon",
        "resets 3",
        "resets at 15",
        "resets 13pm (UTC)",
        "resets at 25:00",
        "resets 3pm (Nowhere/Atall)",
        "resets 3pm (../../etc/passwd)",
        "resets Nov 19 at 3am (UTC)",
        "try again in 0 minutes",
        "resets Dec 31 at 3am (UTC)",
        "resets Nov 21st, 2027 3:05 PM",
        "|1763650800",
        "|99999999999999",
        "|1799999999",
        "resets 3pm (GMT+99)",
        "resets at 2026-11-20T11:44:00Z",
        "resets at 2026-13-40T11:00:00Z",
        "try again in 41 days",
        "try again in 0s",
        "try again in 3 months",
        "✻ 429 This request would exceed your account's rate limit. · retrying in 1s · attempt 10/10",
        "the tests ran in 5s",
        "Thinking... (esc to cancel, 2m)",
    ],
)
def test_no_reset_time_is_invented(text):
    with local_zone(BERLIN):
        assert reset_time(text, at(NOON)) is None


@pytest.mark.parametrize(
    ("screen", "expected"),
    [
        ("aider/failed_rate_limit_hour", "2026-11-20 11:30:00"),
        ("opencode/failed_rate_limit_hour", "2026-11-20 11:30:00"),
        ("opencode/failed_rate_limit_short", "2026-11-20 10:30:02"),
        ("gemini/failed_rate_limit_hour", "2026-11-20 11:11:00"),
        ("gemini/failed_rate_limit_short", None),
        ("claude/failed_rate_limit_hour", None),
        ("claude/failed_rate_limit_short", None),
        ("claude-2.1.197/failed_rate_limit_hour", None),
        ("codex/failed_rate_limit_short", None),
        ("gemini/failed_rate_limit_zoned", "2026-11-20 18:41:00"),
        ("claude/failed_used_up", "2026-11-20 18:40:00"),
        ("claude-2.1.197/failed_used_up", "2026-11-20 18:40:00"),
    ],
)
def test_it_is_read_from_the_screens_that_were_kept(screen, expected):
    text = (FIXTURES / f"{screen}.txt").read_text(encoding="utf-8")
    reset = reset_time(text, at("2026-11-20 10:30:00"), ZoneInfo(BERLIN))  # where they were taken
    assert (reset and reset.moments) == (expected and (at(expected),))


@pytest.mark.parametrize(
    ("name", "expected"), [("used_up", "2026-11-22 18:40:00"), ("used_up_for_days", "2026-11-25 17:41:00")]
)
def test_codex_reset_time_is_in_the_zone_of_its_machine(name, expected):
    """On its screen and in its rollout alike; on another day with a date. The true moments lie 35 s later."""
    now, zone = at("2026-11-22 17:41:00"), ZoneInfo(BERLIN)
    screen = (FIXTURES / "codex" / f"failed_{name}.txt").read_text(encoding="utf-8")
    ((reported,),) = [
        [event.text for event in events_of([json.dumps(line).encode() for line in lines])]
        for lines in [json.loads((FIXTURES / "codex" / f"rollout_{name}.json").read_text(encoding="utf-8"))]
    ]
    assert reset_time(reported, now, zone) == reset_time(screen, now, zone) == Reset((at(expected),), 60.0)


@pytest.mark.parametrize("version", ["claude", "claude-2.1.197"])
def test_claude_reset_time_names_its_zone(version):
    """The true moment was 18:40:35."""
    said = json.loads((FIXTURES / version / "StopFailure_used_up.json").read_text(encoding="utf-8"))
    reset = reset_time(said["last_assistant_message"], at("2026-11-22 17:40:00"))
    assert reset == Reset((at("2026-11-22 18:40:00"),), 60.0)


def test_each_limit_screen_yields_a_reset_time():
    kinds = ("failed_rate_limit*.txt", "failed_used_up*.txt")
    reported = {
        str(path.relative_to(FIXTURES).with_suffix("")) for kind in kinds for path in FIXTURES.rglob(kind)
    }
    reported -= {"codex/failed_used_up", "codex/failed_used_up_for_days"}  # in the zone of its machine: below
    table = test_it_is_read_from_the_screens_that_were_kept.pytestmark[0].args[1]
    assert {screen for screen, _ in table} == reported


@pytest.mark.parametrize(
    ("now", "text", "expected"),
    [
        # In the night of 29 March clocks go from 02:00 to 03:00, in that of 25 October from 03:00 to 02:00.
        ("2026-03-28 23:00:00", "resets 7am", "2026-03-29 05:00:00"),
        ("2026-03-28 23:00:00", "resets 2:30am", "2026-03-29 01:30:00"),
        ("2026-10-24 22:00:00", "resets 7am", "2026-10-25 06:00:00"),
        ("2026-10-24 22:00:00", "resets 2:30am", "2026-10-25 00:30:00 2026-10-25 01:30:00"),
        ("2026-10-25 00:44:00", "resets 2:30am", "2026-10-25 00:30:00 2026-10-25 01:30:00"),
        ("2026-10-25 00:50:00", "resets 2:30am", "2026-10-25 01:30:00"),
        ("2026-10-25 03:45:00", "resets 2:30am", "2026-10-26 01:30:00"),
    ],
)
def test_a_night_of_23_or_25_hours_is_one_like_any_other(now, text, expected):
    moments = tuple(at(f"{day} {clock}") for day, clock in zip(*[iter(expected.split())] * 2, strict=True))
    with local_zone(BERLIN):
        assert reset_time(text, at(now)) == Reset(moments, 60.0)
    assert reset_time(f"{text} ({BERLIN})", at(now)) == Reset(moments, 60.0)


WORDS = st.sampled_from(
    sorted(
        names(
            "resets reset try again retry after in at until Nov 21 21st Mon tomorrow 3pm 3:05 15:00 12am 99 1795186800"
            " |1795186800 | 2026-11-20T18:00:00Z 9999-12-31 23:59:59 0000-00-00 3h 12m 1d (UTC) (Europe/Berlin) (/) (.)"
            " (a/) UTC AM , . : GMT+1 EST less than a minute"
        )
    )
)
ZONES = st.sampled_from(["UTC", BERLIN, "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"])


@given(
    st.lists(WORDS | st.text(max_size=5), max_size=14).map(" ".join),
    st.floats(0, 4e9) | st.floats() | st.sampled_from([0.0, 253_402_300_799.0]),
    ZONES,
)
def test_it_never_raises_and_is_never_long_past_nor_far(text, now, zone):
    with local_zone(zone):
        found = reset_time(text, now)
    if found is not None:
        assert list(found.moments) == sorted(set(found.moments))
        assert now - PAST <= found.moments[0] <= found.moments[-1] <= now + FURTHEST
        assert found.by_clock or now <= found.moments[0]


@given(st.integers(0, 23), st.integers(0, 59), st.floats(1_700_000_000, 1_900_000_000), ZONES)
def test_reset_time_matches_the_local_clock(hour, minute, now, zone):
    with local_zone(zone):
        found = reset_time(f"resets at {hour:02}:{minute:02}", now)
        assert found is not None
        shown = [datetime.fromtimestamp(each) for each in found.moments]  # noqa: DTZ006 (what the wall shows)
    assert now - PAST <= found.moments[0]
    assert now <= found.moments[-1] <= now + 27 * 3600
    for each in shown:
        assert (each.hour * 60 + each.minute - hour * 60 - minute) in {0, 30, 60}


@pytest.mark.parametrize(
    ("junk", "reported"),
    [
        ("resets ", None),
        ("try again in 1h ", "2026-11-20 13:00:00"),
        ("again in 1 ", None),
        ("|1795186800 ", "2026-11-20 15:00:00"),
        ("resets Nov 21 at ", None),
        ("(", None),
        ("0", None),
    ],
)
def test_a_megabyte_is_done_with_at_once(junk, reported):
    reset = reset_time(junk * (1_000_000 // len(junk)), at(NOON))
    assert (reset and reset.moments[-1]) == (reported and at(reported))
