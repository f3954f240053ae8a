"""What single programs print, as far as it matters for words that are made of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from orchestrator.formats.text import names
from orchestrator.pm.permissions.fields import (
    ANY_FILE,
    ANYTHING,
    FILES,
    MARKS,
    OWN_PROCESS,
    SOME_FILE,
    TOKEN,
    Field,
)
from orchestrator.pm.permissions.listings import (
    all_below,
    apart_from_settings,
    hides,
    listed,
    lists_names,
)
from orchestrator.pm.permissions.matching import plain_name
from orchestrator.pm.permissions.searching import found_by

_TOKENS: Final = names("nproc arch whoami hostname")
_TOKENS_BY_OPTION: Final = {"wc": "lwcm", "id": "ugn", "uname": "smrpn"}
_SUMS: Final = frozenset({"sha256sum", "md5sum", "shasum", "sha1sum", "cksum"})
_SUM: Final = f"{TOKEN} {ANYTHING}"
"""A line of a checksum program: the sum, and then a name."""
_CHOOSES: Final = frozenset({"head", "tail", "sort", "uniq", "shuf", "tac", "tr", "grep", "egrep", "rg"})
"""Programs that print some of the lines that they read, unchanged."""

IGNORES: Final = frozenset({"echo", "printf", "pwd", "date", "find", "fd", "ls", "git"})
"""Programs that ignore their standard input."""

_DATE: Final = re.compile(r"\+[%A-Za-z0-9][%A-Za-z0-9_.:-]*")
_NUMBERS: Final = re.compile(r"-w|[0-9]+|[-+*/%()]|\\[*()]")
_SEARCHES: Final = re.compile(
    r"-[vEFPwxiqsh]+|-e|--(?:invert-match|ignore-case|extended-regexp|fixed-strings|line-buffered)"
)
_SORTS: Final = re.compile(r"-[urnVhfbtkdgMz0-9,]+|--(?:unique|reverse|numeric-sort|version-sort)")
_TAKES: Final = re.compile(r"-[nc]?[+0-9]*|--lines=[0-9]+")
_CODES: Final = re.compile(r"%\{http_code\}(?:\\n)?")
_HASHES: Final = re.compile(r"--\w+=(?:format:)?%[hHct]+")
_LISTING_DETAILS: Final = frozenset(
    {"-s", "--stage", "-t", "-v", "--format", "--full-name", "--eol", "--debug"}
)
_NO_HEADER: Final = frozenset({"--format=", "--pretty=", "--pretty=format:"})
_UNDOTTED: Final = frozenset({r"s|^\./||", "s#^./##", "s|^./||"})


def printed(name: str, rest: Sequence[Field]) -> str | None:
    """Return what a program prints that reads nothing; None if that is not known here."""
    if name in _TOKENS or _one_token(name, rest):
        return TOKEN
    prints = _PRINTS.get(name)
    return None if prints is None else prints(name, rest)


def passed_on(fields: Sequence[Field], text: str) -> str:
    """Return what a command prints that reads a text with marks."""
    name, rest = plain_name(fields[0].text), fields[1:]
    if _one_token(name, rest):
        return TOKEN
    operands = [each for each in rest if not each.text.startswith("-")]
    if name in _CHOOSES:
        return text if _chooses(name, rest) else ANYTHING
    if (
        name in {"grep", "egrep"}
        and any(re.fullmatch(r"-[a-zA-Z]*c", each.text) for each in rest)
        and len(operands) == 1
    ):
        return TOKEN
    first = (name == "awk" and [each.text for each in rest] == ["{print $1}"]) or (
        name == "cut" and all(re.fullmatch(r"-d.?|-f1?|-c[0-9,-]*| |1|[0-9,-]+", each.text) for each in rest)
    )
    if first and text in {TOKEN, _SUM}:
        return TOKEN
    if name == "xargs" and not FILES.isdisjoint(text) and operands:
        ran = [each.text for each in operands]
        if ran[0] in {"dirname", "realpath", "ls"} or (ran[0] == "grep" and lists_names(rest)):
            return text
        return TOKEN if ran[0] == "basename" else ANYTHING
    if name == "sed" and len(operands) == 1 and operands[0].text in {r"s|^\./||", "s#^./##", "s|^./||"}:
        return text.removeprefix("./")
    return ANYTHING


def git_prints(rest: Sequence[Field], top: str) -> str:
    """Return what `git` prints; `top` is the folder of its tree, or empty."""
    verbs = [each.text for each in rest if not each.text.startswith("-")]
    options = {each.text.partition("=")[0] for each in rest if each.text.startswith("-")}
    if not verbs or any(not each.known for each in rest) or hides(rest) or "--no-index" in options:
        return ANYTHING
    below = all_below(verbs[1:])
    match verbs[0]:
        case "ls-files" if not _LISTING_DETAILS & options and below:
            return SOME_FILE if apart_from_settings(verbs[1:]) else ANY_FILE
        case "diff" if "--name-only" in options:
            return SOME_FILE
        case "show" | "log" if "--name-only" in options and any(each.text in _NO_HEADER for each in rest):
            return SOME_FILE
        case "grep" if lists_names(rest) and below:
            return SOME_FILE
        case "rev-parse" if "--show-toplevel" in options:
            return top or ANYTHING
        case "rev-parse" | "merge-base" | "rev-list" | "describe" | "hash-object" | "write-tree":
            paths = any("show" in each or "path" in each or "dir" in each for each in options)
            return ANYTHING if paths else TOKEN
        case "branch" if "--show-current" in options:
            return TOKEN
        case "log" if {"--format", "--pretty"} & options:
            wanted = [each.text for each in rest if each.text.startswith(("--format", "--pretty"))]
            return TOKEN if all(map(_HASHES.fullmatch, wanted)) else ANYTHING
        case _:
            return ANYTHING


def _chooses(name: str, rest: Sequence[Field]) -> bool:
    """Return whether a command prints some of the lines that it reads, unchanged."""
    operands = [each.text for each in rest if not each.text.startswith("-")]
    options = [each.text for each in rest if each.text.startswith("-")]
    match name:
        case "grep" | "egrep" | "rg":
            return len(operands) == 1 and all(_SEARCHES.fullmatch(text) for text in options)
        case "sort" | "uniq":
            fits = (
                all(_SORTS.fullmatch(text) for text in options)
                if name == "sort"
                else set(options) <= {"-u", "-d"}
            )
            return fits and not operands
        case "tr":
            return operands in ([r"\n", " "], [r"\n", r"\0"]) and not options
        case _:
            return all(_TAKES.fullmatch(text) for text in options) and all(
                re.fullmatch(r"[+0-9]+", text) for text in operands
            )


def _one_token(name: str, rest: Sequence[Field]) -> bool:
    """Return whether a command prints exactly one number or name."""
    known = _TOKENS_BY_OPTION.get(name)
    return known is not None and bool(rest) and all(re.fullmatch(rf"-[{known}]+", each.text) for each in rest)


def _echoed(name: str, rest: Sequence[Field]) -> str:
    """Return what is echoed; the result of escapes and formats counts as unknown."""
    words = [each.text for each in rest if not (name == "echo" and each.text == "-n")]
    if name == "printf":
        if words[:1] in (["%s\n"], ["%s\\n"], ["%s"]) and len(words) == 2:  # noqa: PLR2004 (format and text)
            return words[1]
        if len(words) != 1 or "%" in words[0]:
            return ANYTHING
    text = " ".join(words)
    return ANYTHING if "\\" in text or any(each.glob or each.many for each in rest) else text


def _basename(_name: str, rest: Sequence[Field]) -> str:
    operands = _operands(rest)
    if not operands or not operands[0].known:
        return TOKEN if operands else ANYTHING
    first = operands[0].text.rstrip("/").rpartition("/")[2]
    if MARKS.isdisjoint(first):
        suffix = operands[1].text if len(operands) > 1 else ""
        return first.removesuffix(suffix) if first != suffix else first
    return TOKEN


def _folder_of(name: str, rest: Sequence[Field]) -> str:
    operands = _operands(rest)
    if len(operands) != 1 or not operands[0].known:
        return ANYTHING
    text = operands[0].text
    if name != "dirname":
        return text
    if MARKS.isdisjoint(text):
        return text.rstrip("/").rpartition("/")[0] or ("/" if text.startswith("/") else ".")
    head, slash, last = text.rpartition("/")
    if last in FILES:
        return ANYTHING if text.startswith("/") else text
    return head if slash else "."


def _counted(_name: str, rest: Sequence[Field]) -> str:
    fits = all(_NUMBERS.fullmatch(each.text) or each.text == TOKEN for each in rest)
    return TOKEN if rest and fits else ANYTHING


def _status(_name: str, rest: Sequence[Field]) -> str:
    """Return what `curl -o FILE -w '%{http_code}'` prints."""
    codes = [each.text for each in rest if "%{" in each.text]
    silent = any(each.text in {"-o", "--output"} for each in rest)
    return TOKEN if silent and codes and all(map(_CODES.fullmatch, codes)) else ANYTHING


def _dated(_name: str, rest: Sequence[Field]) -> str:
    return TOKEN if rest and all(_DATE.fullmatch(each.text) or each.option for each in rest) else ANYTHING


def _located(_name: str, rest: Sequence[Field]) -> str:
    operands = _operands(rest)
    return operands[0].text if len(operands) == 1 and operands[0].certain else ANYTHING


def _operands(rest: Sequence[Field]) -> list[Field]:
    return [each for each in rest if not each.text.startswith("-")]


_PRINTS: Final[dict[str, Callable[[str, Sequence[Field]], str]]] = {
    **dict.fromkeys(("echo", "printf"), _echoed),
    **dict.fromkeys(("seq", "expr"), _counted),
    "curl": _status,
    "date": _dated,
    "basename": _basename,
    **dict.fromkeys(("dirname", "realpath", "readlink"), _folder_of),
    **dict.fromkeys(("command", "which", "type"), _located),
    "jobs": lambda _name, _rest: OWN_PROCESS,
    **dict.fromkeys(_SUMS, lambda _name, _rest: _SUM),
    **dict.fromkeys(("find", "fd", "fdfind"), found_by),
    **dict.fromkeys(("ls", "grep", "egrep", "rg", "ag"), listed),
}
