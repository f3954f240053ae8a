"""What a report leaves out of a long night: the oldest, and it says so."""

import re

import pytest

from orchestrator.reporting.build import report_of
from orchestrator.reporting.html import page
from orchestrator.reporting.room import (
    DECISIONS,
    DECISIONS_TEXT,
    LEFT_OUT,
    OUTPUTS_TEXT,
    REASONS_TEXT,
    clean_lines,
)
from tests.unit.reporting.journal import Lines


@pytest.fixture
def lines():
    made = Lines()
    made.begin()
    return made


def report(lines):
    return report_of({"task": "t", "state": "running"}, lines.history(), made_at=9e9)


def test_the_newest_decisions_are_shown(lines):
    for _ in range(DECISIONS + 50):
        last = lines.say("time_passed", {"kind": "noticed", "text": "x"})
    made = report(lines)
    assert [each.line for each in made.decisions] == list(range(last - DECISIONS + 1, last + 1))
    assert made.decisions_left_out == last - DECISIONS


def test_long_decisions_take_the_room_of_others(lines):
    for _ in range(DECISIONS):
        last = lines.say("time_passed", {"kind": "noticed", "text": "word " * 200})
    made = report(lines)
    assert made.decisions[-1].line == last
    assert len(made.decisions) + made.decisions_left_out == last
    assert sum(len(text) for each in made.decisions for text in each.sentences) < DECISIONS_TEXT + 2000


def test_no_reference_leads_to_a_line_that_is_left_out(lines):
    for number in range(DECISIONS + 10):
        lines.open(f"r-{number}", step=f"dev:{number}")
    html = page([report(lines)], "t")
    targets = set(re.findall(r'href="#(line-[0-9-]+)"', html))
    assert targets == set(re.findall(r'id="(line-[0-9-]+)"', html)) & targets
    assert '<span class="ref">2</span>' in html


def test_older_outputs_give_way_and_say_so(lines):
    output = tuple(f"{n} " + "x" * 98 for n in range(40))
    for number in range(20):
        lines.open(f"r-{number}", step=f"dev:{number}", purpose="check")
        lines.end(f"r-{number}", 1, output)
    made = report(lines)
    shown = [each.output for each in made.checks]
    assert (shown[0], shown[-1]) == ((LEFT_OUT,), output)
    assert sum(len(each) for lines_of in shown for each in lines_of) <= OUTPUTS_TEXT + 20 * len(LEFT_OUT)
    assert LEFT_OUT in page([made], "t").replace("&#39;", "'")


def test_a_check_that_failed_shows_more_than_one_that_passed(lines):
    for run, code in (("r-1", 0), ("r-2", 1), ("r-3", None)):
        lines.open(run, purpose="check")
        lines.end(run, code, tuple(map(str, range(100))))
    assert [len(each.output) for each in report(lines).checks] == [5, 40, 40]


def test_older_reasons_are_cut(lines):
    for number in range(60):
        again = {"kind": "step_fed", "step": "dev:one", "feedback": ["word " * 700]}
        lines.say("time_passed", again)
        lines.open(f"r-{number}", attempt=number + 1)
    reported = [each.feedback for (_, _), each in sorted(_closed(lines).attempts.items())]
    assert reported[0].endswith("…")
    assert len(reported[0]) == 200
    assert len(reported[-1]) > 3000
    assert sum(map(len, reported)) <= REASONS_TEXT + 60 * 200


def _closed(lines):
    history = lines.history()
    history.close()
    return history


def test_a_secret_over_several_lines_of_output_is_masked():
    """Each line was looked at alone: of a private key only its first line was known."""
    key = ["-----BEGIN PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "-----END PRIVATE KEY-----"]
    shown = clean_lines(["before", *key, "after"])
    assert (shown[0], shown[-1]) == ("before", "after")
    assert not any("MIIE" in each for each in shown)


def test_an_output_keeps_its_last_lines():
    assert clean_lines(["a", "b", "c"], 2) == ("b", "c")
    assert clean_lines([]) == ()
    assert clean_lines(["x" * 1000]) == ("x" * 399 + "…",)
    assert "\x1b" not in clean_lines(["\x1b[2J"])[0]


def test_a_clock_that_was_set_back_is_said_whatever_is_left_out(lines):
    lines.say("time_passed", {"kind": "noticed", "text": "x"}, after=-3600)
    for _ in range(DECISIONS):
        lines.say("time_passed", {"kind": "noticed", "text": "x"})
    (said,) = [each for each in report(lines).unknown if "set back" in each]
    assert "journal line 2:" in said
