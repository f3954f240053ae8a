"""`[runtimes.NAME]` of the settings file: agent programs that the user defines."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from orchestrator.formats.suggestions import nearest
from orchestrator.model.environment import NEVER_PASSED
from orchestrator.model.errors import Refused
from orchestrator.model.names import checked_name
from orchestrator.model.programs import PLACE, PLACES, SHIPPED, Program

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LIKE: Final = 'give a list of words like ["qwen", "-i", "{prompt}"]'
_ORDER: Final = ("prompt", "order")
KEYS: Final = tuple(field.name for field in fields(Program) if field.name != "name")


def read_program(name: str, table: Mapping[str, object]) -> tuple[Program | None, list[tuple[str, str]]]:
    """Return the program that a table defines, and its faults: the key (empty: the table) and what is wrong."""
    faults: list[tuple[str, str]] = []
    try:
        checked_name(name, "runtime name")
    except Refused as problem:
        faults.append(("", str(problem)))
    if name in SHIPPED:
        faults.append(("", f"{name} is the name of a shipped runtime: choose another"))
    made: dict[str, Any] = {}
    for key, value in table.items():
        try:
            made[key] = _READERS[key](value) if key in _READERS else _no_such(key)
        except ValueError as problem:
            faults.append((key, f"{key} {problem}" if key in _READERS else str(problem)))
    if "command" not in table:
        faults.append(("", f"has no command: {_LIKE}"))
    faults += _missing(made)
    return (None if faults else Program(name, **made)), faults


def _missing(made: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return which required placeholders are missing in the words."""
    deaf = "has neither {prompt} nor {order}: the agent would never get its order"
    faults = [
        (key, f"{key} {deaf}")
        for key in ("command", "resume")
        if key in made and not any(f"{{{place}}}" in word for word in made[key] for place in _ORDER)
    ]
    if "resume" in made and not any("{session}" in word for word in made["resume"]):
        faults.append(("resume", "resume has no {session}"))
    if "resume" in made and not made.get("events"):
        faults.append(("resume", "resume needs events: otherwise the conversation is not known"))
    return faults


def _no_such(key: str) -> object:
    raise ValueError(f"there is no key {key!a}{nearest(key, KEYS)}")


def _words(value: object) -> tuple[str, ...]:
    if (
        not isinstance(value, list)
        or not value
        or not all(isinstance(word, str) for word in value)
        or not value[0]
    ):
        raise ValueError(f"is {_shown(value)}: {_LIKE}")
    for word in value:
        for place in PLACE.findall(word):
            if place not in PLACES:
                raise ValueError(f"asks for {{{place[:40]}}}{nearest(place, PLACES)}")
    return tuple(value)


def _environment(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise ValueError('is not valid: give a table of texts like { QWEN_HOME = "/srv/qwen" }')
    for name in value:
        if not _VARIABLE.fullmatch(name):
            raise ValueError(f"holds {_shown(name)}: a variable's name has letters, digits and '_'")
    return tuple(value.items())


def _variables(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError(f'is {_shown(value)}: give a list of names like ["QWEN_API_KEY", "QWEN_*"]')
    for name in value:
        if not _VARIABLE.fullmatch(name.removesuffix("*")):
            raise ValueError(f"holds {_shown(name)}: give names of variables; a '*' may only end one")
        if name.startswith(NEVER_PASSED):
            raise ValueError(
                f"holds {name}: variables {', '.join(f'{start}*' for start in NEVER_PASSED)} never pass"
            )
    return tuple(value)


def _events(value: object) -> str:
    known = [name for name in SHIPPED if name not in {"auto", "command"}]
    if value not in known:
        raise ValueError(f"is {_shown(value)}: give one of {', '.join(known)}")
    return str(value)


def _screens(value: object) -> str:
    path = str(Path(value).expanduser()) if isinstance(value, str) and value.startswith("~/") else value
    if not isinstance(path, str) or not path.startswith("/") or "\0" in path:
        raise ValueError(
            f"is {_shown(value)}: give the absolute path of a file of rules, or one that begins with ~/"
        )
    return path


def _shown(value: object) -> str:
    return ascii(value)[:60]


_READERS: Final[dict[str, Callable[[object], object]]] = {
    "command": _words,
    "resume": _words,
    "environment": _environment,
    "variables": _variables,
    "events": _events,
    "screens": _screens,
}
