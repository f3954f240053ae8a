"""Copies of the project to try things in: what tests write never reaches a work tree."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from errors import GitError
from repository import SUBMODULE, Repository, is_regular

PLAIN_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
BUILT_SUFFIXES = (".py", ".so", ".pyd")
BUILT_LIMIT, BUILT_BYTES = 500, 200_000_000


@contextmanager
def copied(workspace: Repository, original: Path | None = None) -> Iterator[Path]:
    """A copy of a work tree, gone when the block ends.

    Args:
        workspace: The work tree; its files as they stand, committed or not.
        original: The user's own work tree, which may hold what a fresh one lacks: a version module or a
            compiled extension that a build has put beside the sources and git ignores, or its submodules.
    """
    with _folder() as outer:
        inner = outer / _name(original)
        inner.mkdir()
        workspace.copy(inner)
        if original is not None:
            _add_built(workspace, original, inner)
            _add_submodules(workspace, original, inner, outer / "index")
        yield inner


@contextmanager
def exported(workspace: Repository, revision: str) -> Iterator[Path]:
    """The files of one commit, gone when the block ends."""
    with _folder() as outer:
        inner = outer / "project"
        inner.mkdir()
        workspace.export(revision, inner, outer / "index")
        yield inner


@contextmanager
def _folder() -> Iterator[Path]:
    # Not in the task's scratchpad: that lies in the user's work tree, where a test that calls git, and
    # pytest looking upwards for its configuration, would find the user's.
    outer = Path(tempfile.mkdtemp(prefix="tidy-")).resolve()
    try:
        # pytest's look upwards ends here.
        (outer / "pytest.ini").touch()
        yield outer
    finally:
        _remove(outer)


def _remove(folder: Path) -> None:
    """Remove a folder, also one in which a test left folders without the right to write."""
    shutil.rmtree(folder, ignore_errors=True)
    for parent, names, _ in os.walk(folder):
        for name in names:
            with suppress(OSError):
                if not (Path(parent) / name).is_symlink():
                    (Path(parent) / name).chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _name(original: Path | None) -> str:
    """The project's own folder name, for tests that look at it, if it is a plain one."""
    name = original.name if original else ""
    return name if PLAIN_NAME.fullmatch(name) and name not in {".", "..", "pytest.ini"} else "project"


def _add_built(workspace: Repository, original: Path, copy: Path) -> None:
    """Copy what a build put beside the sources: ignored modules in folders that have tracked ones."""
    packages = {str(PurePosixPath(path).parent) for path in workspace.python_files()}
    room = BUILT_BYTES
    for path in _ignored(original)[:BUILT_LIMIT]:
        source, target = original / path, copy / path
        if str(PurePosixPath(path).parent) not in packages or target.exists() or not is_regular(source):
            continue
        room -= source.stat().st_size
        if room < 0:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def _add_submodules(workspace: Repository, original: Path, copy: Path, index: Path) -> None:
    """Lay each submodule's files as the commit names them, where the user has checked that submodule out."""
    for entry in workspace.entries():
        if entry.mode != SUBMODULE or not (original / entry.path / ".git").exists():
            continue
        with suppress(GitError):
            Repository(original / entry.path).export(entry.object, copy / entry.path, index)


def _ignored(original: Path) -> list[str]:
    patterns = [f"*{suffix}" for suffix in BUILT_SUFFIXES]
    try:
        # --directory: a virtualenv is one entry, not ten thousand.
        listing = Repository(original).git(
            "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z", "--", *patterns
        )
    except GitError:
        return []
    return [path for path in os.fsdecode(listing).split("\0") if path.endswith(BUILT_SUFFIXES)]
