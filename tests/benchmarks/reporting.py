"""The page of a long night: 100 steps and 100,000 journal lines, as `task report` makes it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from orchestrator import layout
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.status import TASK

STEPS = 100
LINES = 100_000
TASK_ID = "night-0a1b2c3d"
_SEGMENT = 8_000
_AT = 1_764_254_100.0
_OUTPUT = [f"tests/test_shop.py:{n}: AssertionError: expected 17 <items>, got {n}" for n in range(30)]
_FLOOR = (
    "import json, sys; from pathlib import Path\n"
    "for path in sorted(Path(sys.argv[1]).iterdir()):\n"
    "    for line in path.read_bytes().splitlines():\n"
    '        if b\'"kind":"event_landed"\' not in line: json.loads(line)\n'
)
"""Reads the journal once, and the lines that tell more than an agent's every move as JSON."""


def rows(bench: Bench) -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        bench.progress.show("laying down a journal")
        home = lay_down(Path(folder))
        environ = {**os.environ, "ORCHESTRATOR_HOME": f"{folder}/state"}
        what = f"task report: {STEPS} steps, {LINES:,} journal lines"
        page = Path(folder) / "page.html"
        report = [str(TASK), "report", TASK_ID, "--output", str(page)]
        floor = [sys.executable, "-c", _FLOOR, str(layout.task_journal(home))]
        taken, worked, read = list[float](), list[float](), list[float]()
        for _ in bench.times(5, what):
            read.append(_timed(floor, environ))
            before = os.times()
            taken.append(_timed(report, environ))
            worked.append(_processor_ms(os.times()) - _processor_ms(before))
        yield Row(what, "ms", taken, read, "the same lines, read as JSON", Reach(Of.MEDIAN, 1000))
        yield Row(f"{what}: processor time", "ms", worked, reach=Reach(Of.MEDIAN, 1000))
        size = page.stat().st_size / 1000
        yield Row(f"{what}: its page", "kB", [size], reach=Reach(Of.MEDIAN, 500))


def _timed(command: list[str], environ: dict[str, str]) -> float:
    watch = Stopwatch()
    subprocess.run(command, env=environ, stdout=subprocess.DEVNULL, check=True)
    return watch.ms


def _processor_ms(times: os.times_result) -> float:
    """Return the processor time of all children that have ended."""
    return (times.children_user + times.children_system) * 1000


def lay_down(folder: Path) -> Path:
    """Write the state and the journal of a night of which each third step took a second attempt; return its home."""
    home, project = folder / "state" / "tasks" / TASK_ID, folder / "shop"
    journal = layout.task_journal(home)
    journal.mkdir(parents=True)
    (folder / "state").chmod(0o700)
    project.mkdir()
    facts = list(_night())
    for first in range(0, len(facts), _SEGMENT):
        lines = [
            json.dumps({"n": n, "at": _AT + n / 3, **each}, separators=(",", ":"))
            for n, each in enumerate(facts[first : first + _SEGMENT], first + 1)
        ]
        (journal / f"{first + 1:010}.jsonl").write_text("\n".join(lines) + "\n")
    layout.task_state(home).write_text(json.dumps(_state(project)))
    return home


def _night() -> Iterator[dict[str, Any]]:
    """Yield the lines without number and moment: for each run some that matter, and between them what agents do."""
    begun = {"kind": "task_begun", "id": TASK_ID}, {"kind": "task_moved", "to": "running", "why": ""}
    yield _line("task_started", *begun, name="night", project="/shop")
    tries = [(step, attempt) for step in range(STEPS) for attempt in range(1, 3 if step % 3 == 0 else 2)]
    between = (LINES - 2) // len(tries) - 8
    for step, attempt in tries:
        yield from _try(f"dev:part-{step}", attempt, again=step % 3 == 0 and attempt == 1, between=between)
    yield _line("time_passed", {"kind": "task_moved", "to": "complete", "why": ""})


def _try(step: str, attempt: int, between: int, *, again: bool) -> Iterator[dict[str, Any]]:
    run = {"id": f"r-{step}-{attempt}", "step": step, "attempt": attempt, "agent": "dev", "instance": "dev"}
    order = {"kind": "order_given", "order": {"id": "o", "step": step, "instructions": "Do it well. " * 40}}
    yield _line("time_passed", {"kind": "run_opened", "run": run | {"purpose": "work"}}, order)
    for number in range(between):
        event = {
            "kind": "event_landed",
            "run": run["id"],
            "event": {"name": "PostToolUse", "tool": f"Bash {number}"},
        }
        seen = {
            "kind": "run_believed",
            "run": run["id"],
            "life": "alive",
            "turn": "busy",
            "evidence": "a tool call ended",
        }
        yield {"fact": event, "changes": [seen], "actions": []}
    report = {"run": run["id"], "artifacts": [f"artifacts/code/{step}.md"]}
    yield _line("report_landed", report=report, name="dev.md")
    yield _line("run_gone", run=run["id"], exit={"code": 0}, lines=_OUTPUT)
    yield _line("work_committed", step=step, attempt=attempt, commit="c0ffee" * 6)
    check = run | {"id": f"{run['id']}-check", "purpose": "check"}
    yield _line("time_passed", {"kind": "run_opened", "run": check})
    yield _line("run_gone", run=check["id"], exit={"code": int(again)}, lines=_OUTPUT)
    if again:
        why = f"rejected by test:{step}: the check exited 1"
        fed = {"kind": "step_fed", "step": step, "feedback": ["\n".join(_OUTPUT)]}
        yield _line(
            "time_passed", fed, {"kind": "step_reopened", "step": step, "attempt": attempt + 1, "why": why}
        )
    else:
        yield _line("time_passed", {"kind": "step_moved", "step": step, "to": "passed", "why": ""})
    yield _line("time_passed", {"kind": "noticed", "text": f"2025-11-27T14:35:00Z {step} was handed in"})


def _line(kind: str, *changes: dict[str, Any], **fact: Any) -> dict[str, Any]:
    return {"fact": {"kind": kind, **fact}, "changes": list(changes), "actions": []}


def _state(project: Path) -> dict[str, Any]:
    steps = [
        {
            "id": f"dev:part-{n}",
            "agent": "dev",
            "title": "Move one part of the shop",
            "status": "passed",
            "why": "",
        }
        for n in range(STEPS)
    ]
    outcome = {
        "asked": "Move the shop.",
        "outcome": "complete",
        "work": "",
        "not_done": "",
        "cost": "",
        "next": "",
    }
    view = {"version": 1, "id": TASK_ID, "task": "night", "project": str(project), "phase": "COMPLETE"}
    view |= {
        "state": "complete",
        "why": "",
        "outcome": outcome | {"branch_seen": None},
        "steps": steps,
        "agents": [],
    }
    return view | {"questions": [], "criteria": [], "notices": [], "usage": {}, "used_by": []}
