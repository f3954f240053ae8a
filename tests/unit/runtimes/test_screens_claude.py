"""What each captured screen of Claude Code shows; and that what an agent writes is not taken for a dialog."""

from __future__ import annotations

import pytest

from orchestrator.model.event import Failure
from orchestrator.runtimes.claude import Claude
from orchestrator.runtimes.screens import Shows, dialog_on, shown_on
from tests.unit.runtimes.captured import screens

VERSIONS = ("claude", "claude-2.1.197")
BUSY, RESTING, DIALOG = ((shows, None) for shows in (Shows.BUSY, Shows.RESTING, Shows.DIALOG))
Shown = dict[str, tuple[Shows, Failure | None] | None]
BOTH: Shown = {
    "blocked": BUSY,
    "busy": BUSY,
    "cut": BUSY,
    "dialog_api_key": DIALOG,
    "dialog_trust": DIALOG,
    "failed_overloaded": (Shows.FAILED, Failure.OVERLOAD),
    "failed_rate_limit_hour": (Shows.FAILED, Failure.LIMIT),
    "interrupted": RESTING,
    "pasted": RESTING,
    "permission": DIALOG,
    "permission_allow": RESTING,
    "permission_refused": RESTING,
    "queued": BUSY,
    "resting": RESTING,
    "resumed": BUSY,
    "retrying": BUSY,
    "streaming": BUSY,
    "taken_back": None,  # nothing on it says whose turn it is
    "typed": RESTING,
}
SHOWN: dict[str, Shown] = {
    "claude": BOTH
    | {
        "dialog_bypass": DIALOG,
        "dialog_onboarding": (Shows.FAILED, Failure.OVERLOAD),
        "failed_credit_gone": (Shows.FAILED, Failure.CREDIT),
        "failed_rate_limit_short": BUSY,  # these three are of its last try, not of the end
        "failed_server_error": BUSY,
        "failed_too_long": (Shows.FAILED, Failure.CONTEXT),
        "failed_unauthorized": BUSY,
        "failed_used_up": (Shows.FAILED, Failure.LIMIT),
        "hung": BUSY,
        "permission_deny": RESTING,
        "question": DIALOG,
        "resting_in_manual_mode": RESTING,
    },
    "claude-2.1.197": BOTH
    | {
        "failed_used_up": (Shows.DIALOG, Failure.LIMIT),
        "hung": BUSY,
        "interrupted": BUSY,  # with what was queued
        "resting_in_manual_mode": RESTING,
    },
}
EACH = [(version, name) for version in VERSIONS for name in SHOWN[version]]
RULE = "─" * 120
FOOTER = [RULE, "❯ ", RULE, "  ⏸ manual mode on · esc to interrupt · ← for agents"]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_captured_screen_is_in_the_table(version: str) -> None:
    assert screens(version).keys() == SHOWN[version].keys()


@pytest.mark.parametrize(("version", "name"), EACH)
def test_what_a_captured_screen_shows(version: str, name: str) -> None:
    found = shown_on(screens(version)[name], Claude.screens)
    assert (None if found is None else (found[0].shows, found[0].failure)) == SHOWN[version][name]


@pytest.mark.parametrize(("version", "name"), EACH)
def test_dialogs_match_only_their_own_rules(version: str, name: str) -> None:
    """The rules for programs of every kind may know it too, and must not mistake what is none."""
    shown = SHOWN[version][name]
    named = dialog_on(screens(version)[name], Claude.screens)
    assert bool(named) == (shown is not None and shown[0] is Shows.DIALOG)
    assert not named or named in {rule.name for rule in Claude.screens if rule.shows is Shows.DIALOG}


@pytest.mark.parametrize(
    "said",
    [
        "● I tell the user: Enter to confirm · Esc to cancel",
        "● It said API Error: Request rejected (429), and I wrote that down.",
        "● The footer shows esc to interrupt.",
        "● The test asks: Do you want to use this API key? It does not.",
        "● ⎿  Interrupted · What should Claude do instead?",
    ],
)
def test_what_an_agent_says_is_not_what_its_program_shows(said: str) -> None:
    screen = "\n".join(
        ["❯ Try.", said, "✻ Worked for 2m 3s · done 1:24 PM", *FOOTER[:3], "  ? for shortcuts"]
    )
    found = shown_on(screen, Claude.screens)
    assert found is not None
    assert (found[0].shows, found[0].name) == (Shows.RESTING, "its turn over")


@pytest.mark.parametrize(
    "name", ["failed_overloaded", "failed_rate_limit_hour", "failed_too_long", "resting"]
)
def test_what_was_before_is_over_once_it_works_again(name: str) -> None:
    before = [line for line in screens("claude")[name].splitlines() if line.strip()]
    above = before[: next(place for place, line in enumerate(before) if set(line) == {"─"})]
    screen = "\n".join([*above, "❯ Again.", "✽ Noodling…", *FOOTER])
    found = shown_on(screen, Claude.screens)
    assert found is not None
    assert found[0].shows is Shows.BUSY
