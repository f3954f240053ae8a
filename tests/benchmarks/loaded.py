"""What others wait for, on a machine that is busy: two processes per core that do nothing but compute."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.benchmarks import boxes, handoff, runs
from tests.benchmarks.bench import Bench
from tests.benchmarks.far import far
from tests.benchmarks.row import Of, Reach, Row

PER_CORE = 2
WORST = 5
"""How many times its quiet p99 a latency may reach."""


def rows(bench: Bench) -> Iterator[Row]:
    for measured in (handoff.rows, exits, far_handoffs):
        quiet = {row.what: row for row in measured(bench)}
        with busy():
            loaded = list(measured(bench))
        for row in loaded:
            yield beside(row, quiet[row.what])


def beside(row: Row, quiet: Row) -> Row:
    """Return a row that was measured under load, whose floor is the same on the machine as it was found."""
    return Row(
        f"{row.what}, {PER_CORE} busy processes per core",
        row.unit,
        row.samples,
        quiet.samples,
        "the same without these",
        Reach(Of.P99, round(WORST * quiet.p99, 1)),
        note=f"{WORST} × the floor's p99",
    )


def exits(bench: Bench) -> Iterator[Row]:
    chain, window, reported = runs.measured(bench, "shared", 100)
    yield Row("agent's exit → journaled with its status", "ms", chain.exits, reported)
    yield runs.launch_row("the project's own tree", chain, window)


def far_handoffs(bench: Bench) -> Iterator[Row]:
    with far(**boxes.SETTINGS) as world:
        yield from boxes.handoffs(bench, world)


@contextmanager
def busy() -> Iterator[None]:
    """Keep every core busy for a while."""
    started = [
        subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"])
        for _ in range(PER_CORE * (os.cpu_count() or 1))
    ]
    try:
        yield
    finally:
        for each in started:
            each.kill()
        for each in started:
            each.wait()
