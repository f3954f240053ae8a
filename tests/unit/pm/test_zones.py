"""Local time is an input of `decide` like any other: it comes with facts, never from the machine (law 2)."""

from __future__ import annotations

import ast
from pathlib import Path

import orchestrator.pm
from orchestrator.model import facts as f
from orchestrator.model.run import Exit
from orchestrator.pm.policies.stalls import clock
from orchestrator.pm.state.task_state import PMState
from orchestrator.testing.local_zone import local_zone
from tests.unit.pm.story import AT, Story

HOUR = 3600
SHOWN = "explain"
"""What lies in this folder tells people of what was decided: it is read by the local clock, and decides nothing."""
LOCAL = {
    "localtime",
    "fromtimestamp",
    "mktime",
    "tzset",
    "today",
    "moment_said",
    "local_time",
    "local_minute",
}


def lived() -> PMState:
    """Return what became of a task whose first run crashes and whose second is quiet."""
    story = Story()
    story.starts()
    story.ends("explore", Exit(code=1))
    story.passes(HOUR)
    story.feed(f.CheckedIn(story.at, story.nonce()))
    return story.state


def test_decisions_are_the_same_in_every_zone() -> None:
    with local_zone("UTC"):
        here = lived()
    with local_zone("Pacific/Auckland"):
        there = lived()
    assert here == there


def test_order_names_use_the_zone_of_the_facts() -> None:
    story = Story()
    story.starts()
    assert story.run_of("explore").order == "pm-20251127-143500.md"
    story.feed(f.ZoneChanged(story.at, 13 * HOUR))
    story.ends("explore", Exit(code=1))
    story.passes(HOUR)
    assert story.run_of("explore").order.startswith("pm-20251128-0")


def test_known_zone_changes_nothing() -> None:
    story = Story()
    story.starts()
    story.feed(f.ZoneChanged(AT, 2 * HOUR))
    assert story.feed(f.ZoneChanged(AT + 1, 2 * HOUR)).empty
    assert story.state.utc_offset == 2 * HOUR


def test_evidence_bears_its_day() -> None:
    """A run showed "progress at 23:35:00" for days, and nothing said of which."""
    assert clock(AT + 10 * HOUR, -HOUR) == "27 Nov 23:35:00"
    assert clock(AT + 10 * HOUR, HOUR) == "28 Nov 01:35:00"


def test_no_rule_looks_at_local_time() -> None:
    looking = {
        f"{module.name}: {name}"
        for module in Path(orchestrator.pm.__path__[0]).rglob("*.py")
        if module.parent.name != SHOWN
        for name in names_in(module) & LOCAL
    }
    assert not looking


def names_in(module: Path) -> set[str]:
    return {
        node.attr if isinstance(node, ast.Attribute) else node.id
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.Attribute | ast.Name)
    }
