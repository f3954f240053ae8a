"""The small languages of sed and awk: whether a script does no more than print or edit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

_REGEX: Final = r"(?:[^{sign}\\\n\[]|\\[^\n]|\[[^\]{sign}\\\n]*\])"
"""A piece of a regular expression. Versions of sed differ on delimiters in brackets, so none is accepted there."""

_BETWEEN_SLASHES: Final = "/" + _REGEX.replace("{sign}", "/") + "+/"
_ONE: Final = rf"(?:[0-9]+(?:~[0-9]+)?|\$|{_BETWEEN_SLASHES}I?)"
_ADDRESS: Final = rf"(?:{_ONE}(?:[ ]*,[ ]*(?:[+~]?[0-9]+|\$|{_BETWEEN_SLASHES}))?[ ]*!?)?[ ]*"
_SUBSTITUTE: Final = "|".join(
    rf"[sy]{sign}{_REGEX.replace('{sign}', sign)}*{sign}(?:[^{sign}\\\n]|\\.)*{sign}[gIpi0-9]*"
    for sign in map(re.escape, "/|#,@:")
)
_SED: Final = re.compile(
    rf"(?:{_ADDRESS}(?:{_SUBSTITUTE}|[pdq=PDNnhHgGxl][0-9]*)[ ]*(?:[;\n][ ;\n]*|$))+|{_ADDRESS}[aic][ \\][^\n]*",
    re.DOTALL,
)
_AWK_TOKEN: Final = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|#[^\n]*|[A-Za-z_][A-Za-z0-9_]*|[0-9.]+|\s+|\|\||&&|[><=!]=|.', re.DOTALL
)
_AWK_REGEX: Final = re.compile(r"/(?:[^/\\\n\[]|\\.|\[\^?\]?[^\]\n]*\])*/")
_AWK_NEVER: Final = frozenset({"system", "getline", "close", "fflush", "ENVIRON", "ARGV", "|", "@", "ARGC"})
_AWK_WORDS: Final = frozenset({"print", "printf", "return", "in", "else", "do"})
_LONGEST: Final = 2000


class Edit(NamedTuple):
    """The files that sed reads, whether it writes them, and its scripts."""

    files: tuple[str, ...]
    in_place: bool
    scripts: tuple[str, ...]


def sed_only_edits(words: Sequence[str]) -> Edit | None:
    """Return what a sed does that only prints, or edits the files that it names; None if that is not certain."""
    scripts, files, in_place, at = list[str](), list[str](), False, 0
    while at < len(words):
        word = words[at]
        at += 1
        if word in {"-e", "--expression"} and at < len(words):
            scripts.append(words[at])
            at += 1
        elif re.fullmatch(r"-[nErsuz]*i(?:\.[a-z0-9]+)?|--in-place(?:=\.[a-z0-9]+)?", word):
            in_place = True
            at += at < len(words) and words[at] == ""  # sed of the BSDs takes the ending as a word
        elif re.fullmatch(r"-[nErsuz]+|--quiet|--silent|--regexp-extended|--posix", word):
            continue
        elif word.startswith("-"):
            return None
        else:
            files.append(word)
    if not scripts:
        scripts, files = files[:1], files[1:]
    if not scripts or any(len(script) > _LONGEST or not _SED.fullmatch(script.strip()) for script in scripts):
        return None
    return Edit(tuple(files), in_place, tuple(scripts))


def awk_only_prints(words: Sequence[str]) -> tuple[str, ...] | None:
    """Return the files that an awk reads which runs and writes nothing; None if that is not certain."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        if words[at] in {"-F", "-v"}:
            at += 2
        elif re.fullmatch(r"-F.{1,20}|-v[A-Za-z_]+=.*", words[at]):
            at += 1
        else:
            return None
    if at >= len(words) or len(words[at]) > _LONGEST or not _only_prints(words[at]):
        return None
    return tuple(words[at + 1 :])


def _only_prints(script: str) -> bool:
    """Return whether an awk script runs nothing and writes only to its output."""
    at, before, printing, depth = 0, "", False, 0
    while at < len(script):
        if script[at] == "/" and (
            not before or before in _AWK_WORDS or not re.search(r"[\w)\]$\"]$", before)
        ):
            found = _AWK_REGEX.match(script, at)
        else:
            found = _AWK_TOKEN.match(script, at)
        if not found:
            return False
        sign, at = found[0], found.end()
        if sign.isspace() or sign.startswith("#"):
            continue
        if sign in _AWK_NEVER or sign == '"' or (sign == ">" and printing and not depth):
            return False
        depth += (sign == "(") - (sign == ")")
        printing = (printing or sign in {"print", "printf"}) and sign not in {";", "}"}
        before = sign
    return True
