"""What a disk does to `DiskFiles` when it is full, fails, or is played with."""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchestrator.hosts import disk
from orchestrator.hosts.disk import DiskFiles
from orchestrator.ports.files import Unreadable


@contextmanager
def files_end_at(size: int) -> Iterator[None]:
    """Let no file of this process grow over `size` bytes: a write gets short, the next one fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_append_without_room_leaves_no_half_line(tmp_path: Path) -> None:
    """No half line stays when there is no room and it goes on when there is."""
    log = DiskFiles().open_log(tmp_path / "log")
    log.append(b"first\n")
    with files_end_at(10), pytest.raises(OSError, match="too large"):
        log.append(b"second, cut in the middle\n")
    assert (tmp_path / "log").read_bytes() == b"first\n"
    log.append(b"third\n")
    log.close()
    assert (tmp_path / "log").read_bytes() == b"first\nthird\n"


def test_write_without_room_leaves_the_old_file(tmp_path: Path) -> None:
    """A write without room leaves the old file and nothing else."""
    files = DiskFiles()
    files.write(tmp_path / "a", b"old")
    with files_end_at(10), pytest.raises(OSError, match="too large"):
        files.write(tmp_path / "a", b"much more than ten bytes")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"old")]


def test_after_a_failed_fsync_a_log_takes_nothing_more(tmp_path: Path, monkeypatch) -> None:
    log = DiskFiles().open_log(tmp_path / "log")
    log.append(b"first\n")

    def fail(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(disk, "sync", fail)
        with pytest.raises(OSError, match="Input/output"):
            log.append(b"second\n")
    with pytest.raises(OSError, match="must be opened and read again"):
        log.append(b"third\n")
    log.close()
    assert (tmp_path / "log").read_bytes() == b"first\n"


def test_of_many_that_create_one_name_exactly_one_does(tmp_path: Path) -> None:
    files, start = DiskFiles(), threading.Barrier(8)
    won: list[int] = []

    def create(number: int) -> None:
        start.wait()
        if files.create(tmp_path / "claimed", str(number).encode()):
            won.append(number)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "claimed").read_bytes() == str(*won).encode()
    assert [path.name for path in tmp_path.iterdir()] == ["claimed"]


def open_descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    files = DiskFiles()
    before = open_descriptors()
    files.write(tmp_path / "a", b"x" * 100)
    files.create(tmp_path / "a", b"y")
    files.read(tmp_path / "a")
    files.open_log(tmp_path / "log").close()
    for refused in (tmp_path, tmp_path / "a" / "b"):
        with pytest.raises(Unreadable):
            files.read(refused)
    with pytest.raises(Unreadable):
        files.read(tmp_path / "a", limit=1)
    assert open_descriptors() == before


WRITES = "from pathlib import Path; from orchestrator.hosts.disk import DiskFiles; import sys;"


@pytest.mark.skipif(not Path("/usr/bin/strace").exists(), reason="strace brings about the kill")
@pytest.mark.parametrize("call", ["rename", "fsync", "write"])
def test_a_write_killed_on_the_way_leaves_the_old_file(tmp_path: Path, call: str) -> None:
    (tmp_path / "a").write_bytes(b"old")
    program = f"{WRITES} DiskFiles().write(Path(sys.argv[1]) / 'a', b'new')"
    trace = ["strace", "-f", "-o", str(tmp_path / "trace"), "-e", f"inject={call}:signal=KILL:when=1"]
    ended = subprocess.run([*trace, sys.executable, "-Bc", program, str(tmp_path)], check=False)
    assert ended.returncode == -9
    assert DiskFiles().read(tmp_path / "a") == b"old"
    assert {entry.name for entry in DiskFiles().entries(tmp_path)} == {"a", "trace"}


@pytest.mark.skipif(not Path("/usr/bin/strace").exists(), reason="strace brings about the fault")
def test_an_fsync_that_fails_is_not_taken_for_saved(tmp_path: Path) -> None:
    program = f"{WRITES} DiskFiles().open_log(Path(sys.argv[1]) / 'log').append(b'x')"
    trace = ["strace", "-f", "-o", "/dev/null", "-e", "inject=fsync:error=EIO:when=2"]
    ended = subprocess.run(
        [*trace, sys.executable, "-Bc", program, str(tmp_path)], check=False, capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert "Input/output error" in ended.stderr
