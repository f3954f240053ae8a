"""The effects of the shell's own commands: on folders, variables, functions and arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from orchestrator.pm.permissions.call import Call
from orchestrator.pm.permissions.fields import ANYTHING
from orchestrator.pm.permissions.scope import Scope, Value
from orchestrator.pm.permissions.shell_commands import (
    ASSIGNED,
    DECLARES,
    READS,
    activates,
    is_own_script,
    names_read,
    targets_of,
)

_MOST_LINES: Final = 8


def behind(call: Call, scope: Scope) -> tuple[Scope, Scope]:
    """Return the scopes after one of the shell's own commands: if it succeeded, and in any case."""
    effect = _EFFECTS.get(call.name)
    return (scope, scope) if effect is None else effect(call, scope)


def _of_inner(call: Call, scope: Scope) -> tuple[Scope, Scope]:
    inner = [field for field in call.rest if field.text != "-p"]
    if not inner:
        return scope, scope
    return behind(replace(call, name=inner[0].text, fields=tuple(inner)), scope)


def _moved(call: Call, scope: Scope) -> tuple[Scope, Scope]:
    there = scope.moved(targets_of(call) or {*scope.places, ""})
    return there, scope.moved(there.places | scope.places)


def _moved_back(call: Call, scope: Scope) -> tuple[Scope, Scope]:  # noqa: ARG001 (as all effects)
    made = scope.moved(scope.been | scope.places)
    return made, made


def _declared(call: Call, scope: Scope) -> tuple[Scope, Scope]:
    made = scope.copy()
    for field in call.rest:
        found = ASSIGNED.fullmatch(field.text)
        if found and found[2] is not None:
            made.values[found[1]] = Value((found[2],))
            made.splits = made.splits and found[1] != "IFS"
    return made, made


def _read(call: Call, scope: Scope) -> tuple[Scope, Scope]:
    made = scope.copy()
    text = call.given if call.given is not None else ANYTHING
    lines = tuple(dict.fromkeys(text.splitlines())) or ("",)
    variables = names_read(call)
    for at, name in enumerate(variables):
        only = len(variables) == 1 and not at and call.name == "read" and "-a" not in call.texts
        known = only and len(lines) <= _MOST_LINES and "\\" not in text
        made.values[name] = Value(lines if known else (ANYTHING,))
        made.splits = made.splits and name != "IFS"
    failed = made.copy()
    for name in variables:
        failed.values[name] = Value((*made.values[name].texts, ""))
    return made, failed


def _unset(call: Call, scope: Scope) -> tuple[Scope, Scope]:
    made = scope.copy()
    for text in call.texts:
        made.values[text] = Value(("",))
        made.functions.pop(text, None)
    return made, made


def _set(call: Call, scope: Scope) -> tuple[Scope, Scope]:
    if "--" not in call.texts:
        return scope, scope
    made = scope.copy()
    made.arguments = call.rest[list(call.texts).index("--") + 1 :]
    return made, made


def _shifted(call: Call, scope: Scope) -> tuple[Scope, Scope]:
    made = scope.copy()
    made.arguments = made.arguments[1:] if made.arguments is not None and not call.rest else None
    return made, made


def _sourced(call: Call, scope: Scope) -> tuple[Scope, Scope]:
    made = scope.copy()
    if activates(call):
        made.venv = made.venv or call.lies_inside(call.rest[0])
    elif call.texts[:1] and not is_own_script(call):
        made = made.moved({*made.places, ""})
    return made, scope


_EFFECTS: Final[dict[str, Callable[[Call, Scope], tuple[Scope, Scope]]]] = {
    **dict.fromkeys(("command", "builtin"), _of_inner),
    **dict.fromkeys(("cd", "chdir", "pushd"), _moved),
    "popd": _moved_back,
    **dict.fromkeys(DECLARES, _declared),
    **dict.fromkeys(READS, _read),
    "unset": _unset,
    "set": _set,
    "shift": _shifted,
    **dict.fromkeys(("source", "."), _sourced),
}
