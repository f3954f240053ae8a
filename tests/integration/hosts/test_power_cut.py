"""What `DiskFiles` says is on the disk is there after a power cut, though the disk loses all that was not fsynced."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.hosts.disk import DiskFiles
from tests.integration.hosts.lossy_disk import LossyDisk

FILES = DiskFiles()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "disk"
    made.mkdir()
    (made / "old").write_bytes(b"old")
    (made / "away").mkdir()
    return made


@pytest.fixture
def disk(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LossyDisk]:
    made = LossyDisk(root).begin(monkeypatch)
    yield made
    made.end()


BEFORE = {"old": b"old", "away": None}


def test_disk_loses_what_was_not_synced(root: Path, disk: LossyDisk) -> None:
    """Else it would hold nothing."""
    (root / "a").write_bytes(b"never synced")
    (root / "folder").mkdir()
    FILES.write(root / "old", b"new, and not to be durable", durable=False)
    assert disk.left() == BEFORE


def test_written_file_survives(root: Path, disk: LossyDisk) -> None:
    FILES.write(root / "a", b"text")
    FILES.write(root / "old", b"new")
    assert disk.left() == {"old": b"new", "away": None, "a": b"text"}


def test_created_file_survives(root: Path, disk: LossyDisk) -> None:
    assert FILES.create(root / "a", b"text")
    assert disk.left()["a"] == b"text"


def test_appended_lines_survive(root: Path, disk: LossyDisk) -> None:
    log = FILES.open_log(root / "log")
    assert disk.left()["log"] == b""
    log.append(b"one\n")
    log.append(b"two\n")
    assert disk.left()["log"] == b"one\ntwo\n"
    log.close()


def test_made_folders_survive_with_what_is_put_in_them(root: Path, disk: LossyDisk) -> None:
    FILES.make_folder(root / "a" / "b" / "c")
    assert {"a", "a/b", "a/b/c"} <= set(disk.left())
    FILES.write(root / "a" / "b" / "c" / "d", b"text")
    assert disk.left()["a/b/c/d"] == b"text"


def test_renamed_file_has_its_new_name_alone(root: Path, disk: LossyDisk) -> None:
    FILES.rename(root / "old", root / "away" / "new")
    assert disk.left() == {"away": None, "away/new": b"old"}


def test_removed_file_does_not_come_back(root: Path, disk: LossyDisk) -> None:
    FILES.remove(root / "old")
    assert disk.left() == {"away": None}
