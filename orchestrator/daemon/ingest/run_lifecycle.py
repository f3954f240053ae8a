"""The files of a run become facts of its life. It is reported as gone only after its folders were scanned.

Processes that outlive a run's program are reported too, but not at once: helpers of the program end a little after it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.hosts.claims import BEGUN, CLAIMED
from orchestrator.model.facts import Fact, LaunchFailed, RunGone, RunLeft, RunQueued, RunStarted
from orchestrator.model.run import NOT_BEGUN, Ending, Exit, Life
from orchestrator.ports.host import Host, Observation, Standing

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.model.limits import Limits
    from orchestrator.model.run import Run
    from orchestrator.ports.boxes import Boxes
    from orchestrator.ports.files import Files

LEFT_GRACE: Final = 0.5
"""Seconds. When a program ends, closed pipes and the hang-up of its terminal end most of what it started."""

LAUNCHED: Final = "launched"
"""Written by the daemon before it opens the pane; from then on the launcher may claim the run at any time."""


def facts_of(files: Files, host: Host, home: Path, run: Run, at: float, limits: Limits) -> list[Fact]:
    """Return what has happened to a live run since the last facts about it.

    A run whose launcher did not claim it within `limits.start_timeout` is claimed by the daemon, so that it never
    starts.
    """
    folder = _folder(home, run.id)
    seen = host.observe(folder)
    if seen.standing is Standing.ALIVE and run.life not in NOT_BEGUN:
        return []
    nonce = f"{run.id}:{seen.standing}"
    facts = _beginning(seen, run, at)
    match seen.standing:
        case Standing.GONE:
            facts.append(RunGone(at, nonce, run.id, seen.exit or Exit(lost=True)))
        case Standing.LEFT:
            facts += _left(seen, run, at)
        case Standing.ALIVE:
            pass
        case Standing.CLAIMED:
            if _overdue(files, folder / CLAIMED, at, limits) and _given_up(files, host, folder):
                facts.append(RunGone(at, nonce, run.id, Exit(lost=True)))
        case Standing.NOT_CLAIMED if run.life is not Life.STARTING:
            # It lived; a power cut ended its processes and lost the files that showed it.
            if claim(files, folder):
                facts.append(RunGone(at, nonce, run.id, Exit(lost=True)))
        case Standing.NOT_CLAIMED:
            if _overdue(files, folder / LAUNCHED, at, limits) and claim(files, folder):
                facts.append(LaunchFailed(at, nonce, run.id, "its launcher did not start in time"))
    return facts


def far_facts_of(boxes: Boxes, home: Path, run: Run, at: float) -> list[Fact]:
    """Return what has happened to a live run on a box since the last facts about it, as far as its monitor saw it.

    A run whose launcher does not come is `overdue`, and is fenced on the box.
    """
    sighting = boxes.seen(run.host, _folder(home, run.id))
    if sighting is None or run.life is Life.UNREACHABLE:
        return []
    seen = sighting.observation
    nonce = f"{run.id}:{seen.standing}"
    facts = _beginning(seen, run, at)
    if seen.standing is Standing.LEFT:
        facts += _left(seen, run, at)
    if seen.standing is Standing.GONE:
        if seen.pid is None and run.ending is Ending.NOT:
            facts.append(LaunchFailed(at, nonce, run.id, "its launcher did not start in time"))
        else:
            facts.append(RunGone(at, nonce, run.id, seen.exit or Exit(lost=True)))
    return facts


def _beginning(seen: Observation, run: Run, at: float) -> list[Fact]:
    """Return that a run has begun, or why it waits in a queue, if that is news."""
    if run.life not in NOT_BEGUN:
        return []
    if seen.pid is not None:
        return [RunStarted(at, run.id, seen.pid, seen.pane)]
    return [RunQueued(at, run.id, seen.queued)] if seen.queued not in {"", run.queued} else []


def _left(seen: Observation, run: Run, at: float) -> list[Fact]:
    """Return the processes that outlive a run's program, unless the state knows one that is still among them."""
    named = {each.pid for each in seen.left}
    known = run.exit is not None and run.pid in named
    nonce = f"{run.id}:{seen.standing}:{seen.pid}"
    return [] if known else [RunLeft(at, nonce, run.id, seen.exit or Exit(lost=True), seen.left)]


def overdue(files: Files, boxes: Boxes, home: Path, run: Run, at: float, limits: Limits) -> bool:
    """Return whether the launcher of a run on a box has not come, or not reported its pid, for longer than it may take.

    Only a look after that time counts; otherwise the box is asked.
    """
    folder = _folder(home, run.id)
    if run.life is not Life.STARTING or not _overdue(files, folder / LAUNCHED, at, limits):
        return False
    seen = boxes.seen(run.host, folder)
    if seen is None or not _overdue(files, folder / LAUNCHED, seen.at, limits):
        boxes.hurry(run.host)
        return False
    return seen.observation.standing in {Standing.NOT_CLAIMED, Standing.CLAIMED}


@dataclass(slots=True)
class Grace:
    """The grace for processes that outlive their program. Moments are of the monotonic clock."""

    _until: dict[str, float] = field(default_factory=dict)

    def is_over(self, run: str, now: float) -> bool:
        """Return whether leftovers of a run have been seen for long enough; the first look starts the time."""
        return now >= self._until.setdefault(run, now + LEFT_GRACE)

    def forget(self, run: str) -> None:
        """Stop the grace of a run."""
        self._until.pop(run, None)

    def due(self, now: float) -> list[str]:
        """Return the runs that must be looked at again."""
        return [run for run, until in self._until.items() if now >= until]

    @property
    def moments(self) -> list[float]:
        """Return when runs must be looked at again."""
        return list(self._until.values())


@lru_cache(512)
def _folder(home: Path, run: str) -> Path:
    """Return a run's folder as a cached object: making a path costs more than looking into the folder."""
    return layout.run_home(home, run)


def claim(files: Files, folder: Path) -> bool:
    """Claim a run for the daemon, so that no launcher can ever start it. Return False if a launcher was first."""
    files.make_folder(folder)
    return files.create(folder / CLAIMED, b"by the daemon: never to be run\n")


def _given_up(files: Files, host: Host, folder: Path) -> bool:
    """Make sure that a launcher without a reported pid starts nothing. Return False if it reported one first."""
    files.create(folder / BEGUN, b"")
    return host.observe(folder).standing is Standing.CLAIMED


def _overdue(files: Files, since: Path, at: float, limits: Limits) -> bool:
    """Return whether a file has existed for as long as a launcher may take."""
    entry = files.entry(since)
    return entry is not None and at - entry.mtime_ns / 1e9 >= limits.start_timeout
