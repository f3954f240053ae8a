"""Where a branch of a repository is, read from git's own files: it starts no process, so it costs next to nothing.

Where references are kept in another way (`reftable`), or the files cannot be read, nothing is known.
"""

from __future__ import annotations

import os

_MOST_BYTES = 16_000_000
"""Of `packed-refs`: some 200,000 references."""


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
    from orchestrator import plain_files  # most callers look at nothing

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
