import gzip
import json
from typing import Any

import pytest


def line(n: int, kind: str, *changes: Any, **fact: Any) -> dict[str, Any]:
    return {
        "n": n,
        "at": 1_764_254_100.0 + n,
        "fact": {"kind": kind, **fact},
        "changes": list(changes),
        "actions": [],
    }


@pytest.fixture
def journal(house):
    """Two segments: a start, a run for dev-1, a check-in, a question."""
    folder = house.task() / "journal"
    folder.mkdir()
    run = {"id": "r-77", "step": "dev-1", "agent": "dev", "instance": "dev-2"}
    opened = {"kind": "run_opened", "run": run}
    first = [
        {"n": 0, "snapshot": {}},
        line(1, "task_started", {"kind": "task_begun"}, opened, name="tidy", project="/shop"),
        line(2, "run_started", run="r-77", pid=77),
    ]
    second = [
        {"n": 2, "snapshot": {}},
        line(3, "time_passed", {"kind": "step_moved", "step": "dev-1", "to": "blocked", "at": 1.0}),
        line(4, "answered", question="q1", text="keep\x1b[2J"),
    ]
    for name, lines in (("0000000001.jsonl", first), ("0000000003.jsonl", second)):
        (folder / name).write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    return folder


def test_decisions_are_listed_newest_last_by_day(task, journal):
    lines = task("why", "tidy").out.splitlines()
    assert lines[0].startswith("2025-11-2")
    assert "tidy was started in /shop" in lines[1]
    assert "dev-1 is blocked" in lines[5]
    assert "the user answered q1: keep\ufffd[2J" in lines[6]


def test_only_the_last_ones(task, journal):
    assert len(task("why", "tidy", "-n", "1").out.splitlines()) == 2


@pytest.mark.parametrize(
    ("about", "output"),
    [
        ("dev", "run r-77 lives"),
        ("dev-2", "run r-77 lives"),
        ("dev-1", "dev-1 is blocked"),
        ("dev-1", "run r-77 lives"),
        ("q1", "answered q1"),
        ("r-77", "run r-77 lives"),
    ],
)
def test_only_what_touches_a_step_an_agent_or_a_question(task, journal, about, output):
    out = task("why", "tidy", about).out
    assert output in out
    assert ("answered q1" in out) == (about == "q1")


def test_the_json_document_has_its_documented_shape(task, journal):
    said = task("why", "tidy", "-n", "2", "--json").json["decisions"]
    assert said[0] == {"at": "2025-11-27T14:35:03Z", "sentences": ["a deadline came", "dev-1 is blocked"]}
    assert set(said[0]) <= set(task("help", "json").out.replace("[]", "").split())


def test_a_torn_or_damaged_line_is_passed_over(task, journal):
    with (journal / "0000000003.jsonl").open("ab") as file:
        file.write(b'\xff\n[]\n{"n":5,"fact"')
    assert "answered q1" in task("why", "tidy", "-n", "1").out


def test_what_the_journal_does_not_know_is_said(house, task, journal):
    said = task("why", "tidy", "nobody")
    assert (said.code, said.err) == (1, "task: the journal of tidy says nothing about 'nobody'\n")
    house.task("new-00000002")
    assert task("why", "new").err == "task: the journal of new says nothing\n"


def test_compressed_segments_are_shown(task, journal):
    plain = journal / "0000000001.jsonl"
    (journal / "0000000001.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    both = task("why", "tidy").out
    plain.unlink()
    assert task("why", "tidy").out == both
    assert both.count("tidy was started in /shop") == 1


def test_secrets_are_masked(house, task):
    folder = house.task() / "journal"
    folder.mkdir()
    said = line(1, "answered", question="q1", text="use token=hunter2hunter2")
    (folder / "0000000001.jsonl").write_text(f"{json.dumps(said)}\n")
    for words in (["why", "tidy"], ["why", "tidy", "--json"]):
        output = task(*words).out
        assert "hunter2" not in output
        assert "token=[redacted]" in output


def test_notices_are_found_by_their_kind(task, journal):
    """The pages show the last notices, and name this as the way to all of them."""
    notice = line(5, "checked_in", {"kind": "noticed", "text": "2025-11-27T14:35:03Z dev runs again"})
    with (journal / "0000000003.jsonl").open("a") as lines:
        lines.write(f"{json.dumps(notice)}\n")
    said = task("why", "tidy", "noticed", "-n", "9", "--json").json["decisions"]
    assert [each["sentences"] for each in said] == [["check-in", "dev runs again"]]
