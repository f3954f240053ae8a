"""Wishes that a program holds by its own means: only what is denied, or what a rule asks about, is held back."""

from __future__ import annotations

import pytest

from orchestrator.model.permission import Act, PermissionDecision
from orchestrator.model.tool_request import Judgement, ToolRequest
from orchestrator.pm.permissions import judge
from tests.unit.pm.permissions.permission_checks import WORKPLACE, policy


def held(
    command: str,
    rules: str = "",
    *,
    again: bool = False,
    otherwise: PermissionDecision = PermissionDecision.ASK,
) -> Judgement:
    wish = ToolRequest("Bash", Act.RUN, command=command, cwd="/w/tree", held=True, again=again)
    return judge(policy(rules, otherwise), wish, WORKPLACE)


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("command", ["evil x", "sh -c 'evil x'", "true && evil", "env evil"])
def test_what_a_rule_denies_is_denied_in_a_sandbox_too(command: str, *, again: bool) -> None:
    assert held(command, "deny run evil", again=again).decision is PermissionDecision.DENY


def test_what_the_defaults_deny_is_denied_in_a_sandbox_too() -> None:
    assert held("git push").decision is PermissionDecision.DENY


@pytest.mark.parametrize("otherwise", [PermissionDecision.ASK, PermissionDecision.DENY])
def test_what_no_rule_speaks_of_is_left_to_the_sandbox(otherwise: PermissionDecision) -> None:
    found = held("some-program", otherwise=otherwise)
    assert (found.decision, found.passes) == (PermissionDecision.ALLOW, True)


def test_doubt_is_left_to_the_sandbox_only_where_no_rule_denies() -> None:
    assert held('eval "$x"').decision is PermissionDecision.ALLOW
    assert held('eval "$x"', "deny run evil").decision is not PermissionDecision.ALLOW


def test_a_rule_that_asks_asks_once() -> None:
    assert held("evil", "ask run evil").decision is PermissionDecision.ASK
    assert held("evil", "ask run evil", again=True).decision is PermissionDecision.ALLOW
