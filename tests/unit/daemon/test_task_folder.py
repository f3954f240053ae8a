"""What of a task's folder in its project can be put right, and what cannot."""

from __future__ import annotations

import errno
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.daemon.ingest.task_folder import (
    is_right,
    links_of,
    make_again,
    make_run_folders,
    put_right,
    trouble,
)
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import Refused
from orchestrator.model.run import Purpose, Run
from orchestrator.testing.memory_files import MemoryFiles
from orchestrator.testing.memory_tree import Kind
from tests.unit.pm.story import Story

FOLDER = Path("/project/tasks/demo")
HANDOFFS = FOLDER / "handoffs"
REPORTS = Path("/pm/tasks/demo-1/reports")
SEEN = {
    "dev-20261120-060000.md": "aa",
    "explore-20261120-050000.md": "bb",
    "../evil.md": "aa",
    "none.md": "cc",
}


STATE = Story().starts().state
RUN = Run("r-1", "explore", 1, "explore", "explore", Purpose.WORK, 0.0)
NONE: dict[str, str] = {}
"""No folder was a link when the task began."""


@pytest.fixture
def files() -> MemoryFiles:
    made = MemoryFiles()
    for folder in (HANDOFFS, REPORTS):
        made.make_folder(folder)
    for digest in ("aa", "bb"):
        made.write(REPORTS / digest, digest.encode())
    return made


def test_a_folder_that_is_well_is_left_alone(files: MemoryFiles) -> None:
    assert trouble(files, FOLDER, NONE, closely=True) == ""
    assert put_right(files, FOLDER, REPORTS, SEEN, NONE) == ""
    assert files.names(HANDOFFS) == []


@pytest.mark.parametrize("kind", [Kind.FILE, Kind.PIPE])
def test_what_is_no_folder_is_set_aside_and_handoffs_made_anew(files: MemoryFiles, kind: Kind) -> None:
    for number in (1, 2):
        files.delete(HANDOFFS)
        files.put(HANDOFFS, b"" if kind is Kind.PIPE else b"precious", kind=kind)
        assert trouble(files, FOLDER, NONE, closely=True) == "", "it can be put right"
        reported = put_right(files, FOLDER, REPORTS, SEEN, NONE)
        assert f"handoffs.set-aside-{number}" in reported
        assert sorted(files.names(HANDOFFS)) == ["dev-20261120-060000.md", "explore-20261120-050000.md"]
        assert files.read(HANDOFFS / "dev-20261120-060000.md") == b"aa"
    if kind is Kind.FILE:
        assert files.read(FOLDER / "handoffs.set-aside-1") == b"precious"


def test_handoffs_that_are_gone_are_made_anew(files: MemoryFiles) -> None:
    files.delete(HANDOFFS)
    assert "2 reports" in put_right(files, FOLDER, REPORTS, SEEN, NONE)
    assert len(files.names(HANDOFFS)) == 2


def test_lost_task_folder_is_reported_and_not_recreated(files: MemoryFiles) -> None:
    files.delete(FOLDER)
    assert trouble(files, FOLDER, NONE, closely=False) == "is gone"
    make_again(files, FOLDER, REPORTS, SEEN, NONE)
    assert trouble(files, FOLDER, NONE, closely=True) == ""
    assert len(files.names(HANDOFFS)) == 2


def test_without_its_project_nothing_is_made(files: MemoryFiles) -> None:
    files.delete(Path("/project"))
    assert "with the project" in trouble(files, FOLDER, NONE, closely=False)
    with pytest.raises(Refused, match="restore the project"):
        make_again(files, FOLDER, REPORTS, SEEN, NONE)
    assert files.entry(Path("/project")) is None


def test_other_file_in_place_of_the_folder_is_reported(files: MemoryFiles) -> None:
    files.delete(FOLDER)
    files.put(FOLDER, b"a file")
    assert "no folder" in trouble(files, FOLDER, NONE, closely=False)
    with pytest.raises(Refused, match="Move away"):
        make_again(files, FOLDER, REPORTS, SEEN, NONE)


@pytest.mark.parametrize(("number", "passes"), [(errno.EACCES, False), (errno.EMFILE, True)])
def test_unreadable_task_folder_is_reported(files: MemoryFiles, monkeypatch, number: int, passes) -> None:
    def fails(_self: MemoryFiles, _folder: Path) -> list[str]:
        raise OSError(number, "it may not")

    monkeypatch.setattr(MemoryFiles, "names", fails)
    assert trouble(files, FOLDER, NONE, closely=False) == ""
    if passes:
        with pytest.raises(OSError, match="it may not"):
            trouble(files, FOLDER, NONE, closely=True)
    else:
        assert "it may not" in trouble(files, FOLDER, NONE, closely=True)


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """Make a task's folder on a disk, beside a folder of somebody else."""
    folder = tmp_path / "project" / "tasks" / "demo"
    for name in ("handoffs", "artifacts/analysis", "scratchpad"):
        (folder / name).mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "aa").write_bytes(b"aa")
    return folder


def put_in_place(path: Path, target: Path) -> None:
    """Put a link in the place of a folder."""
    shutil.rmtree(path)
    path.symlink_to(target)


@pytest.mark.parametrize("name", ["handoffs", "artifacts", "scratchpad"])
def test_a_link_that_an_agent_lays_is_put_aside(disk: Path, tmp_path: Path, name: str) -> None:
    """Orders, and reports that are put back, went where it led."""
    elsewhere = tmp_path / "elsewhere"
    put_in_place(disk / name, elsewhere)
    reported = put_right(DiskFiles(), disk, tmp_path / "reports", SEEN, NONE)
    assert f"{name}.set-aside-1" in reported
    assert (disk / name).is_dir()
    assert not (disk / name).is_symlink()
    assert list(elsewhere.iterdir()) == []
    assert (disk / f"{name}.set-aside-1").readlink() == elsewhere
    assert put_right(DiskFiles(), disk, tmp_path / "reports", SEEN, NONE) == ""


@pytest.mark.parametrize("name", ["handoffs", "artifacts", "scratchpad"])
def test_a_link_of_the_user_counts_while_it_leads_there(disk: Path, tmp_path: Path, name: str) -> None:
    put_in_place(disk / name, tmp_path / "elsewhere")
    links = links_of(DiskFiles(), disk)
    assert links == {name: str(tmp_path / "elsewhere")}
    assert put_right(DiskFiles(), disk, tmp_path / "reports", {}, links) == ""
    assert put_right(DiskFiles(), disk, tmp_path / "reports", {}, None) == "", "of a task of an older version"
    (disk / name).unlink()
    (tmp_path / "other").mkdir()
    (disk / name).symlink_to(tmp_path / "other")
    assert f"{name}.set-aside-1" in put_right(DiskFiles(), disk, tmp_path / "reports", {}, links)


def test_link_in_place_of_the_tasks_folder_is_reported(disk: Path, tmp_path: Path) -> None:
    """It cannot be put right from inside, and nothing is made where it leads."""
    tasks = disk.parent
    shutil.move(tasks, tmp_path / "elsewhere" / "tasks")
    tasks.symlink_to(tmp_path / "elsewhere" / "tasks")
    assert "is a link" in trouble(DiskFiles(), disk, NONE, closely=True)
    with pytest.raises(Refused, match="put the folder back"):
        make_again(DiskFiles(), disk, tmp_path / "reports", {}, NONE)
    assert trouble(DiskFiles(), disk, links_of(DiskFiles(), disk), closely=True) == ""


@pytest.mark.parametrize("kind", ["file", "link"])
@pytest.mark.parametrize("name", ["artifacts", "artifacts/analysis", "scratchpad", "scratchpad/explore"])
def test_what_lies_where_a_run_writes_is_put_aside(disk: Path, tmp_path: Path, name: str, kind: str) -> None:
    """A file there failed twenty launches, and then was a question; a link led a run's files elsewhere."""
    shutil.rmtree(disk / name, ignore_errors=True)
    if kind == "file":
        (disk / name).write_bytes(b"precious")
    else:
        (disk / name).symlink_to(tmp_path / "elsewhere")
    reported = make_run_folders(DiskFiles(), disk, replace(STATE, links=NONE), RUN)
    assert f"{disk / name} was not a folder" in reported
    assert (disk / "artifacts" / "analysis").is_dir()
    assert (disk / "scratchpad" / "explore").is_dir()
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert make_run_folders(DiskFiles(), disk, replace(STATE, links=NONE), RUN) == ""


def test_a_user_s_link_for_one_agent_counts(disk: Path, tmp_path: Path) -> None:
    put_in_place(disk / "artifacts" / "analysis", tmp_path / "elsewhere")
    links = links_of(DiskFiles(), disk)
    assert links == {"artifacts/analysis": str(tmp_path / "elsewhere")}
    assert make_run_folders(DiskFiles(), disk, replace(STATE, links=links), RUN) == ""


def test_a_link_that_leads_nowhere_is_none(disk: Path, tmp_path: Path) -> None:
    put_in_place(disk / "handoffs", tmp_path / "nowhere")
    assert links_of(DiskFiles(), disk) == {}
    assert not is_right(DiskFiles(), disk, "handoffs", {"handoffs": str(tmp_path / "nowhere")})
