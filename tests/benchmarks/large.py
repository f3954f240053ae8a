"""A plan of 1,000 subtasks to its end, and 50 tasks at once: what a step costs at the beginning and at the end."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestrator import layout
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.idle import pid_of, processor_seconds, resident
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.world import Begun, World, brief

SUBTASKS = 1000
"""`--runs N` takes N instead."""

TASKS = 50
PARTS = 4
FLAT = 1.2
_HASTY = Path(__file__).with_name("hasty.sh")
_STUCK = 120.0


@dataclass(frozen=True)
class Mark:
    """What a daemon had spent when so many reports were in.

    `pace` is the seconds that a bare process took, on the average since the mark before: it tells how busy the machine
    was, on which a step mostly waits for processes.
    """

    reports: int
    written: int
    processor: float
    at: float
    megabytes: float
    pace: float


def rows(bench: Bench) -> Iterator[Row]:
    subtasks = bench.runs or SUBTASKS
    with World() as world:
        world.make_repository()
        world.start_daemon()
        task = world.start_task("large", agents(subtasks))
        marks = list(followed(bench, world, [task], 3 * subtasks + 3))
    first, last = ((one, other) for one, other in (marks[:2], marks[-2:]))
    what, floor_is = f"a plan of {subtasks:,} subtasks, last quarter", "its first quarter"
    for name, unit, shown in (
        ("written for a step", "KB", lambda mark: mark.written / 1000),
        ("processor for a step", "ms", lambda mark: mark.processor * 1000),
    ):
        per_step = [
            (shown(end) - shown(begin)) / (end.reports - begin.reports) for begin, end in (first, last)
        ]
        yield Row(
            f"{what}: {name}",
            unit,
            per_step[1:],
            per_step[:1],
            floor_is,
            Reach(Of.RATIO, FLAT),
            note="flat is 1",
        )
    by_clock = [(end.at - begin.at) / (end.reports - begin.reports) for begin, end in (first, last)]
    paces = [end.pace for _, end in (first, last)]
    clocks_ms = ", then ".join(f"{seconds * 1000:.0f} ms" for seconds in by_clock)
    yield Row(
        f"{what}: by the clock for a step",
        "bare processes",
        [by_clock[1] / paces[1]],
        [by_clock[0] / paces[0]],
        floor_is,
        Reach(Of.RATIO, FLAT),
        note=f"flat is 1; {clocks_ms}",
    )
    yield Row(
        f"{what}: memory", "MB", [last[1].megabytes], [first[1].megabytes], floor_is, Reach(Of.RATIO, FLAT)
    )
    with World() as world:
        world.make_repository()
        world.start_daemon()
        watch = Stopwatch()
        tasks = [world.start_task(f"one-{number}", agents(3)) for number in range(TASKS)]
        *_, end = followed(bench, world, tasks, 12 * TASKS)
        took = watch.ms / (12 * TASKS)
    yield Row(f"{TASKS} tasks at once, all finished: by the clock for a step", "ms", [took])
    yield Row(f"{TASKS} tasks at once: memory", "MB", [end.megabytes], reach=Reach(Of.MEDIAN, 80))


def agents(subtasks: int) -> str:
    """Return a task.md whose agents are done at once."""
    command = f"/bin/bash {_HASTY} {subtasks}"
    return brief(dict.fromkeys(("explore", "plan", "dev", "test", "review"), command), "shared")


def followed(bench: Bench, world: World, tasks: list[Begun], steps: int) -> Iterator[Mark]:
    """Wait until all is done; yield where the daemon stood at the beginning, and at the end of each part."""
    due, seen, moved = [steps * part // PARTS for part in range(PARTS + 1)], 0, time.monotonic()
    paces = list[float]()
    while due:
        paces.append(pace())
        reports = sum(len(list(layout.task_reports(task.home).glob("*"))) for task in tasks)
        if reports > seen:
            seen, moved = reports, time.monotonic()
            bench.progress.show(f"{seen:,} of {steps:,} steps")
        if time.monotonic() - moved > _STUCK:
            raise RuntimeError(f"nothing came after {seen} of {steps} reports")
        if reports >= due[0] and (len(due) > 1 or all(map(is_complete, tasks))):
            due.pop(0)
            yield mark(world, reports, sum(paces) / len(paces))
            paces.clear()
        time.sleep(0.1)


def is_complete(task: Begun) -> bool:
    shown = json.loads(layout.task_state(task.home).read_bytes())
    return bool(shown["state"] == "complete")


def pace() -> float:
    """Return the seconds in which a bare process starts and ends."""
    watch = Stopwatch()
    subprocess.run(["/bin/sh", "-c", ":"], check=True)
    return watch.ms / 1000


def mark(world: World, reports: int, meanwhile: float) -> Mark:
    pid = pid_of(world)
    counts = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
    spent = processor_seconds(pid)
    return Mark(reports, int(counts["wchar"]), spent, time.monotonic(), resident(pid), meanwhile)
