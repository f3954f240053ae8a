"""Facts, changes, actions and states as JSON, and back. What cannot be parsed is an error, never a guess."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Final, get_type_hints

from pydantic import Field, TypeAdapter

from orchestrator.model import handoff, task
from orchestrator.model.actions import Action
from orchestrator.model.composite import SkillPlan
from orchestrator.model.facts import Fact
from orchestrator.model.plan import Step
from orchestrator.model.question import Question
from orchestrator.model.run import Run
from orchestrator.model.turn_end import TurnEnd
from orchestrator.model.workflow import WorkflowPlan
from orchestrator.pm.state.changes import Change
from orchestrator.pm.state.persistent_map import PersistentMap
from orchestrator.pm.state.questions import Questions
from orchestrator.pm.state.runs import Runs
from orchestrator.pm.state.steps import Steps
from orchestrator.pm.state.task_state import PMState

# Pydantic looks the names of a field's type up in the module of its class. These are not imported there at run time:
# each command that reads a task.md would pay for the classes of workflows and skills.
vars(task)["WorkflowPlan"] = WorkflowPlan
vars(task)["SkillPlan"] = SkillPlan
vars(handoff)["TurnEnd"] = TurnEnd

_TAGGED: Final = Field(discriminator="kind")
_TABLES: Final[dict[object, tuple[object, Callable[[Any], object]]]] = {
    Steps: (dict[str, Step], lambda entries: Steps(entries.values())),
    Runs: (dict[str, Run], lambda entries: Runs(entries.values())),
    Questions: (dict[str, Question], lambda entries: Questions(entries.values())),
    PersistentMap[str, str]: (dict[str, str], PersistentMap),
    PersistentMap[str, tuple[str, ...]]: (dict[str, tuple[str, ...]], PersistentMap),
}
"""How each kind of table is written and restored: data derived from its entries is not journaled."""
_ATOMS: Final = frozenset({bool, float, int, str, type(None)})
_NUMBERS: Final = (int, float)
_ARRAYS: Final = (tuple, list)
_OBJECTS: Final = (dict, PersistentMap)
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


# Pydantic takes a third of a second to learn all types. Only who reads a journal pays for that: no daemon that begins
# without tasks, and nobody for what is not read.


@cache
def _fact() -> TypeAdapter[Fact]:
    return TypeAdapter(Annotated[Fact, _TAGGED])


@cache
def _changes() -> TypeAdapter[tuple[Change, ...]]:
    return TypeAdapter(tuple[Annotated[Change, _TAGGED], ...])


@cache
def _actions() -> TypeAdapter[tuple[Action, ...]]:
    return TypeAdapter(tuple[Annotated[Action, _TAGGED], ...])


@cache
def _state() -> dict[str, tuple[TypeAdapter[Any], Callable[[Any], Any]]]:
    return {
        name: (TypeAdapter[Any](written), made)
        for name, hint in get_type_hints(PMState).items()
        for written, made in [_TABLES.get(hint, (hint, lambda value: value))]
    }


def encoded_fact(fact: Fact) -> dict[str, Any]:
    """Return a fact as plain values; fields with default values are left out."""
    return _bare(fact)


def encoded_changes(changes: tuple[Change, ...]) -> list[dict[str, Any]]:
    """Return changes as plain values."""
    return [_bare(change) for change in changes]


def encoded_actions(actions: tuple[Action, ...]) -> list[dict[str, Any]]:
    """Return actions as plain values."""
    return [_bare(action) for action in actions]


def dumped_state(state: PMState) -> str:
    """Return a whole state as JSON on one line, without holding all of it as plain values at once."""
    parts = {
        name: _dumped_table(held) if isinstance(held, PersistentMap) else dumped(_plain(held))
        for name, defaults in _fields(PMState)
        if (held := getattr(state, name)) not in defaults
    }
    parts["outbox"] = dumped({key: _bare(action) for key, action in state.outbox.items()})
    return _dumped_parts(parts)


def _dumped_table(table: PersistentMap[str, Any]) -> str:
    return _dumped_parts({key: dumped(_plain(each)) for key, each in table.items()})


def _dumped_parts(parts: dict[str, str]) -> str:
    return "{" + ",".join(f"{dumped(name)}:{part}" for name, part in parts.items()) + "}"


def decoded_fact(data: object) -> Fact:
    """Return the fact from the result of `encoded_fact`. Raises ValueError."""
    return _fact().validate_python(data)


def decoded_changes(data: object) -> tuple[Change, ...]:
    """Return the changes from the result of `encoded_changes`. Raises ValueError."""
    return _changes().validate_python(data)


def decoded_actions(data: object) -> tuple[Action, ...]:
    """Return the actions from the result of `encoded_actions`. Raises ValueError."""
    return _actions().validate_python(data)


def decoded_state(data: object) -> PMState:
    """Return the state from the result of `dumped_state`, parsed as JSON. Raises ValueError."""
    if not isinstance(data, dict):
        raise ValueError("a state is an object")  # noqa: TRY004 (as for anything that cannot be parsed)
    read = {
        name: made(adapter.validate_python(data[name]))
        for name, (adapter, made) in _state().items()
        if name in data
    }
    return PMState(**read)


def dumped(value: object) -> str:
    """Return JSON on one line, without needless spaces."""
    return _ENCODER.encode(value)


def _bare(value: Any) -> dict[str, Any]:  # noqa: ANN401 (any of our frozen dataclasses)
    return {"kind": value.kind, **_plain(value)}


def _plain(value: Any) -> Any:  # noqa: ANN401 (anything that the model is made of)
    """Return a value of the model as plain JSON values. Fields with default values are left out.

    Written by hand since it is on the path of every fact: a tenth of the time of pydantic's serializer with
    `exclude_defaults`, which also would leave out the tag.
    """
    if type(value) in _ATOMS:
        return value
    if isinstance(value, _ARRAYS):
        return [_plain(each) for each in value]
    if isinstance(value, str):
        return str(value)
    if isinstance(value, _OBJECTS):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, _NUMBERS):
        return value
    return {
        name: held if type(held) in _ATOMS else _plain(held)
        for name, defaults in _fields(value.__class__)
        if (held := getattr(value, name)) not in defaults
    }


@cache
def _fields(kind: type[Any]) -> tuple[tuple[str, tuple[object, ...]], ...]:
    """Return the fields of a dataclass, each with the values that it is left out at."""
    return tuple((field.name, _defaults(field)) for field in dataclasses.fields(kind))


def _defaults(field: dataclasses.Field[Any]) -> tuple[object, ...]:
    if field.default is not dataclasses.MISSING:
        return (field.default,)
    return () if field.default_factory is dataclasses.MISSING else ({}, ())
