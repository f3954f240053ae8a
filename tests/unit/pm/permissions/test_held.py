"""Wishes that a program holds by its own means: only what is denied, or what a rule asks about, is held back."""

from __future__ import annotations

import pytest

from orchestrator.model.permission import Act, Ruling
from orchestrator.model.tool_request import Judgement, ToolRequest
from orchestrator.pm.permissions import judge
from tests.unit.pm.permissions.asking_leave import WORKPLACE, policy


def held(command: str, rules: str = "", *, again: bool = False, otherwise: Ruling = Ruling.ASK) -> Judgement:
    wish = ToolRequest("Bash", Act.RUN, command=command, cwd="/w/tree", held=True, again=again)
    return judge(policy(rules, otherwise), wish, WORKPLACE)


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("command", ["evil x", "sh -c 'evil x'", "true && evil", "env evil"])
def test_what_a_rule_denies_is_denied_in_a_sandbox_too(command: str, *, again: bool) -> None:
    assert held(command, "deny run evil", again=again).ruling is Ruling.DENY


def test_what_the_defaults_deny_is_denied_in_a_sandbox_too() -> None:
    assert held("git push").ruling is Ruling.DENY


@pytest.mark.parametrize("otherwise", [Ruling.ASK, Ruling.DENY])
def test_what_no_rule_speaks_of_is_left_to_the_sandbox(otherwise: Ruling) -> None:
    found = held("some-program", otherwise=otherwise)
    assert (found.ruling, found.passes) == (Ruling.ALLOW, True)


def test_doubt_is_left_to_the_sandbox_only_where_no_rule_denies() -> None:
    assert held('eval "$x"').ruling is Ruling.ALLOW
    assert held('eval "$x"', "deny run evil").ruling is not Ruling.ALLOW


def test_a_rule_that_asks_asks_once() -> None:
    assert held("evil", "ask run evil").ruling is Ruling.ASK
    assert held("evil", "ask run evil", again=True).ruling is Ruling.ALLOW
