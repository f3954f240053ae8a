"""Judging one command: by the user's rules, by the command that it runs in turn, and by default."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from orchestrator.model.permission import Act, PermissionDecision, PermissionRule
from orchestrator.pm.permissions import shell_commands
from orchestrator.pm.permissions.call import Call
from orchestrator.pm.permissions.defaults.development_tools import RUNNERS
from orchestrator.pm.permissions.defaults.known_programs import KNOWN
from orchestrator.pm.permissions.fields import MARKS, Field, as_line
from orchestrator.pm.permissions.finding import By, Case, Finding, built_in, by_rule, shown, strictest
from orchestrator.pm.permissions.matching import base, narrowly, plain_name, widely, words_of
from orchestrator.pm.permissions.paths import inside, resolved
from orchestrator.pm.permissions.programs import by_default, exempt
from orchestrator.pm.permissions.runs import Inner
from orchestrator.pm.permissions.scanning import denied_by_default, denied_within
from orchestrator.pm.permissions.scope import Scope
from orchestrator.pm.permissions.wrappers import inner

Within = Callable[[Inner, Call], Finding]
"""Judges what a wrapper runs."""

_VERSIONED: Final = re.compile(r"(python3|gcc|g\+\+|clang|clang\+\+|ruby|php|lua|node|pip3?)[-.]?[0-9.]*")
_TEXTUAL: Final = frozenset({"echo", "grep", "printf", "rg", "egrep", "fgrep"})


def judged(
    case: Case,
    fields: tuple[Field, ...],
    scope: Scope,
    given: str | None,
    within: Within,
    *,
    module: bool = False,
) -> Finding:
    """Return the finding on one command.

    Args:
        case: The policy and the workplace that it is judged by.
        fields: Its words.
        scope: What is known at this point of the script.
        given: The text, with marks, that it reads; None if it reads nothing or that is unknown.
        within: Judges the command that it runs in turn.
        module: It is a Python module.

    """
    first = fields[0]
    if (
        not first.certain
        or first.glob
        or first.tilde
        or first.text[:1] in {"=", "-", ""}
        or "{" in first.text
    ):
        doubt = case.doubt(f"{shown(as_line(fields))} does not clearly name the program that it runs")
        return denied_within(case, " ".join(field.text for field in fields)) or doubt
    call = Call(case, _known_name(case, first.text, scope), fields, scope, given)
    if (ruled := _ruled(call)) is not None:
        if ruled.decision is not PermissionDecision.ASK or (runs := inner(call)) is None:
            return ruled
        return strictest([ruled, within(runs, call)])
    runs = inner(call)
    found = None if runs is None or runs == Inner() else within(runs, call)
    if (allowed := _allowed(call)) is not None:
        return _unless_denied(call, allowed, found)
    if (free := exempt(call)) is not None:
        return free
    texts = [field.text for field in fields]
    if why := denied_by_default(texts):
        return built_in(PermissionDecision.DENY, f"{call.shown}: {why}")
    if denied_by_default(texts, surely=False):
        return call.doubt("may turn out to be a denied command")
    if (own := shell_commands.judged(call)) is not None:
        return own
    if found is not None:
        return strictest([found, by_default(call) or found]) if call.name in {"find", "git"} else found
    return _by_kind(call, module=module)


def judged_by_name(case: Case, texts: list[str]) -> list[Finding]:
    """Return the findings on a function by its name alone: if it is not defined, a program of that name runs."""
    for decision in (PermissionDecision.DENY, PermissionDecision.ASK):
        for rule in case.rules(Act.RUN, decision):
            if widely(words_of(rule), texts):
                return [by_rule(rule, shown(" ".join(texts)))]
    if denied_by_default(texts, surely=False) or plain_name(texts[0]) in KNOWN:
        return [case.doubt(f"{shown(texts[0])} is a function with the name of a program")]
    return []


def _by_kind(call: Call, *, module: bool) -> Finding:
    found = by_default(call)
    if found is not None:
        return found
    if module:
        return call.allow("is a module of the project, or an installed one")
    return _unknown(call)


def _ruled(call: Call) -> Finding | None:
    """Return the finding of a rule that denies or asks for a command, or a doubt if such a rule may apply."""
    texts = [field.text for field in call.fields]
    for decision in (PermissionDecision.DENY, PermissionDecision.ASK):
        for rule in call.case.rules(Act.RUN, decision):
            pattern = words_of(rule)
            if not widely(pattern, texts):
                continue
            if widely(pattern, texts, surely=True):
                return by_rule(rule, call.shown)
            return call.doubt(f"may be covered by the rule `{rule}`")
    return None


def _allowed(call: Call) -> Finding | None:
    """Return what allows a command whose words are all certain, or None."""
    if not all(field.certain for field in call.fields):
        return None
    texts = [field.text for field in call.fields]
    for rule in call.case.rules(Act.RUN, PermissionDecision.ALLOW):
        if narrowly(words_of(rule), texts):
            return by_rule(rule, call.shown)
    return by_rule(call.case.tool, call.shown) if call.case.tool else None


def _unless_denied(call: Call, allowed: Finding, within: Finding | None) -> Finding:
    """Return the finding of a rule that allows a command, unless its words contain something denied."""
    rest = " ".join(field.text for field in call.rest)
    if within is not None:
        if within.decision is PermissionDecision.ALLOW or within.by not in {By.RULE, By.DEFAULT, By.DOUBT}:
            return allowed
        return within if within.by is not By.DOUBT else denied_within(call.case, rest) or allowed
    if call.name in _TEXTUAL or (
        call.name == "git" and call.texts[:1] in {("commit",), ("log",), ("grep",), ("tag",), ("notes",)}
    ):
        return allowed
    return _by_the_user(call.case, rest) or allowed


def _unknown(call: Call) -> Finding:
    """Return the finding on a program of which nothing is known: it may run what its words contain."""
    rest = " ".join(field.text for field in call.rest)
    if found := _by_the_user(call.case, rest):
        return found
    if denied_within(call.case, rest, anywhere=True):
        return call.doubt("what it runs is not known")
    if any(not MARKS.isdisjoint(field.text) for field in call.rest) and _may_be_ruled(call):
        return call.doubt("has arguments that are not known")
    return call.case.otherwise(call.shown)


def _may_be_ruled(call: Call) -> PermissionRule | None:
    return next(iter(call.case.rules(Act.RUN, PermissionDecision.DENY)), None)


def _by_the_user(case: Case, text: str) -> Finding | None:
    found = denied_within(case, text)
    return found if found and found.by is By.RULE else None


def _known_name(case: Case, program: str, scope: Scope) -> str:
    """Return the name by which a program is known, also if it is in the run's own environment."""
    name = plain_name(program)
    if not name and "/" in program:
        own = base(program)
        places = [resolved(program, place) for place in scope.places]
        own_place = all(path and inside(path, case.workplace.grants) for path in places)
        installed = program.startswith("/") and not any(
            inside(path, case.workplace.temporary) for path in places
        )
        if (own_place or installed) and _is_environment(program):
            name = own if own in RUNNERS or own in {"pip", "pip3"} or _VERSIONED.fullmatch(own) else ""
    found = _VERSIONED.fullmatch(name)
    return found[1] if found else name


def _is_environment(program: str) -> bool:
    return any(sign in f"/{program}" for sign in ("/bin/", "/.bin/", "/Scripts/", "gradlew", "mvnw"))
