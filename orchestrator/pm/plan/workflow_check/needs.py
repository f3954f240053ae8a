"""Who needs whom, through any number of steps; and circles. Sets of agents are the bits of a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.model.workflow import WorkflowAgent


@dataclass(frozen=True, slots=True)
class Needs:
    """The needs of a plan. `closures` is who an agent needs, directly or not; agents of circles have none."""

    bits: Mapping[str, int]
    closures: Mapping[str, int]
    circles: tuple[tuple[str, ...], ...]
    depths: Mapping[str, int]
    """How long the longest chain of needs is that ends with an agent; 1 without needs."""

    @classmethod
    def of(cls, agents: Sequence[WorkflowAgent]) -> Needs:
        """Return the needs of a plan's agents. Unknown ones are passed over, and an agent's need of itself."""
        direct: dict[str, tuple[str, ...]] = {}
        for agent in agents:
            direct.setdefault(agent.id, agent.needs)
        known = {
            name: [each for each in dict.fromkeys(needs) if each in direct and each != name]
            for name, needs in direct.items()
        }
        bits = {name: 1 << at for at, name in enumerate(known)}
        order, waiting = _sorted(known)
        closures: dict[str, int] = {}
        depths: dict[str, int] = {}
        for name in order:
            closure, depth = 0, 1
            for need in known[name]:
                closure |= closures[need] | bits[need]
                depth = max(depth, depths[need] + 1)
            closures[name], depths[name] = closure, depth
        return cls(bits, closures, _circles(known, waiting), depths)

    def needs(self, agent: str, other: str) -> bool:
        """Return whether an agent needs another, directly or not."""
        return bool(self.closures.get(agent, 0) & self.bits.get(other, 0))

    def may_overlap(self, one: str, other: str) -> bool:
        """Return whether two agents may run at the same time."""
        return one != other and not self.needs(one, other) and not self.needs(other, one)

    @property
    def longest(self) -> int:
        """How many agents the longest chain of needs has."""
        return max(self.depths.values(), default=0)


def _sorted(known: Mapping[str, Sequence[str]]) -> tuple[list[str], set[str]]:
    """Return the agents, each after all that it needs; and those that a circle keeps from having a place."""
    dependents: dict[str, list[str]] = {name: [] for name in known}
    missing = {name: len(needs) for name, needs in known.items()}
    for name, needs in known.items():
        for need in needs:
            dependents[need].append(name)
    order = [name for name, count in missing.items() if not count]
    for name in order:  # it grows as it is read
        for dependent in dependents[name]:
            missing[dependent] -= 1
            if not missing[dependent]:
                order.append(dependent)
    return order, set(known) - set(order)


def _circles(known: Mapping[str, Sequence[str]], waiting: set[str]) -> tuple[tuple[str, ...], ...]:
    """Return circles, no two of which share an agent, such that each agent of a circle leads to one of them."""
    circles, seen = list[tuple[str, ...]](), set[str]()
    for start in known:
        way, places, here = list[str](), dict[str, int](), start
        while here in waiting and here not in seen and here not in places:
            places[here] = len(way)
            way.append(here)
            here = next(each for each in known[here] if each in waiting)
        if here in places:
            circles.append(tuple(way[places[here] :]))
        seen.update(way)
    return tuple(circles)
