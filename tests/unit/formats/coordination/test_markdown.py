"""The same handoff as the hub's markdown: nothing is lost, and what markdown cannot say is named (C1)."""

from __future__ import annotations

import pytest
from hypothesis import given

from orchestrator.formats import markdown_report
from orchestrator.formats.coordination import json_report
from orchestrator.formats.coordination.handoff import read_handoff
from orchestrator.formats.coordination.hub_report import hub_report
from orchestrator.formats.coordination.json_report import read, write
from orchestrator.formats.coordination.markdown import (
    TITLES,
    handoff_within,
    kept_apart,
    read_markdown,
    render_markdown,
)
from orchestrator.formats.handoff_format import ReportForm
from orchestrator.formats.report import read_report, render_report
from orchestrator.model.coordination import PipelineRole
from orchestrator.model.errors import BadFile, Refused
from orchestrator.model.handoff import CriterionMark, Report, ReportStatus, Subtask, Verdict
from tests.unit.formats.coordination.documents import BLOCKS, HANDOFFS, handoffs

REPORTS = (
    Report(ReportStatus.COMPLETE, completed="Done.", artifacts=("a.py",)),
    Report(ReportStatus.BLOCKED, blockers="No network", skill_gaps="How to mock it", run="r-1"),
    Report(ReportStatus.NEEDS_REVIEW, verdict=Verdict.REJECTED, in_reply_to="pm-20260101-120000.md"),
    Report(
        ReportStatus.COMPLETE, unchanged="Nothing was wrong", subtasks=(Subtask("a", "First", needs=("b",)),)
    ),
    Report(ReportStatus.COMPLETE, criteria=(CriterionMark("It works", met=True, evidence=("x.py:1",)),)),
)


@pytest.mark.parametrize("title", HANDOFFS)
def test_block_of_the_document_comes_back(title):
    handoff = read_handoff(BLOCKS[title].encode(), "a file")
    assert read_markdown(render_markdown(handoff), "dev.md") == handoff


@given(handoffs())
def test_any_handoff_comes_back(handoff):
    """And the hub reads the same as a report of its own."""
    data = render_markdown(handoff)
    assert read_markdown(data, "dev.md") == handoff
    assert read_report(data, "dev.md").status is hub_report(handoff, []).status


@pytest.mark.parametrize("report", REPORTS)
def test_report_of_an_agent_without_a_role_is_kept(report):
    """From markdown to a handoff and back, and by way of JSON: the hub reads the same report."""
    data = render_report("dev", 1e9, report).encode()
    handoff = read_markdown(data, "dev.md")
    assert hub_report(handoff, []) == report
    assert read_report(render_markdown(handoff), "dev.md") == report or handoff.others
    assert read(write("dev", 1e9, report), "dev.handoff", 1 << 20, ()) == report


def test_sections_of_the_first_example():
    text = render_markdown(read_handoff(BLOCKS["handoff"].encode(), "a file")).decode()
    for line in (
        "# Handoff: planner",
        "**Status:** COMPLETE",
        "- docs/firebase-activation-plan.md",
        "## Next Steps",
        "- CANNOT modify src/refinement/* files",
        "- [medium] Service account credentials not yet configured",
        "  Recommendation: Create placeholder config with setup instructions",
    ):
        assert f"\n{line}\n" in f"\n{text}"


def test_what_markdown_cannot_say_is_named():
    assert kept_apart(read_handoff(BLOCKS["handoff"].encode(), "a file")) == (
        "context.dependencies",
        "context.phase",
        "context.scope",
        "context.taskId",
        "deliverable.location",
        "deliverable.type",
        "handoff.from",
        "handoff.handoffId",
        "handoff.status",
        "handoff.timestamp",
        "handoff.to",
        "handoff.type",
        "memory.created",
        "memory.referenced",
    )


def test_audit_and_replanning_are_verdict_and_block():
    passed = hub_report(read_handoff(BLOCKS["Example 2, cleanup"].encode(), "a file"), [])
    assert (passed.status, passed.verdict) == (ReportStatus.COMPLETE, Verdict.APPROVED)
    back = hub_report(read_handoff(BLOCKS["Example 3"].encode(), "a file"), [])
    assert (back.status, back.verdict) == (ReportStatus.BLOCKED, None)
    assert "free tier limits" in back.blockers


def test_edit_of_a_section_counts():
    text = render_markdown(read_handoff(BLOCKS["handoff"].encode(), "a file")).decode()
    edited = read_markdown(text.replace("- CANNOT modify src/refinement/* files\n", "").encode(), "dev.md")
    assert edited.steps is not None
    assert edited.steps.constraints is not None
    assert len(edited.steps.constraints) == 3
    assert edited.head.source is PipelineRole.PLANNER


def test_what_no_section_can_hold_is_refused():
    handoff = read_handoff(b'{"handoff": {"type": "complete"}, "other": "' + b"x" * 70_000 + b'"}', "a file")
    with pytest.raises(Refused):
        render_markdown(handoff)


@pytest.mark.parametrize(
    "report",
    [
        "[]",
        '{"status": "DONE"}',
        '{"verdict": 1}',
        '{"status": "BLOCKED"}',
        '{"run": "../x"}',
        '{"status": "COMPLETE", "subtasks": [{"id": "../x"}]}',
        '{"status": "COMPLETE", "criteria": [{}]}',
    ],
)
def test_bad_object_report_is_refused(report):
    with pytest.raises(BadFile):
        read(b'{"handoff": {}, "report": ' + report.encode() + b"}", "dev.handoff", 1 << 20, ())


def test_handing_back_is_a_rejection_with_and_without_a_type():
    """The receiver changes the status of what it was handed, or says nothing but that and the issues."""
    issue = '{"severity": "high", "description": "it leaks"}'
    for head in ('"status": "rejected"', '"type": "ready_for_audit", "status": "rejected"'):
        data = f'{{"handoff": {{{head}}}, "issues": [{issue}]}}\n'.encode()
        report = json_report.read(data, "auditor-20260101-000000.handoff", 1 << 20, TITLES)
        assert (report.status, report.verdict) == (ReportStatus.COMPLETE, Verdict.REJECTED)
        assert [each.description for each in handoff_within(report, "x").issues or ()] == ["it leaks"]


def test_forms_ask_for_what_is_handed_on():
    """The form of each format has the parts without which a handoff is rejected; the one of markdown reads back."""
    wanted = ReportForm("planner", "r-1", "pm-20260101-000000.md", hands_on=True)
    for name in ("dependencies", "acceptanceCriteria", "location"):
        assert name in json_report.form(wanted)
    form = markdown_report.form(wanted)
    assert form.startswith("````markdown\n")
    body = (
        form.split("\n", 1)[1]
        .rsplit("````", 1)[0]
        .replace("(one word: COMPLETE, BLOCKED or NEEDS_REVIEW)", "COMPLETE")
    )
    report = read_report(
        body.replace("(what prevented progress, if BLOCKED; otherwise None)", "None").encode(),
        "x",
        1 << 20,
        TITLES,
    )
    assert set(TITLES) == {title for title, _ in report.others}
