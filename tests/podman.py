"""A Podman of its own for tests: storage apart from the user's, and an image made of this machine's programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

import pytest

IMAGE: Final = "localhost/orchestrator-test:1"
PROGRAMS: Final = (
    "sh",
    "bash",
    "cat",
    "mv",
    "rm",
    "mkdir",
    "ls",
    "id",
    "touch",
    "sleep",
    "setsid",
    "dd",
    "git",
    "chmod",
    "sha256sum",
    "printf",
    "tail",
)

_CONF: Final = """\
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "{runtime}"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "{root}/tmp"
volume_path = "{root}/volumes"
"""
_STORAGE: Final = """\
[storage]
driver = "overlay"
graphroot = "{root}/graph"
runroot = "{root}/run"
"""


@contextmanager
def own_podman(root: Path) -> Iterator[dict[str, str]]:
    """Yield the variables of a Podman whose storage is in `root`, with `IMAGE` in it; nothing of it is left."""
    runtime = "runc" if shutil.which("runc") else "crun"
    for name, text in (("containers.conf", _CONF), ("storage.conf", _STORAGE)):
        (root / name).write_text(text.format(root=root, runtime=runtime))
    variables = {
        "CONTAINERS_CONF": str(root / "containers.conf"),
        "CONTAINERS_STORAGE_CONF": str(root / "storage.conf"),
    }
    packed = root / "image.tar"
    make_image(packed)
    podman(variables, "import", str(packed), IMAGE)
    try:
        if why := _unusable(variables):
            pytest.skip(f"podman cannot run containers here: {why}")
        yield variables
    finally:
        podman(variables, "rm", "--all", "--force", "--time", "0")
        shutil.rmtree(root, ignore_errors=True)


def _unusable(variables: dict[str, str]) -> str:
    words = [
        "run",
        "--rm",
        "--init",
        "--network",
        "none",
        "--memory",
        "64m",
        "--pids-limit",
        "40",
        IMAGE,
        "id",
    ]
    done = subprocess.run(
        ["podman", *words],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stderr.strip()[-300:] if done.returncode else ""


def podman(variables: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        ["podman", *words],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def make_image(packed: Path) -> None:
    """Pack programs of this machine, with the libraries that they need, into a root file system."""
    with tarfile.open(packed, "w") as tar:
        for folder in ("dev", "etc", "home", "proc", "root", "run", "sys", "tmp", "var"):
            made = tarfile.TarInfo(folder)
            made.type, made.mode = tarfile.DIRTYPE, 0o755  # also of /tmp, so that whose that is matters
            tar.addfile(made)
        paths = {found: f"usr/bin/{name}" for name in PROGRAMS if (found := shutil.which(name))}
        for library in sorted({each for path in paths for each in _libraries(path)}):
            paths[library] = library.lstrip("/")
        for path, inside in paths.items():
            tar.add(os.path.realpath(path), inside)


def _libraries(program: str) -> list[str]:
    """Return the paths of the libraries that a program is linked with."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False, timeout=20).stdout
    words = (word for line in listed.splitlines() for word in line.split())
    return [word for word in words if word.startswith("/")]


@cache
def podman_is_there() -> bool:
    return shutil.which("podman") is not None
