"""Handoff formats of installed packages: which file is of which format, and what no format may let through."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from orchestrator.formats import markdown_report
from orchestrator.formats.handoff_format import (
    HANDOFF_FORMATS,
    HandoffFormat,
    format_of,
    read_any_report,
    suffixes,
)
from orchestrator.formats.handoff_name import handoff_name, is_being_saved, split_handoff_name
from orchestrator.model.errors import BadFile
from orchestrator.model.handoff import CriterionMark, Report, ReportStatus, Subtask

NAME = "dev-20260101-120000.odd"


class Odd:
    """A format whose reader gives or raises what a test wants."""

    suffix = ".odd"

    def __init__(self) -> None:
        self.reads: Callable[[], object] = lambda: Report(ReportStatus.COMPLETE)

    def read(self, data, name, limit, sections):
        return self.reads()

    write = staticmethod(markdown_report.write)
    form = staticmethod(markdown_report.form)
    within = staticmethod(markdown_report.within)


@pytest.fixture
def odd() -> Iterator[Odd]:
    made = Odd()

    def make() -> HandoffFormat:
        return made

    HANDOFF_FORMATS.register("odd", make, "odd-handoffs 1.0")
    yield made
    HANDOFF_FORMATS.unregister("odd")


def test_suffix_selects_the_format(odd) -> None:
    assert suffixes() == (".md", ".handoff", ".odd")
    assert format_of(NAME) is odd
    assert format_of("dev-20260101-120000.md") is format_of("no suffix") is markdown_report
    assert split_handoff_name(NAME) == ("dev", "20260101-120000")
    assert handoff_name("dev", 0.0, ".odd").endswith(".odd")
    assert is_being_saved(f"{NAME}.Ab12Cd")
    assert not is_being_saved(NAME)


def test_without_the_package_it_is_no_handoff() -> None:
    assert suffixes() == (".md", ".handoff")
    assert split_handoff_name(NAME) is None
    assert not is_being_saved(NAME)


def test_sound_report_is_taken(odd) -> None:
    odd.reads = lambda: Report(ReportStatus.COMPLETE, subtasks=(Subtask("a", "b"),))
    assert read_any_report(b"", NAME).subtasks == (Subtask("a", "b"),)


@pytest.mark.parametrize(
    "given",
    [
        Report(ReportStatus.COMPLETE, subtasks=(Subtask("../../etc", "b"),)),
        Report(ReportStatus.COMPLETE, subtasks=(Subtask("a", "b", agent="x y"),)),
        Report(ReportStatus.COMPLETE, subtasks=(Subtask("a", "b", needs=("",)),)),
        Report(ReportStatus.COMPLETE, completed="\ud800"),
        Report(ReportStatus.COMPLETE, completed="x" * 70_000),
        Report(ReportStatus.COMPLETE, artifacts=("a\x1b[2J",)),
        Report(ReportStatus.COMPLETE, artifacts=("a\nb",)),
        Report(ReportStatus.COMPLETE, criteria=(CriterionMark("x", met=True, reason=3),)),  # type: ignore[arg-type]
        Report(ReportStatus.COMPLETE, artifacts=[1]),  # type: ignore[arg-type]
        None,
        "a report",
    ],
)
def test_what_no_format_may_let_through(odd, given) -> None:
    odd.reads = lambda: given
    with pytest.raises(BadFile):
        read_any_report(b"", NAME)


@pytest.mark.parametrize(
    "error", [KeyError("x"), RecursionError(), ZeroDivisionError("\ud800"), UnicodeError()]
)
def test_reader_that_raises_refuses_the_file(odd, error) -> None:
    def fails() -> object:
        raise error

    odd.reads = fails
    with pytest.raises(BadFile):
        read_any_report(b"", NAME)
