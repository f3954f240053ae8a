"""Whether this template can work on a project, asked before anything is started.

usage: preflight.py PROJECT     (0: yes, with notes; 1: no, with the reason and what to do)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import linter
from errors import GitError, TidyError
from outcomes import is_test
from repository import Repository


def look(project: Path) -> list[str]:
    """The notes on a project that this template can work on.

    Raises:
        TidyError: it cannot; the message says what to do.
    """
    if not project.is_dir():
        raise TidyError(f"{project} is not a folder: say --project PATH with the folder of a Python project.")
    workspace = Repository(project)
    try:
        top = Path(workspace.line("rev-parse", "--show-toplevel"))
    except GitError as error:
        if "not a git repository" not in str(error):
            raise
        raise TidyError(
            f"{project} is not under git: run `git init && git add . && git commit` in it first."
        ) from None
    try:
        workspace.commit()
    except GitError:
        raise TidyError(f"{project} has no commit yet: run `git add . && git commit` in it first.") from None
    files = workspace.python_files()
    if not files:
        raise TidyError(
            f"{project} has no Python file in its last commit: commit some, or name another project."
        )
    if not linter.is_installed():
        raise TidyError(f"ruff cannot be run by {sys.executable}: install it there (pip install ruff).")
    return _notes(workspace, project, top, files)


def _notes(workspace: Repository, project: Path, top: Path, files: Sequence[str]) -> list[str]:
    notes = []
    if project.resolve() != top.resolve():
        notes.append(f"{project} is a part of the repository {top}: the whole repository is looked at.")
    if workspace.line("status", "--porcelain", "--untracked-files=no"):
        notes.append("uncommitted changes are not looked at: the work starts from the last commit.")
    if not any(is_test(path) for path in files):
        notes.append("no tests found: changes will be checked by compiling and by ruff only.")
    return notes


def main(arguments: Sequence[str]) -> int:
    """Look at the project that the one argument names.

    Returns:
        The exit status: 0 to go on, 1 to stop.
    """
    if len(arguments) != 1:
        sys.stderr.write("usage: preflight.py PROJECT\n")
        return 1
    try:
        notes = look(Path(os.path.abspath(arguments[0])))  # noqa: PTH100 - a link stays what the user called it
    except TidyError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.writelines(f"{note}\n" for note in notes)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
