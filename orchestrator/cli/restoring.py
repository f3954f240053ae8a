"""Restores an archived task: its refs, its project folder, its journal. After an interruption it can run again."""

from __future__ import annotations

import os
import shutil
import tarfile
from pathlib import Path
from typing import Final

from orchestrator import layout, own_files
from orchestrator.cli.archives import MANIFEST, Archive, Manifest
from orchestrator.cli.exclude import exclude
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.packing import BUNDLE, FOLDER, HOME
from orchestrator.cli.progress import Counting
from orchestrator.cli.screen import harmless
from orchestrator.cli.task_branch import SHORT, repository_of
from orchestrator.cli.tasks import tasks
from orchestrator.hosts.disk import DiskFiles
from orchestrator.workspaces.repository import Repository
from orchestrator.workspaces.task_refs import drop_folder

_PLACED: Final = "placed"
_COPIED: Final = 1_048_576


def restore(archive: Archive, state: Path) -> None:
    """Restore a task from its archive, then delete the archive.

    Raises:
        CommandError: something occupies its place, or its project is missing; nothing was changed.
        Unavailable: git does not answer now.
        OSError: the disk fails now.

    """
    manifest = archive.manifest
    home, stage = layout.task_home(state, manifest.id), layout.archive_part(state, manifest.id, "restore")
    if not home.exists():
        repository = _refuse_if_in_the_way(manifest, state, stage)
        folder = layout.task_folder(Path(manifest.project), manifest.name)
        if not (stage / _PLACED).exists():
            drop_folder(stage)
            DiskFiles(state).make_folder(stage)
            _unpack(archive.file, stage)
        if repository is not None:
            _bring_refs(repository, manifest, stage / BUNDLE)
        if manifest.folder and (stage / FOLDER).exists():
            (stage / _PLACED).touch()
            _place(stage / FOLDER, folder)
        DiskFiles(state).make_folder(layout.task_homes(state))
        (stage / HOME).rename(home)
        exclude(Path(manifest.project), manifest.name)
    archive.remove()
    drop_folder(stage)


def _refuse_if_in_the_way(manifest: Manifest, state: Path, stage: Path) -> Repository | None:
    """Refuse if restoring would overwrite anything. Return the task's repository, if it has one."""
    project = Path(manifest.project)
    if not project.is_dir():
        raise CommandError(
            Exit.FAILED,
            f"{harmless(project)}, the project of {manifest.name}, is missing: restore that folder first",
        )
    others = [task for task in tasks(str(state), manifest.name) if task.project == manifest.project]
    folder = layout.task_folder(project, manifest.name)
    placed = (stage / _PLACED).exists()
    if others or (manifest.folder and os.path.lexists(folder) and not placed):
        raise CommandError(
            Exit.FAILED,
            f"{harmless(project)} has a new task {manifest.name}: rename or remove {harmless(folder)} first",
        )
    if not manifest.base:
        return None
    repository = repository_of({"code": manifest.code, "project": manifest.project})
    if not repository.commit_of(manifest.base):
        raise CommandError(
            Exit.FAILED,
            f"{harmless(manifest.code)} no longer has commit {manifest.base[:SHORT]}, on which the work of "
            f"{manifest.name} builds: fetch it first",
        )
    taken = [ref for ref, commit in manifest.refs.items() if repository.commit_of(ref) not in {"", commit}]
    if taken:
        raise CommandError(
            Exit.FAILED, f"{', '.join(taken[:5])} exists again, at another commit: rename it first"
        )
    return repository


def _bring_refs(repository: Repository, manifest: Manifest, bundle: Path) -> None:
    if manifest.bundled:
        repository.git.ask("bundle", "unbundle", str(bundle))
    order = "".join(
        f"create {ref}\0{commit}\0" for ref, commit in manifest.refs.items() if not repository.commit_of(ref)
    )
    if order:
        repository.alter("update-ref", "--stdin", "-z", stdin=order.encode(errors="surrogateescape"))


def _place(staged: Path, folder: Path) -> None:
    """Move the task's folder into its project atomically, even from another file system."""
    folder.parent.mkdir(exist_ok=True)
    part = folder.with_name(f".{folder.name}.part")
    drop_folder(part)
    shutil.move(staged, part)
    part.rename(folder)


def _unpack(file: Path, stage: Path) -> None:
    """Unpack an archive into our own folder. Links come last, so that nothing is written through one."""
    links, folders = list[tuple[Path, str]](), list[tuple[Path, int]]()
    with (
        own_files.own_file(str(file)) as data,
        tarfile.open(fileobj=data, mode="r:gz") as packed,
        Counting("unpacking", "files") as counting,
    ):
        for member in packed:
            counting.step()
            path = _inside(stage, member.name)
            if member.isdir():
                path.mkdir(mode=0o700)
                folders.append((path, member.mode))
            elif member.issym():
                links.append((path, member.linkname))
            elif member.isfile() or member.islnk():
                _write(packed, member, path)
    for path, goal in links:
        path.symlink_to(goal)
    for path, mode in reversed(folders):
        path.chmod(mode & 0o777)


def _write(packed: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "wb") as out:  # noqa: PTH123 (it is open)
        source = packed.extractfile(member)  # of a hard link: the file that it links to
        if source is not None:
            shutil.copyfileobj(source, out, _COPIED)
        os.fchmod(out.fileno(), member.mode & 0o777)
    os.utime(path, (member.mtime, member.mtime))


def _inside(stage: Path, name: str) -> Path:
    """Return where a member of an archive goes. Only what `pack` writes is accepted."""
    parts = name.split("/")
    if parts[0] not in {MANIFEST, BUNDLE, HOME, FOLDER} or not set(parts).isdisjoint({"", ".", ".."}):
        raise CommandError(Exit.FAILED, f"the archive holds {name[:80]!a}, which is no part of a task")
    return stage.joinpath(*parts)
