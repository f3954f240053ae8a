"""What may follow what in a command, for shell completion: derived from each verb's own parser."""

from __future__ import annotations

from argparse import Action
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from orchestrator.cli.main import VERBS
from orchestrator.cli.parser import VerbParser

FOLDERS: Final = "folders"
FILES: Final = "files"
ASKED: Final = ("tasks", "questions", "runs", "steps", "agents", "templates", "boxes")
"""Kinds that `task complete` prints; the others are folders, files, or fixed words in the script."""

_OF_METAVAR: Final = {
    "NAME": "tasks",
    "AGENT": "agents",
    "HOST": "boxes",
    "ID": "questions",
    "T": "templates",
    "PATH": FOLDERS,
    "DIR": FOLDERS,
    "FILE": FILES,
    "STEP": "steps",
    "STEP|AGENT|QUESTION": "runs+questions",
}
_OF_VERB: Final = {
    ("attach", "NAME"): "tasks+runs",
    ("attach", "AGENT"): "runs",
    ("diff", "NAME"): "tasks+steps",
    ("logs", "NAME"): "tasks+runs",
    ("logs", "AGENT"): "runs",
    ("why", "NAME"): "tasks+runs+questions",
    ("notify", "NAME"): "",  # the name of a channel
    ("answer", "[NAME]"): "tasks+questions",
    ("order", "[NAME]"): "tasks+agents",
    ("spawn", "[NAME]"): "tasks+agents",
}


@dataclass(frozen=True, slots=True)
class Option:
    """An option: its names, the kind of its value (None: it takes none; empty: anything), and its help."""

    names: tuple[str, ...]
    value: str | None
    help: str


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb: its options, and the kind of each positional word.

    A kind is empty for free text, several kinds are joined by `+`, and fixed words are `=one,two`.
    """

    name: str
    summary: str
    options: tuple[Option, ...]
    places: tuple[str, ...]


def grammar() -> list[Verb]:
    """Return every verb with the arguments that its parser accepts."""
    return [_verb(name, summary) for name, summary in VERBS.items()]


def _verb(name: str, summary: str) -> Verb:
    module = import_module(f"orchestrator.cli.{name.replace('-', '_')}")
    parser = VerbParser(name, summary, module.EXAMPLE)
    module.arguments(parser)
    options, places = list[Option](), list[str]()
    for action in parser._actions:  # noqa: SLF001 (argparse has no public way to list them)
        if action.option_strings:
            value = None if action.nargs == 0 else _kind(name, action, str(action.metavar or ""))
            options.append(Option(tuple(action.option_strings), value, action.help or ""))
        else:
            places += _places(name, action)
    return Verb(name, summary, tuple(options), tuple(places))


def _places(verb: str, action: Action) -> Iterator[str]:
    if verb == "help":
        yield f"={','.join((*VERBS, 'json', 'schemas', 'exit-codes'))}"
        return
    for word in str(action.metavar or "").split() or [""]:
        yield _kind(verb, action, word)


def _kind(verb: str, action: Action, metavar: str) -> str:
    if action.choices is not None:
        return f"={','.join(map(str, action.choices))}"
    return _OF_VERB.get((verb, metavar), _OF_METAVAR.get(metavar.strip("[]"), ""))
