"""Judging a command line: each simple command of it, and what these run in turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from orchestrator.formats.shell_line import LONGEST, Command, read_shell
from orchestrator.formats.shell_words import Word
from orchestrator.model.permission import Act, Ruling
from orchestrator.pm.permissions.defaults import GIT, UNSAFE_VARIABLES
from orchestrator.pm.permissions.files import read_word, write_target
from orchestrator.pm.permissions.finding import By, Case, Finding, built_in, by_rule, shown, strictest
from orchestrator.pm.permissions.matching import narrowly, plain_name, wild, words_of
from orchestrator.pm.permissions.paths import inside, resolved
from orchestrator.pm.permissions.programs import by_default
from orchestrator.pm.permissions.scanning import denied_by_default, denied_within, ruled
from orchestrator.pm.permissions.wrappers import Inner, inner

_DEEPEST: Final = 6
_MOST_PLACES: Final = 16
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_STRICTNESS: Final = re.compile(r"[-+][eux]+o?|[-+]o|pipefail|errexit|nounset|xtrace")

Places = frozenset[str]


def judged_line(case: Case, text: str, places: Places, depth: int = 0) -> Finding:
    """Return what is found of a command line that is run in one of these places."""
    if len(text) > LONGEST:
        return built_in(Ruling.DENY, f"a command line of {len(text)} signs is not read: put it into a file")
    line = read_shell(text)
    if line.doubt or depth > _DEEPEST:
        doubt = line.doubt or "goes deeper than can be followed"
        return _doubted(case, text, case.doubt(f"{shown(text)} cannot be judged with certainty: it {doubt}"))
    findings, ahead = list[Finding](), Places()
    for command in line.commands:
        findings.append(_judged(case, command, places, depth))
        moved = _moved(command, places)
        if command.then == "&&" and moved != places:
            ahead |= places  # what comes after the chain runs there too, if the `cd` fails
            places = moved
        elif command.then in {"&&", "|", "|&"}:
            places = moved
        else:
            places, ahead = moved | ahead, Places()
    found = strictest(findings)
    return _doubted(case, text, found) if any(each.by is By.DOUBT for each in findings) else found


def _doubted(case: Case, text: str, found: Finding) -> Finding:
    """Return a denial where a line is in doubt and a denied command may stand in it."""
    if found.ruling is Ruling.DENY and found.by is not By.DOUBT:
        return found
    return denied_within(case, text) or found


def _judged(case: Case, command: Command, places: Places, depth: int) -> Finding:
    findings = [_assigned(case, word) for word in command.assignments]
    for redirect in command.redirects:
        target = write_target if redirect.writes else read_word
        findings.append(target(case, redirect.target, places))
    if command.words:
        findings.append(_run(case, command, places, depth))
    return strictest(findings)


def _assigned(case: Case, word: Word) -> Finding:
    name = word.text.partition("=")[0].rstrip("+")
    if any(wild(pattern, name) for pattern in UNSAFE_VARIABLES):
        return case.doubt(f"setting {shown(name)} may make another command of what follows")
    return built_in(Ruling.ALLOW, f"setting {shown(name)} changes nothing else")


def _run(case: Case, command: Command, places: Places, depth: int) -> Finding:
    """Return what is found of one command: by the rules, by what it runs in turn, and by default."""
    words = command.words
    texts = [word.text for word in words]
    told = shown(" ".join(texts))
    for ruling in (Ruling.DENY, Ruling.ASK):
        if rule := ruled(case, texts, ruling):
            within = _within(case, command, places, depth) if ruling is Ruling.ASK else None
            return strictest([by_rule(rule, told), *([within] if within else [])])
    allowed = _allowed(case, words)
    within = _within(case, command, places, depth)
    if allowed:
        if within and within.ruling is not Ruling.ALLOW and within.by in {By.RULE, By.DEFAULT}:
            return within
        if within and within.by is By.DOUBT:
            return denied_within(case, " ".join(texts[1:])) or allowed
        return allowed if within else _unless_denied(case, texts, allowed)
    if why := denied_by_default(texts):
        return built_in(Ruling.DENY, f"{told}: {why}")
    if found := _own_word(case, words, places):
        return found
    if within:
        return within
    found = by_default(case, words, places, command.stdin)
    if found:
        return found
    return _unknown(case, texts, told)


def _allowed(case: Case, words: Sequence[Word]) -> Finding | None:
    """Return what allows a command of which each word is certain, or None."""
    if not all(word.certain for word in words):
        return None
    texts = [word.text for word in words]
    for rule in case.rules(Act.RUN, Ruling.ALLOW):
        if narrowly(words_of(rule), texts):
            return by_rule(rule, shown(" ".join(texts)))
    return by_rule(case.tool, shown(" ".join(texts))) if case.tool else None


def _within(case: Case, command: Command, places: Places, depth: int) -> Finding | None:
    """Return what is found of what a command runs in turn; None if it is no wrapper, or runs nothing so."""
    runs = inner(command.words)
    if runs is None or runs == Inner():
        return None
    if runs.doubt:
        return case.doubt(f"{shown(' '.join(word.text for word in command.words))}: {runs.doubt}")
    if depth >= _DEEPEST:
        return case.doubt("it goes deeper than can be followed")
    if runs.text:
        return judged_line(case, runs.text, places, depth + 1)
    findings = [_assigned(case, word) for word in runs.assignments]
    inside_it = replace(command, assignments=(), redirects=(), words=runs.words)
    return strictest([_run(case, inside_it, places, depth + 1), *findings])


def _unless_denied(case: Case, texts: Sequence[str], allowed: Finding) -> Finding:
    """Return that a command is allowed, unless one that the user denies may stand among its words."""
    if plain_name(texts[0]) in {"echo", "grep", "printf", "rg"}:
        return allowed
    if plain_name(texts[0]) == "git" and len(texts) > 1 and texts[1] in GIT:
        return allowed
    return _by_the_user(case, " ".join(texts[1:])) or allowed


def _unknown(case: Case, texts: Sequence[str], told: str) -> Finding:
    """Return what is found of a program that nothing is known of: it may run what its words say."""
    rest = " ".join(texts[1:])
    if found := _by_the_user(case, rest):
        return found
    if denied_within(case, rest, anywhere=True):
        return case.doubt(f"{told}: nothing is known of what it runs")
    return case.otherwise(told)


def _by_the_user(case: Case, text: str) -> Finding | None:
    found = denied_within(case, text)
    return found if found and found.by is By.RULE else None


def _own_word(case: Case, words: Sequence[Word], places: Places) -> Finding | None:
    """Return what is found of some of the shell's own commands, or None."""
    told, rest = shown(" ".join(word.text for word in words)), words[1:]
    match words[0].text:
        case "cd":
            return _cd(case, words, places)
        case "command" if rest and rest[0].text in {"-v", "-V"}:
            return built_in(Ruling.ALLOW, f"{told} changes nothing")
        case "export" if rest and all(word.certain and _ASSIGNMENT.fullmatch(word.text) for word in rest):
            return strictest(_assigned(case, word) for word in rest)
        case "set" if rest and all(_STRICTNESS.fullmatch(word.text) for word in rest):
            return built_in(Ruling.ALLOW, f"{told} changes how strict the shell is")
        case "source" | "." if len(rest) == 1 and rest[0].certain and rest[0].text.endswith("/bin/activate"):
            paths = [resolved(rest[0].text, place) for place in places]
            if not rest[0].tilde and all(path and inside(path, case.grants) for path in paths):
                return built_in(Ruling.ALLOW, f"{told} sets up the environment of the project")
    return None


def _cd(case: Case, words: Sequence[Word], places: Places) -> Finding:
    """Return what is found of going to another folder."""
    told = shown(" ".join(word.text for word in words))
    if _targets(words, places) and all(inside(path, case.grants) for path in _targets(words, places)):
        return built_in(Ruling.ALLOW, f"{told} stays in the folders that the run was granted")
    return case.doubt(f"{told} leaves the folders that the run was granted")


def _targets(words: Sequence[Word], places: Places) -> list[str]:
    """Return where a `cd` may lead, or nothing if that is not known."""
    rest = [word for word in words[1:] if word.text not in {"--", "-P", "-L"}]
    if (
        len(rest) != 1
        or not rest[0].certain
        or rest[0].glob
        or rest[0].tilde
        or rest[0].text[:1] in {"-", "", "+"}
    ):
        return []
    found = [resolved(rest[0].text, place) for place in sorted(places)]
    return found if all(found) else []


def _moved(command: Command, places: Places) -> Places:
    """Return where what follows may be run: a `cd` may fail, or hold for a subshell only."""
    if not command.words or command.words[0].text not in {"cd", "pushd", "popd", "builtin", "command"}:
        return places
    if command.words[0].text != "cd":
        return places if not any(word.text == "cd" for word in command.words) else places | {""}
    targets = _targets(command.words, places)
    if targets and command.then == "&&":
        return frozenset(targets)
    moved = places | set(targets) if targets else places | {""}
    return moved if len(moved) <= _MOST_PLACES else frozenset({""})
