"""Which files that success criteria name are not there: `bye.py exists` was met by evidence for another file (U11).

A file counts as there if the task's branch has it anywhere, in whatever case, or the task's artifacts do. Where agents
work in a folder of their own, here or on a box, or the tree is too large, nobody can tell: then nothing is absent.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.formats.named_files import files_named, named_among
from orchestrator.model.errors import Refused
from orchestrator.model.task import WorkspaceKind
from orchestrator.pm.plan.tree_lives import lasting_places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.daemon.core.task_paths import Adapters, TaskPaths
    from orchestrator.model.handoff import CriterionMark
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

MOST: Final = 20_000
"""How many files of a folder are listed; of a larger one nobody can tell."""

_GIT: Final = ".git"


def absent_files(
    adapters: Adapters, state: PMState, marks: Sequence[CriterionMark], where: TaskPaths
) -> tuple[str, ...]:
    """Return the files that criteria which are marked met name, and that are nowhere.

    Raises:
        Unavailable: git cannot do it now.
        OSError: the disk cannot do it now.

    """
    named = tuple(dict.fromkeys(path for mark in marks if mark.met for path in files_named(mark.text)))
    if not named or lasting_places(state):
        return ()
    made = _beneath(adapters.files, layout.artifacts(where.task))
    there = None if made is None else _in_work(adapters, state, where, named)
    if made is None or there is None:
        return ()
    found = {*there, *named_among(named, made)}
    return tuple(path for path in named if path not in found)


def _in_work(
    adapters: Adapters, state: PMState, where: TaskPaths, named: Sequence[str]
) -> Sequence[str] | None:
    """Return which of these the branch has, or the user's tree if the task works there; None if nobody can tell."""
    if state.brief.config.workspace is WorkspaceKind.WORKTREE:
        try:
            return adapters.workspaces.holds_named(where.code, state.branch, named)
        except Refused:
            return None
    here = _beneath(adapters.files, where.code)
    return None if here is None else named_among(named, here)


def _beneath(files: Files, folder: Path) -> list[str] | None:
    """Return the paths of all files beneath a folder; None if there are too many."""
    found, waiting = list[str](), [folder]
    while waiting:
        here = waiting.pop()
        for entry in files.entries(here):
            if entry.is_folder and entry.name != _GIT:
                waiting.append(here / entry.name)
            elif not entry.is_folder:
                found.append(str((here / entry.name).relative_to(folder)))
        if len(found) + len(waiting) > MOST:
            return None
    return found
