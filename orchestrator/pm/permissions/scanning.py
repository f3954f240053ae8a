"""Looking for denied commands in text that cannot be split with certainty, or that some program may run.

For the user's rules, every word counts as the possible start of a command; for the built-in rules, every word at a
place where a command may begin. Quotes, backslashes and expansions are removed in more than one way.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from orchestrator.formats.text import names
from orchestrator.model.permission import Act, PermissionDecision, PermissionRule
from orchestrator.pm.permissions.defaults.denied_commands import DENIED, LOOKED_FOR
from orchestrator.pm.permissions.finding import Case, Finding, built_in, by_rule, shown
from orchestrator.pm.permissions.matching import base, widely, wild, words_of

_REACH: Final = 40
"""The maximum number of words of a command in such text."""

_TOKEN: Final = re.compile(r"[^\s;|&()<>{}\"'`$\[\],\\]+")
_LEADS: Final = frozenset(";|&({`\n\"'")
_ESCAPED: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|([0-7]{1,3}))")
_EXPANSION: Final = re.compile(r"\$\{[^{}]{0,80}\}|\$[A-Za-z_][A-Za-z0-9_]*|\$[0-9@*#?!-]")
_PASSED_OVER: Final = re.compile(r"-.*|[A-Za-z_][A-Za-z0-9_]*=.*|[0-9.]+[smhd]?|!")
_LETTERS: Final = 2
_AHEAD: Final = names(
    "command builtin exec eval nohup time do then else elif if while until coproc sh bash dash zsh ksh noglob nocorrect"
    " run -exec -execdir -ok -okdir"
)
"""Words directly after which a command may begin."""

_WRAPPERS: Final = names(
    "env timeout nice ionice chrt taskset stdbuf setsid xargs parallel watch flock strace script chroot unshare entr"
    " busybox sudo doas su npx uvx pipx bunx caffeinate"
)
"""Programs after which, behind their own arguments, a command may begin."""


_Read = tuple[PermissionRule, tuple[str, ...]]
"""A rule, and the words of its pattern."""


class _Candidate(NamedTuple):
    words: tuple[str, ...]
    leads: bool


def denied_within(case: Case, text: str, *, anywhere: bool = False) -> Finding | None:
    """Return what denies a command that may be somewhere in a text, or None.

    With `anywhere`, each word counts as the possible start of a command for the built-in denials, too.
    """
    rules = _Rules([(rule, words_of(rule)) for rule in case.rules(Act.RUN, PermissionDecision.DENY)])
    looked_at = set[_Candidate]()  # a long line says the same again and again
    for view in dict.fromkeys(_views(text)):
        for each in _candidates(view):
            candidate = each._replace(leads=each.leads or anywhere)
            if candidate in looked_at:
                continue
            if found := _denied(case, rules, candidate):
                return found
            looked_at.add(candidate)
    return None


def denied_by_default(words: Sequence[str], *, surely: bool = True) -> str:
    """Return why a command is denied by default, or nothing; if not `surely`: why it may be."""
    found = _of_program(_table(), base(words[0]))
    return next((why for pattern, why in found if widely(pattern, words, surely=surely)), "")


class _Rules:
    """The user's denying rules, by the program that they name: a long text has many words to look up."""

    def __init__(self, rules: Sequence[_Read]) -> None:
        self.every = rules
        self.wild = [each for each in rules if "*" in each[1][0]]
        self.exact = dict[str, list[_Read]]()
        for each in rules:
            self.exact.setdefault(base(each[1][0]), []).append(each)

    def speaking_of(self, word: str) -> Iterator[_Read]:
        """Return the rules that may cover a program; with a `*` or `?` in its name, all of them."""
        yield from self.exact.get(base(word), ())
        yield from self.every if {"*", "?"} & set(word) else self.wild


def _denied(case: Case, rules: _Rules, candidate: _Candidate) -> Finding | None:
    words = candidate.words
    for rule, pattern in rules.speaking_of(words[0]):
        if widely(pattern, words) or _hides(pattern, words):
            return by_rule(rule, _quoted(words))
    if candidate.leads and (why := _default(words)) and not _allowed(case, words):
        return built_in(PermissionDecision.DENY, f"{_quoted(words)}: {why}")
    return None


def _default(words: Sequence[str]) -> str:
    found = _of_program(_looked_for(), base(words[0]))
    why = next((why for pattern, why in found if widely(pattern, words)), "")
    if why or not {"*", "?"} & set(words[0]):
        return why
    return next(
        (why for each in _looked_for().values() for pattern, why in each if _hides(pattern, words)), ""
    )


def _quoted(words: Sequence[str]) -> str:
    return f"it may contain {shown(' '.join(words[:4]))}"


def _hides(pattern: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether the shell may find a denied program by a name with `*` and the like in it."""
    name = base(words[0])
    if sum(sign.isalnum() for sign in name) < _LETTERS or not {"*", "?"} & set(name):
        return False
    return wild(name.replace("?", "*"), base(pattern[0])) and widely(("*", *pattern[1:]), words)


def _allowed(case: Case, words: Sequence[str]) -> bool:
    """Return whether a rule of the user allows a default denial: then a person decides."""
    return any(widely(words_of(rule), words) for rule in case.rules(Act.RUN, PermissionDecision.ALLOW))


_Table = dict[str, list[tuple[tuple[str, ...], str]]]
"""Patterns with their reasons, by the program that they name."""


@functools.cache
def _table() -> _Table:
    return _by_program(DENIED)


@functools.cache
def _looked_for() -> _Table:
    return _by_program(LOOKED_FOR)


def _by_program(patterns: Mapping[str, str]) -> _Table:
    made = _Table()
    for pattern, why in patterns.items():
        words = tuple(pattern.split(" "))
        made.setdefault(words[0], []).append((words, why))
    return made


def _of_program(table: _Table, name: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Return the patterns that may cover a program."""
    yield from table.get(name, [])
    for first, patterns in table.items():
        if "*" in first and wild(first, name):
            yield from patterns


def _views(text: str) -> Iterator[str]:
    """Return the possible readings of a text: quotes dropped or separating, expansions empty or separating."""
    joined = text.replace("\\\r\n", "").replace("\\\n", "")
    parted = _EXPANSION.sub(" ", joined)
    closed = _EXPANSION.sub("", joined)
    yield parted
    yield re.sub(r"['\"\\]", "", parted)
    yield re.sub(r"['\"\\]", "", closed)
    if "$'" in text:
        yield re.sub(r"['\"\\$]", "", _ESCAPED.sub(_sign, joined))


def _sign(found: re.Match[str]) -> str:
    hexadecimal = found[1] or found[2]
    return chr(int(hexadecimal, 16) if hexadecimal else int(found[3], 8))


def _candidates(view: str) -> Iterator[_Candidate]:
    found = list(_TOKEN.finditer(view))
    words = [token[0] for token in found]
    ahead, wrapped, end = True, False, 0
    for at, token in enumerate(found):
        parted = not _LEADS.isdisjoint(view[end : token.start()])
        wrapped = wrapped and not parted
        leads = ahead or wrapped or parted
        yield _Candidate(tuple(words[at : at + _REACH]), leads)
        name = base(token[0])
        ahead = name in _AHEAD or (leads and _PASSED_OVER.fullmatch(token[0]) is not None)
        wrapped = wrapped or (leads and name in _WRAPPERS)
        end = token.end()
