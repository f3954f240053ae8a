"""Judging a tool request: by the rules for its tool and its act, by the defaults, and by `otherwise`."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, assert_never

from orchestrator.model.permission import Act, PermissionDecision, PermissionRule, Permissions, Policy
from orchestrator.model.tool_request import Judgement, ToolRequest, Workplace
from orchestrator.pm.permissions.finding import By, Case, Finding, built_in, by_rule, shown, strictest
from orchestrator.pm.permissions.matching import address_matches, wild
from orchestrator.pm.permissions.network import allowed_address
from orchestrator.pm.permissions.paths import granted, judged_path, resolved
from orchestrator.pm.permissions.walking import judged_line

_LONGEST_PATH: Final = 4096
NOBODY: Final = (
    "nobody sits at this terminal: if you cannot decide it yourself, "
    "hand in Status BLOCKED with your question"
)


def policy_for(settings: Policy, *said: Permissions) -> Policy:
    """Return the policy of one agent.

    Args:
        settings: The permissions of the settings.
        *said: The permissions in task.md, the most specific first: the agent's, then the task's.

    """
    rules = tuple(rule for each in said for rule in each.rules) + settings.rules
    otherwise = next((each.otherwise for each in said if each.otherwise), settings.otherwise)
    return Policy(rules, otherwise, settings.wait)


def judge(policy: Policy, request: ToolRequest, workplace: Workplace) -> Judgement:
    """Return whether an agent may do what it requests, and why. Never raises.

    Args:
        policy: The user's rules, and what applies otherwise.
        request: The tool request.
        workplace: Where its run works.

    """
    grants = tuple(path for grant in workplace.grants if (path := resolved(grant, "")))
    found = _found(policy, request, replace(workplace, grants=grants))
    if request.held and _left_open(policy, request, found):
        return Judgement(
            PermissionDecision.ALLOW, f"{found.why}; its program holds it by its own means", passes=True
        )
    return Judgement(found.decision, found.why, passes=request.held)


def _left_open(policy: Policy, request: ToolRequest, found: Finding) -> bool:
    """Return whether a request is left to the program that confines it: neither rules nor defaults deny it."""
    match found.by:
        case By.OTHERWISE:
            return found.decision is not PermissionDecision.ALLOW
        case By.DOUBT:
            # What cannot be parsed may be denied by a rule. Without such a rule, the sandbox is enough.
            return request.again or not any(
                rule.decision is not PermissionDecision.ALLOW and rule.act in {request.act, None}
                for rule in policy.rules
            )
        case By.RULE | By.DEFAULT:
            return found.decision is PermissionDecision.ASK and request.again


def _found(policy: Policy, request: ToolRequest, workplace: Workplace) -> Finding:
    tool = f"the tool {shown(request.tool)}"
    for decision in (PermissionDecision.DENY, PermissionDecision.ASK):
        for rule in policy.rules:
            if (
                rule.act is None
                and rule.decision is decision
                and wild(rule.pattern.casefold(), request.tool.casefold())
            ):
                found = by_rule(rule, tool)
                return (
                    found
                    if decision is PermissionDecision.DENY
                    else strictest([found, _by_act(Case(policy, workplace), request)])
                )
    return _by_act(Case(policy, workplace, _allowing(policy, request)), request)


def _allowing(policy: Policy, request: ToolRequest) -> PermissionRule | None:
    named = [rule for rule in policy.rules if rule.act is None and rule.decision is PermissionDecision.ALLOW]
    return next((rule for rule in named if wild(rule.pattern, request.tool)), None)


def _by_act(case: Case, request: ToolRequest) -> Finding:
    match request.act:
        case Act.RUN:
            return judged_line(case, request.command, frozenset({request.cwd}))
        case Act.READ | Act.WRITE:
            return _paths(case, request)
        case Act.FETCH:
            return _spoken(case, request) or _named(case, request) or _fetched(case, request)
        case Act.ASK:
            return (
                _spoken(case, request)
                or _named(case, request)
                or Finding(PermissionDecision.DENY, NOBODY, By.DEFAULT)
            )
        case Act.OTHER:
            return _named(case, request) or case.otherwise(f"the tool {shown(request.tool)}")
    assert_never(request.act)


def _paths(case: Case, request: ToolRequest) -> Finding:
    """Return the finding on the files that are read or written. The caller has determined whether all are inside."""
    if any(len(path) > _LONGEST_PATH for path in request.paths):
        return case.doubt("a path of more than 4096 signs is none")
    if request.paths:
        return strictest(
            judged_path(case, request.act, at, granted=request.inside or granted(case, at))
            for path in request.paths
            for at in [resolved(path, request.cwd) or path]
        )
    any_path = _spoken(case, request) or _named(case, request)
    if any_path:
        return any_path
    if request.act is Act.READ:
        return built_in(PermissionDecision.ALLOW, "reading is allowed")
    return case.doubt(f"the tool {shown(request.tool)} does not name the files that it writes")


def _fetched(case: Case, request: ToolRequest) -> Finding:
    """Return the default for an address that no rule covers: this machine, and package indexes, are allowed."""
    why = allowed_address(request.command) if "://" in request.command else ""
    if why:
        return built_in(PermissionDecision.ALLOW, f"fetching {shown(request.command)} {why}")
    return case.otherwise(f"fetching {shown(request.command)}")


def _spoken(case: Case, request: ToolRequest) -> Finding | None:
    """Return the finding of a rule on an address, or on an act as a whole."""
    for decision in (PermissionDecision.DENY, PermissionDecision.ASK, PermissionDecision.ALLOW):
        for rule in case.rules(request.act, decision):
            wide = decision is not PermissionDecision.ALLOW
            if not rule.pattern or (
                request.act is Act.FETCH and address_matches(rule.pattern, request.command, widely=wide)
            ):
                return by_rule(
                    rule, shown(request.command) if request.command else f"the tool {shown(request.tool)}"
                )
    return None


def _named(case: Case, request: ToolRequest) -> Finding | None:
    return by_rule(case.tool, f"the tool {shown(request.tool)}") if case.tool else None
