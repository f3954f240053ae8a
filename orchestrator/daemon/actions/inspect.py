"""See whether a step changed anything in a tree that is not the task's own, or in which it must change nothing.

In the user's tree, or one on a box, nothing may be committed by the PM. So the tree is fingerprinted before the first
run of a piece of work, and again when that is handed in; the first fingerprint is kept in the run's folder and passed
to the runs that continue the work. It is fingerprinted around each run of a judge, too. Nothing is taken out of it.

A tree of the task's, in which the step was only to look, is recorded before each run, and compared when that has
left. Differences are kept on a ref and removed from the tree, so that they get into no commit.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.actions.check_changes import among
from orchestrator.daemon.core.task_paths import Adapters, TaskPaths, code_of, tree_of
from orchestrator.model.errors import Refused
from orchestrator.model.facts import WorkInspected
from orchestrator.model.plan import Gate
from orchestrator.pm.plan.work_location import in_tree_of_task, location_of
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from orchestrator.model.actions import Inspect
    from orchestrator.model.plan import Step
    from orchestrator.model.run import Run
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.worktree import Tree

FILES_LISTED: Final = 100
"""How many of the files are listed that a step changed although it was only to look."""


def inspect(
    adapters: Adapters, state: PMState, action: Inspect, where: TaskPaths, at: float
) -> WorkInspected:
    """Return whether a step's tree differs from before its work; None if that cannot be known.

    Raises:
        Unavailable: git, or the box, cannot do it now.
        OSError: the disk cannot do it now.

    """
    step = state.steps[action.step]
    if Gate.CHANGED not in step.gates and in_tree_of_task(state.brief.config, step):
        return _tidied(adapters, state, action, where, at)
    outcome = WorkInspected(at, action.id, action.step, action.attempt, _tree(state, step))
    run = state.runs.last_at_work_on(step.id)
    before = _kept(adapters, where, run) if run is not None else ""
    try:
        files = _differing(adapters, state, step, before) if before else None
    except Refused as error:
        return replace(outcome, reason=str(error) or "unknown")
    if files is None:
        return outcome
    if Gate.CHANGED in step.gates:
        return replace(outcome, changed=bool(files), check_files=among(state, files))
    return replace(outcome, changed=bool(files), files=files[:FILES_LISTED])


def look_before(adapters: Adapters, tree: Tree, run: Run, where: TaskPaths) -> None:
    """Record the state of a tree of the task's before a run that is only to look.

    Raises:
        Unavailable: git cannot do it now.

    """
    path = _path(where, run)
    if adapters.files.entry(path) is None:
        with contextlib.suppress(Refused):
            adapters.files.write(path, adapters.workspaces.look(tree).encode(), durable=False)


def _tidied(
    adapters: Adapters, state: PMState, action: Inspect, where: TaskPaths, at: float
) -> WorkInspected:
    """Remove the changes of a step that was only to look from its tree, and report them."""
    step = state.steps[action.step]
    run, tree = state.runs.last_at_work_on(step.id), tree_of(state, step, where)
    outcome = WorkInspected(at, action.id, action.step, action.attempt)
    if run is None or tree is None or not (before := _kept(adapters, where, run)):
        return outcome
    try:
        files, kept = adapters.workspaces.tidy(tree, action.attempt, before)
    except Refused as error:
        return replace(outcome, reason=str(error) or "unknown")
    if not files:
        return replace(outcome, changed=False)
    return replace(outcome, where=str(tree.path), changed=True, files=files[:FILES_LISTED], kept=kept)


def look_ahead(adapters: Adapters, state: PMState, step: Step, run: Run, where: TaskPaths) -> None:
    """Record the state of a tree that is not the task's before a run.

    A run that continues work takes over the record from before that work. A judge does no work: each run has its own.

    Raises:
        Unavailable: git, or the box, cannot do it now.

    """
    path = _path(where, run)
    if adapters.files.entry(path) is not None:
        return
    earlier = step.attempt - 1 if step.carries else step.attempt
    before = (
        []
        if Gate.CHANGED not in step.gates
        else [
            kept
            for other in state.runs.values()
            if other.step == step.id and other.attempt >= earlier and other.id != run.id
            if (kept := _kept(adapters, where, other))
        ]
    )
    try:
        word = before[0] if before else _fingerprint(adapters, state, step)
    except Refused:
        word = ""
    adapters.files.write(path, word.encode(), durable=False)


def _differing(adapters: Adapters, state: PMState, step: Step, before: str) -> tuple[str, ...] | None:
    """Return the files in which a tree that is not the task's differs from before; None if nobody can tell."""
    now, place = _fingerprint(adapters, state, step), location_of(state.brief.config, step.agent)
    if place is not None and place.host:
        return adapters.boxes.differing(place.host, place.path, before, now)
    return adapters.workspaces.differing(Path(_tree(state, step)), before, now)


def _fingerprint(adapters: Adapters, state: PMState, step: Step) -> str:
    place = location_of(state.brief.config, step.agent)
    if place is not None and place.host:
        return adapters.boxes.fingerprint(place.host, place.path, f"tasks/{state.name}")
    tree = Path(_tree(state, step))
    return adapters.workspaces.fingerprint(tree, layout.task_folder(Path(state.project), state.name))


def _tree(state: PMState, step: Step) -> str:
    """Return the folder in which a step works, as `address:path` if it is on a box."""
    place = location_of(state.brief.config, step.agent)
    if place is None:
        return str(code_of(state.project, state.brief))
    return f"{place.host}:{place.path}" if place.host else str(Path(place.path).expanduser())


def _path(where: TaskPaths, run: Run) -> Path:
    return layout.run_home(where.home, run.id) / "before"


def _kept(adapters: Adapters, where: TaskPaths, run: Run) -> str:
    try:
        return adapters.files.read(_path(where, run)).decode(errors="replace")
    except Unreadable:
        return ""
