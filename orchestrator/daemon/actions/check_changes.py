"""Which files of a check's own command a task has changed: whoever rewrites the check decides what it says (law 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.check_files import files_named
from orchestrator.model.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orchestrator.daemon.core.task_paths import TaskPaths
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.workspaces import FileChange, Workspaces

NAMED: Final = 5
"""How many files are named."""


def of_commit(workspaces: Workspaces, state: PMState, made: str, where: TaskPaths) -> tuple[str, ...]:
    """Return which files of the checks' commands a commit has otherwise than the task's base, with the changed lines.

    Of a folder that a command names, a file counts only if it lost lines: new tests are no change of the check.

    Raises:
        Unavailable: git cannot do it now.

    """
    names = _named(state)
    if not names or not state.base:
        return ()
    try:
        changes = workspaces.altered(where.code, state.base, made, names)
    except Refused:
        return ()
    return _few(
        [
            f"{each.path!a} ({_lines(each)})"
            for each in changes
            if each.path in names or each.removed or each.removed is None
        ]
    )


def among(state: PMState, files: Iterable[str]) -> tuple[str, ...]:
    """Return which of these files the checks' commands name. What was changed in them is not known."""
    names = frozenset(_named(state))
    return _few([f"{name!a}" for name in files if name in names])


def _named(state: PMState) -> tuple[str, ...]:
    """Return the paths that the check of any step's agent names."""
    agents = dict.fromkeys(step.agent for step in state.steps.values())
    checks = [agent.check for name in agents if (agent := state.agents.get(name)) is not None]
    return tuple(dict.fromkeys(path for check in checks for path in files_named(check)))


def _few(said: Sequence[str]) -> tuple[str, ...]:
    more = len(said) - NAMED
    return (*said[:NAMED], f"{more} more") if more > 0 else tuple(said)


def _lines(change: FileChange) -> str:
    if change.added is None or change.removed is None:
        return "binary"
    return f"+{change.added} -{change.removed}" + (", new" if change.is_new else "")
