"""Look up the evidence of success criteria: in the task's folder, and on the task's branch (U11).

It stands at the accepted work, which is seen to first (`actions.branch`). Whether that changes anything is seen here.

Work of agents in a folder of their own, here or on a box, may stay there. So files that are not on the branch are also
looked for in those folders, and commits on the boxes.
"""

from __future__ import annotations

from dataclasses import replace
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.actions.named_files import absent_files
from orchestrator.daemon.actions.own_artifacts import came_meanwhile, is_own
from orchestrator.daemon.core.task_paths import Adapters, TaskPaths
from orchestrator.hosts.ssh.withheld import withheld
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

_ARTIFACTS: Final = "artifacts"
_OURS: Final = (_ARTIFACTS, "handoffs")
_CLAIM: Final = (
    "is in the task's folder, and not in its `artifacts/`: it is what somebody says, not what was made"
)
_BARE: Final = "is a whole folder of the task or the project: name a file in it"
_OF_GIT: Final = "is git's own"


def resolve(
    adapters: Adapters, state: PMState, action: ResolveEvidence, where: TaskPaths, at: float
) -> EvidenceResolved:
    """Return the resolution of each reference.

    Raises:
        Unavailable: git, or a box, cannot do it now.
        OSError: the disk cannot do it now.

    """
    elsewhere = lasting_places(state)
    came = came_meanwhile(adapters.files, state, state.steps[action.step], where)

    def looked_up(each: Reference) -> Resolution:
        found = _resolved(adapters, state, each, where, elsewhere)
        own = found.exists and is_own(_in_task_folder(each, where), came, adapters.files, where)
        return _as_word(found, action.step) if own else found

    found = tuple(looked_up(each) for each in action.references)
    empty = not elsewhere and _is_empty(adapters, state, where)
    absent = absent_files(adapters, state, action.marks, where)
    return EvidenceResolved(at, action.id, action.step, action.attempt, found, empty=empty, absent=absent)


def _as_word(found: Resolution, judge: str) -> Resolution:
    """Say of an artifact that came while its judge was at work that it is the judge's own word."""
    return replace(found, detail=f"{found.detail}, written while {judge} judged: its own word", own=True)


def _in_task_folder(reference: Reference, where: TaskPaths) -> str:
    """Return the path of what is named in the task's folder; empty if it lies elsewhere."""
    root = where.task if reference.kind is EvidenceKind.TASK_FILE else where.code
    path = root / reference.target
    return str(path.relative_to(where.task)) if path.is_relative_to(where.task) else ""


def _is_empty(adapters: Adapters, state: PMState, where: TaskPaths) -> bool:
    """Return whether the branch has commits, and all of them together change nothing."""
    if not accepted_work(state):
        return False
    seen = adapters.workspaces.survey(where.code, state.branch, state.base)
    return seen is not None and bool(seen.count) and not seen.files


def _resolved(
    adapters: Adapters, state: PMState, reference: Reference, where: TaskPaths, elsewhere: list[Location]
) -> Resolution:
    missing = []
    for place in (None, *elsewhere):
        try:
            if place is None:
                found = _in_task(adapters, state, reference, where)
            elif reference.kind in {EvidenceKind.FILE, EvidenceKind.COMMIT}:
                found = _in_place(adapters, state, reference, where, place)
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


def _in_place(
    adapters: Adapters, state: PMState, reference: Reference, where: TaskPaths, place: Location
) -> Resolution:
    """Look for a file or a commit in a folder of an agent's own."""
    if reference.kind is EvidenceKind.COMMIT:
        return _commit_there(adapters, state, reference, place)
    if place.host:
        return _file_there(adapters, state, reference, place)
    folder = Path(place.path).expanduser()
    return _on_disk(adapters, reference, where, folder, folder / reference.target, f" in {folder}")


def _of_task(adapters: Adapters, reference: Reference, where: TaskPaths, path: str) -> Resolution:
    """Look for a file in the artifacts of the task. A handoff is a claim: it is no evidence of what it says."""
    if path.partition("/")[0] != _ARTIFACTS:
        return _missing(reference, _CLAIM)
    if why := withheld(adapters.files, layout.task_withheld(where.home)).get(normpath(path)):
        return _missing(reference, f"is not wholly here: {why}")
    return _on_disk(adapters, reference, where, where.task / _ARTIFACTS, where.task / path, "")


def _file(adapters: Adapters, state: PMState, reference: Reference, where: TaskPaths) -> Resolution:
    """Look for a file: on the task's branch if it has one, else in the user's own tree."""
    named = Path(reference.target)
    if named.is_absolute():
        return _absolute(adapters, state, reference, where)
    if state.brief.config.workspace is not WorkspaceKind.WORKTREE:
        return _on_disk(adapters, reference, where, where.code, where.code / named, " in the project")
    if _is_claim(where.code / named, where.task):
        return _missing(reference, _CLAIM)
    seen = adapters.workspaces.file_on(where.code, state.branch, reference.target)
    if seen is None:
        return _missing(reference, f"is not on the branch {state.branch}")
    if seen.is_link:
        return _missing(reference, f"is a link on the branch {state.branch}: name its target")
    if seen.is_empty:
        what = "a folder with nothing in it" if seen.is_folder else "empty"
        return _missing(reference, f"is {what} on the branch {state.branch}")
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


def _on_disk(
    adapters: Adapters, reference: Reference, where: TaskPaths, root: Path, path: Path, said: str
) -> Resolution:
    """Look for a file below a folder; links that lead out of it are not followed. `said` is how it is called."""
    files = adapters.files
    real, top, task = files.real(path), files.real(root), files.real(where.task)
    if not real.is_relative_to(top):
        return _missing(reference, "leads elsewhere")
    entry = files.entry(real)
    if entry is None or not (entry.is_file or entry.is_folder):
        return _missing(reference, f"does not exist{said}" if said else "is not in the task's folder")
    if real == top or task.is_relative_to(real):
        return _missing(reference, _BARE)
    if _is_claim(real, task):
        return _missing(reference, _CLAIM)
    if ".git" in real.relative_to(top).parts:
        return _missing(reference, _OF_GIT)
    if entry.is_folder:
        held = not reference.line and _holds_a_file(adapters, real)
        return Resolution(reference.text, held, "a folder" if held else "is a folder with nothing in it")
    if not entry.size:
        return _missing(reference, f"is empty{said}")
    return _lines_of(adapters, reference, real, entry.size, said)


def _is_claim(path: Path, task: Path) -> bool:
    """Return whether a path leads into a task's own folder, but to none of its artifacts."""
    return path.is_relative_to(task) and path.relative_to(task).parts[:1] != (_ARTIFACTS,)


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
    look = adapters.workspaces.commit_on
    commit = look(where.code, state.branch, reference.target)
    if not commit:
        return _missing(reference, f"is no commit of the branch {state.branch}")
    # After `task rebase` onto a branch that has the work already, the base has the task's own commits too.
    is_own = commit in accepted_work(state).values()
    if not is_own and not look(where.code, state.branch, commit, beyond=state.base):
        return _missing(reference, "was there before the task began")
    return Resolution(reference.text, exists=True, detail=f"{commit[:10]} on the branch {state.branch}")


def _file_there(adapters: Adapters, state: PMState, reference: Reference, place: Location) -> Resolution:
    there = f"{place.host}:{place.path}"
    path = reference.target.removeprefix(f"{place.host}:")
    seen = adapters.boxes.file_at(place.host, place.path, path, f"tasks/{state.name}")
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


def _commit_there(adapters: Adapters, state: PMState, reference: Reference, place: Location) -> Resolution:
    if not place.host:
        return _missing(reference, f"is not searched for in {place.path}")
    there = f"{place.host}:{place.path}"
    commit = adapters.boxes.commit_at(place.host, place.path, reference.target, state.base, state.started_at)
    if not commit:
        return _missing(reference, f"is no commit of {there} that was made since the task began")
    return Resolution(reference.text, exists=True, detail=f"{commit[:10]} on {there}")


def _missing(reference: Reference, why: str) -> Resolution:
    return Resolution(reference.text, exists=False, detail=why)


def _lines(count: int) -> str:
    return f"{count} line" + "s" * (count != 1)
