import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.handoff import render_decision, render_order, render_report
from orchestrator.model.consultation import PMAction, PMDecision
from orchestrator.model.handoff import Order, Report, ReportStatus, Verdict
from orchestrator.scribe.summary import summary

NAME = "dev-20251127-154500.md"


def summarised(text: str, name: str = NAME) -> str:
    return summary(name, text.encode())


@pytest.mark.parametrize(
    ("report", "line"),
    [
        (Report(ReportStatus.COMPLETE, completed="It parses. And more."), "dev COMPLETE: It parses."),
        (Report(ReportStatus.COMPLETE, Verdict.REJECTED, completed="Two fail"), "dev COMPLETE, REJECTED: Two fail"),
        (Report(ReportStatus.BLOCKED, completed="Half.", blockers="- No key. So what?"), "dev BLOCKED: No key."),
        (Report(ReportStatus.NEEDS_REVIEW), "dev NEEDS_REVIEW"),
        (Report(ReportStatus.COMPLETE, completed="### Done\n\n- a\n- b"), "dev COMPLETE: Done"),
        (Report(ReportStatus.COMPLETE, completed="```\nx\n```\nRead v1.2 of it,\nall of it! Yes."), "dev COMPLETE: x"),
        (Report(ReportStatus.COMPLETE, completed="---\n\nSee e.g. the\nend. Yes."), "dev COMPLETE: See e.g. the end."),
        (Report(ReportStatus.COMPLETE, completed="x" * 500), "dev COMPLETE: " + "x" * 159 + "…"),
        (Report(ReportStatus.COMPLETE, completed="a | b\x1b[2J <b>"), "dev COMPLETE: a \\| b␛[2J &lt;b>"),
    ],
)  # fmt: skip
def test_a_report_is_one_line(report, line):
    assert summarised(render_report("dev", 0.0, report)) == line


def test_order_is_summarised_as_one():
    order = Order("pm-20251127-153000.md", "r", "s", "dev-2", 0.0, "Write the parser.\nThen rest.")
    assert summarised(render_order(order), order.name) == "pm to dev-2: Write the parser."


def test_decision_of_a_pm_agent_is_summarised_as_one():
    decision = PMDecision(PMAction.ORDER, "r-1", "dev:a", "Write the parser.\nThen rest.")
    assert (
        summarised(render_decision(0.0, decision), "pm-20251127-153000.md")
        == "pm decides ORDER dev:a: Write the parser."
    )


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("notes.md", "x", "unreadable: the name is not of the form AGENT-YYYYMMDD-HHMMSS.md"),
        (
            NAME,
            "**Status:** DONE",
            "unreadable: line 1: `**Status:**` is 'DONE': write exactly one of IN_PROGRESS,",
        ),
        (NAME, "", "unreadable: has no status"),
        ("pm-20251127-154500.md", "", "unreadable: names nobody"),
    ],
)
def test_what_does_not_read_says_why(name, text, line):
    assert summarised(text, name).startswith(line)


@given(st.sampled_from([NAME, "pm-20251127-154500.md", "x"]), st.binary(max_size=200))
def test_any_bytes_make_one_line(name, data):
    line = summary(name, data)
    assert line.strip() == line != ""
    assert "\n" not in line
