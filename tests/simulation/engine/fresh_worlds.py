"""Fresh worlds, run until they had enough busy days. A file keeps the progress, so that a run can be resumed."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from tests.simulation.engine.run import Failed, Outcome, simulate_world

LASTS: Final = 2.5
"""How many days a fresh world runs. Its tasks are over by then, as a rule, and further days would be quiet."""

BATCH: Final = 8
"""Worlds for each process between two counts of the busy days."""

SEED: Final = "SIMULATION_SEED"
"""The environment variable with the seed of fresh worlds. Without it each test run draws others."""


@dataclass(frozen=True, slots=True)
class WorldResult:
    """The result of one world: how often what occurred, or how it failed. `seconds` is processor time."""

    seed: str
    counts: Counter[str]
    failed: str
    seconds: float


@dataclass(slots=True)
class Progress:
    """The progress. `worlds` were run, from number 0 on; `failed` says how each of those failed, by seed."""

    seed: str
    worlds: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)

    def add(self, result: WorldResult) -> None:
        """Add the result of the next world."""
        self.worlds += 1
        self.counts += result.counts
        self.counts["worlds"] += 1
        self.counts["CPU seconds"] += round(result.seconds)
        if result.failed:
            self.failed[result.seed] = result.failed

    @property
    def busy_days(self) -> int:
        """The number of busy days."""
        return self.counts["busy days"]


def drawn_seed() -> str:
    """Return the seed of fresh worlds: that of the environment, or a new one."""
    return os.environ.get(SEED) or f"fresh-{secrets.token_hex(4)}"


def replay(seed: str) -> str:
    """Return the command that replays one fresh world, and shrinks its failure."""
    return f"scripts/simulate --worlds 1 --days {LASTS:g} --seed {shlex.quote(seed)}"


def simulate_one(seed: str) -> WorldResult:
    """Run one fresh world, and return its result."""
    return result_of(seed, lambda: simulate_world(seed, LASTS))


def result_of(seed: str, simulate: Callable[[], Outcome]) -> WorldResult:
    """Return the result of a world, whether it fails or not."""
    begun = time.process_time()
    counts, failed = Counter[str](), ""
    try:
        outcome = simulate()
        counts = Counter(outcome.counts)
        counts["days"] = round(outcome.days)
    except Failed as broken:
        failed = str(broken)
    return WorldResult(seed, counts, failed, time.process_time() - begun)


def until(busy_days: int, progress: Progress, jobs: int, report: Callable[[Progress], None]) -> Progress:
    """Run fresh worlds until there were enough busy days. Note each failure, and go on with the next world.

    Args:
        busy_days: How many there must be, with those of earlier runs.
        progress: The progress so far, to which results are added.
        jobs: How many worlds run at once.
        report: Called after each batch, with the progress.

    """
    with several(simulate_one, jobs) as run_all:
        while progress.busy_days < busy_days:
            numbers = range(progress.worlds, progress.worlds + BATCH * jobs)
            for result in run_all([f"{progress.seed}.{number}" for number in numbers]):
                progress.add(result)
            report(progress)
    return progress


def resumed(path: Path, seed: str) -> Progress:
    """Return the progress in a file, or a new one with this seed if there is no file. Raises ValueError."""
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError:
        return Progress(seed)
    match content:
        case {"seed": str(known), "worlds": int(worlds), "counts": dict(counts), "failed": dict(failed)}:
            return Progress(known, worlds, Counter(counts), failed)
        case _:
            raise ValueError(f"{path} does not hold the progress of fresh worlds: remove it to begin again")


def save(path: Path, progress: Progress) -> None:
    """Write the progress to a file, whole or not at all."""
    content = {
        "seed": progress.seed,
        "worlds": progress.worlds,
        "counts": progress.counts,
        "failed": progress.failed,
    }
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(json.dumps(content))
    temporary.replace(path)


@contextmanager
def several(
    one: Callable[[str], WorldResult], jobs: int
) -> Iterator[Callable[[list[str]], Iterator[WorldResult]]]:
    """Provide a function that runs several worlds at once, each by `one`, and returns their results in order."""
    if jobs == 1:
        yield partial(map, one)
        return
    with get_context("fork").Pool(jobs) as pool:
        yield partial(pool.imap, one)
