"""Where a run works, for judging its tool requests: what it may write, and what it must not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.core.task_paths import granted, task_folder_of, tree_of, workspace_of
from orchestrator.model.tool_request import Workplace
from orchestrator.pm.plan.work_location import location_of
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from orchestrator.daemon.core.task_paths import TaskPaths
    from orchestrator.model.run import Run
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

_TEMPORARY: Final = "/tmp"  # noqa: S108 (nothing is written there: agents may)


def may_write(run: Run, state: PMState, where: TaskPaths) -> tuple[Path, ...]:
    """Return the folders that a run may write, its working directory first."""
    folders = granted(state, run, task_folder_of(state, run, where.task))
    return workspace_of(state, run, where), *folders


def workplace_of(
    run: Run,
    state: PMState,
    where: TaskPaths,
    environ: Mapping[str, str],
    files: Files,
    real: Callable[[Path], Path],
) -> Workplace:
    """Return what is known of the location in which a run works.

    Each folder is listed with its links followed, and also as it is written, for commands that use that name.

    Args:
        run: The run.
        state: The state of its task.
        where: The task's paths, on the machine of the PM.
        environ: The environment of programs on the run's machine.
        files: The files of the PM's machine.
        real: Follows the links of a path on the run's machine, as far as they are known.

    """

    def both(folders: Iterable[Path]) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(
                str(each) for folder in folders for each in (real(folder), folder) if folder.is_absolute()
            )
        )

    workspace, *others = may_write(run, state, where)
    temporary = [Path(_TEMPORARY), *map(Path, filter(None, [environ.get("TMPDIR")]))]
    home = environ.get("HOME", "")
    own = [] if run.on_box else [layout.state_above(where.home)]
    elsewhere = location_of(state.brief.config, run.agent) is not None
    own_tree = not elsewhere and tree_of(state, state.steps[run.step], where) is not None
    top = own_tree or (not run.on_box and _begins_repository(files, workspace))
    return Workplace(
        grants=both((workspace, *others)),
        temporary=both(temporary),
        withheld=both([*own, where.code, where.task, *map(Path, filter(None, [home]))]),
        private=both(own),
        home=str(real(Path(home))) if home.startswith("/") else "",
        own_tree=own_tree,
        top=str(real(workspace)) if top else "",
        variables=(("TMPDIR", environ.get("TMPDIR", "")),),
    )


def _begins_repository(files: Files, folder: Path) -> bool:
    try:
        return files.entry(folder / ".git") is not None
    except (OSError, Unreadable):
        return False
