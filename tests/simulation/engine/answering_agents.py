"""Agents that answer escalated notes: they read their order, answer, route and edit, and do so badly too."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from orchestrator.model.workflow_records import NoteKind
from tests.simulation.engine.shared_state import Life
from tests.simulation.engine.workflow_player import Player

_WHO: Final = re.compile(r"^Escalated notes of ([\w-]+) ", re.MULTILINE)
_NOTE: Final = re.compile(r"^- (note_\d+)", re.MULTILINE)
_CHECKED: Final = re.compile(r"Check the answer against the tasks of: ([^.]*)\.")

QUESTIONS: Final = (
    "Are table names singular or plural?",
    "Which driver connects to the database?",
    "Who may read the log of payments?",
    "Is the deadline of the report midnight UTC?",
)
KINDS: Final = ("requirements", "technology", "security", "conflict", "workflow", None)
ODD: Final = 0.3
"""How often an answer is a route or an edit."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What an order asks a resolver: whose notes, and against whose tasks the answers are checked."""

    agent: str
    notes: tuple[str, ...]
    checked: tuple[str, ...]


def life_of(player: Player, fails: Life) -> Life:
    """Return the life of a run that answers escalated notes; `fails` is one that leaves nothing."""
    dice = player.agent.dice
    if not dice.deviates(dice.behaviour.bad):
        return _answers_well(player)
    chosen = player.random.choice((*BAD, None))
    dice.did(f"of a resolver {chosen.__name__.strip('_').replace('_', ' ') if chosen else 'fails'}")
    return chosen(player) if chosen else fails


def asks_others(player: Player) -> Life:
    """Work, and escalate one note or two: often what was asked before in other words."""
    yield from player.works()
    notes = []
    for _ in range(player.random.choice((1, 1, 2))):
        kind = player.random.choice(KINDS)
        text = player.random.choice(QUESTIONS)
        notes.append({"status": "escalated", "description": text, **({"kind": kind} if kind else {})})
    player.put_session(*notes)
    player.set_status(player.subject, "blocked")
    player.agent.dice.did("of a workflow asks others")
    return 0


# Answers ------------------------------------------------------------------------------------------------


def _asked(player: Player) -> Asked:
    who, checked = _WHO.search(player.order), _CHECKED.search(player.order)
    lines = player.order.partition("Escalated notes of")[2].partition("What was asked before")[0]
    names = tuple(checked[1].split(", ")) if checked else ()
    return Asked(who[1] if who else "", tuple(_NOTE.findall(lines)), names)


def _item(asked: Asked, note: str, route: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "agent": asked.agent,
        "note_id": note,
        "route": route,
        "text": text,
        "checked": list(asked.checked),
        "overrides": [],
        "edits": [],
        **more,
    }


def _answer(player: Player, asked: Asked, note: str, **more: Any) -> dict[str, Any]:
    """Return an answer, and note that it was given."""
    text = f"{player.subject} says {player.random.randint(1, 9)} in {player.agent.process.run}"
    player.shared.answers.setdefault((player.here, asked.agent, note), set()).add(text)
    return _item(asked, note, "answer", text, **more)


def _edit(player: Player, asked: Asked, note: str, **edit: Any) -> dict[str, Any]:
    """Return an answer that edits the plan, and note that it was given."""
    item = _answer(player, asked, note)
    return item | {"route": "edit", "edits": [{"agent": asked.agent, **edit}]}


def _leave(player: Player, items: list[dict[str, Any]], task_id: str = "") -> None:
    said = {"task_id": task_id or player.task_of(player.own), "timestamp": player.now, "items": items}
    player.write(f"agents/{player.subject}/task_output/resolution_{player.number}.json", said)


def _routed(player: Player, asked: Asked, note: str) -> dict[str, Any]:
    routes = ["user", "edit"] + ["architect"] * bool(player.plan.escalation.architect)
    route = player.random.choice(routes)
    if route != "edit":
        return _item(asked, note, route, f"{player.subject} cannot say. {player.random.choice(QUESTIONS)}")
    path = player.by_id[asked.agent].instructions if asked.agent in player.by_id else ""
    text = player.read(path).decode("utf-8", "replace") if path else ""
    return _edit(player, asked, note, edit="reinstruct", instructions=f"{text}\nSee {note}.\n")


def _answers_well(player: Player) -> Life:
    yield from player.works()
    asked = _asked(player)
    odd = player.random.random() < ODD
    _leave(player, [(_routed if odd else _answer)(player, asked, note) for note in asked.notes])
    player.left_all()
    return 0


def _answers_unchecked(player: Player) -> Life:
    yield from player.works()
    asked = _asked(player)
    _leave(player, [_answer(player, asked, note, checked=[]) for note in asked.notes])
    return 0


def _answers_somebody_else(player: Player) -> Life:
    yield from player.works()
    asked = _asked(player)
    name = next(each.id for each in player.plan.agents if each.id != asked.agent)
    other = Asked(name, asked.notes, asked.checked)
    _leave(player, [_item(other, note, "answer", "not asked for") for note in asked.notes])
    return 0


def _answers_for_another_task(player: Player) -> Life:
    yield from player.works()
    asked = _asked(player)
    items = [_item(asked, note, "answer", "of another task") for note in asked.notes]
    _leave(player, items, "other_1764000000")
    return 0


def _leaves_a_note_out(player: Player) -> Life:
    yield from player.works()
    asked = _asked(player)
    _leave(player, [_answer(player, asked, note) for note in asked.notes[1:]])
    return 0


def _leaves_garbage(player: Player) -> Life:
    yield from player.works()
    path = f"agents/{player.subject}/task_output/resolution_{player.number}.json"
    player.write(path, player.random.choice((b"{", b"[]", b"\xff", b'{"items": 3}')))
    return 0


def _passes_everything_on(player: Player) -> Life:
    yield from player.works()
    asked = _asked(player)
    route = player.random.choice(("user", "architect"))
    _leave(player, [_item(asked, note, route, f"Who knows? {note}") for note in asked.notes])
    return 0


def _edits_nobody(player: Player) -> Life:
    yield from player.works()
    asked = _asked(player)
    edit = {"edit": "remove_agent", "agent": "nobody"}
    _leave(player, [_item(asked, note, "edit", "", edits=[edit]) for note in asked.notes])
    return 0


def _lowers_the_bar(player: Player) -> Life:
    """Allow the agent more tries than the user approved of: that needs the user."""
    yield from player.works()
    asked = _asked(player)
    bounds = {"verifications": player.random.randint(6, 40)}
    _leave(player, [_edit(player, asked, note, edit="set_bounds", bounds=bounds) for note in asked.notes])
    return 0


def _escalates_itself(player: Player) -> Life:
    yield from player.works()
    player.put_session({"status": "escalated", "kind": NoteKind.CONFLICT.value})
    return 0


BAD: Final[tuple[Callable[[Player], Life], ...]] = (
    _answers_unchecked,
    _answers_somebody_else,
    _answers_for_another_task,
    _leaves_a_note_out,
    _leaves_garbage,
    _passes_everything_on,
    _edits_nobody,
    _lowers_the_bar,
    _escalates_itself,
)
