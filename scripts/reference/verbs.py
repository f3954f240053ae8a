"""Every verb with what its parser understands, for pages, manual pages and whoever else tells of it."""

from __future__ import annotations

import sys
from argparse import SUPPRESS, Action
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from orchestrator.cli.main import VERBS
from orchestrator.cli.parser import VerbParser, as_called

GROUPS: Final = {
    "tasks": (
        "Tasks",
        ("start", "status", "list", "watch", "serve", "stop", "attach", "checkin", "delete", "archive", "templates"),
    ),
    "workflow": ("Workflows and skills", ("workflow", "skill")),
    "work": ("Work and its branch", ("logs", "why", "report", "diff", "merge", "rebase", "undo", "memory", "observe")),
    "agents": ("Agents, questions, messages", ("spawn", "order", "questions", "answer", "notify", "setup-agents")),
    "program": ("The program and its daemon", ("doctor", "hosts", "config", "mcp", "daemon", "completion", "help")),
}  # fmt: skip
"""The verbs by page, with each page's title."""


@dataclass(frozen=True, slots=True)
class Word:
    """One option or positional word: how it is written, and its help."""

    written: tuple[str, ...]
    value: str
    help: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb: `usage` has a line for each way to write it, `more` the paragraphs of its help below the summary."""

    name: str
    summary: str
    usage: str
    more: tuple[str, ...]
    words: tuple[Word, ...]
    options: tuple[Word, ...]
    examples: tuple[str, ...]


def verbs() -> list[Verb]:
    """Return all verbs, in the order of `help`."""
    return [_verb(name, summary) for name, summary in VERBS.items()]


def _verb(name: str, summary: str) -> Verb:
    module = import_module(f"orchestrator.cli.{name.replace('-', '_')}")
    parser = VerbParser(name, summary, module.EXAMPLE)
    module.arguments(parser)
    usage = [line.strip() for line in parser.format_usage().removeprefix("usage: ").splitlines()]
    between = " " if parser.usage is None else "\n"  # else it was wrapped to the width of a terminal
    description = (parser.description or "").removeprefix(summary).strip("\n")
    example = as_called((parser.epilog or "").removeprefix("example:\n"))
    actions = [action for action in parser._actions if action.help != SUPPRESS]  # noqa: SLF001 (no other way)
    return Verb(
        name,
        as_called(summary),
        between.join(usage).strip(),
        tuple(part for part in as_called(description).split("\n\n") if part),
        tuple(_word(each) for each in actions if not each.option_strings),
        tuple(_word(each) for each in actions if each.option_strings),
        tuple(line.strip() for line in example.splitlines() if line.strip()),
    )


def _word(action: Action) -> Word:
    choices = tuple(map(str, action.choices or ()))
    value = "" if action.nargs == 0 else str(action.metavar or "|".join(choices) or action.dest.upper())
    written = tuple(action.option_strings) or (value,)
    return Word(written, value if action.option_strings else "", as_called(action.help or ""), choices)


@contextmanager
def called(name: str) -> Iterator[None]:
    """Have the parsers name the program so, as if it had been called by that name."""
    before = sys.argv
    sys.argv = [name]
    try:
        yield
    finally:
        sys.argv = before
