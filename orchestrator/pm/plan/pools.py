"""Which box of a pool a task is given (H4).

It is chosen once for each place, when the task starts, and kept: what an agent does builds on what lies in the
repository of that box.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.task import Location
from orchestrator.pm.plan.advance import ACTIVE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from orchestrator.model.pools import Pool
    from orchestrator.model.task import Config
    from orchestrator.pm.state.task_state import PMState

FEW: Final = 5
"""Of so many boxes that were not taken it is said how they stood."""


@dataclass(frozen=True, slots=True)
class Standings:
    """How boxes stand, by what `Location` calls them: their live runs, the tasks that are to use them, those lost.

    `unfit` are locations, on boxes that answer, where something is missing.
    """

    runs: Counter[str]
    tasks: Counter[str]
    lost: frozenset[str] = frozenset()
    unfit: frozenset[Location] = frozenset()


def standings(states: Iterable[PMState], lost: Collection[str], unfit: Collection[Location]) -> Standings:
    """Return how boxes stand, as the states of all tasks tell."""
    runs, tasks = Counter[str](), Counter[str]()
    for state in states:
        runs.update(run.host for run in state.live_runs if run.on_box)
        if state.state in ACTIVE:
            tasks.update({place.host for place in _places(state.brief.config) if place.host})
    return Standings(runs, tasks, frozenset(lost), frozenset(unfit))


def placed(
    config: Config, was: Config, pools: Sequence[Pool], seen: Standings
) -> tuple[Config, tuple[str, ...]]:
    """Return what task.md asks for with a box in place of each pool, and for each place what was taken and why.

    `was` is what the task was started with before; it keeps its boxes as long as they are of the pool.
    """
    taken: dict[Location, Location] = {}
    said = []
    for place in dict.fromkeys(_places(config)):
        pool = next((pool for pool in pools if pool.name == place.host), None)
        if pool is None:
            continue
        kept = _kept(pool, place, was)
        box = kept or _chosen(pool, place.path, seen)
        said.append(f"{_written(place)} stays on {box}" if kept else _why(pool, place, box, seen))
        taken[place] = Location(place.path, box)

    def real(place: Location | None) -> Location | None:
        return None if place is None else taken.get(place, place)

    agents = {name: replace(overrides, cwd=real(overrides.cwd)) for name, overrides in config.agents.items()}
    return (replace(config, cwd=real(config.cwd), agents=agents) if taken else config), tuple(said)


def _places(config: Config) -> Iterator[Location]:
    for place in (config.cwd, *(overrides.cwd for overrides in config.agents.values())):
        if place is not None:
            yield place


def _kept(pool: Pool, place: Location, was: Config) -> str:
    """Return the box of a pool in whose folder the task worked before, or nothing."""
    before = (old.host for old in _places(was) if old.path == place.path)
    return next((host for host in before if host in pool.boxes), "")


def _chosen(pool: Pool, path: str, seen: Standings) -> str:
    """Return the least loaded box that can be had; of equal ones that of fewer tasks, then the first.

    Tasks explore and plan before anybody is at work on a box: by runs alone all that start in an evening got the same.
    Every box of a pool has the same cap, so that runs compare as loads do.
    """
    return min(
        pool.boxes,
        key=lambda box: (
            box in seen.lost or Location(path, box) in seen.unfit,
            seen.runs[box],
            seen.tasks[box],
        ),
    )


def _why(pool: Pool, place: Location, box: str, seen: Standings) -> str:
    others = [each for each in pool.boxes if each != box]
    told = [f"{each} ({_stands(pool, place.path, each, seen)})" for each in others[:FEW]]
    told += [f"{len(others) - FEW} more"] if len(others) > FEW else []
    text = f"{_written(place)} is on {box} ({_stands(pool, place.path, box, seen)})"
    return f"{text} rather than on {', '.join(told)}" if told else text


def _stands(pool: Pool, path: str, box: str, seen: Standings) -> str:
    if box in seen.lost:
        return "does not answer"
    if Location(path, box) in seen.unfit:
        return "cannot be worked on"
    tasks = seen.tasks[box]
    to_use = f", {tasks} task{'s' * (tasks != 1)} to use it" if tasks else ""
    return f"{seen.runs[box]} of {pool.cap} agents at work{to_use}"


def _written(place: Location) -> str:
    return f"{place.host}:{place.path}"
