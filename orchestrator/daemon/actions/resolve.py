"""Look up the evidence of success criteria: in the task's folder, and on the task's branch (U11).

Anybody who works in the repository can move that branch. So this also checks whether it still contains the accepted
work, and whether it changes anything.

Work of agents in a folder of their own, here or on a box, may stay there. So files that are not on the branch are also
looked for in those folders, and commits on the boxes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.daemon.core.task_paths import Adapters, TaskPaths
from orchestrator.model.errors import Refused
from orchestrator.model.evidence import EvidenceKind, Reference, Resolution
from orchestrator.model.facts import EvidenceResolved
from orchestrator.model.task import WorkspaceKind
from orchestrator.pm.plan.tree_lives import lasting_places
from orchestrator.pm.state.results import accepted_work
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from orchestrator.model.actions import ResolveEvidence
    from orchestrator.model.task import Location
    from orchestrator.pm.state.task_state import PMState

LARGEST: Final = 16 * 1_048_576
"""The maximum size in bytes of a file whose lines are counted; a larger one is evidence as a whole."""

DEEPEST: Final = 8
"""How many levels of folders are searched for a file."""

_OURS: Final = ("artifacts", "handoffs")


def resolve(
    adapters: Adapters, state: PMState, action: ResolveEvidence, where: TaskPaths, at: float
) -> EvidenceResolved:
    """Return the resolution of each reference.

    Raises:
        Unavailable: git, or a box, cannot do it now.
        OSError: the disk cannot do it now.

    """
    elsewhere = lasting_places(state)
    found = tuple(_resolved(adapters, state, each, where, elsewhere) for each in action.references)
    lost, empty = _branch(adapters, state, where)
    return EvidenceResolved(
        at, action.id, action.step, action.attempt, found, lost=lost, empty=empty and not elsewhere
    )


def _branch(adapters: Adapters, state: PMState, where: TaskPaths) -> tuple[tuple[str, ...], bool]:
    """Return the steps whose accepted commits are missing from the branch, and whether its commits change nothing."""
    accepted = accepted_work(state)
    if not accepted:
        return (), False
    workspaces, code, branch = adapters.workspaces, where.code, state.branch
    seen = workspaces.survey(code, branch, state.base)
    if seen is None:
        return tuple(accepted), False
    try:
        held = {step: workspaces.commit_on(code, branch, commit) for step, commit in accepted.items()}
    except Refused:  # it was deleted just now
        return tuple(accepted), False
    return tuple(step for step, there in held.items() if not there), bool(seen.count) and not seen.files


def _resolved(
    adapters: Adapters, state: PMState, reference: Reference, where: TaskPaths, elsewhere: list[Location]
) -> Resolution:
    missing = []
    for place in (None, *elsewhere):
        try:
            if place is None:
                found = _in_task(adapters, state, reference, where)
            elif reference.kind in {EvidenceKind.FILE, EvidenceKind.COMMIT}:
                found = _in_place(adapters, reference, place)
            else:
                continue
        except (Refused, ValueError) as error:
            found = _missing(reference, f"cannot be looked up: {error}")
        if found.exists:
            return found
        missing.append(found.detail)
    return _missing(reference, ", and ".join(missing))


def _in_task(adapters: Adapters, state: PMState, reference: Reference, where: TaskPaths) -> Resolution:
    match reference.kind:
        case EvidenceKind.TASK_FILE:
            return _of_task(adapters, reference, where, reference.target)
        case EvidenceKind.FILE:
            return _file(adapters, state, reference, where)
        case EvidenceKind.COMMIT:
            return _commit(adapters, state, reference, where)
        case EvidenceKind.CHECK:
            return _missing(reference, "is no check of this task")


def _in_place(adapters: Adapters, reference: Reference, place: Location) -> Resolution:
    """Look for a file or a commit in a folder of an agent's own."""
    if reference.kind is EvidenceKind.COMMIT:
        return _commit_there(adapters, reference, place)
    if place.host:
        return _file_there(adapters, reference, place)
    folder = Path(place.path).expanduser()
    return _on_disk(adapters, reference, folder, folder / reference.target, f" in {folder}")


def _of_task(adapters: Adapters, reference: Reference, where: TaskPaths, path: str) -> Resolution:
    """Look for a file in the folder of the task that its path begins with, and nowhere else."""
    return _on_disk(adapters, reference, where.task / path.partition("/")[0], where.task / path, "")


def _file(adapters: Adapters, state: PMState, reference: Reference, where: TaskPaths) -> Resolution:
    """Look for a file: on the task's branch if it has one, else in the user's own tree."""
    named = Path(reference.target)
    if named.is_absolute():
        return _absolute(adapters, state, reference, where)
    if state.brief.config.workspace is not WorkspaceKind.WORKTREE:
        return _on_disk(adapters, reference, where.code, where.code / named, " in the project")
    seen = adapters.workspaces.file_on(where.code, state.branch, reference.target)
    if seen is None:
        return _missing(reference, f"is not on the branch {state.branch}")
    if seen.is_link:
        return _missing(reference, f"is a link on the branch {state.branch}: name its target")
    if reference.line > seen.lines:
        return _missing(reference, f"has {_lines(seen.lines)} on the branch {state.branch}")
    lines = "a folder" if seen.is_folder else _lines(seen.lines)
    return Resolution(reference.text, exists=True, detail=f"{lines} on the branch {state.branch}")


def _absolute(adapters: Adapters, state: PMState, reference: Reference, where: TaskPaths) -> Resolution:
    """Look for a file by its absolute path: in the task's folder, a tree of the task, or the project."""
    named = Path(reference.target)
    for root in (where.task, *_trees(adapters, where), where.code):
        if named.is_relative_to(root):
            inside = named.relative_to(root)
            if root == where.task and inside.parts[:1] and inside.parts[0] in _OURS:
                return _of_task(adapters, reference, where, str(inside))
            relative = Reference(reference.text, EvidenceKind.FILE, str(inside), reference.line)
            return _file(adapters, state, relative, where)
    return _missing(reference, "is outside of the task and its project")


def _trees(adapters: Adapters, where: TaskPaths) -> list[Path]:
    """Return the task's worktrees: files in them are looked for on the branch."""
    return [where.trees / entry.name for entry in adapters.files.entries(where.trees) if entry.is_folder]


def _on_disk(adapters: Adapters, reference: Reference, root: Path, path: Path, where: str) -> Resolution:
    """Look for a file below a folder; links that lead out of it are not followed."""
    files = adapters.files
    real = files.real(path)
    if not real.is_relative_to(files.real(root)):
        return _missing(reference, "leads elsewhere")
    entry = files.entry(real)
    if entry is None or not (entry.is_file or entry.is_folder):
        return _missing(reference, f"does not exist{where}" if where else "is not in the task's folder")
    if entry.is_folder:
        held = not reference.line and _holds_a_file(adapters, real)
        return Resolution(reference.text, held, "a folder" if held else "is a folder with nothing in it")
    if not entry.size:
        return _missing(reference, f"is empty{where}")
    return _lines_of(adapters, reference, real, entry.size, where)


def _lines_of(adapters: Adapters, reference: Reference, path: Path, size: int, where: str) -> Resolution:
    detail = f"{size} bytes{where}"
    if reference.line:
        try:
            data = adapters.files.read(path, LARGEST)
        except Unreadable as error:
            return _missing(reference, str(error))
        lines = data.count(b"\n") + (not data.endswith(b"\n"))
        if reference.line > lines:
            return _missing(reference, f"has {_lines(lines)}{where}")
        detail = f"{_lines(lines)}{where}"
    return Resolution(reference.text, exists=True, detail=detail)


def _holds_a_file(adapters: Adapters, folder: Path) -> bool:
    waiting = [(folder, 1)]
    while waiting:
        here, depth = waiting.pop()
        for entry in adapters.files.entries(here):
            if entry.is_file and entry.size:
                return True
            if entry.is_folder and depth < DEEPEST:
                waiting.append((here / entry.name, depth + 1))
    return False


def _commit(adapters: Adapters, state: PMState, reference: Reference, where: TaskPaths) -> Resolution:
    if state.brief.config.workspace is not WorkspaceKind.WORKTREE:
        return _missing(reference, "is on no branch of the task: it works in the user's own tree")
    commit = adapters.workspaces.commit_on(where.code, state.branch, reference.target)
    if not commit:
        return _missing(reference, f"is no commit of the branch {state.branch}")
    return Resolution(reference.text, exists=True, detail=f"{commit[:10]} on the branch {state.branch}")


def _file_there(adapters: Adapters, reference: Reference, place: Location) -> Resolution:
    there = f"{place.host}:{place.path}"
    path = reference.target.removeprefix(f"{place.host}:")
    seen = adapters.boxes.file_at(place.host, place.path, path)
    if seen is None:
        return _missing(reference, f"is not beneath {there}")
    if seen.is_empty:
        what = "a folder with nothing in it" if seen.is_folder else "empty"
        return _missing(reference, f"is {what} on {there}")
    if reference.line and seen.lines is None:
        return _missing(reference, f"is too large on {there} for its lines to be counted")
    if reference.line > (seen.lines or 0):
        return _missing(reference, f"has {_lines(seen.lines or 0)} on {there}")
    what = "a folder" if seen.is_folder else "a large file" if seen.lines is None else _lines(seen.lines)
    return Resolution(reference.text, exists=True, detail=f"{what} on {there}")


def _commit_there(adapters: Adapters, reference: Reference, place: Location) -> Resolution:
    if not place.host:
        return _missing(reference, f"is not searched for in {place.path}")
    there = f"{place.host}:{place.path}"
    commit = adapters.boxes.commit_at(place.host, place.path, reference.target)
    if not commit:
        return _missing(reference, f"is no commit of {there}")
    return Resolution(reference.text, exists=True, detail=f"{commit[:10]} on {there}")


def _missing(reference: Reference, why: str) -> Resolution:
    return Resolution(reference.text, exists=False, detail=why)


def _lines(count: int) -> str:
    return f"{count} line" + "s" * (count != 1)
