"""A report as one page of HTML: it holds all that it shows, runs no script, and loads nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from jinja2 import BytecodeCache, Environment, PackageLoader, Template
from markupsafe import Markup, escape

from orchestrator.formats.amounts import span_said
from orchestrator.formats.timestamps import rfc3339
from orchestrator.reporting.room import clean
from orchestrator.reporting.task_report import Span, TaskReport

_WIDTH: Final = 1000
"""Units across a time line."""

_SHORT: Final = 600.0
_DAY: Final = 86_400.0
_NARROWEST: Final = 2.0
"""Units: a shorter span is drawn so wide, or nobody would see it."""


def page(reports: Sequence[TaskReport], title: str, compiled: BytecodeCache | None = None) -> str:
    """Return the page for one task, or for all tasks of a night. `compiled` keeps the template from call to call."""
    known = [{each.line for each in report.decisions} for report in reports]
    return template("report.html.jinja", compiled).render(
        reports=reports, title=title, known=known, bar=bar, ticks=ticks, lasted=lasted
    )


@cache
def template(name: str, compiled: BytecodeCache | None = None) -> Template:
    """Return the template of a page: it escapes every value, and has the policy, colours and type of all pages."""
    world = Environment(
        loader=PackageLoader("orchestrator", "reporting"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        bytecode_cache=compiled,
    )
    # Not by `include`: that would be a second template to compile.
    for part, file in (("page_head", "head.html"), ("base_css", "base.css")):
        text = files(__package__).joinpath(file).read_text("utf-8").rstrip("\n")
        world.globals[part] = Markup(text)  # noqa: S704 (ours)
    world.filters |= {
        "clock": clock,
        "span": span_said,
        "iso": _iso,
        "said": said,
        "code": code,
        "clean": clean,
    }
    return world.get_template(name)


def clock(at: float | None) -> str:
    """Return a moment in local time, to the second."""
    return "unknown" if at is None else time.strftime("%a %d %b %H:%M:%S", time.localtime(at))


def said(word: str) -> str:
    """Return a word of the program's as people write it."""
    return {"partial": "complete in part", "set_aside": "set aside"}.get(word, word)


def code(text: object) -> Markup:
    """Return text as HTML in which what stands between two backquotes is code; nothing else in it is markup."""
    parts = str(text or "").split("`")
    if not len(parts) % 2:  # the last backquote closes nothing
        parts[-2:] = ["`".join(parts[-2:])]
    shown = (
        Markup("<code>{}</code>").format(each) if n % 2 else escape(each) for n, each in enumerate(parts)
    )
    return Markup("").join(shown)


def bar(report: TaskReport, span: Span) -> tuple[float, float]:
    """Return where a span begins on the time line, and how wide it is, in units of a thousandth of it."""
    began, whole = _frame(report)
    left = (min(max(span.since, began), began + whole) - began) / whole * _WIDTH
    right = (
        (min(max(span.until or report.ended or report.made_at, began), began + whole) - began)
        / whole
        * _WIDTH
    )
    return round(min(left, _WIDTH - _NARROWEST), 2), round(max(right - left, _NARROWEST), 2)


def ticks(report: TaskReport) -> list[tuple[float, str]]:
    """Return a few moments along the time line: where, and what to write there."""
    began, whole = _frame(report)
    form = "%H:%M:%S" if whole < _SHORT else "%H:%M" if whole < _DAY else "%d %b %H:%M"
    return [(part * 25.0, time.strftime(form, time.localtime(began + whole * part / 4))) for part in range(5)]


def lasted(report: TaskReport, span: Span) -> str:
    """Return how long a span was, or has been so far."""
    end = span.until
    if end is None:
        return f"{span_said(max((report.ended or report.made_at) - span.since, 0))}, not over"
    return span_said(max(end - span.since, 0))


def _frame(report: TaskReport) -> tuple[float, float]:
    began = report.began if report.began is not None else report.made_at
    return began, max((report.ended or report.made_at) - began, 1.0)


def _iso(at: float | None) -> str:
    return "" if at is None else rfc3339(at)
