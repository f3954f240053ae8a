"""Rules of leave as people write them: `allow run npm test; deny fetch; otherwise deny`."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Final

from orchestrator.formats.text import neutral
from orchestrator.model.errors import Refused
from orchestrator.model.permission import Act, PermissionDecision, PermissionRule, Permissions

MOST: Final = 200
LONGEST: Final = 500

_DECISIONS: Final = ", ".join(PermissionDecision)
_ACTS: Final = {"read": Act.READ, "write": Act.WRITE, "run": Act.RUN, "fetch": Act.FETCH, "ask": Act.ASK}
_EXAMPLES: Final = "`allow run npm test`, `allow write /data/**`, `deny fetch`, `allow tool mcp__github__*`"
_TOOL: Final = re.compile(r"[A-Za-z0-9_.:*-]{1,200}")
_ADDRESS: Final = re.compile(r"[^\s;#'\"`]{1,400}")
_BARE: Final = re.compile(r"[A-Za-z0-9_@%+=:,./*?^!-]+")


def read_permissions(text: str, source: str = "task.md") -> Permissions:
    """Return what one line of task.md says: rules, and what holds otherwise, parted by `;`.

    A `;` in quotes parts nothing. `source` becomes the source of each rule.

    Raises:
        Refused: one of the parts is no rule, or there are too many; the message says what may be written.

    """
    rules, otherwise = list[PermissionRule](), None
    for part in _parts(text):
        word, _, rest = part.partition(" ")
        if word != "otherwise":
            rules.append(read_rule(part, source))
        elif otherwise is None:
            otherwise = read_decision(rest.strip())
        else:
            raise Refused("says `otherwise` twice: keep one of them")
    if len(rules) > MOST:
        raise Refused(f"has {len(rules)} rules: give at most {MOST}")
    return Permissions(tuple(rules), otherwise)


def read_rule(text: str, source: str) -> PermissionRule:
    """Return the rule that a text like `allow run npm test` is.

    Raises:
        Refused: it is none; the message says what may be written.

    """
    written = text.strip()
    decision, _, rest = written.partition(" ")
    act, _, pattern = rest.strip().partition(" ")
    if decision not in set(PermissionDecision) or act not in {*_ACTS, "tool"}:
        raise Refused(
            f"has the rule {written[:60]!a}: write {_DECISIONS}, then {', '.join(_ACTS)} or tool: {_EXAMPLES}"
        )
    if len(pattern) > LONGEST or neutral(pattern) != pattern:
        raise Refused(
            f"has the rule {written[:60]!a}: it is longer than {LONGEST} signs, or holds hidden ones"
        )
    try:
        return PermissionRule(
            PermissionDecision(decision), _ACTS.get(act), _pattern(act, pattern.strip()), source
        )
    except Refused as problem:
        raise Refused(f"has the rule {written[:60]!a}: {problem}") from None


def read_decision(text: str) -> PermissionDecision:
    """Return what holds where no rule speaks. Raises Refused."""
    if text not in set(PermissionDecision):
        raise Refused(f"has otherwise {text[:40]!a}: write one of {_DECISIONS}")
    return PermissionDecision(text)


def written_permissions(said: Permissions) -> str:
    """Return the line that `read_permissions` reads back as the same."""
    last = [f"otherwise {said.otherwise}"] if said.otherwise else []
    return "; ".join([*map(str, said.rules), *last])


def from_source(said: Permissions, source: str) -> Permissions:
    """Return the same, each rule saying that it stands in `source`."""
    return replace(said, rules=tuple(replace(rule, source=source) for rule in said.rules))


def pattern_words(pattern: str) -> tuple[str, ...]:
    """Return the words of a `run` rule's pattern. Raises Refused."""
    try:
        return tuple(shlex.split(pattern))
    except ValueError as problem:
        raise Refused(f"it does not read as a command: {problem}") from None


def _pattern(act: str, text: str) -> str:
    """Return a pattern in the one form in which it is kept. Raises Refused."""
    match act:
        case "run":
            words = pattern_words(text)
            if not words or not words[0]:
                raise Refused("say which command: `run npm test`, or `run *` for any")
            return " ".join(word if _BARE.fullmatch(word) else shlex.quote(word) for word in words)
        case "read" | "write":
            return _path(text)
        case "fetch":
            if text and not _ADDRESS.fullmatch(text):
                raise Refused("give one host like docs.python.org or *.python.org, or an address with a `*`")
            return text
        case "ask":
            if text:
                raise Refused("`ask` takes no more: write `deny ask` or `ask ask`")
            return ""
        case _:
            if not _TOOL.fullmatch(text):
                raise Refused("give one tool's name, where `*` stands for any letters: `tool mcp__github__*`")
            return text


def _path(text: str) -> str:
    """Return a pattern of paths: absolute, or one that holds in any folder. `~` is the home of who reads it."""
    words = pattern_words(text)
    if len(words) > 1:
        raise Refused("give one path, in quotes where it holds spaces")
    path = words[0] if words else ""
    if path == "~" or path.startswith("~/"):
        path = str(Path(path).expanduser())
    if ".." in path.split("/") or path.startswith("~"):
        raise Refused("give a path without `..`, absolute or beginning with `~/`")
    return path if not path or _BARE.fullmatch(path) else shlex.quote(path)


def _parts(text: str) -> list[str]:
    """Return the parts between semicolons that stand outside quotes. Raises Refused."""
    found, quote, part, skip = list[str](), "", "", False
    for sign in text:
        if sign == ";" and not quote and not skip:
            found.append(part)
            part = ""
            continue
        part += sign
        if skip:
            skip = False
        elif sign == "\\" and quote != "'":
            skip = True
        elif sign in "'\"" and quote in {"", sign}:
            quote = "" if quote else sign
    if quote:
        raise Refused("has a quote that is not closed")
    parts = [each.strip() for each in (*found, part)]
    return [each for each in parts if each]
