"""Look up what the evidence of success criteria points at: in the task's folder, and on the task's branch (U11)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.daemon.world import Places, World
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.evidence import EvidenceKind, Reference, Resolution
from orchestrator.model.facts import EvidenceResolved
from orchestrator.model.task import WorkspaceKind
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from orchestrator.model.actions import ResolveEvidence
    from orchestrator.pm.state import PMState

LARGEST: Final = 16 * 1_048_576
"""Bytes of a file of which lines are counted; a larger one is evidence as a whole."""

DEEPEST: Final = 8
"""Folders within each other in which a file is looked for."""

_OURS: Final = ("artifacts", "handoffs")


def resolve(
    world: World, state: PMState, action: ResolveEvidence, where: Places, at: float
) -> EvidenceResolved:
    """Return what each reference points at.

    Raises:
        Unavailable: git cannot do it now.
        OSError: the disk cannot do it now.

    """
    found = tuple(_resolved(world, state, each, where) for each in action.references)
    return EvidenceResolved(at, action.id, action.step, action.attempt, found)


def _resolved(world: World, state: PMState, reference: Reference, where: Places) -> Resolution:
    try:
        match reference.kind:
            case EvidenceKind.TASK_FILE:
                return _of_task(world, reference, where, reference.target)
            case EvidenceKind.FILE:
                return _file(world, state, reference, where)
            case EvidenceKind.COMMIT:
                return _commit(world, state, reference, where)
            case EvidenceKind.CHECK:
                return _missing(reference, "is no check of this task")
    except Unavailable:
        raise
    except (Refused, ValueError) as error:
        return _missing(reference, f"cannot be looked up: {error}")


def _of_task(world: World, reference: Reference, where: Places, path: str) -> Resolution:
    """Look for a file in the folder of the task's that its path begins with, and not beside it."""
    return _on_disk(world, reference, where.task / path.partition("/")[0], where.task / path, "")


def _file(world: World, state: PMState, reference: Reference, where: Places) -> Resolution:
    """Look for a file: on the task's branch where it has one, else in the user's own tree."""
    named = Path(reference.target)
    if named.is_absolute():
        return _absolute(world, state, reference, where)
    if state.brief.config.workspace is not WorkspaceKind.WORKTREE:
        return _on_disk(world, reference, where.code, where.code / named, " in the project")
    seen = world.workspaces.file_on(where.code, state.branch, reference.target)
    if seen is None:
        return _missing(reference, f"is not on the branch {state.branch}")
    if reference.line > seen.lines:
        return _missing(reference, f"has {seen.lines} lines on the branch {state.branch}")
    lines = "a folder" if seen.is_folder else f"{seen.lines} lines"
    return Resolution(reference.text, exists=True, detail=f"{lines} on the branch {state.branch}")


def _absolute(world: World, state: PMState, reference: Reference, where: Places) -> Resolution:
    """Look for a file that is named by its whole path: in the task's folder, a tree of the task's, or the project."""
    named = Path(reference.target)
    for root in (where.task, *_trees(world, where), where.code):
        if named.is_relative_to(root):
            inside = named.relative_to(root)
            if root == where.task and inside.parts[:1] and inside.parts[0] in _OURS:
                return _of_task(world, reference, where, str(inside))
            relative = Reference(reference.text, EvidenceKind.FILE, str(inside), reference.line)
            return _file(world, state, relative, where)
    return _missing(reference, "lies outside of the task and its project")


def _trees(world: World, where: Places) -> list[Path]:
    """Return the task's worktrees: what an agent names by a path in one of them is looked for on the branch."""
    return [where.trees / entry.name for entry in world.files.entries(where.trees) if entry.is_folder]


def _on_disk(world: World, reference: Reference, root: Path, path: Path, where: str) -> Resolution:
    """Look for a file beneath a folder; links that lead out of it are not followed."""
    files = world.files
    real = files.real(path)
    if not real.is_relative_to(files.real(root)):
        return _missing(reference, "leads elsewhere")
    entry = files.entry(real)
    if entry is None or not (entry.is_file or entry.is_folder):
        return _missing(reference, f"is not there{where}" if where else "is not in the task's folder")
    if entry.is_folder:
        held = not reference.line and _holds_a_file(world, real)
        return Resolution(reference.text, held, "a folder" if held else "is a folder with nothing in it")
    if not entry.size:
        return _missing(reference, "is empty")
    return _lines_of(world, reference, real, entry.size, where)


def _lines_of(world: World, reference: Reference, path: Path, size: int, where: str) -> Resolution:
    detail = f"{size} bytes{where}"
    if reference.line:
        try:
            data = world.files.read(path, LARGEST)
        except Unreadable as error:
            return _missing(reference, str(error))
        lines = data.count(b"\n") + (not data.endswith(b"\n"))
        if reference.line > lines:
            return _missing(reference, f"has {lines} lines")
        detail = f"{lines} lines{where}"
    return Resolution(reference.text, exists=True, detail=detail)


def _holds_a_file(world: World, folder: Path) -> bool:
    waiting = [(folder, 1)]
    while waiting:
        here, depth = waiting.pop()
        for entry in world.files.entries(here):
            if entry.is_file and entry.size:
                return True
            if entry.is_folder and depth < DEEPEST:
                waiting.append((here / entry.name, depth + 1))
    return False


def _commit(world: World, state: PMState, reference: Reference, where: Places) -> Resolution:
    if state.brief.config.workspace is not WorkspaceKind.WORKTREE:
        return _missing(reference, "is on no branch of the task: it works in the user's own tree")
    commit = world.workspaces.commit_on(where.code, state.branch, reference.target)
    if not commit:
        return _missing(reference, f"is no commit of the branch {state.branch}")
    return Resolution(reference.text, exists=True, detail=f"{commit[:10]} on the branch {state.branch}")


def _missing(reference: Reference, why: str) -> Resolution:
    return Resolution(reference.text, exists=False, detail=why)
