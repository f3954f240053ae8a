"""Keepers by the boxes that they keep: what the port `Boxes` says at once, for whoever makes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

from orchestrator.daemon.keeper import Keeper

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.ports.boxes import Belief, Guest, Sighting, Trouble
    from orchestrator.ports.host import Host

K = TypeVar("K", bound=Keeper)


class Keepers(ABC, Generic[K]):
    """The part of the port `Boxes` that only looks, or only notes, and waits for nobody."""

    def __init__(self) -> None:
        self._keepers: dict[str, K] = {}

    @abstractmethod
    def _keeper(self, box: str) -> K:
        """Return the keeper of a box; one named for the first time gets one."""

    def keep(self, task: str, guests: tuple[Guest, ...]) -> None:
        """Note what a task has on boxes."""
        for box in sorted({guest.box for guest in guests} | set(self._keepers)):
            self._keeper(box).keep(task, tuple(guest for guest in guests if guest.box == box))

    def seen(self, box: str, folder: Path) -> Sighting | None:
        """Return what was last seen of a run."""
        keeper = self._keepers.get(box)
        return keeper.seen(folder) if keeper else None

    def belief(self, box: str, task: str = "") -> Belief | None:
        """Return what is believed of a box; with a task, whether anything is known of its runs there."""
        keeper = self._keepers.get(box)
        if keeper is None:
            return None
        return keeper.belief_for(task) if task else keeper.belief

    def troubles(self, box: str, task: str) -> tuple[Trouble, ...]:
        """Return what of a task cannot be brought from a box."""
        keeper = self._keepers.get(box)
        return keeper.troubles.of(task) if keeper else ()

    def hurry(self, box: str) -> None:
        """Have a box looked at now."""
        if keeper := self._keepers.get(box):
            keeper.hurry()

    def call_again(self) -> None:
        """Try every box that is lost, and everything that could not be brought."""
        for keeper in list(self._keepers.values()):
            keeper.call_again()

    def host(self, box: str) -> Host:
        """Return a box as a host."""
        return self._keeper(box).ways.host
