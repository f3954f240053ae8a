"""Whether a user's pattern covers something: allowing patterns are read narrowly, denying and asking ones widely."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Sequence
from typing import Final

from orchestrator.model.permission import PermissionDecision, PermissionRule
from orchestrator.pm.permissions.fields import ANYTHING, MARKS

PROGRAM_FOLDERS: Final = frozenset(
    {"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin"}
)
"""Folders in which a program's path means the same as its name."""

_ADDRESS: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?(\[[^\]/?#]*\]|[^/?#:@]*)(?::[0-9]*)?(?=[/?#]|$)"
)
_SHORTEST_ABBREVIATION: Final = 3


def wild(pattern: str, text: str) -> bool:
    """Return whether a text matches a pattern, in which `*` stands for any characters."""
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == text
    if not text.startswith(first) or len(text) < len(first) + len(rest[-1]):
        return False
    at, end = len(first), len(text) - len(rest[-1])
    for part in rest[:-1]:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return text.endswith(rest[-1]) and at <= end


@functools.lru_cache(maxsize=1024)
def words_of(rule: PermissionRule) -> tuple[str, ...]:
    """Return the words of a `run` rule; a rule that cannot be parsed matches any command, unless it allows."""
    try:
        return tuple(shlex.split(rule.pattern)) or ("*",)
    except ValueError:
        return () if rule.decision is PermissionDecision.ALLOW else ("*",)


def base(program: str) -> str:
    """Return the name of a program without its folder and in lower case, as some file systems ignore case."""
    return program.rpartition("/")[2].casefold()


def plain_name(program: str) -> str:
    """Return the name by which the defaults know a program; empty if it is in an unusual folder."""
    folder, slash, name = program.rpartition("/")
    return name if not slash or folder in PROGRAM_FOLDERS else ""


def narrowly(pattern: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether a command is the one that a pattern names, word by word; a last `*` stands for any more words."""
    if not pattern or not words:
        return False
    first, *rest = pattern
    if not (wild(first, words[0]) and ("/" in first or "/" not in words[0] or first == "*")):
        name = plain_name(words[0])
        if not name or "/" in first or not wild(first, name):
            return False
    if rest and rest[-1] == "*":
        rest, words = rest[:-1], words[: len(rest)]
    elif first == "*" and not rest:
        return True
    return len(rest) == len(words) - 1 and all(map(wild, rest, words[1:]))


def widely(pattern: Sequence[str], words: Sequence[str], *, surely: bool = False) -> bool:
    """Return whether a command may be one that a pattern names.

    It may be if the words of the pattern come in their order with only options (and their possible values) between
    them, and its options anywhere; whatever follows, in whichever folder the program is, in upper or lower case. A word
    with a mark in it may be any word; `surely` ignores such words.
    """
    if not pattern or not words or not wild(base(pattern[0]), base(words[0])):
        return False
    rest = words[1:]
    options = [word for word in pattern[1:] if word.startswith("-") and word.strip("-")]
    plain = [word for word in pattern[1:] if not (word.startswith("-") and word.strip("-"))]
    while plain and plain[-1] == "*":
        plain.pop()
    unknown = not surely and any(ANYTHING in word for word in rest)
    return all(unknown or _given(option, rest) for option in options) and _aligned(plain, rest, surely=surely)


def _given(option: str, words: Sequence[str]) -> bool:
    if option.startswith("--"):
        names = [word.partition("=")[0] for word in words if word.startswith("--")]
        wanted = option.partition("=")[0]
        return any(
            wild(wanted, name) or (len(name) > _SHORTEST_ABBREVIATION and wanted.startswith(name))
            for name in names
        )
    clusters = [word for word in words if word.startswith("-") and not word.startswith("--")]
    return any(word.startswith(option) for word in clusters) or set(option[1:]) <= set("".join(clusters))


def _aligned(plain: Sequence[str], words: Sequence[str], *, surely: bool) -> bool:
    reached, after_option = {0}, False
    for word in words:
        if len(plain) in reached:
            return True
        option = word.startswith(("-", ANYTHING))
        kept = reached if option or after_option else set()
        marked = not surely and not MARKS.isdisjoint(word)
        reached = {place + 1 for place in reached if marked or wild(plain[place], word)} | kept
        if not reached:
            return False
        after_option = option and "=" not in word
    return len(plain) in reached


def path_matches(pattern: str, path: str, *, widely: bool) -> bool:
    """Return whether a pattern covers a path: `*` within one folder, `**` across folders.

    A relative pattern applies below any folder. Read widely, a pattern also covers everything below what it names,
    and case is ignored.
    """
    try:
        text = "".join(shlex.split(pattern))
    except ValueError:
        return widely
    if not text:
        return True
    if widely:
        text, path = text.casefold(), path.casefold()
    wanted = text.strip("/").split("/")
    if not text.startswith("/"):
        wanted = ["**", *wanted]
    return _along([*wanted, "**"] if widely else wanted, path.strip("/").split("/"))


def may_lie_beneath(pattern: str, path: str) -> bool:
    """Return whether something that a pattern covers may be below a folder, or at a path with marks in it."""
    try:
        text = "".join(shlex.split(pattern))
    except ValueError:
        return True
    if not text.startswith("/"):
        return True
    known = path.split("/")
    known = known[: next((at for at, part in enumerate(known) if not MARKS.isdisjoint(part)), len(known))]
    wanted = text.split("/")[: len(known)]
    return (
        all(part == "**" or wild(part, other) for part, other in zip(wanted, known, strict=False))
        or "**" in text
    )


def _along(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether a path of folders matches a pattern, in which `**` stands for any number of them."""
    reached = _passing({0}, pattern)
    for part in parts:
        reached = _passing(
            {
                place if pattern[place] == "**" else place + 1
                for place in reached
                if place < len(pattern) and (pattern[place] == "**" or wild(pattern[place], part))
            },
            pattern,
        )
    return len(pattern) in reached


def _passing(reached: set[int], pattern: Sequence[str]) -> set[int]:
    """Return the positions, and those after a `**` that stands for nothing."""
    found = set(reached)
    for place in sorted(reached):
        at = place
        while at < len(pattern) and pattern[at] == "**":
            at += 1
            found.add(at)
    return found


def address_matches(pattern: str, address: str, *, widely: bool) -> bool:
    """Return whether a pattern covers an address: its host, or with `://` in it the whole address."""
    if not pattern:
        return True
    if "://" in pattern:
        return wild(pattern, address) or (widely and wild(pattern.casefold() + "*", address.casefold()))
    found = _ADDRESS.match(address.strip())
    if not found:
        return widely
    host, pattern = found[1].casefold().rstrip("."), pattern.casefold()
    return wild(pattern, host) or (widely and host.endswith("." + pattern))
