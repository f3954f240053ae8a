"""Packs a whole task into one file: its folders, its journal and logs, and a bundle of its refs.

The bundle builds on the commit that the task began from; a ref in the project keeps git from dropping that commit.
"""

from __future__ import annotations

import io
import os
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from orchestrator import layout, own_files
from orchestrator.cli.archives import MANIFEST, Archive, Manifest, read_manifest
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.progress import Counting, doing
from orchestrator.cli.task_branch import code_of, repository_of
from orchestrator.cli.task_resources import TaskResources
from orchestrator.formats.settings import load_section
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.worktree import Tree
from orchestrator.workspaces.git import GitWorkspaces
from orchestrator.workspaces.repository import Repository
from orchestrator.workspaces.side_files import name_in
from orchestrator.workspaces.task_refs import drop_refs, refs_of

BUNDLE: Final = "refs.bundle"
HOME: Final = "home"
FOLDER: Final = "folder"

_LEFT_OUT: Final = frozenset({"requests", "leaving.json"})
_TRIES: Final = 3
_PINNED: Final = "refs/tasks/archived/"


def pack(has: TaskResources, state: Path) -> Archive:
    """Pack a task that the daemon has released into one file, durably, and return that file. Deletes nothing yet.

    Uncommitted work in its worktrees is on refs afterwards.

    Raises:
        CommandError: its files keep changing.
        Unavailable: git does not answer now.
        OSError: the disk fails now.

    """
    DiskFiles(state).make_folder(layout.archive(state))
    task, file = has.task, layout.archive_file(state, has.task.id)
    bundle, part = (layout.archive_part(state, task.id, what) for what in ("bundle", "part"))
    with doing(f"bundling the commits of {task.name}"):
        manifest = _manifest(has, bundle)
    for _ in range(_TRIES):
        try:
            _write(part, manifest, bundle, has)
            break
        except FileNotFoundError:  # a log was compressed meanwhile
            continue
    else:
        raise CommandError(Exit.FAILED, f"the files of {task.name} keep changing: try again later")
    with doing(f"reading the archive of {task.name} back"):
        _check(part, manifest)
    part.rename(file)
    _sync_folder(file.parent)
    bundle.unlink(missing_ok=True)
    return Archive(file, manifest)


def unpin(manifest: Manifest) -> None:
    """Let git drop the commit that an archive builds on, if nothing else holds it. A missing repository is fine."""
    if manifest.base:
        try:
            repository = repository_of({"code": manifest.code, "project": manifest.project})
            ref = f"{_PINNED}{manifest.id}"
            if commit := repository.commit_of(ref):
                drop_refs(repository, {ref: commit})
        except (Refused, Unavailable):
            return


def _manifest(has: TaskResources, bundle: Path) -> Manifest:
    """Return the archive's manifest; write the bundle of the task's refs, and pin the commit it builds on."""
    task, refs, bundled = has.task, dict[str, str](), False
    base = str(task.view.get("base") or "")
    if has.repository is not None and base:
        _keep_what_lies(has, base)
        refs = refs_of(has.repository, has.branch) if has.holdings.refs else {}
        bundled = _bundled(has.repository, refs, base, bundle)
        ref = f"{_PINNED}{task.id}"
        if not has.repository.commit_of(ref):
            has.repository.move(ref, base, "", "archived")
    return Manifest(
        id=task.id,
        name=task.name,
        project=task.project,
        state=str(task.view.get("state", "requested")),
        archived_at=time.time(),
        code=str(code_of(task.view)) if task.view else "",
        base=base,
        refs=refs,
        bundled=bundled,
        folder=has.folder is not None,
    )


def _keep_what_lies(has: TaskResources, base: str) -> None:
    """Commit uncommitted work of the task's worktrees to refs, and remove the worktrees."""
    git = load_section(Path(layout.config_file(os.environ)), os.environ, "git")
    workspaces = GitWorkspaces(git.timeout, environ=os.environ)
    for name in dict.fromkeys(
        name_in(path.name) for path in has.holdings.trees
    ):  # one tree may have had several names on disk
        tree = Tree(code_of(has.task.view), has.worktrees, name, has.branch, base)
        workspaces.release(tree, 0)


def _bundled(repository: Repository, refs: dict[str, str], base: str, bundle: Path) -> bool:
    """Write a bundle of the refs' commits beyond the base; return False if there are none."""
    git = repository.git
    new = [ref for ref in refs if git.ask("rev-list", "--count", f"{base}..{refs[ref]}") != "0"]
    if not new:
        return False
    wanted = "".join(f"{ref}\n" for ref in new) + f"^{base}\n"
    git.ask(
        "bundle", "create", "--quiet", str(bundle), "--stdin", stdin=wanted.encode(errors="surrogateescape")
    )
    git.ask("bundle", "verify", "--quiet", str(bundle))
    return True


def _write(part: Path, manifest: Manifest, bundle: Path, has: TaskResources) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(part, flags, 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123 (it is open)
        with tarfile.open(fileobj=file, mode="w:gz", format=tarfile.PAX_FORMAT) as packed:
            encoded = manifest.encoded()
            first = tarfile.TarInfo(MANIFEST)
            first.size, first.mtime = len(encoded), manifest.archived_at
            packed.addfile(first, io.BytesIO(encoded))
            if manifest.bundled:
                packed.add(bundle, BUNDLE, recursive=False)
            with Counting(f"packing {has.task.name}", "files") as counting:
                _add(packed, has.home, HOME, counting, _LEFT_OUT)
                if has.folder is not None:
                    _add(packed, has.folder, FOLDER, counting)
        file.flush()
        os.fsync(file.fileno())


def _add(
    packed: tarfile.TarFile,
    root: Path,
    name: str,
    counting: Counting,
    left_out: frozenset[str] = frozenset(),
) -> None:
    """Add a folder as it is: plain files, folders, and links as links."""
    for path, inside in _walk(root, name, left_out):
        counting.step()
        if path.is_symlink() or path.is_dir() or path.is_file():
            packed.add(path, inside, recursive=False)


def _walk(root: Path, name: str, left_out: frozenset[str]) -> Iterator[tuple[Path, str]]:
    yield root, name
    for entry in sorted(os.scandir(root), key=lambda each: each.name):
        if entry.name in left_out:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path), f"{name}/{entry.name}", frozenset())
        else:
            yield Path(entry.path), f"{name}/{entry.name}"


def _check(part: Path, manifest: Manifest) -> None:
    """Read an archive back from the disk: its sources are about to be deleted."""
    if read_manifest(part) != manifest:
        raise CommandError(Exit.FAILED, f"{part} does not hold what was packed; nothing was deleted")
    with own_files.own_file(str(part)) as data, tarfile.open(fileobj=data, mode="r|gz") as packed:
        for _ in packed:
            pass


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
