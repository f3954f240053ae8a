"""`task observe`: from archive and journals to a page."""

import json

import pytest

from orchestrator.hosts.disk import DiskFiles
from orchestrator.records.archive import open_archive
from tests.unit.records.pipelines import BEGAN, PIPELINE
from tests.unit.records.test_observer import journal, view


@pytest.fixture
def archived(house):
    archive = open_archive(DiskFiles(), house.project / "data" / "handoffs")
    for each in PIPELINE:
        archive.take(each, started=BEGAN)
    return house.project


@pytest.fixture
def worked(house):
    home = house.task(**{key: value for key, value in view().items() if key not in {"task", "id", "project"}})
    (home / "journal").mkdir()
    (home / "journal" / "0000000001.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in journal()))


def test_a_day_is_reported_in_the_form_of_the_document(task, archived):
    said = task("observe", "--date", "2025-12-11", "--project", str(archived))
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("# Handoff Pipeline Report - 2025-12-11\n\n## Summary\n- Total handoffs: 4\n")
    assert "\n## Transitions\n" not in said.out


def test_several_days_and_details(task, archived, monkeypatch):
    monkeypatch.chdir(archived)
    said = task("observe", "--date", "2025-12-12", "--days", "3", "--details")
    assert said.out.startswith("# Handoff Pipeline Report - 2025-12-10 to 2025-12-12\n")
    assert "- PLANNER→IMPLEMENTER: 1; 1 of 1 of use\n" in said.out
    assert task("observe", "--date", "2025-12-11", "--json").json["handoffs"] == 4


def test_journals_of_tasks_count(task, worked, house, monkeypatch):
    monkeypatch.chdir(house.project)
    document = task("observe", "--date", "2025-11-27", "--json").json
    assert (document["handoffs"], document["completed_chains"]) == (3, 1)
    assert document["questions"]["answered"]["mean"] == 7200.0
    assert [each["role"] for each in document["usage"]] == ["dev", "test"]


def test_other_projects_count_only_when_asked(task, worked, house):
    """Standing elsewhere, nothing is seen of them."""
    assert task("observe", "--date", "2025-11-27", "--json").json["handoffs"] == 0
    assert task("observe", "--date", "2025-11-27", "--all-projects", "--json").json["handoffs"] == 3


def test_it_changes_nothing(task, archived, worked, house, monkeypatch):
    monkeypatch.chdir(archived)

    def all_files():
        return {path: path.stat().st_mtime_ns for path in house.root.rglob("*") if path.is_file()}

    before = all_files()
    task("observe", "--date", "2025-12-11", "--details")
    assert all_files() == before


def test_what_is_no_record_is_named(task, archived):
    (archived / "data" / "handoffs" / "2025-12-11" / "notes.txt").write_text("x")
    said = task("observe", "--date", "2025-12-11", "--project", str(archived))
    assert "notes.txt is not counted: is neither a handoff nor a chain by its name" in said.err


@pytest.mark.parametrize(
    "words",
    [["--date", "yesterday"], ["--date", "2025-13-01"], ["--days", "0"], ["--days", "x"]],
    ids=" ".join,
)
def test_an_odd_period_is_refused_in_one_line(task, words):
    said = task("observe", *words)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
