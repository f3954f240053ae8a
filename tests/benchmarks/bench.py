"""What each benchmark is given: how many samples to take, and a place to tell how far it is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.benchmarks.table import Progress


@dataclass
class Bench:
    """`runs` is how many samples the user wants of each row, or None: then each row has its own number.

    `agents` is how many rest where agents rest.
    """

    runs: int | None = None
    agents: int = 20
    progress: Progress = field(default_factory=Progress)

    def times(self, usual: int, what: str) -> Iterator[int]:
        """Yield the number of each sample, telling how far it is."""
        most = self.runs or usual
        for number in range(most):
            self.progress.show(f"{what}, {number + 1} of {most}")
            yield number


class Stopwatch:
    """Milliseconds since it was made."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    @property
    def ms(self) -> float:
        return (time.perf_counter() - self._began) * 1000
