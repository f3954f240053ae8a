"""Whether a file is still a program."""

from __future__ import annotations

import warnings

from repository import Repository


def broken(source: bytes, path: str) -> str:
    """Why this source does not compile; empty if it does."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__
    return ""


def newly_broken(workspace: Repository, since: str) -> dict[str, str]:
    """The files of a work tree that compiled in the commit `since` and do not now, each with the reason."""
    found = {}
    for change in workspace.changes(since):
        path = workspace.folder / change.path
        if change.path.endswith((".py", ".pyi")) and path.is_file():
            why = broken(path.read_bytes(), change.path)
            before = workspace.blob(since, change.path)
            if why and (before is None or not broken(before, change.path)):
                found[change.path] = why
    return found
