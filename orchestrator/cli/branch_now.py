"""Whether the branch of a task at rest still is where the daemon last saw it: its user may have moved or deleted it.

The daemon looks at the branch of a task that is over when something happens to it, and at no other time. So what its
state says of the branch may be days old. A look at two small files shows whether that still holds; it starts no
process, as `task status` has to answer at once. Where references are kept in another way (`reftable`), nothing is
known, and nothing is corrected.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from typing import Any

SHORT = 10
"""Characters of a commit's hash that are shown."""

_ACTIVE = ("running", "waiting")
_MOST_BYTES = 16_000_000
"""Of `packed-refs`: some 200,000 references."""


def with_branch_now(view: dict[str, Any], now: float) -> dict[str, Any]:
    """Return a task's state with its result corrected, if its branch is not where that says; else the state as it is.

    Args:
        view: the task's state, as the daemon wrote it.
        now: the time, in seconds since the epoch.

    """
    outcome, branch, tip = view.get("outcome") or {}, view.get("branch"), view.get("tip")
    if not (outcome and branch and tip and view.get("base")) or view.get("state") in _ACTIVE:
        return view
    code, task = f"{view.get('code') or view.get('project')}", view.get("id")
    if not os.path.isdir(code):  # noqa: PTH112 (no pathlib here)
        work = f"branch `{branch}` was at {tip[:SHORT]} in {code}, which is missing"
        return _corrected(view, work, f"put {code} back to where it was", now, every=True)
    found = commit_of(code, f"{branch}")
    if found in {None, tip}:
        return view
    if not found:
        work = f"there is no branch `{branch}`: it was at {tip[:SHORT]}"
        return _corrected(view, work, f"`task diff {task}` says how to get the branch back", now)
    work = f"branch `{branch}` is at {found[:SHORT]}, where the PM left it at {tip[:SHORT]}"
    what = f"`task merge {task}` says what is different, and how to put the branch back"
    return _corrected(view, work, what, now)


def _corrected(
    view: dict[str, Any], work: str, what: str, now: float, *, every: bool = False
) -> dict[str, Any]:
    """Return a state whose result says where the branch is, and what can be done about that.

    `every` replaces all that may be done next, not only what takes the branch over.
    """
    outcome = view["outcome"]
    said = f"{outcome.get('work') or ''}".split("; ")
    said = [work if f"`{view['branch']}`" in each else each for each in said]
    steps = f"{outcome.get('next') or ''}".split("; ")
    steps = [what if every or "`task merge " in each or "`task diff " in each else each for each in steps]
    corrected = {
        **outcome,
        "work": "; ".join(dict.fromkeys(said)),
        "next": "; ".join(dict.fromkeys(steps)),
        "branch_seen": now,
    }
    return {**view, "outcome": corrected}


def commit_of(code: str, branch: str) -> str | None:
    """Return the commit of a branch in the repository of a folder; empty if there is no such branch.

    None if that is not known: no repository is found, or its files cannot be read or are of another kind.
    """
    git = _git_folder(code)
    if git is None or os.path.exists(f"{git}/reftable"):  # noqa: PTH110
        return None
    name = f"refs/heads/{branch}"
    try:
        return _hash(_read(f"{git}/{name}", 4096).decode("ascii", "replace").strip())
    except FileNotFoundError:
        pass
    except OSError:
        return None
    try:
        packed = _read(f"{git}/packed-refs", _MOST_BYTES)
    except FileNotFoundError:
        return ""
    except OSError:
        return None
    wanted = f" {name}".encode()
    line = next((each for each in packed.splitlines() if each.endswith(wanted)), b"")
    return _hash(line.partition(b" ")[0].decode("ascii", "replace")) if line else ""


def _read(path: str, most: int) -> bytes:
    """Return the bytes of a file, at most so many. Raises OSError."""
    from orchestrator import plain_files  # for a task at work nothing is looked at

    return plain_files.read(path, most)


def _hash(text: str) -> str | None:
    """Return a commit's hash; None for what is none, such as the name of another reference."""
    return text if len(text) in {40, 64} and not text.strip("0123456789abcdef") else None


def _git_folder(code: str) -> str | None:
    """Return the folder that holds the branches of the repository in which a folder lies; None if none is found."""
    folder = os.path.realpath(code)
    while not os.path.lexists(f"{folder}/.git"):
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            return None
        folder = above
    git = f"{folder}/.git"
    try:
        if not os.path.isdir(git):  # noqa: PTH112
            said = _read(git, 4096).decode().removeprefix("gitdir:").strip()
            git = os.path.join(folder, said)  # noqa: PTH118
        common = f"{git}/commondir"
        if os.path.lexists(common):
            git = os.path.join(git, _read(common, 4096).decode().strip())  # noqa: PTH118
    except (OSError, ValueError):
        return None
    return git if os.path.isfile(f"{git}/HEAD") else None  # noqa: PTH113
