"""The shell's own commands: whether they are allowed, and their effects."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from orchestrator.formats.text import names
from orchestrator.model.permission import PermissionDecision
from orchestrator.pm.permissions.call import Call
from orchestrator.pm.permissions.defaults.variables import ASSIGNED_FREELY, OWN_SCRIPTS, UNSAFE_VARIABLES
from orchestrator.pm.permissions.fields import ANYTHING, MARKS, SAME_PATH
from orchestrator.pm.permissions.files import read_word
from orchestrator.pm.permissions.finding import Case, Finding, built_in, shown, strictest
from orchestrator.pm.permissions.matching import wild
from orchestrator.pm.permissions.paths import granted, inside

DECLARES: Final = frozenset({"export", "declare", "typeset", "local", "readonly"})
READS: Final = frozenset({"read", "mapfile", "readarray"})
MOVES: Final = frozenset({"cd", "pushd", "popd", "chdir"})

_UNSURE: Final = names(
    "alias unalias enable fc history bind complete set shopt autoload zmodload emulate setopt unsetopt trap hash"
    " let eval"
    " mapfile readarray"
)
ASSIGNED: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:=(.*))?", re.DOTALL)
_OPTIONS: Final = re.compile(
    r"[-+][a-zA-Z]+|[-+]o|pipefail|errexit|nounset|xtrace|noglob|allexport|posix|noclobber|igncr|monitor|--"
)
_HARMLESS_SHOPT: Final = names(
    "globstar nullglob extglob dotglob nocaseglob failglob inherit_errexit lastpipe -s -u -q"
)
_BIN: Final = re.compile(r"(?:~|/|[A-Za-z0-9._-]).*/(?:s?bin|shims|\.bin|Scripts)|/(?:s?bin)")
_READ_VALUED: Final = frozenset({"-p", "-d", "-n", "-N", "-t", "-u", "-i", "-s"}) - {"-s"}
_OPERATORS: Final = re.compile(r"[A-Za-z0-9_+*/%<>=!&|() -]+")


def judged(call: Call) -> Finding | None:
    """Return the finding on one of the shell's own commands; None if it is not one of them."""
    name = call.name
    if (judge := _JUDGED.get(name)) is not None:
        return judge(call)
    if (harmless := _HARMLESS.get(name)) is not None and harmless[0](call):
        return call.allow(harmless[1])
    return call.doubt("may change what later commands do") if name in _UNSURE else None


def is_unsafe(name: str) -> bool:
    """Return whether a variable may change what later commands do."""
    return any(wild(pattern, name) for pattern in UNSAFE_VARIABLES)


def assigned(case: Case, name: str, value: str) -> Finding:
    """Return the finding on an assignment to a variable."""
    if not is_unsafe(name):
        return built_in(PermissionDecision.ALLOW, f"setting {shown(name)} changes nothing else")
    free = next((kind for pattern, kind in ASSIGNED_FREELY.items() if wild(pattern, name)), None)
    known = MARKS.isdisjoint(value)
    fits = free is not None and (known or free == ".*") and re.fullmatch(free, value, re.DOTALL) is not None
    if (
        fits
        or (name == "PATH" and _is_path(case, value))
        or (name in {"HOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"} and _is_own(case, value))
    ):
        return built_in(
            PermissionDecision.ALLOW, f"setting {shown(name)} to {shown(value)} changes nothing else"
        )
    return case.doubt(f"setting {shown(name)} may change what later commands do")


def targets_of(call: Call) -> list[str]:
    """Return the folders that a `cd` may lead to; empty if they are not known."""
    rest = [field for field in call.rest if field.text not in {"--", "-P", "-L", "-n"}]
    if len(rest) == 1 and rest[0].text == "-":
        return sorted(call.scope.been | call.places | (frozenset() if call.scope.been else {""}))
    if (
        len(rest) != 1
        or not rest[0].known
        or rest[0].glob
        or rest[0].tilde
        or rest[0].text[:1] in {"-", "", "+"}
    ):
        return []
    found = list(call.paths(rest[0].text))
    return found if all(found) else []


def _moving(call: Call) -> Finding:
    if targets_of(call):
        return call.allow("changes nothing; later commands are judged in that folder")
    return call.doubt("changes to a folder that is not certain")


def _declaring(call: Call) -> Finding:
    findings = [call.allow("sets variables")]
    for field in call.rest:
        if re.fullmatch(r"-[aAglrtuxpF]+", field.text):
            continue
        found = ASSIGNED.fullmatch(field.text)
        if not found or field.many:
            return call.doubt("declares what cannot be determined")
        if found[2] is not None:
            findings.append(assigned(call.case, found[1], found[2]))
    if all(field.option for field in call.rest) and call.name != "local":
        return call.doubt("shows all variables")
    return strictest(findings)


def names_read(call: Call) -> list[str]:
    """Return the names of the variables that are read."""
    found, at, texts = list[str](), 0, call.texts
    while at < len(texts):
        if texts[at] == "-a" and at + 1 < len(texts):
            found.append(texts[at + 1])
            at += 2
        elif texts[at].startswith("-"):
            at += 2 if texts[at][-2:] in _READ_VALUED or texts[at][-1:] in "pdnNtui" else 1
        else:
            found.append(texts[at])
            at += 1
    return found or (["MAPFILE"] if call.name != "read" else ["REPLY"])


def _sourcing(call: Call) -> Finding:
    """Return the finding on reading a script into the shell."""
    if not call.rest or not call.rest[0].known or call.rest[0].glob:
        return call.doubt("runs a script that is not certain")
    read = read_word(call, call.rest[0])
    if read.decision is not PermissionDecision.ALLOW:
        return read
    if activates(call) or is_own_script(call):
        return call.allow("sets up the environment")
    if call.lies_inside(call.rest[0]):
        return call.allow("runs a script of the project")
    return call.doubt("runs a script from elsewhere")


def activates(call: Call) -> bool:
    """Return whether a sourced script activates a virtual environment, judging by its name."""
    return bool(call.rest) and re.search(r"(?:^|/)bin/activate(?:\.\w+)?$", call.texts[0]) is not None


def is_own_script(call: Call) -> bool:
    """Return whether a sourced script only sets up the user's tools."""
    home = call.case.workplace.home
    scripts = {script.replace("~", home, 1) if home else script for script in OWN_SCRIPTS}
    return bool(call.rest) and (call.texts[0] in scripts or call.texts[0].endswith("/conda.sh"))


def _is_path(case: Case, value: str) -> bool:
    """Return whether a new search path only adds folders of programs before the old one."""
    parts = value.split(":")
    return SAME_PATH in parts and all(
        part == SAME_PATH
        or (ANYTHING not in part and (_BIN.fullmatch(part) or inside(part, case.workplace.grants)))
        for part in parts
    )


def _is_own(case: Case, value: str) -> bool:
    parts = [part for part in value.split(":") if part and part not in {ANYTHING, SAME_PATH}]
    return all(part.startswith("/") and granted(case, part) for part in parts) and bool(parts)


def _sets(call: Call) -> bool:
    return bool(call.rest) and ("--" in call.texts or all(_OPTIONS.fullmatch(text) for text in call.texts))


def _counts(call: Call) -> bool:
    return bool(call.rest) and all(field.certain and _OPERATORS.fullmatch(field.text) for field in call.rest)


def _reading(call: Call) -> Finding | None:
    """Return the finding on `read` and its kind."""
    if call.name != "read" and any(text.startswith("-C") for text in call.texts):
        return call.doubt("may change what later commands do")
    findings = [assigned(call.case, each, ANYTHING) for each in names_read(call)]
    return strictest([call.allow("sets a variable"), *findings])


def _unsetting(call: Call) -> Finding | None:
    findings = [assigned(call.case, text, "") for text in call.texts if text != "-v"]
    return strictest([call.allow("unsets a variable"), *findings])


_JUDGED: Final[dict[str, Callable[[Call], Finding | None]]] = {
    **dict.fromkeys(("cd", "chdir", "pushd"), _moving),
    **dict.fromkeys(DECLARES, _declaring),
    **dict.fromkeys(READS, _reading),
    **dict.fromkeys(("source", "."), _sourcing),
    "unset": _unsetting,
}
_HARMLESS: Final[dict[str, tuple[Callable[[Call], bool], str]]] = {
    **dict.fromkeys(("popd", "dirs"), (lambda _: True, "changes nothing")),
    "set": (_sets, "changes how strict the shell is"),
    "shopt": (
        lambda call: bool(call.rest) and all(text in _HARMLESS_SHOPT for text in call.texts),
        "changes how the shell reads patterns",
    ),
    "hash": (lambda call: call.texts in {(), ("-r",)}, "forgets the paths of programs"),
    "let": (_counts, "counts"),
    "trap": (
        lambda call: call.texts[:1] in {("-",), ("",), ("-p",)},
        "removes commands that were to run at the end",
    ),
    "exec": (lambda call: not call.rest, "redirects what the shell reads and writes"),
}
