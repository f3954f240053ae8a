"""The pages about states and actions, from the closed sets and the tables of legal moves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import UnionType
from typing import Final, TypeVar, get_args

from orchestrator.model.actions import Action
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending, Life, Turn
from orchestrator.model.task import Phase, TaskState
from orchestrator.pm.state.transitions import PHASES, STEPS, TASKS
from scripts.reference.markdown import code, page, sentence, table
from scripts.reference.sources import joined, meanings

_State = TypeVar("_State", bound=StrEnum)

_INTRODUCTION: Final = """\
A move that is in none of these tables cannot happen: the program checks each against them. `status --json` uses these
words (see [JSON documents](json.md)), and [exit codes](exit-codes.md) follow the state of a task."""

_ACTIONS: Final = """\
What the PM has the daemon do. An action is written to the journal before it is begun, and stays in the outbox until a
fact reports its outcome. The journal holds both."""
_ONCE: Final = """\
`launch` is claimed first: a claim file decides who did it. `nudge` is done at most once: a crash in the midst of it
leaves its outcome unknown. All others can be repeated without harm."""


def state_pages() -> Iterator[tuple[str, str]]:
    """Yield the pages about states and about actions."""
    yield (
        "states.md",
        page(
            "States",
            _INTRODUCTION,
            f"## Task\n\n{_moves(TaskState, TASKS)}",
            f"## Phase of a task\n\n{_moves(Phase, PHASES)}",
            f"## Step\n\n{_moves(StepState, STEPS)}",
            f"### Gates of a step\n\nWhat must hold before a step passes, beyond a valid report whose artifacts "
            f"exist.\n\n{_words(Gate)}",
            "## Run\n\nA run is one process of one agent, for one order. What is known of it has two parts: whether "
            f"there is a process, and whose move it is.\n\n{_words(Life)}",
            f"### Turn\n\n{_words(Turn)}",
            f"### Why the PM ends a run\n\n{_words(Ending)}",
            f"## Question\n\n{_words(QuestionKind)}",
        ),
    )
    yield "actions.md", _actions()


def _moves(of: type[_State], moves: Mapping[_State, frozenset[_State]]) -> str:
    said = meanings(of)
    rows = [
        (code(each.value), sentence(said[name]), ", ".join(code(to.value) for to in of if to in moves[each]))
        for name, each in of.__members__.items()
    ]
    return table(("state", "meaning", "may become"), rows)


def _words(of: type[StrEnum]) -> str:
    said = meanings(of)
    rows = [(code(each.value or '""'), sentence(said[name])) for name, each in of.__members__.items()]
    return table(("word", "meaning"), rows)


def _actions() -> str:
    union: UnionType = Action
    rows = []
    for of in get_args(union):
        said, _, outcome = joined(inspect.getdoc(of) or "").replace("\n", " ").partition(" Outcome: ")
        kind = of.__dataclass_fields__["kind"].default
        rows.append((code(kind), said, outcome.partition(".")[0]))
    return page(
        "Actions",
        _ACTIONS,
        table(("kind", "what it does", "facts that end it"), rows),
        _ONCE,
    )
