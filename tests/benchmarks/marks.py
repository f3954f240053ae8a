"""The folder in which agents leave their marks (`agent.sh`), as the measuring process sees it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tests.benchmarks.waiting import until

AGENT = Path(__file__).with_name("agent.sh")


class Marks:
    """`begun` and `ended` of each run, in nanoseconds since the epoch; and whose turn it is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._turn = folder / "turn"
        folder.mkdir()
        os.mkfifo(self._turn, stat.S_IRUSR | stat.S_IWUSR)

    @property
    def command(self) -> str:
        """The agent, as task.md names it."""
        return f"/bin/bash {AGENT} {self.folder}"

    def give_turn(self, word: str = "") -> None:
        """Let the agent that waits go on. Raises TooLong if none waits."""
        descriptor = until(self._opened, "an agent that waits for its turn")
        os.write(descriptor, f"{word}\n".encode())
        os.close(descriptor)

    def begun(self, run: str) -> int:
        """Wait until a run has begun; return when it did."""
        return until(lambda: self._of("begun").get(run, 0), f"the beginning of run {run}")

    def ended(self, run: str) -> int:
        """Wait until a run has said that it ends; return when it did."""
        return until(lambda: self._of("ended").get(run, 0), f"the end of run {run}")

    def _opened(self) -> int:
        try:
            return os.open(self._turn, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads yet
            return 0

    def _of(self, name: str) -> dict[str, int]:
        path = self.folder / name
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        pairs = (line.split() for line in lines if line.endswith("\n"))
        return {run: int(microseconds) * 1000 for run, microseconds in pairs}
