"""What agents write is data: ids with paths, huge texts, other types, numbers without end (law 7)."""

from __future__ import annotations

import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.coordination.completeness import illegal_changes, lacking
from orchestrator.formats.coordination.handoff import read_handoff, render_handoff
from orchestrator.formats.coordination.records import read_chain, read_index
from orchestrator.formats.coordination.status import read_role_status
from orchestrator.model.coordination import HandoffStatus, moment
from orchestrator.model.errors import BadFile
from tests.unit.formats.coordination.documents import BLOCKS, WHOLE, handoffs
from tests.unit.formats.texts import attempted, junk

READERS = {
    "handoff": read_handoff,
    "agent status": read_role_status,
    "chain": read_chain,
    "index": read_index,
}


def changed(title, path, value):
    """Return a block of the document with one field changed."""
    whole = json.loads(BLOCKS[title])
    place = whole
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return json.dumps(whole).encode()


def faults(title, data, name="a file"):
    with pytest.raises(BadFile) as caught:
        READERS[title](data, name)
    return [fault.reason for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("title", "path", "value"),
    [
        ("handoff", ("handoff", "handoffId"), "handoff_1702311000000_../../ab"),
        ("handoff", ("handoff", "handoffId"), "../../etc/passwd"),
        ("handoff", ("handoff", "handoffId"), "handoff_1702311000000_A1B2C3D4"),
        ("handoff", ("handoff", "handoffId"), 1702311000000),
        ("handoff", ("handoff", "from"), "planner"),
        ("handoff", ("handoff", "to"), "AUDITOR"),
        ("handoff", ("handoff", "from"), "CLEANER"),
        ("handoff", ("handoff", "type"), "ready"),
        ("handoff", ("handoff", "status"), "done"),
        ("handoff", ("handoff", "timestamp"), "yesterday"),
        ("handoff", ("handoff", "timestamp"), "2025-13-45T99:99:99Z"),
        ("handoff", ("handoff", "timestamp"), "2025-12-11T14:30:00"),
        ("handoff", ("handoff",), []),
        ("handoff", ("context", "taskId"), "../other"),
        ("handoff", ("context", "taskId"), "a\nb"),
        ("handoff", ("context", "dependencies"), "one"),
        ("handoff", ("context", "dependencies"), [1]),
        ("handoff", ("context", "dependencies"), ["a"] * 1001),
        ("handoff", ("context", "dependencies"), ["a\x1b[2J"]),
        ("handoff", ("context", "scope"), "x" * 70_000),
        ("handoff", ("context", "scope"), "\x1b[2J"),
        ("handoff", ("deliverable", "type"), "zip"),
        ("handoff", ("nextSteps", "instructions"), {"a": "b"}),
        ("handoff", ("nextSteps", "instructions"), ["x" * 70_000]),
        ("handoff", ("issues", 0, "severity"), "urgent"),
        ("handoff", ("issues", 0, "description"), " "),
        ("handoff", ("issues", 0), "an issue"),
        ("handoff", ("memory", "created"), ["mem_1_../../x"]),
        ("agent status", ("agentId",), "../x"),
        ("agent status", ("agentId",), None),
        ("agent status", ("progress",), 0.75),
        ("agent status", ("progress",), "1.5"),
        ("agent status", ("progress",), "75%"),
        ("agent status", ("waitingFor",), "lunch"),
        ("agent status", ("nextRole",), "BOSS"),
        ("agent status", ("status",), "pending"),
        ("agent status", ("lastUpdate",), None),
        ("agent status", ("findings",), ["x" * 70_000]),
        ("chain", ("chainId",), "chain_../../x"),
        ("chain", ("chainId",), "chain_another"),
        ("chain", ("duration_minutes",), 10**400),
        ("chain", ("duration_minutes",), -1),
        ("chain", ("duration_minutes",), True),
        ("chain", ("metrics", "test_coverage"), 94),
        ("chain", ("metrics", "test_coverage"), "0.94"),
        ("chain", ("outcome",), "great"),
        ("index", ("by_date",), {"../x": 1}),
        ("index", ("by_type",), {"other": 1}),
        ("index", ("total_handoffs",), 2**60),
    ],
)
def test_is_refused_with_the_place_and_a_correction(title, path, value):
    (reason, *_) = faults(title, changed(title, path, value))
    named = [str(each) for each in path if not isinstance(each, int)]
    assert any(each in reason for each in (*named, "chainId"))
    assert reason.startswith("`")


@pytest.mark.parametrize("title", READERS)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{",
        b"null",
        b"\xff\xfe",
        b'{"a": 1, "a": 2}',
        b'{"a": 1e999}',
        b"[" * 100_000,
        b"x" * 11_000_000,
    ],
)
def test_what_is_no_object_is_refused(title, data):
    assert faults(title, data)


@given(junk)
def test_any_bytes_are_refused_or_read(data):
    for read in READERS.values():
        found, reported = attempted(partial(read, name="a file"), data)
        assert found is not None or reported


def test_ten_megabytes_of_findings_are_refused():
    data = changed("agent status", ("findings",), ["x" * 1000] * 10_000)
    assert len(data) > 10_000_000
    assert "larger" in faults("agent status", data)[0]


def test_id_of_the_file_and_of_the_handoff_are_one():
    data, name = BLOCKS["handoff"].encode(), "data/handoffs/2025-12-11/handoff_1702311000000_zzzzzzzz.json"
    assert "handoffId" in faults("handoff", data, name)[0]
    fragment = BLOCKS["escalation, fragment"]
    assert read_handoff(fragment.encode(), name).head.id == "handoff_1702311000000_zzzzzzzz"


def test_status_of_another_agent_is_refused():
    assert "agentId" in faults("agent status", BLOCKS["agent status"].encode(), "agent-auditor-001.json")[0]


@given(handoffs())
def test_handoff_that_is_written_reads_the_same(handoff):
    written = render_handoff(handoff)
    assert read_handoff(written, "a file") == handoff
    assert render_handoff(handoff, written) == written
    lacking(handoff)


@pytest.mark.parametrize("title", WHOLE)
@pytest.mark.parametrize(
    ("path", "kept"),
    [
        (("handoff", "timestamp"), False),
        (("context", "taskId"), False),
        (("context", "phase"), True),
        (("nextSteps", "instructions"), False),
        (("memory",), True),
    ],
)
def test_missing_field_is_named(title, path, kept):
    """The phase and the memory are for readers: no transition fails without."""
    whole = json.loads(BLOCKS[title])
    place = whole if len(path) == 1 else whole[path[0]]
    del place[path[-1]]
    reasons = lacking(read_handoff(json.dumps(whole).encode(), "a file"))
    assert bool(reasons) is not kept
    assert kept or path[-1] in reasons[0]


def test_audit_does_not_pass_with_a_grave_issue():
    data = changed("Example 2, cleanup", ("issues", 0, "severity"), "high")
    assert len(lacking(read_handoff(data, "a file"))) == 1


@pytest.mark.parametrize(
    ("path", "value", "legal"),
    [
        (("handoff", "status"), "accepted", True),
        (("handoff", "status"), "rejected", True),
        (("handoff", "status"), "completed", False),
        (("handoff", "timestamp"), "2025-12-11T14:30:01Z", False),
        (("context", "taskId"), "another", False),
        (("issues", 0, "severity"), "low", False),
        (("issues", 0, "file"), "a.py", True),
        (("issues",), [], False),
        (("added",), 1, False),
    ],
)
def test_what_may_change_in_place(path, value, legal):
    old = read_handoff(BLOCKS["handoff"].encode(), "a file")
    new = read_handoff(changed("handoff", path, value), "a file")
    assert (illegal_changes(old, new) == ()) is legal
    assert old.head.status is HandoffStatus.PENDING


@given(st.text(max_size=30))
def test_any_text_is_a_moment_or_none(text):
    moment(text)
