"""Archived tasks: one file each in the state folder, with a manifest as its first part."""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import Namespace
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from orchestrator import layout, own_files
from orchestrator.cli.exits import SAID, CommandError, Exit
from orchestrator.cli.screen import ago, coloured, columns, harmless, stamp
from orchestrator.cli.table import table
from orchestrator.formats.amounts import size_said

MANIFEST: Final = "manifest.json"
VERSION: Final = 1
_ENDING: Final = ".tar.gz"
_LARGEST: Final = 16_777_216
"""Most bytes of a manifest; it names every ref of a task."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive says about its task. `refs` maps refs to commits; `bundled`: the archive holds a bundle."""

    id: str
    name: str
    project: str
    state: str
    archived_at: float
    code: str = ""
    base: str = ""
    refs: dict[str, str] = field(default_factory=dict)
    bundled: bool = False
    folder: bool = False
    version: int = VERSION

    def encoded(self) -> bytes:
        """Return it as indented JSON."""
        return json.dumps(asdict(self), indent=1).encode()


@dataclass(frozen=True, slots=True)
class Archive:
    """An archived task."""

    file: Path
    manifest: Manifest

    @property
    def name(self) -> str:
        """The task's name."""
        return self.manifest.name

    @property
    def size(self) -> int:
        """The file's size in bytes."""
        return self.file.stat().st_size

    def shape(self) -> dict[str, object]:
        """Return its entry in the JSON document."""
        manifest = self.manifest
        return {
            "id": manifest.id,
            "task": manifest.name,
            "project": manifest.project,
            "state": manifest.state,
            "archived_at": stamp(manifest.archived_at),
            "size": self.size,
            "file": str(self.file),
        }

    def remove(self) -> None:
        """Delete the file, and the ref in the project that keeps its base commit."""
        from orchestrator.cli.packing import unpin

        unpin(self.manifest)
        self.file.unlink()


def archives(state: str) -> tuple[list[Archive], list[tuple[Path, str]]]:
    """Return all archived tasks, newest first, and the files that cannot be read, with the reason."""
    folder, found, faults = Path(layout.archive(state)), list[Archive](), list[tuple[Path, str]]()
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not path.name.endswith(_ENDING) or path.name.startswith("."):
            continue
        try:
            found.append(Archive(path, read_manifest(path)))
        except (OSError, ValueError) as error:
            faults.append((path, f"cannot be read as an archive ({error})"))
    return sorted(found, key=lambda each: each.manifest.archived_at, reverse=True), faults


def chosen_archive(name: str, project: str | None) -> Archive:
    """Return the archived task with this name or id.

    Raises:
        CommandError: there is none, or more than one.

    """
    folder = os.path.realpath(project) if project else ""
    found = [
        each
        for each in archives(layout.state_folder(os.environ))[0]
        if name in {each.name, each.manifest.id} and folder in {"", each.manifest.project}
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        raise CommandError(
            Exit.USAGE, f"there is no archived task {name[:80]!a}: `task list --archived` shows all of them"
        )
    raise CommandError(
        Exit.USAGE,
        "several archived tasks have this name; choose one by its id:\n"
        + "\n".join(f"  {each.manifest.id}  {harmless(each.manifest.project)}" for each in found),
    )


def show(options: Namespace) -> int:
    """Print all archived tasks, for `task list --archived`."""
    found, faults = archives(layout.state_folder(os.environ))
    if options.project:
        folder = os.path.realpath(options.project)
        found = [each for each in found if each.manifest.project == folder]
    if options.json:
        print(json.dumps({"archived": [each.shape() for each in found]}))
    elif not found:
        print("no task is archived; to archive one: `task archive NAME`")
    else:
        now = time.time()
        rows = [
            (
                each.name,
                SAID.get(each.manifest.state, each.manifest.state),
                ago(each.manifest.archived_at, now),
                size_said(each.size),
                each.manifest.project,
                each.file.name,
            )
            for each in found
        ]
        headings = ("TASK", "STATE", "ARCHIVED", "SIZE", "PROJECT", "FILE")
        print("\n".join(table(headings, rows, columns(), colour=coloured(sys.stdout))))
        print(f"\nin {harmless(layout.archive(layout.state_folder(os.environ)))}")
    for path, fault in faults:
        print(harmless(f"{path} {fault}"), file=sys.stderr)
    return Exit.DONE


def read_manifest(path: Path) -> Manifest:
    """Return an archive's manifest, which is its first part. Raises OSError, ValueError."""
    import tarfile  # only where there is an archive

    try:
        with own_files.own_file(str(path)) as data, tarfile.open(fileobj=data, mode="r:gz") as packed:
            first = packed.next()
            if first is None or first.name != MANIFEST or not first.isreg() or first.size > _LARGEST:
                raise ValueError("it does not begin with a manifest")
            file = packed.extractfile(first)
            content: Any = json.loads(file.read()) if file else None
    except (tarfile.TarError, EOFError, RecursionError) as error:
        raise ValueError(str(error)) from error
    return _manifest(content)


def _manifest(content: Any) -> Manifest:  # noqa: ANN401 (whatever JSON gave)
    if not isinstance(content, dict) or content.get("version") != VERSION:
        raise ValueError("it was written by another version of this program")
    try:
        made = Manifest(**content)
    except TypeError as error:
        raise ValueError(str(error)) from error
    texts = (
        made.id,
        made.name,
        made.project,
        made.state,
        made.code,
        made.base,
        *made.refs,
        *made.refs.values(),
    )
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("its manifest holds a value that is not text")
    return made
