"""What a program wrote becomes files, a record and a handoff: once, or its faults come back (F1, F2, F4, F6)."""

from __future__ import annotations

import errno
import json

import pytest

from orchestrator.formats.handoff import read_any_report
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.handoff import ReportStatus
from orchestrator.model.hands import Deletes
from orchestrator.workspaces.operations import settle as settling
from orchestrator.workspaces.operations import transaction
from orchestrator.workspaces.operations.plan import Policy
from orchestrator.workspaces.operations.settle import Job, publish, settle

AT = 1_764_254_100.0
FILES = DiskFiles()


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def root(tmp_path):
    for name in ("tree", "run", "handoffs"):
        (tmp_path / name).mkdir()
    (tmp_path / "tree" / "old.txt").write_text("one\ntwo\n")
    return tmp_path / "tree"


def operation(kind, path, **more):
    return {"operation": kind, "file_path": str(path), "description": "why it is needed", **more}


def wrote(root, *operations, text=""):
    """The program wrote these operations, and a text behind them."""
    said = {"file_operations": operations, "specialist_summary": "All is well."}
    block = f"```json\n{json.dumps(said)}\n```\n" if operations else ""
    (root.parent / "run" / "answer.txt").write_text(f"Here you are.\n{block}{text}")


def job(root, **policy):
    folder = root.parent / "run"
    return Job(
        folder, folder / "answer.txt", root.parent / "handoffs", Policy((root,), **policy), AT,
        "r-1", "pm-20251127-140000.md", "dev", "Do a",
    )  # fmt: skip


def settled(root, *, ended_well=True, **policy):
    return settle(FILES, job(root, **policy), ended_well=ended_well)


def report_of(outcome):
    return read_any_report(outcome.handoff.encode(), "dev-20251127-143500.md")


def test_operations_become_files_a_record_and_a_handoff(root):
    wrote(
        root,
        operation("create", root / "new" / "a.py", content="A = 1\n"),
        operation("append", root / "old.txt", content="three\n"),
    )
    outcome = settled(root)
    assert (root / "new" / "a.py").read_text() == "A = 1\n"
    assert (root / "old.txt").read_text() == "one\ntwo\nthree\n"
    assert [each.size for each in outcome.record.done] == [6, 14]
    report = report_of(outcome)
    assert (report.status, report.run, report.in_reply_to) == (
        ReportStatus.COMPLETE,
        "r-1",
        "pm-20251127-140000.md",
    )
    assert report.completed.startswith("All is well.")
    assert report.artifacts == (str(root / "new" / "a.py"), str(root / "old.txt"))


def test_its_own_handoff_counts_but_not_whom_it_speaks_for(root):
    text = "# Handoff: review\n**Status:** COMPLETE\n**Verdict:** APPROVED\n**Run:** r-9\n\n## Completed Work\nFine.\n"
    wrote(root, operation("create", root / "a.md", content="x\n"), text=text)
    report = report_of(settled(root))
    assert (report.verdict, report.run, report.completed) == ("APPROVED", "r-1", "Fine.")
    assert report.artifacts == (str(root / "a.md"),)


def test_a_handoff_without_operations_is_enough(root):
    wrote(root, text="# Handoff: dev\n**Status:** BLOCKED\n\n## Blockers\nNo key.\n")
    outcome = settled(root)
    assert outcome.record is None
    assert (report_of(outcome).status, report_of(outcome).blockers) == (ReportStatus.BLOCKED, "No key.")


@pytest.mark.parametrize(
    ("more", "text", "fault"),
    [
        ([operation("edit", "/elsewhere/x", content="x")], "", "Operation 1: '/elsewhere/x': lies in none"),
        (
            [operation("edit", "/x", edit_instructions="make it nicer")],
            "",
            "Operation 1: edit_instructions in prose",
        ),
        ([], "# Handoff: dev\n**Status:** DONE\n", "the handoff, line 2"),
    ],
)
def test_one_fault_and_nothing_is_written(root, more, text, fault):
    wrote(root, operation("create", root / "a.py", content="A = 1\n"), *more, text=text)
    outcome = settled(root)
    assert fault in " ".join(outcome.record.faults)
    assert not outcome.handoff
    assert not (root / "a.py").exists()


@pytest.mark.parametrize("data", [b"no JSON at all", b"\xff\xfe", None])
def test_no_text_or_no_operations_is_a_fault(root, data):
    if data is not None:
        (root.parent / "run" / "answer.txt").write_bytes(data)
    (fault,) = settled(root).record.faults
    assert any(word in fault for word in ("No JSON object", "is not UTF-8", "standard output"))


def test_a_program_that_failed_has_nothing_carried_out(root):
    wrote(root, operation("create", root / "a.py", content="A = 1\n"))
    outcome = settled(root, ended_well=False)
    assert (outcome.record, outcome.handoff) == (None, "")
    assert not (root / "a.py").exists()


def test_deletes_wait_until_they_are_confirmed(root):
    wrote(root, operation("delete", root / "old.txt"), operation("create", root / "a.py", content="x\n"))
    outcome = settled(root)
    assert outcome.record.unconfirmed == ((str(root / "old.txt"), "one\ntwo"),)
    assert not (root / "a.py").exists()
    done = settled(root, deletes=Deletes.ASK, confirmed=frozenset({str(root / "old.txt")}))
    assert [each.size for each in done.record.done] == [None, 2]
    assert not (root / "old.txt").exists()


def test_of_what_is_to_be_deleted_little_is_shown(root):
    """The question goes into the journal: neither long lines nor many files may fill it."""
    names = [root / f"{nth}.txt" for nth in range(8)]
    for path in names:
        path.write_text("x" * 100_000)
    wrote(root, *(operation("delete", path) for path in names))
    asked = settled(root).record.unconfirmed
    assert [path for path, _ in asked] == list(map(str, names))
    assert sum(len(preview) for _, preview in asked) <= 5 * 160


def test_a_step_that_fails_takes_all_back(root, monkeypatch):
    wrote(
        root,
        operation("create", root / "a.py", content="A = 1\n"),
        operation("append", root / "old.txt", content="x\n"),
    )
    plain = transaction._do

    def _do(place, new, temporary):
        (root / "old.txt").write_text("by somebody else\n")
        plain(place, new, temporary)

    monkeypatch.setattr(transaction, "_do", _do)
    outcome = settled(root)
    assert outcome.record.rolled_back
    assert outcome.record.faults == ("Operation 1: was changed by somebody else since it was checked",)
    assert not (root / "a.py").exists()


def test_full_disk_is_no_fault_of_the_program(root, monkeypatch):
    def _do(*_):
        raise OSError(errno.ENOSPC, "no space")

    wrote(root, operation("create", root / "a.py", content="A = 1\n"))
    monkeypatch.setattr(transaction, "_do", _do)
    with pytest.raises(OSError, match="no space"):
        settled(root)
    monkeypatch.undo()
    assert settled(root).record.done


@pytest.mark.parametrize(("where", "name"), [(transaction, "_verify"), (settling, "_ready")])
def test_killed_meanwhile_the_next_call_ends_as_one(root, monkeypatch, where, name):
    """Half done, it is rolled back and done anew; done, it is only handed in. Record and handoff are the same."""

    def die(*_):
        raise Killed

    wrote(
        root,
        operation("append", root / "old.txt", content="three\n"),
        operation("create", root / "a.py", content="x\n"),
    )
    monkeypatch.setattr(where, name, die)
    with pytest.raises(Killed):
        settled(root)
    monkeypatch.undo()
    outcome = settled(root)
    assert (root / "old.txt").read_text() == "one\ntwo\nthree\n"
    assert [each.size for each in outcome.record.done] == [14, 2]
    assert settled(root) == outcome


def test_half_a_transaction_is_rolled_back_where_it_does_not_count(root, monkeypatch):
    wrote(root, operation("append", root / "old.txt", content="three\n"))
    monkeypatch.setattr(transaction, "_verify", lambda _: (_ for _ in ()).throw(Killed()))
    with pytest.raises(Killed):
        settled(root)
    monkeypatch.undo()
    settled(root, ended_well=False)
    assert (root / "old.txt").read_text() == "one\ntwo\n"


def test_a_handoff_is_published_once(root):
    wrote(root, operation("create", root / "a.py", content="x\n"))
    outcome = settled(root)
    taken = root.parent / "handoffs"
    publish(FILES, job(root), outcome)
    publish(FILES, job(root), outcome)
    (name,) = [each.name for each in taken.iterdir()]
    (taken / name).write_text("another one\n")
    publish(FILES, job(root), outcome)
    assert len(list(taken.iterdir())) == 2
