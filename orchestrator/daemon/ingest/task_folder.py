"""The task's folder in its project: what is wrong with it, and what can be repaired.

A link in the place of one of its folders leads the daemon's own writes elsewhere. So one counts only if it was there
when the task began, before any agent of it worked, and still leads to the same folder.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias

from orchestrator import layout
from orchestrator.daemon.core.task_paths import artifacts_of, hands_in_to
from orchestrator.daemon.journal.store import PASSING_TROUBLE
from orchestrator.model.errors import Refused
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from orchestrator.model.run import Run
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

SHARED: Final = 0o755
ASIDE: Final = "set-aside"
ABOVE: Final = ".."
"""How `links_of` calls the folder of all tasks."""

_HANDOFFS: Final = "handoffs"
_OTHERS: Final = ("artifacts", "scratchpad")

Links: TypeAlias = "Mapping[str, str] | None"
"""Where links lead that were there when the task began, by their path in its folder; None if nobody looked then."""


def links_of(files: Files, folder: Path) -> dict[str, str]:
    """Return which of a task's folders are links to others, by their path in its folder, each with where it leads."""
    names = [ABOVE, _HANDOFFS, *_OTHERS]
    for name in _OTHERS:
        with suppress(Unreadable):
            real = files.real(folder / name)
            names += [f"{name}/{each.name}" for each in files.entries(real) if not each.is_file]
    found = dict[str, str]()
    for name in names:
        path = _path(folder, name)
        entry = files.entry(path)
        if entry is not None and not entry.is_folder and (leads := _leads(files, path)):
            found[name] = leads
    return found


def trouble(files: Files, folder: Path, links: Links, *, closely: bool) -> str:
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
        if not is_right(files, folder, ABOVE, links):
            return f"is another folder: {folder.parent} is a link that was not there when the task began"
        if closely:
            files.names(layout.handoffs(folder))
    except Unreadable:
        return ""  # that can be repaired
    except OSError as error:
        if error.errno in PASSING_TROUBLE:
            raise
        return f"cannot be read ({error.strerror})"
    return ""


def put_right(files: Files, folder: Path, reports: Path, seen: Mapping[str, str], links: Links) -> str:
    """Make a task's folders anew where something else is in their place; return what was done, if anything.

    What is in their place is kept under another name. `handoffs/` is made anew also if it is gone: `reports` is the
    folder with copies of reports, by hash, and `seen` names the reports that were accepted: they are put back.

    Raises:
        OSError: the disk cannot do it.

    """
    done = _cleared(files, folder, _OTHERS, links)
    for name in _OTHERS if done else ():
        files.make_folder(folder / name, SHARED)
    handoffs = layout.handoffs(folder)
    done += _cleared(files, folder, (_HANDOFFS,), links)
    if files.entry(handoffs) is None:
        cause = done.pop() if done and done[-1].startswith(str(handoffs)) else f"{handoffs} was gone"
        files.make_folder(handoffs, SHARED)
        back = _put_back(files, handoffs, reports, seen)
        done.append(f"{cause}. It is made anew, with {back} reports that were accepted")
    return ". ".join(done)


def make_again(files: Files, folder: Path, reports: Path, seen: Mapping[str, str], links: Links) -> None:
    """Make a task's folder anew, on the user's request.

    Raises:
        Refused: it cannot be made there; the message says what to do.

    """
    project = folder.parent.parent
    entry = files.entry(project)
    if entry is None or not entry.is_folder:
        raise Refused(f"{project} does not exist: restore the project first")
    if not is_right(files, folder, ABOVE, links):
        raise Refused(
            f"{folder.parent} is a link that was not there when the task began: put the folder back"
        )
    try:
        files.make_folder(folder, SHARED)
        put_right(files, folder, reports, seen, links)
    except (Unreadable, OSError) as error:
        raise Refused(f"{folder} cannot be made: {error}. Move away what is in its place") from error


def make_run_folders(files: Files, folder: Path, state: PMState, run: Run) -> str:
    """Make the folders in a task's folder that a run writes to; return what was put aside for it, if anything.

    Raises OSError.
    """
    paths = [artifacts_of(state, run, folder), layout.scratchpad(folder, run.instance)]
    if (handed_in := hands_in_to(state, run, folder)) != layout.handoffs(folder):
        paths.append(handed_in)
    names = [path.relative_to(folder) for path in paths]
    above = dict.fromkeys(str(each) for name in names for each in [*reversed(name.parents[:-1]), name])
    done = _cleared(files, folder, [*dict.fromkeys([*_OTHERS, *above])], state.links)
    for path in paths:
        files.make_folder(path, SHARED)
    return ". ".join(done)


def is_right(files: Files, folder: Path, name: str, links: Links) -> bool:
    """Return whether one of a task's folders is a folder, or leads where it led when the task began."""
    path = _path(folder, name)
    entry = files.entry(path)
    if entry is None or entry.is_folder:
        return entry is not None
    leads = _leads(files, path)
    return leads != "" and (links is None or links.get(name) == leads)


def _cleared(files: Files, folder: Path, names: Sequence[str], links: Links) -> list[str]:
    """Put aside what is in the place of some of a task's folders; return a sentence for each."""
    done = []
    for name in names:
        path = folder / name
        if files.entry(path) is not None and not is_right(files, folder, name, links):
            kept = _free(files, path)
            files.rename(path, kept)
            done.append(f"{path} was not a folder of the task: it is kept as {kept.name}")
    return done


def _leads(files: Files, path: Path) -> str:
    """Return the folder that a link leads to; empty if it leads to none."""
    real = files.real(path)
    entry = files.entry(real)
    return str(real) if real != path and entry is not None and entry.is_folder else ""


def _path(folder: Path, name: str) -> Path:
    return folder.parent if name == ABOVE else folder / name


def _put_back(files: Files, handoffs: Path, reports: Path, seen: Mapping[str, str]) -> int:
    """Copy accepted reports back into `handoffs/` if they are missing; return how many were."""
    back, kept = 0, set(files.names(reports))
    for name, digest in seen.items():
        if digest in kept and "/" not in name:
            back += files.create(handoffs / name, files.read(reports / digest), 0o644, durable=False)
    return back


def _free(files: Files, path: Path) -> Path:
    number = 1
    while files.entry(kept := path.with_name(f"{path.name}.{ASIDE}-{number}")) is not None:
        number += 1
    return kept
