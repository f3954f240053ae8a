"""A moment of a night, named by what the service is asked: the second request of dev's first run for `greet`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock

from tests.clis.model_request import ModelRequest
from tests.clis.spawned import NotAnOrder, Spawned, spawned
from tests.nights.shop import PARTS


@dataclass(frozen=True, slots=True)
class Turn:
    """Whose turn a request belongs to. `number` counts the runs of this agent for this part from 1.

    `part` is `accept` for who judges the whole. `step` is how many answers the turn had before, `nagged` how often a
    hook did not let the agent stop, `earlier` how many orders of earlier runs the conversation holds.
    """

    order: Spawned
    part: str
    number: int
    step: int
    nagged: int
    earlier: int = 0


@dataclass(frozen=True, slots=True)
class Moment:
    """A request that matches: fields that are empty match any; `step` and `number` are at least that."""

    agent: str = ""
    part: str = ""
    number: int = 1
    step: int = 0
    task: str = ""

    def matches(self, turn: Turn) -> bool:
        """Say whether a turn is at this moment."""
        return (
            self.agent in {"", turn.order.role}
            and self.part in {"", turn.part}
            and self.task in {"", turn.order.task}
            and turn.number >= self.number
            and turn.step >= self.step
        )


@dataclass(slots=True)
class Turns:
    """Knows the runs that were seen, and so which one a request belongs to."""

    _runs: defaultdict[tuple[str, str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    _lock: Lock = field(default_factory=Lock)

    def of(self, request: ModelRequest) -> Turn | None:
        """Return whose turn a request is; None if no order stands in its conversation."""
        orders = [(place, order) for place, prompt in enumerate(request.prompts) for order in _orders(prompt)]
        if not orders:
            return None
        place, order = orders[-1]
        part, nagged = part_of(order.instructions), len(request.prompts) - 1 - place
        return Turn(order, part, self._number(order, part), len(request.steps), nagged, len(orders) - 1)

    def _number(self, order: Spawned, part: str) -> int:
        with self._lock:
            runs = self._runs[order.task, order.role, part]
            if order.run not in runs:
                runs.append(order.run)
            return runs.index(order.run) + 1


def _orders(prompt: str) -> Iterator[Spawned]:
    """Yield the orders in a prompt: one that was refused stands in one message with the next."""
    for each in re.split(r"^(?=# Agent: )", prompt, flags=re.MULTILINE):
        with suppress(NotAnOrder):
            yield spawned(each)


def part_of(instructions: str) -> str:
    """Return which part of the shop an order is about: `accept` where it is about the whole, empty where about none."""
    asked = re.split(r"^## (?:Context|Feedback)", instructions, maxsplit=1, flags=re.MULTILINE)[0]
    found = [part.name for part in PARTS.values() if part.title in asked]
    if found:
        return found[0]
    return "accept" if "success criterion" in asked else ""
