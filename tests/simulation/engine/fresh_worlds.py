"""Fresh worlds, lived until they had so many busy days, in parts if need be: a file remembers how far it is."""

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

from tests.simulation.engine.run import Failed, live

LASTS: Final = 2.5
"""Days for which a fresh world lives. Its tasks are over by then, as a rule: longer, most days would be quiet."""

BATCH: Final = 8
"""Worlds for each process between two looks at how many busy days there were."""

SEED: Final = "SIMULATION_SEED"
"""The variable that says which worlds the tests draw; without it they are others each time."""


@dataclass(frozen=True, slots=True)
class Lived:
    """What came of one world: how much there was of what, or how it failed. `seconds` are of a processor."""

    seed: str
    counts: Counter[str]
    failed: str
    seconds: float


@dataclass(slots=True)
class Progress:
    """How far fresh worlds have come. `worlds` were lived, from number 0 on; `failed` says how, by the world's seed."""

    seed: str
    worlds: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)

    def add(self, lived: Lived) -> None:
        """Take in what came of the next world."""
        self.worlds += 1
        self.counts += lived.counts
        self.counts["worlds"] += 1
        self.counts["CPU seconds"] += round(lived.seconds)
        if lived.failed:
            self.failed[lived.seed] = lived.failed

    @property
    def busy_days(self) -> int:
        """How many there were."""
        return self.counts["busy days"]


def drawn_seed() -> str:
    """Return the seed of fresh worlds: what the environment says, or one that nobody has seen yet."""
    return os.environ.get(SEED) or f"fresh-{secrets.token_hex(4)}"


def replay(seed: str) -> str:
    """Return the command that lives one fresh world again, and shrinks what fails in it."""
    return f"scripts/simulate --worlds 1 --days {LASTS:g} --seed {shlex.quote(seed)}"


def tried(seed: str) -> Lived:
    """Let one fresh world live, and say what came of it."""
    begun = time.process_time()
    counts, failed = Counter[str](), ""
    try:
        outcome = live(seed, LASTS)
        counts = Counter(outcome.counts)
        counts["days"] = round(outcome.days)
    except Failed as broken:
        failed = str(broken)
    return Lived(seed, counts, failed, time.process_time() - begun)


def until(busy_days: int, progress: Progress, jobs: int, told: Callable[[Progress], None]) -> Progress:
    """Let fresh worlds live until there were so many busy days. A failure is noted, and the next world comes.

    Args:
        busy_days: How many there are to be, with those of before.
        progress: How far it is; what comes is added to it.
        jobs: How many live at once.
        told: Called after each batch, with how far it is.

    """
    with _several(jobs) as live_all:
        while progress.busy_days < busy_days:
            numbers = range(progress.worlds, progress.worlds + BATCH * jobs)
            for lived in live_all([f"{progress.seed}.{number}" for number in numbers]):
                progress.add(lived)
            told(progress)
    return progress


def resumed(path: Path, seed: str) -> Progress:
    """Return how far it was when a file was last written, or a beginning with this seed. Raises ValueError."""
    try:
        told = json.loads(path.read_text())
    except FileNotFoundError:
        return Progress(seed)
    match told:
        case {"seed": str(known), "worlds": int(worlds), "counts": dict(counts), "failed": dict(failed)}:
            return Progress(known, worlds, Counter(counts), failed)
        case _:
            raise ValueError(f"{path} does not say how far fresh worlds were: take it away to begin anew")


def remember(path: Path, progress: Progress) -> None:
    """Write down how far it is, whole or not at all."""
    told = {
        "seed": progress.seed,
        "worlds": progress.worlds,
        "counts": progress.counts,
        "failed": progress.failed,
    }
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(json.dumps(told))
    temporary.replace(path)


@contextmanager
def _several(jobs: int) -> Iterator[Callable[[list[str]], Iterator[Lived]]]:
    """Give what lets worlds live, so many at once, and says what came of them in their order."""
    if jobs == 1:
        yield partial(map, tried)
        return
    with get_context("fork").Pool(jobs) as pool:
        yield partial(pool.imap, tried)
