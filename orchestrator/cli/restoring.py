"""An archived task brought back: its refs, its folder in the project, its journal. Cut off, it may be done again."""

from __future__ import annotations

import os
import shutil
import tarfile
from pathlib import Path
from typing import Final

from orchestrator import layout
from orchestrator.cli.archives import MANIFEST, Archive, Manifest
from orchestrator.cli.exclude import exclude
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.packing import BUNDLE, FOLDER, HOME
from orchestrator.cli.screen import harmless
from orchestrator.cli.task_branch import SHORT, repository_of
from orchestrator.cli.tasks import tasks
from orchestrator.hosts.disk import DiskFiles
from orchestrator.workspaces.repository import Repository
from orchestrator.workspaces.task_refs import drop_folder

_PLACED: Final = "placed"
_COPIED: Final = 1_048_576


def restore(archive: Archive, state: Path) -> None:
    """Bring a task back from its archive, and remove that.

    Raises:
        CommandError: something is in its place, or its project is gone; nothing was changed.
        Unavailable: git cannot do it now.
        OSError: the disk cannot do it now.

    """
    told = archive.manifest
    home, stage = layout.task_home(state, told.id), layout.archive_part(state, told.id, "restore")
    if not home.exists():
        repository = _refuse_if_in_the_way(told, state, stage)
        folder = layout.task_folder(Path(told.project), told.name)
        if not (stage / _PLACED).exists():
            drop_folder(stage)
            DiskFiles(state).make_folder(stage)
            _unpack(archive.file, stage)
        if repository is not None:
            _bring_refs(repository, told, stage / BUNDLE)
        if told.folder and (stage / FOLDER).exists():
            (stage / _PLACED).touch()
            _place(stage / FOLDER, folder)
        DiskFiles(state).make_folder(layout.task_homes(state))
        (stage / HOME).rename(home)
        exclude(Path(told.project), told.name)
    archive.remove()
    drop_folder(stage)


def _refuse_if_in_the_way(told: Manifest, state: Path, stage: Path) -> Repository | None:
    """Refuse where bringing a task back would be at the cost of something; return its repository, if it has one."""
    project = Path(told.project)
    if not project.is_dir():
        raise CommandError(
            Exit.FAILED, f"{harmless(project)} is gone, the project of {told.name}: bring it back first"
        )
    others = [task for task in tasks(str(state), told.name) if task.project == told.project]
    folder = layout.task_folder(project, told.name)
    placed = (stage / _PLACED).exists()
    if others or (told.folder and os.path.lexists(folder) and not placed):
        raise CommandError(
            Exit.FAILED,
            f"there is a task {told.name} in {harmless(project)} again: {harmless(folder)} is in the way",
        )
    if not told.base:
        return None
    repository = repository_of({"code": told.code, "project": told.project})
    if not repository.commit_of(told.base):
        raise CommandError(
            Exit.FAILED,
            f"{harmless(told.code)} has no commit {told.base[:SHORT]} any more, on which the work of {told.name} "
            f"builds: fetch it first",
        )
    taken = [ref for ref, commit in told.refs.items() if repository.commit_of(ref) not in {"", commit}]
    if taken:
        raise CommandError(
            Exit.FAILED, f"{', '.join(taken[:5])} is there again, at another commit: rename it first"
        )
    return repository


def _bring_refs(repository: Repository, told: Manifest, bundle: Path) -> None:
    if told.bundled:
        repository.git.ask("bundle", "unbundle", str(bundle))
    order = "".join(
        f"create {ref}\0{commit}\0" for ref, commit in told.refs.items() if not repository.commit_of(ref)
    )
    if order:
        repository.alter("update-ref", "--stdin", "-z", stdin=order.encode(errors="surrogateescape"))


def _place(staged: Path, folder: Path) -> None:
    """Move the task's folder into its project, in one step also where that is on another file system."""
    folder.parent.mkdir(exist_ok=True)
    part = folder.with_name(f".{folder.name}.part")
    drop_folder(part)
    shutil.move(staged, part)
    part.rename(folder)


def _unpack(file: Path, stage: Path) -> None:
    """Unpack an archive into a folder of ours: links last, so that nothing is written through one."""
    links, folders = list[tuple[Path, str]](), list[tuple[Path, int]]()
    with layout.own_file(str(file)) as data, tarfile.open(fileobj=data, mode="r:gz") as packed:
        for member in packed:
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
        source = packed.extractfile(member)  # of a hard link: the file that it is of
        if source is not None:
            shutil.copyfileobj(source, out, _COPIED)
        os.fchmod(out.fileno(), member.mode & 0o777)
    os.utime(path, (member.mtime, member.mtime))


def _inside(stage: Path, name: str) -> Path:
    """Return where a part of an archive goes: nothing but what `pack` puts in has a place."""
    parts = name.split("/")
    if parts[0] not in {MANIFEST, BUNDLE, HOME, FOLDER} or not set(parts).isdisjoint({"", ".", ".."}):
        raise CommandError(Exit.FAILED, f"the archive holds {name[:80]!a}, which is no part of a task")
    return stage.joinpath(*parts)
