"""Which parts of a task are on boxes and not here: what fails, since when, why, and which runs' files are missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.formats.timestamps import moment_said

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.daemon.boxes.unfetched import Awaited
    from orchestrator.ports.boxes import Belief, Boxes


@dataclass(frozen=True, slots=True)
class Missing:
    """A run that has ended, and whose files are not all here. `ended` in seconds since the epoch."""

    instance: str
    run: str
    ended: float


@dataclass(frozen=True, slots=True)
class Failing:
    """What cannot be fetched from a box, since when (seconds since the epoch), and why."""

    what: str
    since: float
    why: str


@dataclass(frozen=True, slots=True)
class TransferStatus:
    """A box from which files of a task are missing. `lost` says why it does not answer; empty if it does."""

    box: str
    lost: str = ""
    failing: tuple[Failing, ...] = ()
    missing: tuple[Missing, ...] = ()

    @property
    def why(self) -> str:
        """Return what prevents files from being fetched from there; empty if nothing does."""
        return self.lost or "; ".join(dict.fromkeys(each.why for each in self.failing))


def _lost(belief: Belief) -> str:
    """Return why a box cannot be used, and since when."""
    return f"{belief.why} (since {moment_said(belief.since)})" if belief.since else belief.why


def behind(
    boxes: Boxes, task: str, names: Iterable[str], awaited: Iterable[Awaited]
) -> tuple[TransferStatus, ...]:
    """Return those of these boxes from which files of a task are missing, as far as is known. Never blocks."""
    waits: dict[str, list[Missing]] = {name: [] for name in names}
    for each in awaited:
        waits.setdefault(each.run.host, []).append(Missing(each.run.instance, each.run.id, each.since))
    found = []
    for box in sorted(waits):
        belief = boxes.belief(box)
        lost = _lost(belief) if belief is not None and not belief.reachable else ""
        troubles = () if lost else boxes.troubles(box, task)
        failing = tuple(Failing(each.pull.value, each.since, each.why) for each in troubles)
        if lost or failing or waits[box]:
            found.append(TransferStatus(box, lost, failing, tuple(waits[box])))
    return tuple(found)
