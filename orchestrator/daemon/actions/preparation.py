"""What makes a worktree ready (`prepare:` of task.md): the files that it gets, and the variables of all its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.core.ports import ports_of
from orchestrator.daemon.core.task_paths import worked_in
from orchestrator.model.errors import Refused
from orchestrator.pm.plan.work_location import may_be_prepared
from orchestrator.ports.files import Unreadable
from orchestrator.runtimes.preparation import preparing

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.daemon.core.task_paths import Adapters, TaskPaths
    from orchestrator.model.plan import Step
    from orchestrator.model.run import Run
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.runtimes import Launching

LARGEST: Final = 16 * 1_048_576
"""Bytes of the largest file that is copied into a worktree."""


def preparation_of(
    adapters: Adapters, state: PMState, run: Run, where: TaskPaths, seen: TaskPaths
) -> Launching:
    """Return how the folder that a run works in is made ready; `seen` is the task as the run sees it.

    Whether git ignores in a clone on a box what is to be copied is asked there, by the run itself.

    Raises:
        Refused: a file that is to be copied cannot be, or would become part of the work.
        Unavailable: git cannot tell now whether it would.

    """
    config = state.brief.config
    tree = worked_in(state, run, where)
    if tree is None and not run.on_box:
        raise Refused(f"{run.step} works in no worktree of the task: nothing is made ready there")
    if tree is not None and config.prepare_copy:
        ignored = adapters.workspaces.ignored(tree, config.prepare_copy)
        for path in config.prepare_copy:
            if path not in ignored:
                raise Refused(
                    f"`prepare.copy:` names {path}, which git does not ignore on {state.branch}: commits of agents "
                    f"would hold it. Let {where.code}/.git/info/exclude name it, or a .gitignore that the task begins "
                    f"from"
                )
    copied = {path: _content(adapters, where.code, path) for path in config.prepare_copy}
    made = shared_caches(state, state.steps[run.step], seen) if run.on_box else None
    return preparing(config, copied, layout.run_home(seen.home, run.id), made)


def tree_variables(
    adapters: Adapters, state: PMState, step: Step, where: TaskPaths, seen: TaskPaths
) -> dict[str, str]:
    """Return the variables that all runs where a step works get: folders of shared caches, and ports.

    `seen` is the task as a run sees it. A folder of a cache on a box is made by the run that prepares its clone.

    Raises:
        Refused: no port is left.
        OSError: the disk cannot do it now.

    """
    config = state.brief.config
    if not may_be_prepared(config, step):
        return {}
    ports = ports_of(adapters.files, where.home, step.workspace, config.prepare_ports)
    caches = dict(zip(config.prepare_caches, shared_caches(state, step, seen), strict=True))
    if seen.home == where.home:
        for folder in caches.values():
            adapters.files.make_folder(folder)
    return {name: str(value) for name, value in (ports | caches).items()}


def shared_caches(state: PMState, step: Step, where: TaskPaths) -> tuple[Path, ...]:
    """Return the folders of caches that all worktrees of a task share: runs of a step must be able to write them.

    `where` is the task as a run sees it: on a box they lie there.
    """
    config = state.brief.config
    if not may_be_prepared(config, step):
        return ()
    folder = layout.task_caches(layout.state_above(where.home), where.home.name)
    return tuple(folder / name for name in config.prepare_caches)


def _content(adapters: Adapters, project: Path, path: str) -> bytes:
    files = adapters.files
    there = files.real(project / path)
    if not there.is_relative_to(files.real(project)):
        raise Refused(f"`prepare.copy:` names {path}, which leads out of {project}")
    if files.entry(there) is None:
        raise Refused(
            f"`prepare.copy:` names {path}, which is not in {project}: make it, or take it out of task.md"
        )
    try:
        return files.read(there, LARGEST)
    except Unreadable as error:
        raise Refused(f"`prepare.copy:` names {path}, which cannot be copied: {error}") from error
