"""Reading and writing files: what the rules say of a path, and what holds without them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from orchestrator.model.permission import Act, Ruling
from orchestrator.pm.permissions.defaults import (
    NO_SECRETS,
    PROTECTED,
    PROTECTED_FOLDERS,
    SECRET,
    SECRET_FOLDERS,
)
from orchestrator.pm.permissions.finding import Case, Finding, built_in, by_rule, shown
from orchestrator.pm.permissions.matching import path_matches, wild

_HARMLESS: Final = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin"})


def resolved(path: str, place: str) -> str:
    """Return a path made absolute, its `.` and `..` taken out; nothing if that is not known."""
    if not path.startswith("/"):
        if not place.startswith("/"):
            return ""
        path = f"{place}/{path}"
    parts = list[str]()
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in {"", "."}:
            parts.append(part)
    return "/" + "/".join(parts)


def inside(path: str, grants: Iterable[str]) -> bool:
    """Return whether an absolute path is one of these folders, or lies in one."""
    return any(
        path == grant or path.startswith(grant.rstrip("/") + "/") for grant in grants if grant.startswith("/")
    )


def secret(path: str) -> bool:
    """Return whether a path is one of those that hold secrets."""
    parts = [part.casefold() for part in path.split("/") if part]
    if not parts or any(wild(pattern, parts[-1]) for pattern in NO_SECRETS):
        return False
    return _ends_in(parts, SECRET) or _holds(parts, SECRET_FOLDERS)


def protected(path: str) -> bool:
    """Return whether what lies at a path steers git or the agent's own program."""
    parts = [part.casefold() for part in path.split("/") if part]
    return _ends_in(parts, PROTECTED) or _holds(parts, PROTECTED_FOLDERS)


def judged_path(case: Case, act: Act, path: str, *, granted: bool) -> Finding:
    """Return what is found of reading or writing one path, absolute and with its links followed."""
    what = f"{'writing' if act is Act.WRITE else 'reading'} {shown(path)}"
    for ruling in (Ruling.DENY, Ruling.ASK, Ruling.ALLOW):
        for rule in case.rules(act, ruling):
            if path_matches(rule.pattern, path, widely=ruling is not Ruling.ALLOW):
                return by_rule(rule, what)
    if case.tool:
        return by_rule(case.tool, what)
    if act is Act.READ:
        if secret(path):
            return built_in(Ruling.DENY, f"{what}: such files hold secrets")
        return built_in(Ruling.ALLOW, f"{what}: reading is allowed")
    if path in _HARMLESS:
        return built_in(Ruling.ALLOW, f"{what} changes nothing")
    if protected(path):
        return built_in(Ruling.DENY, f"{what}: it steers git or the agent's own program")
    if granted:
        return built_in(Ruling.ALLOW, f"{what}: it lies in a folder that the run was granted")
    return case.doubt(f"{what}: it lies outside of the folders that the run was granted")


def _ends_in(parts: list[str], patterns: Iterable[str]) -> bool:
    """Return whether the last of these parts are as a pattern says, part by part."""
    for pattern in patterns:
        wanted = pattern.split("/")
        if len(parts) >= len(wanted) and all(map(wild, wanted, parts[-len(wanted) :])):
            return True
    return False


def _holds(parts: list[str], patterns: Iterable[str]) -> bool:
    """Return whether parts that follow each other are as a pattern says."""
    return any(_ends_in(parts[:end], patterns) for end in range(1, len(parts) + 1))
