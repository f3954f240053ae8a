"""The finding on one part of a tool request, and how findings on several parts become one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from orchestrator.formats.text import cut, one_line
from orchestrator.model.permission import Act, PermissionDecision, PermissionRule, Policy
from orchestrator.model.tool_request import Workplace
from orchestrator.pm.permissions.fields import readable

_SHOWN: Final = 160
_ORDER: Final = {PermissionDecision.ALLOW: 0, PermissionDecision.ASK: 1, PermissionDecision.DENY: 2}


class By(IntEnum):
    """The basis of a finding."""

    RULE = 1
    DEFAULT = 2
    OTHERWISE = 3
    DOUBT = 4


@dataclass(frozen=True, slots=True)
class Finding:
    """A decision, its reason, and its basis."""

    decision: PermissionDecision
    why: str
    by: By


@dataclass(frozen=True, slots=True)
class Case:
    """What everything is judged by: the policy, the workplace, and a rule that allows the tool."""

    policy: Policy
    workplace: Workplace
    tool: PermissionRule | None = None

    def rules(self, act: Act, decision: PermissionDecision) -> list[PermissionRule]:
        """Return the user's rules of one kind, in their order."""
        return [rule for rule in self.policy.rules if rule.act is act and rule.decision is decision]

    def doubt(self, why: str) -> Finding:
        """Return that a person must decide; if the user wants no such questions, that it is denied."""
        decision = (
            PermissionDecision.DENY
            if self.policy.otherwise is PermissionDecision.DENY
            else PermissionDecision.ASK
        )
        return Finding(decision, why, By.DOUBT)

    def otherwise(self, what: str) -> Finding:
        """Return the policy's finding on something that no rule covers."""
        why = f"no rule speaks of {what}: otherwise {self.policy.otherwise}"
        return Finding(self.policy.otherwise, why, By.OTHERWISE)


def by_rule(rule: PermissionRule, what: str) -> Finding:
    """Return the finding of a user's rule."""
    where = f" ({rule.source})" if rule.source else ""
    return Finding(rule.decision, f"{what}: the rule `{rule}`{where}", By.RULE)


def built_in(decision: PermissionDecision, why: str) -> Finding:
    """Return a built-in finding, which applies unless the user says otherwise."""
    return Finding(decision, f"{why} (built in)", By.DEFAULT)


def strictest(findings: Iterable[Finding]) -> Finding:
    """Return the first of the strictest findings. There must be at least one."""
    return max(findings, key=lambda found: _ORDER[found.decision])


def shown(text: str) -> str:
    """Return an agent's text as one harmless line between backquotes."""
    return f"`{cut(one_line(readable(text)).replace('`', chr(39)), _SHOWN)}`"
