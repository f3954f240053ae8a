"""The task's folder in its project: what is wrong with it, and what can be repaired."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.journal.store import PASSING_TROUBLE
from orchestrator.model.errors import Refused
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from orchestrator.model.agents import Agent
    from orchestrator.model.run import Run
    from orchestrator.ports.files import Files

SHARED: Final = 0o755
ASIDE: Final = "set-aside"


def trouble(files: Files, folder: Path, *, closely: bool) -> str:
    """Return why a task's folder cannot be used, as the rest of a sentence about it; empty if it can be.

    `closely` also tests whether `handoffs/` can be read.

    Raises:
        OSError: the system cannot answer now.

    """
    try:
        entry = files.entry(folder)
        if entry is None:
            return "is gone" if files.entry(folder.parent.parent) is not None else "is gone, with the project"
        if not entry.is_folder:
            return "is no folder any more"
        if closely:
            files.names(layout.handoffs(folder))
    except Unreadable:
        return ""  # that can be repaired
    except OSError as error:
        if error.errno in PASSING_TROUBLE:
            raise
        return f"cannot be read ({error.strerror})"
    return ""


def put_right(files: Files, folder: Path, reports: Path, seen: Mapping[str, str]) -> str:
    """Make `handoffs/` anew if it is missing or something else is in its place; return what was done, if anything.

    What is in its place is kept under another name. `reports` is the folder with copies of reports, by hash, and `seen`
    names the reports that were accepted: they are put back.

    Raises:
        OSError: the disk cannot do it.

    """
    handoffs = layout.handoffs(folder)
    entry = files.entry(handoffs)
    if entry is not None and (entry.is_folder or _leads_to_folder(files, handoffs)):
        return ""
    done = f"{handoffs} was gone"
    if entry is not None:
        kept = _free(files, handoffs)
        files.rename(handoffs, kept)
        done = f"{handoffs} was not a folder: it is kept as {kept.name}"
    files.make_folder(handoffs, SHARED)
    back = _put_back(files, handoffs, reports, seen)
    return f"{done}. It is made anew, with {back} reports that were accepted"


def make_again(files: Files, folder: Path, reports: Path, seen: Mapping[str, str]) -> None:
    """Make a task's folder anew, on the user's request.

    Raises:
        Refused: it cannot be made there; the message says what to do.

    """
    project = folder.parent.parent
    entry = files.entry(project)
    if entry is None or not entry.is_folder:
        raise Refused(f"{project} does not exist: restore the project first")
    try:
        files.make_folder(folder, SHARED)
        put_right(files, folder, reports, seen)
    except (Unreadable, OSError) as error:
        raise Refused(f"{folder} cannot be made: {error}. Move away what is in its place") from error


def make_run_folders(files: Files, folder: Path, agent: Agent, run: Run) -> None:
    """Make the folders in a task's folder that a run writes to. Raises OSError."""
    files.make_folder(layout.artifacts(folder, agent.artifact_folder), SHARED)
    files.make_folder(layout.scratchpad(folder, run.instance), SHARED)


def _put_back(files: Files, handoffs: Path, reports: Path, seen: Mapping[str, str]) -> int:
    """Copy accepted reports back into `handoffs/` if they are missing; return how many were."""
    back, kept = 0, set(files.names(reports))
    for name, digest in seen.items():
        if digest in kept and "/" not in name:
            back += files.create(handoffs / name, files.read(reports / digest), 0o644, durable=False)
    return back


def _leads_to_folder(files: Files, path: Path) -> bool:
    """Return whether a link leads to a folder: the user may have set that up."""
    try:
        files.names(path)
    except Unreadable:
        return False
    return True


def _free(files: Files, path: Path) -> Path:
    number = 1
    while files.entry(kept := path.with_name(f"{path.name}.{ASIDE}-{number}")) is not None:
        number += 1
    return kept
