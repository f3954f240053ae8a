"""The records that an agent's program keeps of its turn, in the form of Claude Code's transcripts, and its screen.

While an agent works its program calls tools and asks its model; a spinner goes on all the while. What shows that it is
alive is noted, so that nobody may end it for a stall.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, Final

from orchestrator.testing.fake_process import FOREVER
from tests.simulation.engine.agents import EVEN, MINUTE

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.simulation.engine.agents import Agent
    from tests.simulation.engine.shared_state import Life

HOME: Final = "/home/user"
SPINS_EVERY: Final = 2 * MINUTE
LONGEST_ANSWER: Final = 4 * MINUTE
"""How long a model takes for an answer of which nothing is shown, at the most."""


class Recorder:
    """What one program records. On a box nobody reads it."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._calls = 0
        self._tokens = 0
        folder = Path(HOME, ".claude", "projects", "p")
        self.path = "" if agent.desk.box else str(folder / f"{agent.process.run}.jsonl")

    def prompted(self, text: str) -> None:
        """The model is told something."""
        self._line("user", {"role": "user", "content": text})

    def works(self, life: Life) -> Life:
        """Let an agent live, and record its naps as tools that run, or as turns of its model."""
        while True:
            try:
                nap = next(life)
            except StopIteration as end:
                return int(end.value)
            if nap in {0.0, FOREVER} or not self.path:
                yield nap
            elif self._agent.random.random() < EVEN:
                yield from self.calls(f"make {self._word()}", nap)
            else:
                yield from self._turns(nap)

    def calls(self, command: str, takes: float, result: str = "") -> Generator[float, None, None]:
        """Let a tool run; without a `result` it brings back something new."""
        self._calls += 1
        self._agent.process.say(f"● Running {command}")
        name = f"toolu_{self._calls}"
        call = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": command}}
        self._line("assistant", {"role": "assistant", "stop_reason": "tool_use", "content": [call]})
        self._is_alive(works=not result)
        yield takes
        came = {"type": "tool_result", "tool_use_id": name, "content": result or self._word()}
        self._line("user", {"role": "user", "content": [came]})
        self._is_alive(works=not result)

    def stalls(self, seconds: float) -> Generator[float, None, None]:
        """Let the stream hang: the spinner goes on, and nothing comes."""
        left = seconds
        while left > 0:
            self._spin()
            yield min(left, SPINS_EVERY)
            left -= SPINS_EVERY

    def answers(self, seconds: float) -> Generator[float, None, None]:
        """Let a long answer come, of which only the screen tells until it is whole."""
        left = seconds
        while left > 0:
            self._tokens += 100
            self._spin()
            self._is_alive(works=True)
            yield min(left, MINUTE)
            left -= MINUTE

    def _turns(self, seconds: float) -> Generator[float, None, None]:
        """Let the model think and call by turns."""
        left = seconds
        while left > 0:
            thinks = min(left, self._agent.random.uniform(5, LONGEST_ANSWER))
            yield thinks
            left -= thinks
            takes = min(max(left, 0.0), self._agent.random.uniform(0, 30))
            yield from self.calls(f"look at {self._word()}", takes)
            left -= takes

    def _word(self) -> str:
        return "".join(self._agent.random.choices(ascii_lowercase, k=8))

    def _is_alive(self, *, works: bool) -> None:
        desk, run = self._agent.desk, self._agent.process.run
        if self.path:
            desk.answered[run] = desk.clock.monotonic()
        if self.path and works:
            desk.signs[run] = desk.clock.monotonic()

    def _spin(self) -> None:
        shown = self._agent.random.choice(("Pondering", "Noodling", "Cascading"))
        seconds = self._agent.random.randint(1, 59)
        screen = self._agent.process.pane.lines
        if screen and screen[-1].startswith("✻ "):
            screen.pop()  # it is drawn over
        self._agent.process.say(f"✻ {shown}… ({seconds}s · ↓ {self._tokens} tokens)")

    def _line(self, kind: str, message: dict[str, Any]) -> None:
        if not self.path:
            return
        files, path = self._agent.desk.files, Path(self.path)
        stamp = datetime.fromtimestamp(self._agent.desk.clock.now(), UTC).isoformat()
        there = files.read(path) if files.entry(path) is not None else b""
        line = json.dumps({"type": kind, "message": message, "timestamp": stamp}, separators=(",", ":"))
        self._agent.desk.write(path, there + line.encode() + b"\n")
