"""The page about handoffs, from the code that reads and writes them."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Final

from orchestrator.formats.handoff import render_decision, render_order, render_report
from orchestrator.formats.report_lists import MARK_FORM, SUBTASK_FORM
from orchestrator.model.consultation import PMAction, PMDecision
from orchestrator.model.handoff import CriterionMark, Order, Report, ReportStatus, Subtask, Verdict
from orchestrator.runtimes.environment import Assignment, run_variables
from scripts.reference.markdown import block, code, page, sentence, table
from scripts.reference.sources import meanings

_AT: Final = 1_764_257_400.0
_ORDER: Final = "pm-20251127-153000.md"
_RUN: Final = "r-1a2b3c4d"

_NAMES: Final = """\
Handoffs are Markdown files in `tasks/NAME/handoffs/`, in both directions: an **order** goes from the PM to an agent, a
**report** comes back. Each is named `{agent}-{YYYYMMDD}-{HHMMSS}.md` in local time, by whoever writes it:
`pm-20251127-153000.md` is an order, `dev-20251127-154500.md` a report of dev. A name that is taken is never
overwritten: the next free second is. Write a file under another name (such as `x.md.tmp`) and rename it when it is
whole.

Only header lines with a closed set of values, and the lists below, decide anything. Prose is passed on as data. A
report that does not read, or names files that do not exist, goes back to its agent with every fault and its line."""

_REPORT: Final = f"""\
`**Status:**` is required. `**Run:**` and `**In reply to:**` repeat what the order and the environment say.
`**Verdict:**` is required of test and review. Header lines inside a block of code do not count. A report that names no
run counts once: the same bytes under another name hand in nothing else.

| section | holds |
| --- | --- |
| `## Completed Work` | What was done. |
| `## Artifacts Generated` | A list of paths, relative to the task's folder or absolute; each must exist. |
| `## Blockers` | What blocks; required with `BLOCKED`. |
| `## Skill Gaps` | Skills that were missing. |
| `## No Changes` | Why nothing had to be changed, if the commit would be empty. |
| `## Subtasks` | Of plan: {SUBTASK_FORM}, and `Done when:` below it. |
| `## Success Criteria` | Of the last review: {MARK_FORM}. |"""

_DECISION: Final = """\
Where task.md names a PM agent (`pm:`), its handoffs are decisions. `**Target:**` names an agent, a step, a subtask or
a run's instance."""


def handoff_pages() -> Iterator[tuple[str, str]]:
    """Yield the page about handoffs."""
    with _zone("UTC"):
        yield (
            "handoffs.md",
            page(
                "Handoffs",
                _NAMES,
                "## Orders",
                block("markdown", render_order(_order())),
                "## Reports",
                block("markdown", render_report("dev", _AT + 900, _report())),
                _REPORT,
                f"### Status\n\n{_words(ReportStatus)}",
                f"### Verdict\n\n{_words(Verdict)}",
                "## Decisions of a PM agent",
                _DECISION,
                block("markdown", render_decision(_AT, _decision())),
                f"### Action\n\n{_words(PMAction)}",
                "## What an agent finds in its environment",
                table(("variable", "meaning"), _variables()),
            ),
        )


def _words(of: type[StrEnum]) -> str:
    said = meanings(of)
    rows = [(code(member.value), sentence(said[name])) for name, member in of.__members__.items()]
    return table(("value", "meaning"), rows)


def _variables() -> Iterator[tuple[str, str]]:
    """Yield each variable with what its field says: those are found by giving each field a value of its own."""
    said = meanings(Assignment)
    values = {name: name for name in inspect.signature(Assignment).parameters}
    for variable, value in run_variables(Assignment(**values)).items():  # type: ignore[arg-type]  # shown as they are
        yield code(variable), said[value]


def _order() -> Order:
    return Order(
        _ORDER,
        _RUN,
        "dev:one",
        "dev",
        _AT,
        "Replace the logging calls in `shop/` by lazy ones.",
        "explore found 42 eager calls: artifacts/analysis/calls.md",
        ("python-logging",),
        "- Reduce log overhead by 50%\n- All tests pass",
    )


def _report() -> Report:
    return Report(
        ReportStatus.COMPLETE,
        run=_RUN,
        in_reply_to=_ORDER,
        completed="42 calls are lazy now.",
        artifacts=("artifacts/code/notes.md",),
        subtasks=(Subtask("one", "Make the calls lazy", "dev", (), "no eager call is left"),),
        criteria=(CriterionMark("All tests pass", met=True, evidence=("artifacts/tests/run.txt",)),),
    )


def _decision() -> PMDecision:
    return PMDecision(PMAction.ORDER, _RUN, "dev:one", "Begin with the slowest module.")


@contextmanager
def _zone(name: str) -> Iterator[None]:
    """Have local time be that of a zone: the page is the same wherever it is made."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ")
        if before is not None:
            os.environ["TZ"] = before
        time.tzset()
