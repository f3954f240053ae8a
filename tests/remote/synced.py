"""A task here and on a real box, and what its agents lay down there, for tests of what is brought."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.ssh.bounds import Bounds
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.remote_paths import RemotePaths
from orchestrator.hosts.ssh.sync import LocalPaths, TaskSync
from orchestrator.ports.files import Entry
from tests.remote.boxes import Box

TASK: Final = "build-0123abcd"
NAME: Final = "build"
RUN: Final = "r-0a1b"
REPORT: Final = "dev-20251127-154500.md"


class Watched(DiskFiles):
    """Files that tell what was written, read and listed."""

    def __init__(self) -> None:
        super().__init__()
        self.written = list[str]()
        self.looked = list[Path]()

    def write(self, path: Path, data: bytes, *rest: Any, **more: Any) -> None:
        super().write(path, data, *rest, **more)
        self.written.append(path.name)

    def read(self, path: Path, limit: int = 67_108_864, start: int = 0) -> bytes:
        self.looked.append(path)
        return super().read(path, limit, start)

    def entries(self, folder: Path) -> list[Entry]:
        self.looked.append(folder)
        return super().entries(folder)


@dataclass
class World:
    """A task here and on a box."""

    box: Box
    link: Link
    folder: Path
    files: Watched = field(default_factory=Watched)

    def __post_init__(self) -> None:
        self.repo = self.box.home / "my repo"
        self.root = self.box.home / ".local/state/agent-orchestrator-box"
        self.there = RemotePaths(TASK, NAME, str(self.repo), str(self.root))
        self.shared, self.own = Path(self.there.shared), Path(self.there.own)
        self.here = LocalPaths(
            self.folder / "tasks/build", self.folder / "home", self.folder / "boxes/b" / TASK
        )
        self.here.folder.mkdir(parents=True, exist_ok=True)
        self.repo.mkdir()

    def sync(self, bounds: Bounds | None = None, steady: Callable[[], float] = time.monotonic) -> TaskSync:
        return TaskSync(
            self.link, self.files, self.there, self.here, os.environ, bounds=bounds, steady=steady
        )

    def prepared(self) -> TaskSync:
        made = self.sync()
        made.prepare()
        (self.own / "runs" / RUN).mkdir()
        return made

    def arrived(self) -> dict[str, bytes]:
        """Return what lies here, but for conflicts that were kept."""
        roots = (self.here.folder, self.here.home)
        return {
            str(path.relative_to(root)): path.read_bytes()
            for root in roots
            for path in root.rglob("*")
            if path.is_file()
        }


def put(path: Path, data: bytes = b"there") -> None:
    """Write a file as those on a box do: renamed into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(".tmp-new")
    temporary.write_bytes(data)
    temporary.rename(path)


def report(*artifacts: str) -> bytes:
    lines = [
        "# Handoff",
        "**Status:** COMPLETE",
        "",
        "## Completed Work",
        "All.",
        "",
        "## Artifacts Generated",
    ]
    return "\n".join([*lines, *(f"- {each}" for each in artifacts), ""]).encode()


def mirrored(world: World) -> int:
    """Return the bytes here of what was fetched, beside what was published."""
    folders = [world.here.mirror / name for name in ("tree", "tree.incoming", "tree.stage")]
    return sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file())
