"""The graph of a plan's steps as text: one line per step, as `git log --graph` draws commits, but from the top down.

A column belongs to a step until all steps that need it are drawn. Only ASCII and box lines: a terminal that cannot draw
a circle shows these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

MARKS: Final = {
    "pending": "o",
    "working": ">",
    "checking": ">",
    "passed": "*",
    "blocked": "!",
    "failed": "x",
    "set_aside": "-",
}
"""The sign of a step, by its status; `?` for a status that this version does not know."""

WIDEST: Final = 8
"""Columns that are drawn; a plan that needs more is drawn without lines."""


@dataclass(frozen=True, slots=True)
class Node:
    """One step: its id, the steps before it, and its status."""

    id: str
    needs: tuple[str, ...]
    status: str


@dataclass(slots=True)
class _Columns:
    """The columns in use while the graph is drawn from the top down: each holds the step that owns it."""

    open: dict[str, set[str]]
    owners: list[str | None] = field(default_factory=list)

    def of(self, node: Node) -> int:
        """Return the column of a step: that of a step which only it still waits for, else the first free one."""
        for place, owner in enumerate(self.owners):
            if owner in node.needs and self.open[owner] == {node.id}:
                return place
        if None in self.owners:
            return self.owners.index(None)
        self.owners.append(None)
        return len(self.owners) - 1

    def drawn(self, node: Node) -> str:
        """Return the line of a step, and take over or give up columns."""
        place = self.of(node)
        joined = [n for n, owner in enumerate(self.owners) if owner in node.needs and n != place]
        before = [owner is not None for owner in self.owners]
        for need in node.needs:
            self.open.get(need, set()).discard(node.id)
        self.owners = [None if owner and not self.open[owner] else owner for owner in self.owners]
        self.owners[place] = node.id if self.open[node.id] else None
        low, high = min([place, *joined]), max([place, *joined])
        signs = []
        for n, taken in enumerate(before):
            if n == place:
                sign = MARKS.get(node.status, "?")
            elif n in joined:
                sign = _join(ended=self.owners[n] is None, leftmost=n == low, rightmost=n == high)
            elif low < n < high:
                sign = "┼" if taken else "─"
            else:
                sign = "│" if taken else " "
            signs.append(sign + ("─" if low <= n < high else " "))
        return "".join(signs).rstrip()


def graph(nodes: Sequence[Node]) -> list[str]:
    """Return the graph's line for each step, in the order given; no text at all if no step needs another.

    A need that is no earlier step (planned anew, or out of order) is not drawn.
    """
    known: dict[str, int] = {node.id: n for n, node in enumerate(nodes)}
    kept = [
        Node(node.id, tuple(need for need in node.needs if known.get(need, n) < n), node.status)
        for n, node in enumerate(nodes)
    ]
    if not any(node.needs for node in kept):
        return [""] * len(nodes)
    columns = _Columns({node.id: set() for node in kept})
    for node in kept:
        for need in node.needs:
            columns.open[need].add(node.id)
    lines = [columns.drawn(node) for node in kept]
    if len(columns.owners) > WIDEST:
        return [MARKS.get(node.status, "?") for node in kept]
    return lines


def graph_of(steps: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the graph of the steps of a `state.json`, whatever stands in them."""
    return graph(
        [Node(str(step.get("id")), _words(step.get("needs")), str(step.get("status"))) for step in steps]
    )


def _words(value: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(word) for word in value)) if isinstance(value, list) else ()


def _join(*, ended: bool, leftmost: bool, rightmost: bool) -> str:
    """Return the sign where a column meets the line to a step that needs its owner."""
    if leftmost:
        return "└" if ended else "├"
    if rightmost:
        return "┘" if ended else "┤"
    return "┴" if ended else "┼"
