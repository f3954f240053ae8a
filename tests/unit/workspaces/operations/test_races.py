"""Another process swaps folders and files for links to outside, over and over: nothing follows one (F3)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchestrator.model.errors import Refused
from orchestrator.workspaces.operations import tree

TRIES = [
    pytest.param(100_000, marks=pytest.mark.thorough(reason="minutes: CI tries it 500 times")),
    500,
]
PATIENCE = 500.0

SWAP = """
import os, sys
root, out, name = sys.argv[1:]
os.chdir(root)
parent = os.getppid()

print("ready", flush=True)
while os.getppid() == parent:
    for act in (
        lambda: os.rename(name, name + "-real"),
        lambda: os.symlink(out, name + "-link"),
        lambda: os.rename(name + "-link", name),
        lambda: os.unlink(name),
        lambda: os.rename(name + "-real", name),
    ):
        try:
            act()
        except OSError:
            pass  # the other side was faster
"""
SECRET = b"secret"


@contextmanager
def swapping(root: Path, out: Path, name: str) -> Iterator[None]:
    """Have another process swap `name` in a folder for a link to `out` and back, until the end of this one at most."""
    command = [sys.executable, "-I", "-S", "-c", SWAP, str(root), str(out), name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as swapper:
        try:
            assert swapper.stdout
            assert swapper.stdout.readline() == "ready\n"
            yield
            assert swapper.poll() is None
        finally:
            swapper.kill()


def tried(acts: list[Callable[[], object]], tries: int) -> tuple[int, int]:
    """Do these in turn; return how often they were done, and how often they were refused."""
    done = refused = 0
    until = time.monotonic() + PATIENCE
    while done + refused < tries or not (done and refused):
        assert time.monotonic() < until
        if not (done + refused) % 20:
            os.sched_yield()  # to the other process, which may stand between two of its steps
        try:
            acts[(done + refused) % len(acts)]()
            done += 1
        except (Refused, OSError):
            refused += 1
    return done, refused


@pytest.mark.parametrize("tries", TRIES)
def test_swapped_folder_never_leads_outside(quick: Path, tries: int) -> None:
    """Reading, writing, removing, making: outside nothing is read, written, removed or made."""
    root, out = quick / "root", quick / "out"
    for folder in (root / "d", out / "kept"):
        folder.mkdir(parents=True)
    (out / "f").write_bytes(SECRET)
    before = (out / "f").stat()
    seen = set[bytes]()

    def read() -> None:
        if (found := tree.read(root, ("d", "f"))) is not None:
            seen.add(found[0])

    acts: list[Callable[[], object]] = [
        lambda: tree.put(root, ("d", "f"), b"x", 0o644, ".t", new=False),
        read,
        lambda: tree.put(root, ("d", "g"), b"x", 0o600, ".t", new=True),
        lambda: tree.remove(root, ("d", "f")),
        lambda: tree.remove(root, ("d", "g")),
        lambda: tree.make_folder(root, ("d", "made")),
        lambda: tree.remove_folder(root, ("d", "made")),
        lambda: tree.remove_folder(root, ("d", "kept")),
    ]
    with swapping(root, out, "d"):
        tried(acts, tries)
    assert seen <= {b"x"}
    assert sorted(each.name for each in out.iterdir()) == ["f", "kept"]
    after = (out / "f").stat()
    assert ((out / "f").read_bytes(), after.st_ino, after.st_mtime_ns) == (
        SECRET,
        before.st_ino,
        before.st_mtime_ns,
    )


@pytest.mark.parametrize("tries", TRIES)
def test_swapped_file_is_never_followed(quick: Path, tries: int) -> None:
    """The file itself becomes a link: it is replaced or refused, and what it leads to is neither read nor written."""
    root, out = quick / "root", quick / "out"
    root.mkdir()
    out.write_bytes(SECRET)
    seen = set[bytes]()

    def read() -> None:
        if (found := tree.read(root, ("f",))) is not None:
            seen.add(found[0])

    acts: list[Callable[[], object]] = [
        lambda: tree.put(root, ("f",), b"x", 0o666, ".t", new=False),
        read,
        lambda: tree.put(root, ("f",), b"x", 0o666, ".t", new=True),
        read,
        lambda: tree.remove(root, ("f",)),
    ]
    mode = out.stat().st_mode
    with swapping(root, out, "f"):
        tried(acts, tries)
    assert seen <= {b"x"}
    assert (out.read_bytes(), out.stat().st_mode) == (SECRET, mode)
