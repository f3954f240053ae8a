"""Which artifacts came while the judge of the whole was at work: what it wrote itself is its word, and no evidence.

The artifacts are listed before its first run of an attempt. What is not as it was then, when its evidence is looked up,
came meanwhile; that list is kept for its later attempts. What the report of another step names came from that: files
of a box may arrive late.
"""

from __future__ import annotations

import json
from os.path import normpath
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.model.plan import Gate
from orchestrator.model.run import Purpose
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from orchestrator.daemon.core.task_paths import TaskPaths
    from orchestrator.model.plan import Step
    from orchestrator.model.run import Run
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

MOST: Final = 20_000
"""How many artifacts are listed; of a task with more nobody can tell what came when."""

_BEFORE: Final = "artifacts-before"
_CAME: Final = "artifacts-came"


def list_before(files: Files, step: Step, run: Run, where: TaskPaths) -> None:
    """List the artifacts before a run that judges the whole."""
    path = layout.run_home(where.home, run.id) / _BEFORE
    if Gate.CRITERIA not in step.gates or run.purpose is not Purpose.WORK or files.entry(path) is not None:
        return
    found = _listed(files, where)
    if found is not None:
        files.write(path, json.dumps(found).encode(), durable=False)


def came_meanwhile(files: Files, state: PMState, step: Step, where: TaskPaths) -> frozenset[str]:
    """Return the artifacts that came while a judge of the whole was at work, as `artifacts/PATH`.

    Empty where nobody can tell: no list was made, or there are too many.
    """
    runs = [run for run in state.runs.values() if run.step == step.id and run.purpose is Purpose.WORK]
    this = [run for run in runs if run.attempt == step.attempt]
    before = next((found for run in this if (found := _read(files, where, run, _BEFORE)) is not None), None)
    now = _listed(files, where)
    if before is None or now is None:
        return frozenset()
    came = {path: stamp for path, stamp in now.items() if before.get(path) != stamp}
    for run in runs:
        earlier = _read(files, where, run, _CAME) or {}
        came |= {path: stamp for path, stamp in earlier.items() if now.get(path) == stamp}
    data = json.dumps(came).encode()
    files.write(layout.run_home(where.home, this[-1].id) / _CAME, data, durable=False)
    others = {
        normpath(path) for other in state.steps.values() if other.id != step.id for path in other.artifacts
    }
    return frozenset(path for path in came if path not in others or path in before)


def is_own(path: str, came: frozenset[str], files: Files, where: TaskPaths) -> bool:
    """Return whether an artifact, or each file in a folder of them, came while its judge was at work."""
    if not path or not came:
        return False
    named = PurePosixPath(normpath(path))
    if str(named) in came:
        return True
    beneath = {each for each in came if PurePosixPath(each).is_relative_to(named)}
    if not beneath:
        return False
    return beneath >= {
        each for each in _listed(files, where) or () if PurePosixPath(each).is_relative_to(named)
    }


def _listed(files: Files, where: TaskPaths) -> dict[str, str] | None:
    """Return a word for each file in `artifacts/` that changes with it; None if there are too many."""
    found, waiting = dict[str, str](), [layout.artifacts(where.task)]
    while waiting:
        here = waiting.pop()
        for entry in files.entries(here):
            path = here / entry.name
            if entry.is_folder:
                waiting.append(path)
            else:
                found[str(path.relative_to(where.task))] = f"{entry.inode} {entry.mtime_ns} {entry.size}"
        if len(found) + len(waiting) > MOST:
            return None
    return found


def _read(files: Files, where: TaskPaths, run: Run, name: str) -> Mapping[str, str] | None:
    path: Path = layout.run_home(where.home, run.id) / name
    try:
        found = json.loads(files.read(path))
    except (Unreadable, ValueError):
        return None
    return found if isinstance(found, dict) else None
