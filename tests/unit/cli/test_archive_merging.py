"""`task observe --merge`: what another archive of handoffs has is taken, and what is not is said."""

from dataclasses import replace

import pytest

from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.coordination import HandoffContext
from orchestrator.records.archive import open_archive
from tests.unit.records.pipelines import BEGAN, PIPELINE


def archive_in(root, *handoffs):
    archive = open_archive(DiskFiles(), root)
    for each in handoffs:
        archive.take(each, started=BEGAN)
    return root


def tree(root):
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def other(house):
    return archive_in(house.root / "other", *PIPELINE[1:])


@pytest.fixture
def ours(house, monkeypatch):
    monkeypatch.chdir(house.project)
    return archive_in(house.project / "data" / "handoffs", *PIPELINE[:2])


def test_another_archive_is_taken_into_the_projects(task, house, ours, other):
    """The other one stays as it was; merging again changes nothing."""
    before = tree(other)
    said = task("observe", "--merge", str(other))
    assert (said.code, said.err, said.out) == (0, "", f"2 handoffs are new, 0 went on: {ours}\n")
    assert tree(ours) == tree(archive_in(house.root / "whole", *PIPELINE))
    assert tree(other) == before
    merged = tree(ours)
    assert task("observe", "--merge", str(other)).out.startswith("0 handoffs are new, 0 went on")
    assert tree(ours) == merged


def test_the_first_archive_of_a_project_is_made(task, house, other, monkeypatch):
    monkeypatch.chdir(house.project)
    assert task("observe", "--merge", str(other)).out.startswith("3 handoffs are new")
    assert tree(house.project / "data" / "handoffs") == tree(other)


def test_with_all_projects_it_is_taken_into_the_daemons(task, house, other, monkeypatch):
    assert "daemon.archive" in task("observe", "--merge", str(other), "--all-projects").err
    monkeypatch.setenv("ORCHESTRATOR_DAEMON__ARCHIVE", str(house.root / "all"))
    assert task("observe", "--merge", str(other), "--all-projects").code == 0
    assert tree(house.root / "all") == tree(other)


def test_the_archive_to_which_a_daemon_writes_is_left_alone(task, house, other, daemon, monkeypatch):
    """It has read the archive, and would write an index without what was merged."""
    monkeypatch.setenv("ORCHESTRATOR_DAEMON__ARCHIVE", str(house.root / "all"))
    said = task("observe", "--merge", str(other), "--all-projects")
    assert (said.code, "daemon stop" in said.err, (house.root / "all").exists()) == (1, True, False), said


def test_what_is_at_odds_and_what_is_no_record_is_said(task, house, ours, other):
    odd = replace(PIPELINE[0], context=HandoffContext(task="task_1", scope="other"))
    archive_in(other, odd)
    (other / "2025-12-11" / "link").symlink_to("/etc/passwd")
    said = task("observe", "--merge", str(other))
    assert said.code == 0
    assert f"task: {PIPELINE[0].head.id} is not the same in both" in said.err
    assert "link is not taken: is no plain file" in said.err
    assert len(list(ours.glob(f"2025-12-11/conflict_{PIPELINE[0].head.id}_*.json"))) == 1


@pytest.mark.parametrize("wrong", ["missing", "link", "file", "empty", "data", "handoffs"])
def test_what_is_no_other_archive_is_refused_in_a_line(task, house, ours, other, wrong):
    """A link, a file, a folder without handoffs, the folder above one, and the archive itself."""
    (house.root / "link").symlink_to(other)
    (house.root / "file").touch()
    (house.root / "empty").mkdir()
    places = {"data": ours.parent, "handoffs": ours}
    before = tree(ours)
    said = task("observe", "--merge", str(places.get(wrong, house.root / wrong)))
    assert (said.code, said.out, "Traceback" in said.err) == (1, "", False)
    assert tree(ours) == before


def test_a_link_in_the_place_of_ours_is_not_written_through(task, house, other, monkeypatch):
    monkeypatch.chdir(house.project)
    (house.root / "away").mkdir()
    (house.project / "data").mkdir()
    (house.project / "data" / "handoffs").symlink_to(house.root / "away")
    said = task("observe", "--merge", str(other))
    assert (said.code, "is a link or a file" in said.err) == (1, True)
    assert list((house.root / "away").iterdir()) == []


@pytest.mark.parametrize("words", [["--days", "3"], ["--date", "2025-12-11"], ["--details"], ["--json"]])
def test_it_makes_no_report(task, ours, other, words):
    assert task("observe", "--merge", str(other), *words).code == 2


def test_agents_merge_nothing(task, ours, other, monkeypatch):
    monkeypatch.setenv("ORCHESTRATOR_RUN", "r-1")
    before = tree(ours)
    said = task("observe", "--merge", str(other))
    assert (said.code, "is not for agents" in said.err, tree(ours)) == (2, True, before)
