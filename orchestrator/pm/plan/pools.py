"""Which box of a pool a task gets (H4).

The box for each location is chosen once, when the task starts, and kept: later work builds on the repository on that
box.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from orchestrator.formats.location import render_location
from orchestrator.model.task import Location
from orchestrator.pm.plan.advance import ACTIVE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from orchestrator.model.pools import Pool
    from orchestrator.model.task import Config
    from orchestrator.pm.state.task_state import PMState

FEW: Final = 5
"""How many of the boxes that were not chosen are listed with their load."""


@dataclass(frozen=True, slots=True)
class Standings:
    """The state of all boxes by host name: live runs, tasks that are to use them, and which are lost.

    `unfit` are locations, on boxes that answer, where something is missing.
    """

    runs: Counter[str]
    tasks: Counter[str]
    lost: frozenset[str] = frozenset()
    unfit: frozenset[Location] = frozenset()


def standings(states: Iterable[PMState], lost: Collection[str], unfit: Collection[Location]) -> Standings:
    """Return the state of all boxes, from the states of all tasks."""
    runs, tasks = Counter[str](), Counter[str]()
    for state in states:
        runs.update(run.host for run in state.live_runs if run.on_box)
        if state.state in ACTIVE:
            tasks.update({place.host for place in _places(state.brief.config) if place.host})
    return Standings(runs, tasks, frozenset(lost), frozenset(unfit))


def shared_places(config: Config, task: str, states: Iterable[PMState]) -> tuple[str, ...]:
    """Return a sentence for each folder on a box in which agents of another active task work, too."""
    others: dict[Location, list[str]] = {}
    for state in states:
        if state.id != task and state.state in ACTIVE:
            for place in dict.fromkeys(_places(state.brief.config)):
                others.setdefault(place, []).append(state.id)
    mine = dict.fromkeys(place for place in _places(config) if place.host)
    return tuple(
        f"agents of {', '.join(others[place][:FEW])} work in {render_location(place)}, too: a clone for each task "
        "(`cwd:`) keeps their work apart"
        for place in mine
        if place in others
    )


def placed(
    config: Config, was: Config, pools: Sequence[Pool], seen: Standings
) -> tuple[Config, tuple[str, ...]]:
    """Return task.md's configuration with a box in place of each pool, and a sentence for each choice.

    `was` is the configuration of the task's last start; it keeps its boxes as long as they belong to the pool.
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
    """Return the box of a pool in whose folder the task worked before; empty if there is none."""
    before = (old.host for old in _places(was) if old.path == place.path)
    return next((host for host in before if host in pool.boxes), "")


def _chosen(pool: Pool, path: str, seen: Standings) -> str:
    """Return the available box with the fewest runs; among equals the one with fewer tasks, then the first.

    Tasks count because they explore and plan before they run anything on a box: by runs alone, all tasks started in
    one evening got the same box. All boxes of a pool have the same cap, so runs compare like loads.
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
    others_shown = [f"{each} ({_stands(pool, place.path, each, seen)})" for each in others[:FEW]]
    others_shown += [f"{len(others) - FEW} more"] if len(others) > FEW else []
    text = f"{_written(place)} is on {box} ({_stands(pool, place.path, box, seen)})"
    return f"{text} rather than on {', '.join(others_shown)}" if others_shown else text


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
