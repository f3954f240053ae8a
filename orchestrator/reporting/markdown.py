"""A report as Markdown, for a terminal, an editor or an issue."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, Template

from orchestrator.formats.amounts import span_said
from orchestrator.formats.text import neutral
from orchestrator.reporting.html import clock, lasted, said
from orchestrator.reporting.task_report import TaskReport
from orchestrator.scribe.shown import TEXT_LENGTH, shown


class _Block(str):
    """Text that is markup already."""

    __slots__ = ()


def page(reports: Sequence[TaskReport], title: str) -> str:
    """Return the same as the HTML page, without the time line and the diffs.

    Each value is made one line that no Markdown reader acts on; output of programs is an indented block.
    """
    return _template().render(reports=reports, title=title, lasted=lasted)


@cache
def _template() -> Template:
    world = Environment(
        loader=PackageLoader("orchestrator", "reporting"),
        autoescape=False,  # noqa: S701 (not HTML: `finalize` escapes every value for Markdown)
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_escaped,
    )
    world.filters |= {"clock": clock, "span": span_said, "said": said, "block": _block}
    return world.get_template("report.md.jinja")


def _escaped(value: object) -> object:
    return (
        shown(str(value), TEXT_LENGTH) if isinstance(value, str) and not isinstance(value, _Block) else value
    )


def _block(lines: Sequence[str]) -> _Block:
    return _Block("".join(f"\n        {part}" for line in lines for part in neutral(line).splitlines()))
