"""The archive of handoffs: complete after any kill, rebuilt when lost, merged with another (C6)."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.formats.coordination.handoff import read_handoff, render_handoff
from orchestrator.formats.coordination.records import read_index
from orchestrator.model.coordination import (
    ChainOutcome,
    HandoffContext,
    HandoffStatus,
    RoleHandoff,
    Transition,
)
from orchestrator.model.errors import Refused
from orchestrator.records.archive import HandoffArchive, open_archive
from orchestrator.testing.memory_files import MemoryFiles
from orchestrator.testing.memory_tree import Kind
from tests.unit.records.pipelines import BEGAN, LEAK, PIPELINE, handed_on

ROOT = Path("/project/data/handoffs")


class KilledError(BaseException):
    pass


def tree(files: MemoryFiles) -> dict[str, bytes]:
    """Return all files of the archive."""
    found: dict[str, bytes] = {}
    for folder in files.entries(ROOT):
        if folder.is_file:
            found[folder.name] = files.read(ROOT / folder.name)
            continue
        for entry in files.entries(ROOT / folder.name):
            found[f"{folder.name}/{entry.name}"] = files.read(ROOT / folder.name / entry.name)
    return found


def filled(*handoffs: RoleHandoff, started: float | None = BEGAN) -> MemoryFiles:
    files = MemoryFiles()
    archive = open_archive(files, ROOT)
    for each in handoffs:
        archive.take(each, started=started)
    return files


def test_pipeline_lies_where_the_document_says():
    files = filled(*PIPELINE)
    assert sorted(tree(files)) == [
        *(f"2025-12-11/{name}.json" for name in ("chain_task_1", *(each.head.id for each in PIPELINE))),
        "index.json",
    ]
    assert [read_handoff(tree(files)[f"2025-12-11/{each.head.id}.json"], "x") for each in PIPELINE] == list(
        PIPELINE
    )


def test_durations_of_the_documents_chain():
    """90, 30, 15 and 15 minutes from 14:00 to 16:30, as in its example."""
    chain = json.loads(tree(filled(*PIPELINE))["2025-12-11/chain_task_1.json"])
    assert (chain["created"], chain["completed"]) == ("2025-12-11T14:00:00Z", "2025-12-11T16:30:00Z")
    assert chain["duration_minutes"] == 150
    assert [each["duration_minutes"] for each in chain["handoffs"]] == [90, 30, 15, 15]
    assert chain["outcome"] == "success"
    assert chain["metrics"] == {
        "total_files_modified": 5,
        "test_coverage": None,
        "issues_found": 1,
        "issues_resolved": 1,
    }


def test_index_counts_by_date_and_type():
    files = filled(*PIPELINE, handed_on(5, Transition.REPLAN, 1440, task="task_2"))
    index = read_index(tree(files)["index.json"])
    assert (index.handoffs, index.chains, index.updated) == (5, 2, "2025-12-12T14:00:00Z")
    assert index.by_date == (("2025-12-12", 1), ("2025-12-11", 4))
    assert dict(index.by_type) == dict.fromkeys(Transition, 1)


def test_minutes_of_the_links_add_up():
    moments = [0.4, 0.9, 1.4, 100.5, 101.6]
    handoffs = [handed_on(n, Transition.AUDIT, at) for n, at in enumerate(moments)]
    (chain,) = open_archive(filled(*handoffs), ROOT).chains
    assert sum(each.minutes for each in chain.links) == chain.minutes == 102
    assert chain.outcome is ChainOutcome.OPEN
    assert chain.completed is None


def test_order_of_taking_makes_no_difference():
    assert tree(filled(*PIPELINE)) == tree(filled(*reversed(PIPELINE)))


@pytest.mark.parametrize("again", [True, False])
def test_kill_at_each_write_costs_nothing(again):
    """The next start completes what was begun, whether the action is repeated or not."""
    steps = list[str]()
    whole = MemoryFiles(before=lambda step, path: steps.append(step))
    archive = open_archive(whole, ROOT)
    for each in PIPELINE:
        archive.take(each, started=BEGAN)
    assert len(steps) > 24
    for number in range(len(steps)):
        files, count = MemoryFiles(), 0

        def before(step, path):
            nonlocal count
            count += 1
            if count > number:  # noqa: B023 (called within the loop)
                raise KilledError

        files.before = before
        done = 0
        with contextlib.suppress(KilledError):
            killed = open_archive(files, ROOT)
            for each in PIPELINE:
                killed.take(each, started=BEGAN)
                done += 1
        assert done < len(PIPELINE), "it was killed"
        files.before = None
        files.crash(power=True)
        opened = open_archive(files, ROOT)
        assert opened.unread == ()
        assert [each.head.id for each in PIPELINE[:done]] == list(opened.ids)[:done]
        assert sum(len(chain.links) for chain in opened.chains) == len(opened.ids)
        assert opened.ids == () or read_index(files.read(ROOT / "index.json")).handoffs == len(opened.ids)
        for each in PIPELINE if again else PIPELINE[len(opened.ids) :]:
            opened.take(each, started=BEGAN)
        assert tree(files) == tree(whole), f"killed before step {number}, {steps[number]}"


@pytest.mark.parametrize("data", [None, b"", b"{", b"[]", b'{"total_handoffs": 9}', b"\xff" * 2_000_000])
def test_lost_or_damaged_index_is_made_again(data):
    files = filled(*PIPELINE)
    before = tree(files)
    files.remove(ROOT / "index.json")
    if data is not None:
        files.put(ROOT / "index.json", data)
    open_archive(files, ROOT)
    assert tree(files) == before


def test_index_that_is_a_link_is_replaced():
    files = filled(*PIPELINE)
    before = tree(files)
    files.delete(ROOT / "index.json")
    files.put(ROOT / "index.json", kind=Kind.LINK)
    open_archive(files, ROOT)
    assert tree(files) == before


def test_lost_chain_is_made_again():
    """When its task began is then unknown: the first handoff counts."""
    files = filled(*PIPELINE)
    files.remove(ROOT / "2025-12-11" / "chain_task_1.json")
    (chain,) = open_archive(files, ROOT).chains
    assert [each.minutes for each in chain.links] == [0, 30, 15, 15]


def test_damaged_chain_is_set_aside():
    files = filled(*PIPELINE)
    files.write(ROOT / "2025-12-11" / "chain_task_1.json", b"{")
    assert len(open_archive(files, ROOT).unread) == 1
    aside = [name for name in tree(files) if "damaged_" in name]
    assert [tree(files)[name] for name in aside] == [b"{"]
    assert open_archive(files, ROOT).unread == ()


def test_chain_that_moved_to_an_earlier_day_lies_there_alone():
    """Also if the daemon was killed between writing it there and removing the former one."""
    late = [handed_on(n, Transition.AUDIT, 60 * 24 + n) for n in range(2)]
    files = filled(*late, started=None)
    former = tree(files)["2025-12-12/chain_task_1.json"]
    open_archive(files, ROOT).take(PIPELINE[0])
    whole = tree(files)
    assert [name for name in whole if "chain" in name] == ["2025-12-11/chain_task_1.json"]
    files.write(ROOT / "2025-12-12" / "chain_task_1.json", former)
    archive = open_archive(files, ROOT)
    assert archive.unread == ()
    assert len(archive.chains[0].links) == 3
    aside = {name for name in tree(files) if "damaged_" in name}
    assert {name: data for name, data in tree(files).items() if name not in aside} == whole


def test_change_in_place_goes_on_and_an_illegal_one_is_refused():
    archive = open_archive(filled(*PIPELINE[:1]), ROOT)
    first = PIPELINE[0]
    accepted = replace(first, head=replace(first.head, status=HandoffStatus.ACCEPTED))
    archive.take(accepted)
    assert archive.handoff(first.head.id or "") == accepted
    for other in (first, replace(accepted, context=HandoffContext(task="another"))):
        with pytest.raises(Refused):
            archive.take(other)
    assert archive.handoff(first.head.id or "") == accepted


def test_fields_of_others_are_kept_as_they_were():
    data = render_handoff(PIPELINE[0])[:-2] + b',  "reviewer": {"mood": "good"}}'
    archive = open_archive(filled(read_handoff(data, "x")), ROOT)
    assert json.loads(render_handoff(archive.handoff(archive.ids[0])))["reviewer"] == {"mood": "good"}


def test_task_that_is_given_up_is_no_success():
    files = filled(*PIPELINE[:2])
    open_archive(files, ROOT).give_up("task_1", BEGAN + 9000)
    for _ in range(2):  # the second time as it is read from the disk
        (chain,) = open_archive(files, ROOT).chains
        assert (chain.outcome, chain.minutes) == (ChainOutcome.FAILURE, 150)
    open_archive(files, ROOT).take(handed_on(9, Transition.AUDIT, 400))
    assert open_archive(files, ROOT).chains[0].outcome is ChainOutcome.OPEN


def test_complete_that_was_rejected_is_no_success():
    """Its receiver sent it back: the chain goes on."""
    last = PIPELINE[-1]
    rejected = replace(last, head=replace(last.head, status=HandoffStatus.REJECTED))
    archive = open_archive(filled(*PIPELINE[:-1], rejected), ROOT)
    assert [each.outcome for each in archive.chains] == [ChainOutcome.OPEN]


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (HandoffStatus.PENDING, ChainOutcome.FAILURE),
        (HandoffStatus.ACCEPTED, ChainOutcome.FAILURE),
        (HandoffStatus.COMPLETED, ChainOutcome.SUCCESS),
    ],
)
def test_task_that_was_left_before_its_completion_was_taken(status, outcome):
    """The cleaner said `complete`, and nobody closed the task; opened anew, it is the same."""
    last = PIPELINE[-1]
    files = filled(*PIPELINE[:-1], replace(last, head=replace(last.head, status=status)))
    open_archive(files, ROOT).give_up("task_1", BEGAN + 40_000.0)
    assert [each.outcome for each in open_archive(files, ROOT).chains] == [outcome]


def test_coverage_that_was_measured_is_kept():
    files = filled(*PIPELINE[:2])
    open_archive(files, ROOT).take(PIPELINE[2], coverage=0.94)
    archive = open_archive(files, ROOT)
    archive.take(PIPELINE[3])
    assert archive.chains[0].metrics.coverage == 0.94


@pytest.mark.parametrize(
    ("left", "right"), [(PIPELINE[:2], PIPELINE[2:]), (PIPELINE, PIPELINE[1:3]), ((), PIPELINE)]
)
def test_two_archives_merge(left, right):
    """Into each other: both then say the same, and the same as if one had taken all."""
    mine, theirs = filled(*left), filled(*right)
    open_archive(mine, ROOT).merge(open_archive(theirs, ROOT))
    open_archive(theirs, ROOT).merge(open_archive(mine, ROOT))
    assert tree(mine) == tree(theirs) == tree(filled(*PIPELINE))
    assert open_archive(mine, ROOT).merge(open_archive(theirs, ROOT)).added == 0


def test_merge_takes_what_went_on():
    first = PIPELINE[0]
    completed = replace(first, head=replace(first.head, status=HandoffStatus.COMPLETED), issues=(LEAK,))
    for mine, theirs in ((first, completed), (completed, first)):
        archive = open_archive(filled(mine), ROOT)
        archive.merge(open_archive(filled(theirs), ROOT))
        assert archive.handoff(first.head.id or "") == completed


def test_conflict_keeps_both():
    first, other = PIPELINE[0], replace(PIPELINE[0], context=HandoffContext(task="task_1", scope="other"))
    mine, theirs = filled(first), filled(other)
    assert open_archive(mine, ROOT).merge(open_archive(theirs, ROOT)).conflicts == (first.head.id,)
    open_archive(theirs, ROOT).merge(open_archive(filled(first), ROOT))
    assert tree(mine) == tree(theirs)
    assert {read_handoff(data, "x") for name, data in tree(mine).items() if "handoff_" in name} == {
        first,
        other,
    }


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("2025-12-11/handoff_1765461600000_zzzzzzzz.json", b"{", Kind.FILE),
        ("2025-12-11/handoff_1765461600000_zzzzzzzz.json", b'{"handoff": {}}', Kind.FILE),
        ("2025-12-11/handoff_1765461600000_zzzzzzzz.json", b"x" * 2_000_000, Kind.FILE),
        ("2025-12-11/handoff_1765461600000_zzzzzzzz.json", b"", Kind.LINK),
        ("2025-12-11/handoff_1765461600000_zzzzzzzz.json", b"", Kind.PIPE),
        ("2025-12-11/chain_other.json", b"{}", Kind.FILE),
        ("2025-12-11/notes.txt", b"", Kind.FILE),
        ("2025-12-12", b"", Kind.LINK),
        ("notes", b"", Kind.FILE),
    ],
)
def test_what_is_no_record_is_named_and_left(name, data, kind):
    files = filled(*PIPELINE)
    files.put(ROOT / name, data, kind)
    archive = open_archive(files, ROOT)
    assert [each.path for each in archive.unread] == [ROOT / name]
    assert archive.unread[0].reason
    assert archive.ids == tuple(each.head.id for each in PIPELINE)
    assert files.entry(ROOT / name) is not None


def test_folder_that_is_a_link_is_not_written_into():
    files = MemoryFiles()
    files.put(ROOT / "2025-12-11", kind=Kind.LINK)
    with pytest.raises(Refused):
        open_archive(files, ROOT).take(PIPELINE[0])


@pytest.mark.parametrize(
    "lost",
    [
        replace(PIPELINE[0], context=None),
        replace(PIPELINE[0], head=replace(PIPELINE[0].head, id=None)),
        replace(PIPELINE[0], head=replace(PIPELINE[0].head, timestamp=None)),
        replace(PIPELINE[0], head=replace(PIPELINE[0].head, source=None)),
    ],
)
def test_what_cannot_be_filed_is_refused(lost):
    files = MemoryFiles()
    with pytest.raises(Refused):
        HandoffArchive(files, ROOT).take(lost)
    assert tree(files) == {}
