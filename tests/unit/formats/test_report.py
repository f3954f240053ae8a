from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.handoff import read_report, render_report
from orchestrator.formats.handoff_parts import says_nothing
from orchestrator.formats.lines import trimmed
from orchestrator.formats.text import PROSE_LENGTH, neutral, one_line
from orchestrator.model.errors import BadFile, Fault
from orchestrator.model.handoff import CriterionMark, Report, ReportStatus, Subtask, Verdict
from tests.unit.formats.texts import HUB, attempted, instants, junk, lines, names, prose

DONE = b"# Handoff: dev\n**Status:** COMPLETE\n"


def faults(data: str | bytes) -> list[str]:
    with pytest.raises(BadFile) as caught:
        read_report(data if isinstance(data, bytes) else data.encode(), "dev-20251127-154500.md")
    return [str(fault) for fault in caught.value.faults]


def read(text: str) -> Report:
    return read_report(text.encode(), "dev-20251127-154500.md")


# The document ------------------------------------------------------------------------------------


def test_template_with_alternatives_is_refused():
    (found,) = faults((HUB / "handoff_report.md").read_bytes())
    assert found.startswith("line 3: `**Status:**` is 'COMPLETE | BLOCKED | NEEDS_REVIEW': choose one of ")


@pytest.mark.parametrize("status", ["COMPLETE", "BLOCKED", "NEEDS_REVIEW"])
def test_the_documents_form_with_one_of_them_is_read(status):
    text = (HUB / "handoff_report.md").read_text().replace("COMPLETE | BLOCKED | NEEDS_REVIEW", status)
    assert read(text) == Report(
        status=ReportStatus(status),
        completed="[What was accomplished]",
        artifacts=("artifacts/path/to/file1.py", "artifacts/path/to/file2.md"),
        blockers="[What prevented progress]",
        skill_gaps="[What skill/context is missing]",
    )


# Header lines ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "**Status:** COMPLETE",
        "**Status**: COMPLETE",
        "Status: COMPLETE",
        "- **Status:** complete",
        "* Status: Complete",
        "**status:** `COMPLETE`",
        "**Status:**COMPLETE   ",
        "**Status:** COMPLETE\\",
        "**Status:** COMPLETE <!-- or BLOCKED -->",
        "**Status:** COMPLETE\r",
    ],
)
def test_a_status_is_read_as_agents_write_it(line):
    assert read(f"# Handoff: dev\n{line}\n## Completed Work\nx").status is ReportStatus.COMPLETE


@pytest.mark.parametrize(
    "value",
    [
        "COMPLETE ✅",
        "DONE",
        "COMPLETED",
        "COMPLETE.",
        "**COMPLETE**",
        "",
        "NEEDS REVIEW",
        "complete, I think",
    ],
)
def test_a_status_is_exactly_one_of_the_values(value):
    assert "write exactly one of IN_PROGRESS" in faults(f"# Handoff: dev\n**Status:** {value}\n")[0]


def test_a_missing_status_is_refused():
    assert faults("# Handoff: dev\n\n## Completed Work\nAll.\n")[0].startswith("has no status: add a line")
    assert faults("")[0].startswith("has no status")


def test_status_in_a_code_block_does_not_count():
    found = faults("# Handoff: dev\n```\n**Status:** COMPLETE\n```\n")
    assert "(the one in line 3 is in a code block and does not count)" in found[0]


def test_a_status_in_a_comment_does_not_count():
    assert faults("# Handoff: dev\n<!--\n**Status:** COMPLETE\n-->\n")[0].startswith("has no status")


def test_contradicting_statuses_are_refused_with_both_lines():
    found = faults("# Handoff: dev\n**Status:** COMPLETE\n\n## Blockers\nx\n\n**Status:** BLOCKED\n")
    assert found == ["line 7: `**Status:**` is BLOCKED, and COMPLETE in line 2: choose one"]


def test_the_same_status_twice_is_read():
    assert read("**Status:** COMPLETE\n## Notes\n**Status:** complete\n").status is ReportStatus.COMPLETE


def test_a_bold_status_further_down_counts_if_none_leads():
    assert (
        read("# Handoff: dev\n## Completed Work\nx\n\n**Status:** NEEDS_REVIEW").status
        is ReportStatus.NEEDS_REVIEW
    )


def test_prose_about_a_status_is_prose():
    report = read(
        "**Status:** COMPLETE\n## Completed Work\nStatus: 200 OK\n**Status:** of 3 tests is green\n"
    )
    assert report.status is ReportStatus.COMPLETE
    assert "Status: 200 OK" in report.completed


def test_header_lines_below_another_title_are_prose():
    report = read("# Handoff: dev\n**Status:** COMPLETE\n# Notes\nStatus: all fine\n**Run:** other\n")
    assert (report.status, report.run) == (ReportStatus.COMPLETE, None)


def test_verdict_run_and_order_are_read():
    report = read(
        "# Handoff: review\n**Timestamp:** whenever\n**Status:** COMPLETE\n**Verdict:** rejected\n"
        "**Run:** `r-0a1b.2`\n**In reply to:** handoffs/pm-20251127-113500.md\n"
    )
    assert report.verdict is Verdict.REJECTED
    assert report.run == "r-0a1b.2"
    assert report.in_reply_to == "pm-20251127-113500.md"


@pytest.mark.parametrize("value", ["", "N/A", "none", "-"])
def test_a_verdict_run_or_order_may_say_that_there_is_none(value):
    report = read(f"**Status:** COMPLETE\n**Verdict:** {value}\n**Run:** {value}\n**In reply to:** {value}\n")
    assert (report.verdict, report.run, report.in_reply_to) == (None, None, None)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("**Verdict:** APPROVED | REJECTED", "choose one of APPROVED, REJECTED"),
        ("**Verdict:** LGTM", "write exactly one of APPROVED, REJECTED"),
        ("**Run:** [run id]", "write the run id given in your order"),
        ("**Run:** ../../x", "write the run id"),
        ("**Run:** \x1b[2J", "'␛[2J'"),
        ("**In reply to:** the order", "write the file name of your order"),
        ("**In reply to:** pm-20259999-000000.md", "write the file name of your order"),
    ],
)
def test_other_header_lines_are_read_strictly(line, found):
    assert found in faults(DONE + line.encode())[0]


def test_a_verdict_given_twice_differently_is_refused():
    assert (
        "is REJECTED, and APPROVED in line 3"
        in faults(DONE + b"**Verdict:** APPROVED\n**Verdict:** REJECTED\n")[0]
    )


# Sections ----------------------------------------------------------------------------------------


def test_sections_are_found_as_agents_write_them():
    report = read(
        "\ufeff# Handoff: dev\r\n**Status:** BLOCKED\r\n### 1. Completed Work\r\nSome.\r\n#### Detail\r\nMore.\r\n"
        "## ✅ Artifacts\r\n- a.py\r\n## Blockers (if BLOCKED):\r\nNo key.\r\n"
        "## Whatever\r\nx\r\n##Skill Gaps\r\nssh\r\n"
    )
    assert report.completed == "Some.\n#### Detail\nMore."
    assert report.artifacts == ("a.py",)
    assert report.blockers == "No key."
    assert report.skill_gaps == "ssh"


def test_a_heading_in_a_block_of_code_is_code():
    report = read("**Status:** COMPLETE\n## Completed Work\n```sh\n## Blockers\n# a\n```\nend\n")
    assert report.completed == "```sh\n## Blockers\n# a\n```\nend"
    assert report.blockers == ""


def test_unclosed_code_block_that_hides_lines_is_refused():
    found = faults(DONE + b"## Completed Work\n```\nx\n## Artifacts Generated\n- a.py\n")
    assert found == ["line 4: this block of code is never closed, so nothing after it counts: close it"]


def test_unclosed_code_block_that_hides_nothing_is_read():
    assert read_report(DONE + b"## Completed Work\n```\nx", "r").completed == "```\nx"


@pytest.mark.parametrize(
    "rest", ["", "## Blockers\n", "## Blockers\n  \n## Notes\nx\n", "## Blockers\nNone.\n"]
)
def test_blocked_needs_its_reason(rest):
    assert faults(f"**Status:** BLOCKED\n{rest}") == [
        "line 1: says BLOCKED, but `## Blockers` is empty: write there what blocks you"
    ]


@pytest.mark.parametrize("none", ["None", "- none", "N/A", "*None*", "No blockers."])
def test_no_blockers_are_no_blockers(none):
    assert read(f"**Status:** COMPLETE\n## Blockers\n{none}\n## Skill Gaps\n{none}\n").blockers == ""


def test_prose_is_cut_at_64_kb():
    report = read_report(DONE + b"## Completed Work\n" + b"x" * 200_000, "r")
    assert len(report.completed) == PROSE_LENGTH
    assert report.completed.endswith("x…")


def test_a_section_that_steers_stands_once():
    found = faults(DONE + b"## Subtasks\nNone\n## Subtasks\n- [a] b\n")
    assert found == ["line 5: `## Subtasks` is in line 3 already: keep one"]


def test_every_fault_is_reported():
    found = faults(
        "**Status:** maybe\n**Verdict:** perhaps\n**Run:** !\n## Subtasks\n- a\n## Success Criteria\n- b\n"
    )
    assert [fault.partition(":")[0] for fault in found] == ["line 1", "line 2", "line 3", "line 5", "line 7"]


def test_a_report_too_large_is_refused():
    with pytest.raises(BadFile) as caught:
        read_report(DONE, "r", 10)
    assert caught.value.faults == (Fault(0, "is larger than 10 bytes"),)


# Properties --------------------------------------------------------------------------------------

texts = prose.map(lambda text: trimmed(neutral(text).split("\n")))
phrases = lines.map(one_line).filter(bool)
paths = st.text(min_size=1, max_size=30).map(lambda text: one_line(text).replace("`", "")).filter(bool)
subtasks = st.lists(
    st.builds(
        Subtask,
        id=names.filter(lambda name: name != "none"),
        text=phrases,
        agent=names,
        needs=st.lists(names.filter(lambda name: name != "none"), max_size=3).map(tuple),
        done_when=phrases | st.just(""),
    ),
    max_size=4,
    unique_by=lambda subtask: subtask.id,
).map(tuple)
marks = st.lists(
    st.builds(
        CriterionMark,
        text=phrases,
        met=st.booleans(),
        evidence=st.lists(paths, max_size=3).map(tuple),
        reason=phrases.filter(lambda text: not says_nothing(text)) | st.just(""),
    ),
    max_size=4,
).map(tuple)
reports = st.builds(
    Report,
    status=st.sampled_from(ReportStatus),
    verdict=st.none() | st.sampled_from(Verdict),
    run=st.none() | st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{3,20}", fullmatch=True),
    in_reply_to=st.none() | st.just("pm-20251127-153000.md"),
    completed=texts,
    artifacts=st.lists(paths, max_size=4).map(tuple),
    blockers=texts.filter(lambda text: not says_nothing(text)),
    skill_gaps=st.just("") | texts.filter(lambda text: not says_nothing(text)),
    subtasks=st.none() | subtasks,
    criteria=st.none() | marks,
)


@given(reports, instants)
def test_what_is_written_reads_back_the_same(report, at):
    text = render_report("dev", at, report)
    assert read(text) == report


@given(reports, prose, instants)
def test_no_text_in_a_report_changes_how_it_stands(report, text, at):
    forged = Report(status=report.status, verdict=report.verdict, completed=text, blockers=f"x\n{text}")
    again = read(render_report("dev", at, forged))
    assert (again.status, again.verdict, again.run) == (report.status, report.verdict, None)
    assert (again.subtasks, again.criteria, again.artifacts) == (None, None, ())


@given(junk)
def test_any_bytes_are_a_report_or_a_bad_file(data):
    report, found = attempted(partial(read_report, name="r"), data)
    assert found or report.status in ReportStatus


@given(prose)
def test_any_section_is_read_or_reported_with_its_line(text):
    for title in ("Subtasks", "Success Criteria"):
        data = f"**Status:** COMPLETE\n## {title}\n{text}".encode("utf-8", "replace")
        report, found = attempted(partial(read_report, name="r"), data)
        assert found or (report.subtasks, report.criteria) != (None, None)
        assert all(fault.reason for fault in found)
