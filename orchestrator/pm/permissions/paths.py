"""Reading and writing files: by the rules for a path, and by the defaults."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Final

from orchestrator.model.permission import Act, PermissionDecision, PermissionRule
from orchestrator.pm.permissions.defaults.protected_paths import (
    NO_SECRETS,
    PROTECTED,
    PROTECTED_FOLDERS,
    SECRET,
    SECRET_FOLDERS,
)
from orchestrator.pm.permissions.fields import ANYTHING, FILES, MARKS
from orchestrator.pm.permissions.finding import Case, Finding, built_in, by_rule, shown
from orchestrator.pm.permissions.matching import may_lie_beneath, path_matches, wild

_HARMLESS: Final = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty"})
_PIPES: Final = "/dev/fd/"
_OTHERS: Final = ("tmux-*", "ssh-*", ".X*", ".ICE*", "systemd-*", "snap*", "*.sock", "*.socket")
"""Entries of a folder for temporary files that belong to other programs."""


def _pattern(ends: Iterable[str], folders: Iterable[str] = ()) -> re.Pattern[str]:
    """Return a pattern for paths that end in one of some names, or are in one of some folders."""
    last = "|".join(map(_wild, ends))
    within = "|".join(map(_wild, folders))
    return re.compile(rf"/(?:{last})/*$" + (rf"|/(?:{within})(?:/|$)" if within else ""))


def _wild(pattern: str) -> str:
    return re.escape(pattern).replace(r"\*", "[^/]*")


_SECRET: Final = _pattern(SECRET, SECRET_FOLDERS)
_NO_SECRET: Final = _pattern(NO_SECRETS)
_PROTECTED: Final = _pattern(PROTECTED, PROTECTED_FOLDERS)


def resolved(path: str, place: str) -> str:
    """Return a path made absolute, without `.` and `..`; empty if that is not possible."""
    if ANYTHING in path:
        return ""
    if not path.startswith("/"):
        if not place.startswith("/"):
            return ""
        path = f"{place}/{path}"
    parts = list[str]()
    for part in path.split("/"):
        if part == "..":
            if parts and not FILES.isdisjoint(parts[-1]):
                return ""  # how many folders a mark stands for is not known
            parts = parts[:-1]
        elif part not in {"", "."}:
            parts.append(part)
    return "/" + "/".join(parts)


def inside(path: str, grants: Iterable[str]) -> bool:
    """Return whether an absolute path is one of these folders, or in one of them."""
    return any(
        path == grant or path.startswith(grant.rstrip("/") + "/") for grant in grants if grant.startswith("/")
    )


def granted(case: Case, path: str) -> bool:
    """Return whether a run may write at an absolute path: in its own folders, or in a folder for temporary files."""
    workplace = case.workplace
    if inside(path, workplace.grants):
        return True
    if not inside(path, workplace.temporary) or path in workplace.temporary:
        return False
    if inside(path, workplace.withheld) or inside(path, workplace.private):
        return False
    parts = path.split("/")
    return not any(wild(pattern, part) for pattern in _OTHERS for part in parts)


@functools.lru_cache(maxsize=4096)
def secret(path: str) -> bool:
    """Return whether a path is one of those that hold secrets."""
    path = path.casefold().rstrip("/")
    return _SECRET.search(path) is not None and _NO_SECRET.search(path) is None


@functools.lru_cache(maxsize=4096)
def protected(path: str) -> bool:
    """Return whether the file at a path controls git or the agent's own program."""
    return _PROTECTED.search(path.casefold().rstrip("/")) is not None


def judged_path(case: Case, act: Act, path: str, *, granted: bool) -> Finding:
    """Return the finding on reading or writing one path, absolute and with its links followed.

    If the path has a mark in it, a rule that denies or asks may cover it; then a person must decide.
    """
    what = f"{'writing' if act is Act.WRITE else 'reading'} {shown(path)}"
    marked = not MARKS.isdisjoint(path)
    for decision in (PermissionDecision.DENY, PermissionDecision.ASK, PermissionDecision.ALLOW):
        for rule in case.rules(act, decision):
            if path_matches(rule.pattern, path, widely=decision is not PermissionDecision.ALLOW):
                return by_rule(rule, what)
            if marked and decision is not PermissionDecision.ALLOW and may_lie_beneath(rule.pattern, path):
                return case.doubt(f"{what}: the rule `{rule}` may cover it")
    if case.tool:
        return by_rule(case.tool, what)
    if act is Act.READ:
        if secret(path):
            return built_in(PermissionDecision.DENY, f"{what}: such files hold secrets")
        return built_in(PermissionDecision.ALLOW, f"{what}: reading is allowed")
    if path in _HARMLESS or path.startswith(_PIPES):
        return built_in(PermissionDecision.ALLOW, f"{what} changes nothing")
    if protected(path):
        return built_in(PermissionDecision.DENY, f"{what}: it controls git or the agent's own program")
    if granted:
        return built_in(PermissionDecision.ALLOW, f"{what}: it lies in a folder that the run was granted")
    if inside(path, case.workplace.private):
        return built_in(PermissionDecision.DENY, f"{what}: that folder is the PM's own")
    return case.doubt(f"{what}: it lies outside of the folders that the run was granted")


def may_reach(case: Case, act: Act, folder: str) -> PermissionRule | None:
    """Return a rule that denies or asks, and may cover something below a folder."""
    for decision in (PermissionDecision.DENY, PermissionDecision.ASK):
        for rule in case.rules(act, decision):
            if may_lie_beneath(rule.pattern, folder):
                return rule
    return None
