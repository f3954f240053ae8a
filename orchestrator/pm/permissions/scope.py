"""What is known at one point of a script: variables, functions, and the possible working directories."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from orchestrator.formats.shell.tree import Function
from orchestrator.pm.permissions.fields import ANYTHING, Field

_MOST_TEXTS: Final = 8
_MOST_PLACES: Final = 16


@dataclass(frozen=True, slots=True)
class Value:
    """The possible values of a variable: one of some texts, or the members of an array."""

    texts: tuple[str, ...] = (ANYTHING,)
    members: tuple[Field, ...] | None = None


UNKNOWN: Final = Value()


@dataclass(slots=True)
class Scope:
    """What is known at one point. `places` are the possible working directories; an empty one is not known.

    `been` are all of them so far. `splits`: words are split at spaces. `arguments` are those of the script or function,
    the first of them `$1`. `unsure` are functions that may be defined or not. `called` are the functions that are being
    run. `venv`: an environment of the project is active.
    """

    places: frozenset[str]
    been: frozenset[str] = frozenset()
    values: dict[str, Value] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    unsure: frozenset[str] = frozenset()
    arguments: tuple[Field, ...] | None = None
    called: tuple[str, ...] = ()
    splits: bool = True
    venv: bool = False

    def copy(self) -> Scope:
        """Return a scope whose changes do not change this one."""
        return replace(self, values=dict(self.values), functions=dict(self.functions))

    def moved(self, places: Iterable[str]) -> Scope:
        """Return this scope in other folders."""
        found = frozenset(places)
        found = found if len(found) <= _MOST_PLACES else frozenset({""})
        return replace(self.copy(), places=found, been=self.been | self.places | found)


def joined(first: Scope, second: Scope) -> Scope:
    """Return what is known if either of two scopes applies."""
    if first is second:
        return first
    made = first.moved(first.places | second.places)
    made.been |= second.been
    made.splits = first.splits and second.splits
    made.venv = first.venv and second.venv
    for name in first.values.keys() | second.values.keys():
        made.values[name] = either(first.values.get(name, UNKNOWN), second.values.get(name, UNKNOWN))
    made.functions = {**second.functions, **first.functions}
    names = first.functions.keys() | second.functions.keys()
    made.unsure = (
        first.unsure
        | second.unsure
        | {each for each in names if first.functions.get(each) != second.functions.get(each)}
    )
    return made


def either(first: Value, second: Value) -> Value:
    """Return a value that may be one or the other."""
    if first == second:
        return first
    if first.members is not None or second.members is not None:
        return UNKNOWN
    texts = tuple(dict.fromkeys((*first.texts, *second.texts)))
    return Value(texts) if len(texts) <= _MOST_TEXTS else UNKNOWN
