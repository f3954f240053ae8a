"""The page of the observer: its figures are those of the report, and what others wrote stays text."""

import re

import pytest

from orchestrator.model.coordination import IssueSeverity
from orchestrator.records.observer import days, observe
from orchestrator.records.observer_page import MOST, page, width
from tests.unit.records.observed import busy, page_about
from tests.unit.records.pipelines import BEGAN
from tests.unit.reporting.test_pages import INJECTIONS, TAGS, seen

SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize("text", INJECTIONS)
def test_hostile_text_stays_text(text):
    made = seen(page_about(*busy(text)))
    assert made.tags <= TAGS
    assert not [
        each
        for each in made.attributes
        if each.startswith("on") or each in {"src", "srcset", "href", "style"}
    ]
    assert made.open == []
    assert " ".join(text.split())[:60] in " ".join("".join(made.text).split())


def test_the_page_loads_and_runs_nothing():
    html = page_about(*busy("x"))
    assert "default-src 'none'" in html
    assert not {"script", "link", "img", "iframe", "a"} & seen(html).tags


def test_secrets_are_masked_everywhere():
    html = page_about(*busy(SECRET))
    assert SECRET not in html
    assert html.count("[redacted]") == page_about(*busy("ordinary")).count("ordinary") > 0


def test_figures_stand_in_the_page():
    found, reading = busy("dev", "test")
    text = " ".join(" ".join(seen(page(found, reading)).text).split())
    assert f"Handed on {len(found.passages)} " in text
    assert f"Stuck {len(found.stuck)} for more than 24 h" in text
    for each in found.routes:
        shown = f"{each.source} {each.target} {each.count} {each.good} of {each.decided} "
        assert shown in text.replace(" bottleneck", "")
    for day, counts in days(found):
        assert f"{day} {' '.join(str(counts[each]) for each in IssueSeverity)} " in text
    assert "1,234,567" in text
    assert f"{reading.sources[0].path} {reading.sources[0].said}" in text


def test_bars_are_drawn_to_scale():
    """Each within the frame, the longest across all of it."""
    bars = [
        float(each)
        for each in re.findall(r'class="p90" x="0" y="0" width="([0-9.]+)"', page_about(*busy("a", "b")))
    ]
    assert max(bars) == 1000.0
    assert min(bars) > 0
    assert (width(0.0, 10.0), width(5.0, 10.0), width(1.0, 0.0)) == (2.0, 500.0, 2.0)


def test_a_page_of_many_agents_is_small_and_says_so():
    """Agents may have any number of names."""
    found, reading = busy(*(f"agent-{number}-{'x' * 200}" for number in range(2 * MOST)))
    html = page(found, reading)
    assert len(html) < 1_000_000
    assert f"{2 * MOST - MOST} more are left out" in html


def test_an_empty_period_has_a_page():
    _, reading = busy("x")
    found = observe([], [], {}, [], since=BEGAN, until=BEGAN + 1, now=BEGAN)
    made = seen(page(found, reading))
    assert made.open == []
    assert "Nothing was handed on." in "".join(made.text)
