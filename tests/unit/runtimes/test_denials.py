"""Rules that deny, and programs that would not ask ahead of what is denied."""

from __future__ import annotations

import pytest

from orchestrator.formats.permission_rules import read_permissions
from orchestrator.model.permission import Policy
from orchestrator.runtimes.registry import RUNTIMES, denied_in_vain


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "kiro", "opencode"])
@pytest.mark.parametrize(
    "rule", ["deny run git push", "deny read **/x", "deny write *.lock", "deny tool mcp__*"]
)
def test_denials_hold_for_programs_that_ask(name: str, rule: str) -> None:
    assert denied_in_vain(RUNTIMES[name], Policy(read_permissions(rule).rules)) is None


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("aider", "deny write *.lock"),
        ("aider", "deny read **/x"),
        ("command", "deny run git push"),
        ("command", "deny write *.lock"),
        ("command", "deny tool mcp__*"),
    ],
)
def test_denials_do_not_hold_for_programs_that_never_ask(name: str, rule: str) -> None:
    found = denied_in_vain(RUNTIMES[name], Policy(read_permissions(f"allow fetch a.org; {rule}").rules))
    assert str(found) == rule


def test_rules_that_allow_or_ask_are_never_in_vain() -> None:
    policy = Policy(read_permissions("allow run x; ask run y").rules)
    assert denied_in_vain(RUNTIMES["command"], policy) is None


def test_aider_has_no_shell_that_a_rule_could_deny() -> None:
    assert denied_in_vain(RUNTIMES["aider"], Policy(read_permissions("deny run git push").rules)) is None
