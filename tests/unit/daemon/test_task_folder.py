"""What of a task's folder in its project can be put right, and what cannot."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from orchestrator.daemon.ingest.task_folder import make_again, put_right, trouble
from orchestrator.model.errors import Refused
from orchestrator.testing.memory_files import MemoryFiles
from orchestrator.testing.memory_tree import Kind

FOLDER = Path("/project/tasks/demo")
HANDOFFS = FOLDER / "handoffs"
REPORTS = Path("/pm/tasks/demo-1/reports")
SEEN = {
    "dev-20261120-060000.md": "aa",
    "explore-20261120-050000.md": "bb",
    "../evil.md": "aa",
    "none.md": "cc",
}


@pytest.fixture
def files() -> MemoryFiles:
    made = MemoryFiles()
    for folder in (HANDOFFS, REPORTS):
        made.make_folder(folder)
    for digest in ("aa", "bb"):
        made.write(REPORTS / digest, digest.encode())
    return made


def test_a_folder_that_is_well_is_left_alone(files: MemoryFiles) -> None:
    assert trouble(files, FOLDER, closely=True) == ""
    assert put_right(files, FOLDER, REPORTS, SEEN) == ""
    assert files.names(HANDOFFS) == []


@pytest.mark.parametrize("kind", [Kind.FILE, Kind.PIPE])
def test_what_is_no_folder_is_set_aside_and_handoffs_made_anew(files: MemoryFiles, kind: Kind) -> None:
    for number in (1, 2):
        files.delete(HANDOFFS)
        files.put(HANDOFFS, b"" if kind is Kind.PIPE else b"precious", kind=kind)
        assert trouble(files, FOLDER, closely=True) == "", "it can be put right"
        told = put_right(files, FOLDER, REPORTS, SEEN)
        assert f"handoffs.set-aside-{number}" in told
        assert sorted(files.names(HANDOFFS)) == ["dev-20261120-060000.md", "explore-20261120-050000.md"]
        assert files.read(HANDOFFS / "dev-20261120-060000.md") == b"aa"
    if kind is Kind.FILE:
        assert files.read(FOLDER / "handoffs.set-aside-1") == b"precious"


def test_handoffs_that_are_gone_are_made_anew(files: MemoryFiles) -> None:
    files.delete(HANDOFFS)
    assert "2 reports" in put_right(files, FOLDER, REPORTS, SEEN)
    assert len(files.names(HANDOFFS)) == 2


def test_a_folder_that_is_gone_is_told_and_not_made_by_itself(files: MemoryFiles) -> None:
    files.delete(FOLDER)
    assert trouble(files, FOLDER, closely=False) == "is gone"
    make_again(files, FOLDER, REPORTS, SEEN)
    assert trouble(files, FOLDER, closely=True) == ""
    assert len(files.names(HANDOFFS)) == 2


def test_without_its_project_nothing_is_made(files: MemoryFiles) -> None:
    files.delete(Path("/project"))
    assert "with the project" in trouble(files, FOLDER, closely=False)
    with pytest.raises(Refused, match="restore the project"):
        make_again(files, FOLDER, REPORTS, SEEN)
    assert files.entry(Path("/project")) is None


def test_something_else_in_its_place_is_told(files: MemoryFiles) -> None:
    files.delete(FOLDER)
    files.put(FOLDER, b"a file")
    assert "no folder" in trouble(files, FOLDER, closely=False)
    with pytest.raises(Refused, match="Move away"):
        make_again(files, FOLDER, REPORTS, SEEN)


@pytest.mark.parametrize(("number", "passes"), [(errno.EACCES, False), (errno.EMFILE, True)])
def test_what_cannot_be_read_for_good_is_told(files: MemoryFiles, monkeypatch, number: int, passes) -> None:
    def fails(_self: MemoryFiles, _folder: Path) -> list[str]:
        raise OSError(number, "it may not")

    monkeypatch.setattr(MemoryFiles, "names", fails)
    assert trouble(files, FOLDER, closely=False) == ""
    if passes:
        with pytest.raises(OSError, match="it may not"):
            trouble(files, FOLDER, closely=True)
    else:
        assert "it may not" in trouble(files, FOLDER, closely=True)
