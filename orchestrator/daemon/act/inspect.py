"""See whether a step changed anything in a tree that is not the task's own: the user's, or one on a box.

Nothing there is ours to commit. So the tree is looked at ahead of the first run of a piece of work, and again when that
is handed in; the first look is kept in the run's folder and handed on to the runs that go on with the work.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import places
from orchestrator.daemon.world import Places, World, code_of
from orchestrator.model.errors import Refused
from orchestrator.model.facts import WorkInspected
from orchestrator.pm.places import place_of
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from orchestrator.model.actions import Inspect
    from orchestrator.model.plan import Step
    from orchestrator.model.run import Run
    from orchestrator.pm.state import PMState


def inspect(world: World, state: PMState, action: Inspect, where: Places, at: float) -> WorkInspected:
    """Tell whether a step's tree is another one than ahead of its work; None where nobody can tell.

    Raises:
        Unavailable: git, or the box, cannot do it now.
        OSError: the disk cannot do it now.

    """
    step = state.steps[action.step]
    tree = _tree(state, step)
    run = state.runs.last_at_work_on(step.id)
    before = _kept(world, where, run) if run is not None else ""
    try:
        now = _fingerprint(world, state, step)
    except Refused as error:
        return WorkInspected(at, action.id, action.step, action.attempt, tree, reason=str(error) or "unknown")
    changed = now != before if now and before else None
    return WorkInspected(at, action.id, action.step, action.attempt, tree, changed)


def look_ahead(world: World, state: PMState, step: Step, run: Run, where: Places) -> None:
    """Keep how a tree stands ahead of a run; one that goes on with work takes over what was seen ahead of that.

    Raises:
        Unavailable: git, or the box, cannot do it now.

    """
    path = _path(where, run)
    if world.files.entry(path) is not None:
        return
    earlier = step.attempt - 1 if step.carries else step.attempt
    before = [
        kept
        for other in state.runs.values()
        if other.step == step.id and other.attempt >= earlier and other.id != run.id
        if (kept := _kept(world, where, other))
    ]
    try:
        word = before[0] if before else _fingerprint(world, state, step)
    except Refused:
        word = ""
    world.files.write(path, word.encode(), durable=False)


def _fingerprint(world: World, state: PMState, step: Step) -> str:
    place = place_of(state.brief.config, step.agent)
    if place is not None and place.host:
        return world.boxes.fingerprint(place.host, place.path, f"tasks/{state.name}")
    tree = Path(_tree(state, step))
    return world.workspaces.fingerprint(tree, places.task_folder(Path(state.project), state.name))


def _tree(state: PMState, step: Step) -> str:
    """Return the folder in which a step works, as `address:path` where that is on a box."""
    place = place_of(state.brief.config, step.agent)
    if place is None:
        return str(code_of(state.project, state.brief))
    return f"{place.host}:{place.path}" if place.host else str(Path(place.path).expanduser())


def _path(where: Places, run: Run) -> Path:
    return places.run_home(where.home, run.id) / "before"


def _kept(world: World, where: Places, run: Run) -> str:
    try:
        return world.files.read(_path(where, run)).decode(errors="replace")
    except Unreadable:
        return ""
