"""The PM's own folder: what others own or can write to, or a link leads to, is not believed (U4)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.hosts.disk import DiskFiles
from orchestrator.ports.files import Unreadable
from tests.another_user import by_root, give_away

Ways = list[Callable[[], object]]


@pytest.fixture
def own(tmp_path):
    """The PM's own folder, with a task's journal and one line in it, and the files of its user."""
    state = tmp_path / "state"
    files = DiskFiles(state)
    files.make_folder(state / "tasks" / "t" / "journal")
    files.write(state / "tasks" / "t" / "journal" / "1.jsonl", b"line\n")
    return state, files


def journal(state: Path) -> Path:
    return state / "tasks" / "t" / "journal"


def every_way(files: DiskFiles, folder: Path) -> Ways:
    """Return each way in which the journal is used."""
    return [
        lambda: files.read(folder / "1.jsonl"),
        lambda: files.open_log(folder / "1.jsonl"),
    ]


def folder_ways(files: DiskFiles, folder: Path) -> Ways:
    return [lambda: files.entries(folder), lambda: files.make_folder(folder)]


def all_refused(ways: Ways, match: str) -> None:
    for way in ways:
        with pytest.raises(Unreadable, match=match):
            way()


def test_what_is_ours_alone_is_used(own):
    state, files = own
    assert files.read(journal(state) / "1.jsonl") == b"line\n"
    assert [entry.name for entry in files.entries(journal(state))] == ["1.jsonl"]


@by_root
def test_a_file_of_another_user_is_refused(own):
    state, files = own
    give_away(journal(state) / "1.jsonl")
    all_refused(every_way(files, journal(state)), "belongs to user 12345")


@by_root
@pytest.mark.parametrize("above", [0, 1, 2, 3])
def test_folder_of_another_user_is_refused_with_its_content(own, above):
    """A folder of another user is refused and all that lies in it."""
    state, files = own
    folder = [journal(state), *journal(state).parents][above]
    give_away(folder)
    all_refused(folder_ways(files, journal(state)), "belongs to user 12345")


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_can_write_is_refused(own, mode):
    state, files = own
    (journal(state) / "1.jsonl").chmod(mode)
    all_refused(every_way(files, journal(state)), "can be written by others")


@pytest.mark.parametrize("above", [0, 1, 2, 3])
def test_a_folder_that_others_can_write_is_refused(own, above):
    state, files = own
    [journal(state), *journal(state).parents][above].chmod(0o770)
    all_refused(folder_ways(files, journal(state)), "can be written by others")


def test_links_are_refused(own, tmp_path):
    state, files = own
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "1.jsonl").write_bytes(b"planted\n")
    journal(state).rename(tmp_path / "kept")
    journal(state).symlink_to(tmp_path / "elsewhere")
    all_refused(folder_ways(files, journal(state)), "is a symbolic link")
    journal(state).unlink()
    (tmp_path / "kept").rename(journal(state))
    (journal(state) / "1.jsonl").unlink()
    (journal(state) / "1.jsonl").symlink_to(tmp_path / "elsewhere" / "1.jsonl")
    all_refused(every_way(files, journal(state)), "cannot be opened as a plain file")


@by_root
def test_elsewhere_files_of_others_are_read_as_ever(tmp_path):
    """A handoff may be that of an agent who runs as another user."""
    (tmp_path / "handoff.md").write_bytes(b"x")
    give_away(tmp_path / "handoff.md")
    assert DiskFiles(tmp_path / "state").read(tmp_path / "handoff.md") == b"x"


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022])
def test_whatever_the_umask_ours_is_closed(tmp_path, umask):
    state = tmp_path / "state"
    files, before = DiskFiles(state), os.umask(umask)
    try:
        files.make_folder(state / "tasks" / "t")
        files.write(state / "tasks" / "t" / "a", b"x")
        files.create(state / "tasks" / "t" / "b", b"x")
        files.open_log(state / "tasks" / "t" / "c").close()
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in state.rglob("*")}
    assert modes == {"tasks": 0o700, "t": 0o700, "a": 0o600, "b": 0o600, "c": 0o600}


def test_shared_files_can_be_read_by_others(tmp_path):
    """An agent who runs as another user has to read its order, and anyone progress.md (law 1)."""
    files, before = DiskFiles(tmp_path / "state"), os.umask(0o077)
    try:
        files.make_folder(tmp_path / "handoffs", 0o755)
        files.create(tmp_path / "handoffs" / "pm-1.md", b"x", 0o644)
        files.write(tmp_path / "progress.md", b"x", 0o644)
        files.write(tmp_path / "ours", b"x")
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes == {"handoffs": 0o755, "pm-1.md": 0o644, "progress.md": 0o644, "ours": 0o600}
