"""What a fault needs of the machine: small disks, cgroups. Where it gives none, the try is skipped, by name."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.chaos.trial import Skipped
from tests.integration.daemon.world import World
from tests.polling import wait_until

CGROUPS = Path("/sys/fs/cgroup")


@contextmanager
def small_disk(world: World, folder: Path, options: str) -> Iterator[Path]:
    """Put a folder, empty so far, on a disk of its own: `size=1m`, `nr_inodes=100`."""
    folder.mkdir(mode=0o700, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"mode=0700,{options}", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Skipped(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        world.end_processes()
        # What was killed may not have let go of it yet.
        wait_until(
            lambda: not subprocess.run(["umount", str(folder)], capture_output=True, check=False).returncode
        )


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let nobody write on a disk for a while."""
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(folder)], check=True)


def fill_up(disk: Path) -> Path:
    """Use up all room of a disk and return the file to remove."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65536, 1):
            with suppress(OSError):
                while True:
                    file.write(b"x" * size)
    return filler


def use_up_inodes(disk: Path) -> list[Path]:
    """Use up all inodes of a disk and return the files to remove."""
    made: list[Path] = []
    with suppress(OSError):
        while True:
            path = disk / f"inode-{len(made)}"
            path.touch()
            made.append(path)
    return made


@contextmanager
def cgroup(kind: str, limit: str, value: str) -> Iterator[Path]:
    """Make a cgroup beneath our own; what is to be bound by it is written into its `cgroup.procs`."""
    group = _own_cgroup(kind) / f"chaos-{os.getpid()}-{os.urandom(4).hex()}"
    try:
        group.mkdir()
        (group / limit).write_text(value)
    except OSError as error:
        with suppress(OSError):
            group.rmdir()
        raise Skipped(f"no {kind} cgroup can be made here: {error.strerror}") from None
    try:
        yield group
    finally:
        for pid in (group / "cgroup.procs").read_text().split():
            with suppress(OSError):  # it ended since
                (group.parent / "cgroup.procs").write_text(pid)
        wait_until(lambda: not (group / "cgroup.procs").read_text())
        group.rmdir()


def _own_cgroup(kind: str) -> Path:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if kind in controllers.split(","):
            return CGROUPS / kind / path.lstrip("/")
    raise Skipped(f"there is no {kind} cgroup (version 1) here")


@contextmanager
def no_forks(pid: int) -> Iterator[None]:
    """Let a process start no other one for a while: by the limit of its user, or by a cgroup where that is root."""
    if os.getuid():
        usual = resource.prlimit(pid, resource.RLIMIT_NPROC)
        resource.prlimit(pid, resource.RLIMIT_NPROC, (1, usual[1]))
        try:
            yield
        finally:
            resource.prlimit(pid, resource.RLIMIT_NPROC, usual)
        return
    with cgroup("pids", "pids.max", "1") as group:
        (group / "cgroup.procs").write_text(str(pid))
        yield
