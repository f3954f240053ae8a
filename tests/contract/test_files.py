"""What every `Files` must do, on a disk and in memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from orchestrator.hosts.disk import DiskFiles
from orchestrator.ports.files import TEMPORARY, Files, Unreadable
from orchestrator.testing.memory_files import MemoryFiles
from orchestrator.testing.memory_tree import Kind


class Tree(Protocol):
    """A tree of files and what other programs may put there."""

    @property
    def files(self) -> Files: ...
    @property
    def root(self) -> Path: ...
    def file(self, path: Path, data: bytes) -> None: ...
    def link(self, path: Path, to: Path) -> None: ...
    def pipe(self, path: Path) -> None: ...


@dataclass
class OnDisk:
    root: Path
    files: DiskFiles

    def file(self, path: Path, data: bytes) -> None:
        path.write_bytes(data)

    def link(self, path: Path, to: Path) -> None:
        path.symlink_to(to)

    def pipe(self, path: Path) -> None:
        os.mkfifo(path)


@dataclass
class InMemory:
    root: Path
    files: MemoryFiles

    def file(self, path: Path, data: bytes) -> None:
        self.files.put(path, data)

    def link(self, path: Path, to: Path) -> None:
        self.files.put(path, str(to).encode(), Kind.LINK)

    def pipe(self, path: Path) -> None:
        self.files.put(path, kind=Kind.PIPE)


@pytest.fixture(params=["disk", "memory"])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Tree:
    root = tmp_path / "it's a #{root}"
    made: Tree = OnDisk(root, DiskFiles()) if request.param == "disk" else InMemory(root, MemoryFiles())
    made.files.make_folder(root)
    return made


def names(tree: Tree, folder: Path | None = None) -> set[str]:
    return {entry.name for entry in tree.files.entries(folder or tree.root)}


# Reading ------------------------------------------------------------------------------------------


def test_reads_what_was_written(tree: Tree) -> None:
    tree.files.write(tree.root / "a", b"\x00\xff bytes")
    assert tree.files.read(tree.root / "a") == b"\x00\xff bytes"


def test_reads_what_another_program_wrote(tree: Tree) -> None:
    tree.file(tree.root / "a", b"theirs")
    assert tree.files.read(tree.root / "a") == b"theirs"


def test_size_limit_of_a_read_is_inclusive(tree: Tree) -> None:
    tree.files.write(tree.root / "a", b"12345")
    assert tree.files.read(tree.root / "a", limit=5) == b"12345"
    with pytest.raises(Unreadable, match="larger than 4 bytes"):
        tree.files.read(tree.root / "a", limit=4)


def test_what_is_no_plain_file_is_not_read(tree: Tree) -> None:
    tree.files.write(tree.root / "secret", b"secret")
    tree.link(tree.root / "link", tree.root / "secret")
    tree.link(tree.root / "dangling", tree.root / "nowhere")
    tree.pipe(tree.root / "pipe")
    tree.files.make_folder(tree.root / "folder")
    for name in ("link", "dangling", "pipe", "folder", "missing", "missing/too"):
        with pytest.raises(Unreadable, match=name):
            tree.files.read(tree.root / name)


# Writing whole ------------------------------------------------------------------------------------


def test_write_replaces_and_leaves_nothing_beside(tree: Tree) -> None:
    tree.files.write(tree.root / "a", b"a long first text")
    first = tree.files.entry(tree.root / "a")
    tree.files.write(tree.root / "a", b"second")
    second = tree.files.entry(tree.root / "a")
    assert tree.files.read(tree.root / "a") == b"second"
    assert first
    assert second
    assert first.inode != second.inode
    assert names(tree) == {"a"}


def test_a_copy_is_as_old_as_what_it_is_a_copy_of(tree: Tree) -> None:
    for durable in (True, False):
        tree.files.write(tree.root / "a", b"text", durable=durable, mtime_ns=1_700_000_000_123_456_789)
        entry = tree.files.entry(tree.root / "a")
        assert entry
        assert entry.mtime_ns == 1_700_000_000_123_456_789


def test_write_replaces_a_link_and_does_not_follow_it(tree: Tree) -> None:
    tree.files.write(tree.root / "theirs", b"theirs")
    tree.link(tree.root / "a", tree.root / "theirs")
    tree.files.write(tree.root / "a", b"ours")
    assert tree.files.read(tree.root / "theirs") == b"theirs"
    assert tree.files.read(tree.root / "a") == b"ours"


def test_write_never_replaces_a_folder(tree: Tree) -> None:
    tree.files.make_folder(tree.root / "a")
    with pytest.raises(OSError, match="a"):
        tree.files.write(tree.root / "a", b"x")
    assert names(tree) == {"a"}


def test_write_needs_a_folder(tree: Tree) -> None:
    with pytest.raises(FileNotFoundError):
        tree.files.write(tree.root / "missing" / "a", b"x")


def test_create_takes_a_free_name_only(tree: Tree) -> None:
    assert tree.files.create(tree.root / "a", b"first")
    assert not tree.files.create(tree.root / "a", b"second")
    assert tree.files.read(tree.root / "a") == b"first"
    assert names(tree) == {"a"}


def test_create_takes_no_name_that_is_a_link_or_a_folder(tree: Tree) -> None:
    tree.link(tree.root / "link", tree.root / "nowhere")
    tree.files.make_folder(tree.root / "folder")
    assert not tree.files.create(tree.root / "link", b"x")
    assert not tree.files.create(tree.root / "folder", b"x")
    assert names(tree) == {"link", "folder"}


def test_exchange_returns_what_was_there(tree: Tree) -> None:
    """It lies under a temporary name, as it was."""
    tree.file(tree.root / "a", b"theirs")
    first = tree.files.entry(tree.root / "a")
    beside = tree.files.exchange(tree.root / "a", b"ours")
    assert tree.files.read(tree.root / "a") == b"ours"
    assert names(tree) == {"a"}
    assert beside is not None
    assert tree.files.read(beside) == b"theirs"
    old = tree.files.entry(beside)
    assert first
    assert old
    assert old.inode == first.inode
    tree.files.remove(beside, durable=False)
    assert tree.files.entry(beside) is None


def test_exchange_of_nothing_writes(tree: Tree) -> None:
    assert tree.files.exchange(tree.root / "a", b"ours") is None
    assert tree.files.read(tree.root / "a") == b"ours"


def test_exchange_replaces_no_folder(tree: Tree) -> None:
    tree.files.make_folder(tree.root / "a" / "b")
    with pytest.raises(IsADirectoryError):
        tree.files.exchange(tree.root / "a", b"ours")
    assert names(tree, tree.root / "a") == {"b"}


def test_exchange_needs_a_folder(tree: Tree) -> None:
    with pytest.raises(FileNotFoundError):
        tree.files.exchange(tree.root / "missing" / "a", b"x")


# Logs ---------------------------------------------------------------------------------------------


def test_a_log_grows_by_exactly_what_is_appended(tree: Tree) -> None:
    log = tree.files.open_log(tree.root / "log")
    log.append(b"one\n")
    log.append(b"two\n")
    assert tree.files.read(tree.root / "log") == b"one\ntwo\n"
    log.close()
    log.close()
    again = tree.files.open_log(tree.root / "log")
    again.append(b"three\n")
    again.close()
    assert tree.files.read(tree.root / "log") == b"one\ntwo\nthree\n"


def test_a_closed_log_takes_nothing(tree: Tree) -> None:
    log = tree.files.open_log(tree.root / "log")
    log.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        log.append(b"late\n")
    assert tree.files.read(tree.root / "log") == b""


def test_a_log_is_a_plain_file(tree: Tree) -> None:
    tree.files.write(tree.root / "theirs", b"")
    tree.link(tree.root / "link", tree.root / "theirs")
    tree.pipe(tree.root / "pipe")
    for name in ("link", "pipe"):
        with pytest.raises(Unreadable, match=name):
            tree.files.open_log(tree.root / name)


# Looking ------------------------------------------------------------------------------------------


def test_entries_have_kinds_and_sizes_and_follow_no_link(tree: Tree) -> None:
    tree.files.write(tree.root / "file", b"four")
    tree.files.make_folder(tree.root / "folder")
    tree.link(tree.root / "link", tree.root / "file")
    tree.pipe(tree.root / "pipe")
    seen = {entry.name: entry for entry in tree.files.entries(tree.root)}
    kinds = {name: (entry.is_file, entry.is_folder) for name, entry in seen.items()}
    assert kinds == {
        "file": (True, False),
        "folder": (False, True),
        "link": (False, False),
        "pipe": (False, False),
    }
    assert sorted(tree.files.names(tree.root)) == sorted(seen)
    assert seen["file"].size == 4
    assert seen["file"].mtime_ns > 0
    assert len({entry.inode for entry in seen.values()}) == 4
    assert all(tree.files.entry(tree.root / name) == entry for name, entry in seen.items() if name == "file")


def test_temporary_names_are_not_listed(tree: Tree) -> None:
    tree.file(tree.root / f"{TEMPORARY}0123", b"a stray of a killed writer")
    assert names(tree) == set()
    assert tree.files.names(tree.root) == []


def test_what_is_missing_is_empty(tree: Tree) -> None:
    assert tree.files.names(tree.root / "missing") == []
    assert tree.files.entries(tree.root / "missing") == []
    assert tree.files.entry(tree.root / "missing") is None
    assert tree.files.entry(tree.root / "missing" / "too") is None


def test_file_in_place_of_a_folder_raises(tree: Tree) -> None:
    tree.files.write(tree.root / "handoffs", b"")
    with pytest.raises(Unreadable, match="not a folder"):
        tree.files.entries(tree.root / "handoffs")
    with pytest.raises(Unreadable, match="not a folder"):
        tree.files.names(tree.root / "handoffs")


# Names --------------------------------------------------------------------------------------------


def test_folders_are_made_with_parents_and_repeatably(tree: Tree) -> None:
    tree.files.make_folder(tree.root / "a" / "b" / "c")
    tree.files.write(tree.root / "a" / "b" / "c" / "d", b"x")
    tree.files.make_folder(tree.root / "a" / "b" / "c")
    assert names(tree, tree.root / "a" / "b" / "c") == {"d"}


def test_a_folder_is_not_made_over_a_file(tree: Tree) -> None:
    tree.files.write(tree.root / "a", b"x")
    with pytest.raises(FileExistsError):
        tree.files.make_folder(tree.root / "a")


def test_rename_replaces_and_keeps_the_inode(tree: Tree) -> None:
    tree.files.make_folder(tree.root / "new")
    tree.files.write(tree.root / "a", b"x")
    tree.files.write(tree.root / "new" / "b", b"old")
    before = tree.files.entry(tree.root / "a")
    tree.files.rename(tree.root / "a", tree.root / "new" / "b")
    after = tree.files.entry(tree.root / "new" / "b")
    assert before
    assert after
    assert before.inode == after.inode
    assert tree.files.read(tree.root / "new" / "b") == b"x"
    assert names(tree) == {"new"}


def test_a_folder_is_renamed_with_what_is_in_it(tree: Tree) -> None:
    tree.files.make_folder(tree.root / "old" / "deep")
    tree.files.write(tree.root / "old" / "deep" / "a", b"x")
    tree.files.rename(tree.root / "old", tree.root / "new")
    assert tree.files.read(tree.root / "new" / "deep" / "a") == b"x"
    assert tree.files.entry(tree.root / "old" / "deep") is None
    assert names(tree) == {"new"}


def test_what_is_not_there_is_not_renamed(tree: Tree) -> None:
    with pytest.raises(FileNotFoundError):
        tree.files.rename(tree.root / "missing", tree.root / "new")
    assert names(tree) == set()


def test_remove_twice(tree: Tree) -> None:
    tree.files.write(tree.root / "a", b"x")
    tree.files.remove(tree.root / "a")
    tree.files.remove(tree.root / "a")
    assert names(tree) == set()


def test_remove_takes_the_link_and_not_what_it_points_to(tree: Tree) -> None:
    tree.files.write(tree.root / "a", b"x")
    tree.link(tree.root / "link", tree.root / "a")
    tree.files.remove(tree.root / "link")
    assert names(tree) == {"a"}


@pytest.mark.parametrize(("start", "said"), [(0, b"12345"), (2, b"345"), (5, b""), (9, b"")])
def test_read_from_an_offset_is_limited_from_there(tree: Tree, start: int, said: bytes) -> None:
    tree.files.write(tree.root / "a", b"12345")
    assert tree.files.read(tree.root / "a", len(said), start) == said
    if said:
        with pytest.raises(Unreadable):
            tree.files.read(tree.root / "a", len(said) - 1, start)
