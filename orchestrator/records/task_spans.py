"""The spans of a task's trace: a task is a trace; its steps are spans, and in these its runs. `otlp` sends them.

Names of attributes are OpenTelemetry's where it has any (`gen_ai.*`, `process.*`, `error.type`), else begin with
`agent_orchestrator.`. The ids are made of those of the task, so the same task is the same trace however often it is
sent, and a run that is sent while its task is at work is below the step that is sent when the task is over. Of texts
there are names and titles only: no order, no answer, no output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from orchestrator.model.host_names import HERE
from orchestrator.records.task_trace import WORK, RunTimes, TaskTrace
from orchestrator.reporting.room import clean
from orchestrator.reporting.task_report import StepStory, TaskReport

MOST: Final = 10_000
"""Runs of a task that have a span: the newest."""

OWN: Final = "agent_orchestrator."

ATTRIBUTES: Final[dict[str, tuple[str, str]]] = {
    "gen_ai.operation.name": (
        "task, run",
        "`invoke_workflow` of a task, `invoke_agent` of a run of an agent.",
    ),
    "gen_ai.agent.name": ("task, step, run", "The task's name; the agent of a step or run."),
    "gen_ai.agent.id": ("run", "The agent's instance."),
    "gen_ai.usage.input_tokens": ("run", "Tokens in, where the agent's program reports them."),
    "gen_ai.usage.cache_read.input_tokens": ("run", "Of these, what came from a cache."),
    "gen_ai.usage.output_tokens": ("run", "Tokens out."),
    "error.type": ("task, step, run", "Why the span's status is an error."),
    "process.exit.code": ("run", "The exit status, if the program ended by itself."),
    "host.name": ("run", "The box on which it ran, if not on this machine."),
    f"{OWN}task.id": ("task", "The task's id."),
    f"{OWN}task.state": ("task", "The state in which it came to rest."),
    f"{OWN}project": ("task", "Folder of its project."),
    f"{OWN}runs_left_out": ("task", "How many older runs have no span, if there are more than 10,000."),
    f"{OWN}step.id": ("step", "The step's id."),
    f"{OWN}step.title": ("step", "Its title."),
    f"{OWN}step.status": ("step", "What became of it."),
    f"{OWN}step.attempts": ("step", "How many attempts it took."),
    f"{OWN}run.id": ("run", "The run's id."),
    f"{OWN}run.attempt": ("run", "The attempt at its step."),
    f"{OWN}run.purpose": ("run", "`work` of an agent; `check` and `prepare` are commands of the daemon."),
    f"{OWN}run.signal": ("run", "The signal that ended it. The daemon ends agents that have handed in."),
    f"{OWN}run.unfinished": ("run", "True: its end was not seen before the task came to rest."),
    f"{OWN}cost.dollars": ("run", "US dollars that its program reported."),
}
"""Each attribute of a span: which spans have it, and what it says."""

_NANO: Final = 1_000_000_000
_TEXT: Final = 1000
_BAD: Final = frozenset({"failed", "partial"})

Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Span:
    """A span. Ids are numbers of 128 and 64 bits, moments are nanoseconds since the epoch. `parent`: None of a task."""

    trace: int
    id: int
    parent: int | None
    name: str
    began: int
    ended: int
    attributes: Mapping[str, Value]
    failed: bool


def spans(trace: TaskTrace) -> Iterator[Span]:
    """Yield the spans of what a trace has: of the task, of its steps, of their runs."""
    report, kept = trace.report, trace.runs[-MOST:]
    over = report.ended if report.ended is not None else report.made_at
    steps = {step.id: step for step in report.steps if step.attempts}
    root = _id(report, "task")
    if trace.over:
        yield _root(trace, root, over, len(trace.runs) - len(kept))
        for step in steps.values():
            yield _step(report, root, step, over)
    for run in kept:
        parent = _id(report, "step", run.step) if run.step in steps else root
        yield _run(report, parent, run, over)


def _root(trace: TaskTrace, root: int, over: float, left_out: int) -> Span:
    report, state = trace.report, str(trace.report.view.get("state"))
    return _span(
        report,
        root,
        None,
        f"invoke_workflow {report.name}",
        (report.began if report.began is not None else over, over),
        {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.agent.name": report.name,
            "error.type": state if state in _BAD else None,
            f"{OWN}task.id": report.id,
            f"{OWN}task.state": state,
            f"{OWN}project": report.project,
            f"{OWN}runs_left_out": left_out or None,
        },
        failed=state in _BAD,
    )


def _step(report: TaskReport, root: int, step: StepStory, over: float) -> Span:
    began = [each.began for each in step.attempts if each.began is not None]
    ended = [over if each.ended is None else each.ended for each in step.attempts]
    failed = step.status == "failed"
    return _span(
        report,
        _id(report, "step", step.id),
        root,
        f"step {step.id}",
        (min(began, default=over), max(ended, default=over)),
        {
            "gen_ai.agent.name": step.agent,
            "error.type": "failed" if failed else None,
            f"{OWN}step.id": step.id,
            f"{OWN}step.title": step.title,
            f"{OWN}step.status": step.status,
            f"{OWN}step.attempts": len(step.attempts),
        },
        failed=failed,
    )


def _run(report: TaskReport, parent: int, run: RunTimes, over: float) -> Span:
    agent = run.purpose == WORK
    error = _error(run)
    attributes: dict[str, Value | None] = {
        "error.type": error or None,
        "process.exit.code": run.code,
        f"{OWN}run.signal": run.signal,
        "host.name": run.host if run.host not in {"", HERE} else None,
        f"{OWN}run.id": run.id,
        f"{OWN}run.attempt": run.attempt,
        f"{OWN}run.purpose": run.purpose,
        f"{OWN}run.unfinished": True if run.ended is None else None,
    }
    if agent:
        attributes |= {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": run.agent,
            "gen_ai.agent.id": run.instance,
            "gen_ai.usage.input_tokens": run.input,
            "gen_ai.usage.cache_read.input_tokens": run.cached,
            "gen_ai.usage.output_tokens": run.output,
            f"{OWN}cost.dollars": run.cost,
        }
    name = f"invoke_agent {run.agent}" if agent else f"{run.purpose} {run.step}"
    ended = over if run.ended is None else run.ended
    return _span(
        report, _id(report, "run", run.id), parent, name, (run.began, ended), attributes, failed=bool(error)
    )


def _error(run: RunTimes) -> str:
    """Return why a run failed; empty if it did not. The daemon itself ends agents that have handed in: that is none."""
    if run.out_of_memory:
        return "out_of_memory"
    return f"exit {run.code}" if run.purpose != WORK and run.code not in {None, 0} else ""


def _span(
    report: TaskReport,
    identity: int,
    parent: int | None,
    name: str,
    times: tuple[float, float],
    attributes: Mapping[str, Value | None],
    *,
    failed: bool,
) -> Span:
    began, ended = (int(each * _NANO) for each in times)
    told = {key: _shown(value) for key, value in attributes.items() if value is not None}
    named = clean(name, _TEXT)
    return Span(_trace(report), identity, parent, named, began, max(ended, began), told, failed)


def _shown(value: Value) -> Value:
    return clean(value, _TEXT) if isinstance(value, str) else value


def _trace(report: TaskReport) -> int:
    return int(_digest(report.id)[:32], 16)


def _id(report: TaskReport, *what: str) -> int:
    return int(_digest(report.id, *what)[:16], 16)


def _digest(*what: str) -> str:
    return sha256("\0".join(what).encode(errors="surrogatepass")).hexdigest()
