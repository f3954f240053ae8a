"""The runs of a task, gathered from its journal for a trace: who ran, when, how it ended, what it used."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from orchestrator.reporting.room import clean
from orchestrator.reporting.task_report import TaskReport

OF_RUNS: Final = re.compile(rb'"kind": ?"(?:run_opened|run_gone|run_metered|launch_failed)"')
"""What a line of a journal holds if it matters for the runs of a task."""

WORK: Final = "work"
"""The purpose of a run of an agent; all others are commands of the daemon."""

_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class RunTimes:
    """A run: moments are seconds since the epoch. None: it has not ended, or its program did not tell."""

    id: str
    step: str
    attempt: int
    agent: str
    instance: str
    purpose: str
    host: str
    began: float
    ended: float | None = None
    code: int | None = None
    signal: int | None = None
    out_of_memory: bool = False
    input: int | None = None
    cached: int | None = None
    output: int | None = None
    cost: float | None = None


@dataclass(slots=True)
class TaskRuns:
    """The runs in the lines taken so far, in the order in which they began. Feed `take` the lines, oldest first."""

    runs: dict[str, RunTimes] = field(default_factory=dict)

    def take(self, line: dict[str, Any]) -> None:
        """Take the next line in JSON form. Lines of any version are fit: what is missing is left out."""
        at, fact = float(line.get("at") or 0.0), line.get("fact")
        if isinstance(fact, dict):
            self._happened(fact, at)
        for change in line.get("changes") or ():
            if change.get("kind") == "run_opened":
                self._opened(change.get("run") or {}, at)
            elif change.get("kind") == "run_metered":
                self._metered(str(change.get("run")), change.get("usage") or {})

    def _happened(self, fact: dict[str, Any], at: float) -> None:
        name = str(fact.get("run"))
        if fact.get("kind") == "launch_failed":
            self.runs.pop(name, None)  # no process of it ever was
        elif fact.get("kind") == "run_gone" and name in self.runs:
            end = fact.get("exit") or {}
            self.runs[name] = replace(
                self.runs[name],
                ended=at,
                code=_whole(end.get("code")),
                signal=_whole(end.get("signal")),
                out_of_memory=end.get("out_of_memory") is True,
            )

    def _opened(self, run: dict[str, Any], at: float) -> None:
        self.runs[str(run.get("id"))] = RunTimes(
            id=clean(run.get("id"), _NAME),
            step=clean(run.get("step"), _NAME),
            attempt=int(run.get("attempt") or 1),
            agent=clean(run.get("agent"), _NAME),
            instance=clean(run.get("instance") or run.get("agent"), _NAME),
            purpose=clean(run.get("purpose") or WORK, _NAME),
            host=clean(run.get("host"), _NAME),
            began=float(run.get("opened_at") or at),
        )

    def _metered(self, name: str, usage: dict[str, Any]) -> None:
        if run := self.runs.get(name):
            cost = usage.get("cost")
            self.runs[name] = replace(
                run,
                input=_whole(usage.get("input")),
                cached=_whole(usage.get("cached")),
                output=_whole(usage.get("output")),
                cost=float(cost) if isinstance(cost, int | float) else None,
            )


@dataclass(frozen=True, slots=True)
class TaskTrace:
    """What a trace is made of: a task's report, and its runs. `over`: the spans of the task and its steps belong to it.

    Until a task comes to rest any of its steps may be begun once more, so these have not ended before.
    """

    report: TaskReport
    runs: tuple[RunTimes, ...]
    over: bool = True


def trace_within(
    report: TaskReport, runs: Iterable[RunTimes], since: float, until: float
) -> TaskTrace | None:
    """Return what ended in a period, from `since` until before `until` (seconds since the epoch); None if nothing did.

    So of periods that follow each other each has other spans: a span is exported once, when it has ended. A run whose
    end was not seen ends with its task.
    """
    over = report.ended is not None and since <= report.ended < until
    kept = tuple(run for run in runs if (over if run.ended is None else since <= run.ended < until))
    return TaskTrace(report, kept, over) if over or kept else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
