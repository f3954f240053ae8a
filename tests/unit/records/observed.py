"""Figures of a busy period in which all that others write is some text, for tests of what is made of them."""

from __future__ import annotations

from pathlib import Path

from orchestrator.model.coordination import IssueSeverity, PipelineRole
from orchestrator.records.archive_files import UnreadRecord
from orchestrator.records.observed_sources import Reading, SourceKind, SourceRead
from orchestrator.records.observer import DAY, Observation, observe
from orchestrator.records.observer_page import page
from orchestrator.records.passages import IssueSeen, Passage, TaskTimes
from tests.unit.records.pipelines import BEGAN

HOUR = 3600.0


def busy(*texts: str) -> tuple[Observation, Reading]:
    """Return the figures of three days and what was read, with each of these texts wherever one can stand."""
    tasks = [_task(number, text) for number, text in enumerate(texts)]
    issues = [
        IssueSeen(text, BEGAN + number * DAY % (2 * DAY), PipelineRole.AUDITOR, severity, text, left=True)
        for text in texts
        for number, severity in enumerate(IssueSeverity)
    ]
    found = observe([], issues, {}, tasks, since=BEGAN - DAY, until=BEGAN + 2 * DAY, now=BEGAN + 2 * DAY)
    unread = tuple(UnreadRecord(Path(f"/p/{text}"), text) for text in texts)
    sources = (SourceRead(SourceKind.ARCHIVED, Path(f"/s/{texts[0]}"), 4, 1, 2),)
    return found, Reading("2025-11-11", sources, unread)


def page_about(found: Observation, reading: Reading) -> str:
    return page(found, reading)


def _task(number: int, text: str) -> TaskTimes:
    at, name = BEGAN + number, f"{text}-{number}" if number else text
    passages = tuple(
        Passage(
            text, f"{text}, attempt {each}", name, text, at + each * HOUR, each * HOUR, each % 3 > 0, each > 1
        )
        for each in range(1, 8)
    )
    hangs = Passage(text, text, text, "end", at - DAY, None, None, rework=False, open=True, handed=False)
    used = {"agent": text, "runs": 2, "time": HOUR, "tokens": 1_234_567, "cost": 1.5, "estimate": 0.25}
    return TaskTimes(
        f"task-{number:08x}",
        name,
        (*passages, hangs),
        at,
        None,
        complete=False,
        questions=((at, at + 2 * HOUR), (at, None)),
        idle=((at, at + 9 * HOUR),),
        resting=(),
        used_by=(used,),
    )
