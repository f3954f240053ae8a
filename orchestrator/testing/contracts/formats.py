"""What every handoff format must do."""

from __future__ import annotations

import re
from dataclasses import replace

from orchestrator.formats.handoff_format import HANDOFF_FORMATS, HandoffFormat, ReportForm, format_of
from orchestrator.formats.handoff_name import handoff_name, split_handoff_name
from orchestrator.model.errors import BadFile
from orchestrator.model.handoff import CriterionMark, Report, ReportStatus, Subtask, Verdict

LIMIT = 1 << 20
AT = 1_764_254_100.0
SECTIONS = ("Sources",)
REPORTS = (
    Report(ReportStatus.COMPLETE, completed="Done."),
    Report(ReportStatus.IN_PROGRESS, completed="Half of it, in two\n\nparagraphs."),
    Report(ReportStatus.BLOCKED, blockers="No network", skill_gaps="How to mock it"),
    Report(
        ReportStatus.NEEDS_REVIEW,
        verdict=Verdict.REJECTED,
        run="r-12.3",
        in_reply_to="pm-20260101-120000.md",
        completed="**Status:** COMPLETE stands in prose, and ``` too",
        artifacts=("/a b/c.md", "artifacts/x.txt"),
    ),
    Report(ReportStatus.COMPLETE, verdict=Verdict.APPROVED, unchanged="Nothing was wrong: ünïcode ✓"),
    Report(
        ReportStatus.COMPLETE,
        subtasks=(Subtask("a", "First", done_when="It runs"), Subtask("b", "Then", "dev", ("a",))),
    ),
    Report(
        ReportStatus.COMPLETE,
        criteria=(
            CriterionMark("It works", met=True, evidence=("src/x.py:1",)),
            CriterionMark("It is fast", met=False, reason="not measured"),
        ),
    ),
    Report(ReportStatus.COMPLETE, others=(("Sources", "- one\n- two"),)),
)
RUBBISH = (b"", b"\0\0\0", b"\xff\xfe", b"hello", b"{", b"[]", b"null", b"{}" * 1000, b"# Handoff: dev\n")


class FormatContract:
    """Subclass it, and set `name` to that of the format."""

    name: str

    def format(self) -> HandoffFormat:
        """Return the format, which must be registered under its name."""
        return HANDOFF_FORMATS.find(self.name)

    def test_suffix_leads_to_it(self) -> None:
        """A handoff of this format has a name that is read as one, and that leads to this format."""
        suffix = self.format().suffix
        assert re.fullmatch(r"\.[a-z0-9]{1,8}", suffix)
        name = handoff_name("dev-2", AT, suffix)
        found = split_handoff_name(name)
        assert found is not None
        assert found[0] == "dev-2"
        assert format_of(name) is self.format()

    def test_what_is_written_is_read(self) -> None:
        """Each report comes back as it was."""
        format_, name = self.format(), handoff_name("dev", AT, self.format().suffix)
        for report in REPORTS:
            data = format_.write("dev", AT, report)
            assert data.endswith(b"\n"), "a file without an end may be half of one"
            assert format_.read(data, name, LIMIT, SECTIONS) == report

    def test_sections_are_kept_only_if_wanted(self) -> None:
        """What no gate reads is not kept."""
        format_, report = self.format(), REPORTS[-1]
        name = handoff_name("dev", AT, format_.suffix)
        data = format_.write("dev", AT, report)
        assert format_.read(data, name, LIMIT, ()) == replace(report, others=())

    def test_rubbish_is_refused(self) -> None:
        """What is no report is refused with the file's name and a reason, and never with another error."""
        format_ = self.format()
        for data in RUBBISH:
            try:
                format_.read(data, f"x{format_.suffix}", LIMIT, SECTIONS)
            except BadFile as problem:
                assert problem.faults
                assert all(fault.reason for fault in problem.faults)
            else:
                raise AssertionError(f"{data!r} was read as a report")

    def test_too_large_is_refused(self) -> None:
        """A file beyond the limit is refused."""
        format_ = self.format()
        data = format_.write("dev", AT, Report(ReportStatus.COMPLETE, completed="x" * 2000))
        try:
            format_.read(data, f"x{format_.suffix}", 1000, ())
        except BadFile:
            return
        raise AssertionError("it was read")

    def test_every_cut_is_refused_or_reads(self) -> None:
        """A file that was cut short anywhere reads as a report or is refused; nothing else happens."""
        format_ = self.format()
        data = format_.write("dev", AT, REPORTS[3])
        for end in range(len(data)):
            try:
                format_.read(data[:end], f"x{format_.suffix}", LIMIT, SECTIONS)
            except BadFile:
                continue

    def test_form_asks_for_all(self) -> None:
        """The form names the run and the order, and is longer for each thing that it asks for."""
        bare = ReportForm("dev", "run-1", "pm-20260101-120000.md")
        shown = self.format().form(bare)
        assert bare.run in shown
        assert bare.order in shown
        for more in (
            replace(bare, verdict=True),
            replace(bare, unchanged=True),
            replace(bare, subtasks=True),
            replace(bare, criteria=("It works",)),
            replace(bare, sections="\n## Sources\n(where you read it)\n"),
        ):
            assert len(self.format().form(more)) > len(shown)

    def test_it_is_found_in_a_message(self) -> None:
        """An agent that may not write files hands in by its last message, with words ahead of the report."""
        format_, report = self.format(), REPORTS[0]
        text = format_.write("dev", AT, report).decode()
        found = format_.within(f"Here it is:\n\n{text}")
        assert format_.read(found.encode(), f"x{format_.suffix}", LIMIT, ()) == report
        assert format_.within("I have done nothing that I could report.") == ""
