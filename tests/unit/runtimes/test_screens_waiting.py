"""What screens of real CLIs say while their model is awaited: spinners and clocks are nothing, words and tokens are.

Captured by `tests/clis/growth.py`, with a model that hangs or is slow; `screens` are by the second since the start.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from orchestrator.model.event import Failure
from orchestrator.pm.policies.stalls import says_more, shows_answers
from orchestrator.runtimes.screens import Shows, said_on, shipped_rules, shown_on

FIXTURES = Path(__file__).parents[2] / "fixtures" / "clis"
CLIS = ["claude", "claude-2.1.197", "codex", "gemini", "opencode"]
ASKED_AGAIN = {
    "claude": ["mid"],
    "claude-2.1.197": ["mid", "pings"],
    "codex": ["mid", "pings"],
    "gemini": ["mid"],
}
"""What each asks again by itself within 345 s, and shows the answer to."""


def measured(cli: str, scene: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FIXTURES / cli / f"measured_waiting_{scene}.json").read_text())
    return document


def changes(cli: str, scene: str) -> list[bool]:
    """Return whether each captured screen says more than the one before it."""
    rules = shipped_rules(cli.partition("-")[0])
    said = [said_on(screen, rules) for screen in measured(cli, scene)["screens"].values()]
    assert all(said)
    return [says_more(before, now) for before, now in pairwise(said)]


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize("scene", ["hang", "mid", "pings"])
def test_while_a_stream_hangs_no_screen_says_anything_new(cli: str, scene: str) -> None:
    found = changes(cli, scene)
    assert not found[0], "from 150 to 300 s"
    asked_again = scene in ASKED_AGAIN.get(cli, ()) or (cli, scene) == ("opencode", "mid")
    assert found[1] is asked_again, "from 300 to 345 s"


@pytest.mark.parametrize("cli", CLIS)
def test_a_slow_answer_is_seen(cli: str) -> None:
    assert changes(cli, "slow") == [True]


@pytest.mark.parametrize("cli", ["claude", "claude-2.1.197"])
def test_long_tool_call_is_seen_by_its_tokens(cli: str) -> None:
    assert changes(cli, "block") == [True]


@pytest.mark.parametrize(
    ("cli", "scene", "shown"),
    [
        *((cli, scene, True) for cli in CLIS[:2] for scene in ("hang", "mid", "pings", "block")),
        *(("gemini", scene, True) for scene in ("hang", "mid", "pings", "block")),
        *(("opencode", scene, True) for scene in ("hang", "mid", "pings")),
        *(("codex", scene, True) for scene in ("mid", "pings")),
        ("codex", "hang", False),
        *((cli, scene, False) for cli in ("codex", "opencode") for scene in ("block", "call")),
    ],
)
def test_screens_show_whether_an_answer_would_be_seen(cli: str, scene: str, shown: bool) -> None:  # noqa: FBT001
    """So a second hang in a row is known as soon as the first, but where a call may be coming unseen."""
    rules = shipped_rules(cli.partition("-")[0])
    screens = measured(cli, scene)["screens"]
    document = {shows_answers(said_on(screen, rules)) for at, screen in screens.items() if int(at) <= 300}
    assert document == {shown}


def test_codex_shows_a_call_that_hangs_as_failed() -> None:
    """Its own bound of 300 s counts events, so a call that it is still being sent is never shown so."""
    screens = measured("codex", "call")["screens"]
    found = shown_on(screens["450"], shipped_rules("codex"))
    assert found is not None
    assert found[0].failure is Failure.OVERLOAD


@pytest.mark.parametrize("cli", ["codex", "opencode"])
def test_screens_that_hide_a_long_tool_call(cli: str) -> None:
    """So theirs are taken for a stall after a while, and given more time the second time."""
    assert changes(cli, "block") == [False]


@pytest.mark.parametrize("cli", CLIS)
def test_the_clock_of_a_tool_that_runs_is_nothing_new(cli: str) -> None:
    screens = measured(cli, "tool")["screens"]
    rules = shipped_rules(cli.partition("-")[0])
    first = next(iter(screens.values()))
    later = first.replace(" 56s", " 1m 11s").replace("(56s", "(1m 11s").replace("56s)", "1m 11s)")
    assert not says_more(said_on(first, rules), said_on(later, rules))


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize("scene", ["hang", "mid", "pings", "slow", "block", "tool"])
def test_none_of_them_is_taken_for_a_dialog_or_a_failure(cli: str, scene: str) -> None:
    for screen in measured(cli, scene)["screens"].values():
        found = shown_on(screen, shipped_rules(cli.partition("-")[0]))
        assert found is None or found[0].shows not in {Shows.DIALOG, Shows.FAILED}, found


def test_program_without_a_known_spinner_is_uncertain() -> None:
    assert said_on("$ make\n* Working (3 s)", shipped_rules("aider")) == ""
