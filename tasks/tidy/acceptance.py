"""The last step: the whole change beside its start, and each criterion of the task with its evidence."""

from __future__ import annotations

import result
import summary
import task_file
from artifacts import Artifacts
from criteria import mark, marked
from order import Order
from report import Report, Verdict
from repository import Repository
from whole_file import write_bytes, write_text
from wording import say


def accept(order: Order) -> Report:
    """Look at the whole, write the summary, and mark each criterion."""
    artifacts = Artifacts.of(order)
    say("Looking at the whole of it: ruff, and the tests once more …")
    whole = result.gather(order, artifacts)
    settings = task_file.read(order.task_dir)
    marks = [mark(criterion, whole) for criterion in settings.criteria]
    written = [artifacts.summary, artifacts.comparison(order)]
    if whole.commits:
        write_bytes(artifacts.changes, Repository(order.workspace).diff(whole.base, whole.tip))
        written.append(artifacts.changes)
    write_text(artifacts.summary, summary.describe(whole, order))
    say(summary.in_short(whole))
    met = all(why == "" for why in marks)
    lines = [marked(criterion, why, whole) for criterion, why in zip(settings.criteria, marks, strict=True)]
    return Report(
        done=summary.in_short(whole),
        verdict=Verdict.APPROVED if met else Verdict.REJECTED,
        artifacts=tuple(written),
        sections={"Success Criteria": "\n".join(lines)},
    )
