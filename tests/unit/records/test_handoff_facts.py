"""What the observer reads of an archive: fast, and as the strict reader has it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.coordination.handoff import read_handoff, render_handoff
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.coordination import HandoffStatus, IssueSeverity, Transition
from orchestrator.model.errors import Refused
from orchestrator.records import handoff_facts
from orchestrator.records.archive import open_archive
from orchestrator.records.handoff_facts import fact_of, read_archive, read_fact
from tests.unit.records.pipelines import BEGAN, PIPELINE


@pytest.fixture
def root(tmp_path):
    archive = open_archive(DiskFiles(), tmp_path / "handoffs")
    for each in PIPELINE:
        archive.take(each, started=BEGAN)
    return tmp_path / "handoffs"


@given(
    st.sampled_from(PIPELINE),
    st.sampled_from([*HandoffStatus, None]),
    st.lists(st.tuples(st.sampled_from(IssueSeverity), st.text(min_size=1)), max_size=3),
    st.dictionaries(st.sampled_from(["context", "memory", "issues", "more"]), st.none() | st.just({})),
)
def test_both_readers_say_the_same(handoff, status, issues, changed):
    """Where the strict reader takes a handoff, the fast one does, with the same figures."""
    found = json.loads(render_handoff(handoff))
    found["handoff"].pop("status")
    found["handoff"] |= {"status": status} if status else {}
    found["issues"] = [{"severity": severity, "description": text} for severity, text in issues]
    data, name = json.dumps(found | changed).encode(), f"{handoff.head.id}.json"
    try:
        strict = fact_of(read_handoff(data, name))
    except Refused:
        return
    assert read_fact(data, name) == strict


def test_a_sound_archive_needs_no_strict_reader(root, monkeypatch):
    """Ten thousand are read in a second only without it."""
    monkeypatch.setattr(handoff_facts, "read_handoff", None)
    found = read_archive(DiskFiles(), root)
    assert [each.transition for each in found.handoffs] == list(Transition)[:4]
    assert (found.began, found.unread) == ({"task_1": BEGAN}, ())


def test_days_outside_are_not_read(root):
    assert read_archive(DiskFiles(), root, since="2025-12-12").handoffs == ()
    assert read_archive(DiskFiles(), root, until="2025-12-10").handoffs == ()


def test_what_is_no_record_is_named_and_left(root):
    day = root / "2025-12-11"
    bad = {
        "handoff_1702311000000_a1b2c3d4.json": b'{"handoff": {"type": "complete", "from": "PLANNER"}}',
        "handoff_1702311000000_a1b2c3d5.json": b" " * 10_000_000,
        "handoff_1702311000000_a1b2c3d6.json": b"{}",
        "chain_x.json": b"[]",
        "notes.txt": b"",
    }
    for name, data in bad.items():
        (day / name).write_bytes(data)
    (day / "handoff_1702311000000_a1b2c3d7.json").symlink_to("/etc/passwd")
    found = read_archive(DiskFiles(), root)
    assert {each.path.name for each in found.unread} == {*bad, "handoff_1702311000000_a1b2c3d7.json"}
    assert len(found.handoffs) == 4


def test_an_archive_that_is_a_link_is_refused(root, tmp_path):
    (tmp_path / "link").symlink_to(root)
    with pytest.raises(Refused, match="is a link or a file"):
        read_archive(DiskFiles(), tmp_path / "link")
