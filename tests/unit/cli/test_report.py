"""`task report`: from the files of a task to a page."""

import json
import sys

import pytest

from tests.unit.reporting.journal import Lines


@pytest.fixture
def journal(house):
    """Write a journal for a task, and return a function that rewrites it."""

    def write(task="tidy-0a1b2c3d", why="rejected by test:one", named=()):
        lines = Lines()
        lines.begin()
        lines.open("r-1", step="dev-1")
        lines.say("report_landed", report={"run": "r-1", "artifacts": list(named)}, name="dev.md")
        lines.end("r-1")
        lines.say("time_passed", {"kind": "step_reopened", "step": "dev-1", "attempt": 2, "why": why})
        folder = house.home(task) / "journal"
        folder.mkdir(exist_ok=True)
        (folder / "0000000001.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lines))

    return write


@pytest.fixture
def reported_task(house, journal):
    house.task()
    journal()
    folder = house.project / "tasks" / "tidy"
    folder.mkdir(parents=True)
    return folder


def test_the_page_lies_beside_progress_md(task, reported_task):
    said = task("report", "tidy")
    assert (said.code, said.err, said.out) == (0, "", f"{reported_task / 'report.html'}\n")
    assert "rejected by test:one" in (reported_task / "report.html").read_text()


def test_the_journal_makes_the_page(task, reported_task, journal):
    journal(why="rejected for another reason")
    assert "rejected for another reason" in task("report", "tidy", "--html").out
    assert not (reported_task / "report.html").exists()


def test_on_a_terminal_the_page_is_written_to_its_file(task, reported_task, monkeypatch):
    """`--html` put 370 kB of HTML on the screen."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert task("report", "tidy", "--html").out == f"{reported_task / 'report.html'}\n"
    assert (reported_task / "report.html").read_text().startswith("<!")
    assert task("report", "tidy", "--md").out.startswith("# tidy: running")


def test_markdown_shows_what_was_found_of_evidence(task, reported_task):
    """Only the page and progress.md said that a file that a criterion names is absent."""
    (criteria,) = [
        line for line in task("report", "tidy", "--md").out.splitlines() if line.startswith("- met: ")
    ]
    assert "run.txt: there" in criteria


def test_markdown_and_json_are_printed(task, reported_task):
    assert task("report", "tidy", "--md").out.startswith("# tidy: running")
    (document,) = task("report", "tidy", "--json").json["reports"]
    assert [(each["id"], len(each["attempts"])) for each in document["steps"]] == [
        ("explore", 0),
        ("dev-1", 1),
    ]


def test_commits_of_the_branch_are_shown_with_their_diffs(task, shop, journal):
    commit = shop.work()
    journal()
    (document,) = task("report", "tidy", "--json").json["reports"]
    (seen,) = document["commits"]
    assert (seen["commit"], "+NAME = 'greet'" in seen["diff"], seen["cut"]) == (commit, True, False)
    assert "+NAME = &#39;greet&#39;" in task("report", "tidy", "--html").out


def test_a_file_that_a_report_named_is_looked_up(task, shop, journal, house):
    shop.work("greet.py")
    folder = house.project / "tasks" / "tidy"
    folder.mkdir(parents=True)
    (folder / "notes.md").write_text("x")
    named = ["greet.py", "notes.md", "nowhere.py", "/etc/passwd", "../../../etc/passwd"]
    journal(named=named)
    (document,) = task("report", "tidy", "--json").json["reports"]
    assert {each["path"]: each["where"] for each in document["artifacts"]} == {
        "greet.py": "the branch",
        "notes.md": "the task's folder",
        **dict.fromkeys(named[2:], ""),
    }


def test_a_large_diff_is_cut_and_said_to_be(task, shop, journal):
    shop.work("large.txt", "line\n" * 20_000)
    journal()
    (document,) = task("report", "tidy", "--json").json["reports"]
    (seen,) = document["commits"]
    assert (seen["cut"], len(seen["diff"]) < 25_000) == (True, True)


def test_commits_that_cannot_be_read_are_not_said_to_be_none(task, house, reported_task):
    house.task(code=str(house.root / "gone"))
    (document,) = task("report", "tidy", "--json").json["reports"]
    assert document["commits"] is None
    assert any("could not be read" in each for each in document["unknown"])
    assert "None is on the task" not in task("report", "tidy", "--html").out


def test_all_tasks_are_on_one_page(task, house, reported_task, journal):
    house.task("other-0a1b2c3d", updated=2e9)
    journal("other-0a1b2c3d")
    assert [each["task"] for each in task("report", "--all", "--json").json["reports"]] == ["other", "tidy"]
    said = task("report", "--all")
    assert said.out == f"{house.state / 'report.html'}\n"
    assert task("report", "tidy", "--all").code == 2


def test_without_a_task_it_fails(task, house):
    assert task("report", "--all").code == 1
    assert task("report").code == 2


def test_it_is_written_where_it_is_wanted(task, reported_task, house):
    path = house.root / "night.html"
    assert task("report", "tidy", "--output", str(path)).code == 0
    assert path.read_text().startswith("<!doctype html>")
    assert task("report", "tidy", "--output", str(house.root / "no" / "where.html")).code == 1


def test_a_link_in_its_place_is_replaced_not_followed(task, reported_task, house):
    """An agent may write in the task's folder."""
    target = house.root / "precious"
    target.write_text("mine")
    (reported_task / "report.html").symlink_to(target)
    assert task("report", "tidy").code == 0
    assert (target.read_text(), (reported_task / "report.html").is_symlink()) == ("mine", False)


def test_the_browser_is_opened_if_wanted(task, reported_task, monkeypatch):
    opened = []

    def opens(url):
        opened.append(url)
        return True

    monkeypatch.setattr("webbrowser.open", opens)
    assert task("report", "tidy", "--open").code == 0
    assert opened == [(reported_task / "report.html").as_uri()]
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    assert task("report", "tidy", "--open").code == 1
