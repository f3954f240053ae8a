"""The transcript that an agent's program writes, in the form of Claude Code's, and its screen.

While an agent works, its program calls tools and asks its model, and shows a spinner. The recorder notes each sign of
life, so that an invariant can tell when the PM ends a run that was not stalled.
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
"""The longest time that a model takes for an answer of which the screen shows nothing."""


class Recorder:
    """The transcript of one program. On a box nobody reads it, so nothing is written."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._calls = 0
        self._tokens = 0
        folder = Path(HOME, ".claude", "projects", "p")
        self.path = "" if agent.shared.box else str(folder / f"{agent.process.run}.jsonl")

    def prompted(self, text: str) -> None:
        """Record a prompt."""
        self._line("user", {"role": "user", "content": text})

    def works(self, life: Life) -> Life:
        """Run an agent, and record each of its pauses as a tool call, or as turns of its model."""
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
        """Run a tool. Without a `result` it returns something new."""
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
        """Let the model's stream hang: the spinner goes on, and nothing arrives."""
        left = seconds
        while left > 0:
            self._spin()
            yield min(left, SPINS_EVERY)
            left -= SPINS_EVERY

    def answers(self, seconds: float) -> Generator[float, None, None]:
        """Let a long answer arrive. Until it is complete only the screen shows it."""
        left = seconds
        while left > 0:
            self._tokens += 100
            self._spin()
            self._is_alive(works=True)
            yield min(left, MINUTE)
            left -= MINUTE

    def _turns(self, seconds: float) -> Generator[float, None, None]:
        """Let the model think and call tools by turns."""
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
        shared, run = self._agent.shared, self._agent.process.run
        if self.path:
            shared.answered[run] = shared.clock.monotonic()
        if self.path and works:
            shared.signs[run] = shared.clock.monotonic()

    def _spin(self) -> None:
        shown = self._agent.random.choice(("Pondering", "Noodling", "Cascading"))
        seconds = self._agent.random.randint(1, 59)
        screen = self._agent.process.pane.lines
        if screen and screen[-1].startswith("✻ "):
            screen.pop()  # the spinner is drawn over
        self._agent.process.say(f"✻ {shown}… ({seconds}s · ↓ {self._tokens} tokens)")

    def _line(self, kind: str, message: dict[str, Any]) -> None:
        if not self.path:
            return
        files, path = self._agent.shared.files, Path(self.path)
        stamp = datetime.fromtimestamp(self._agent.shared.clock.now(), UTC).isoformat()
        there = files.read(path) if files.entry(path) is not None else b""
        line = json.dumps({"type": kind, "message": message, "timestamp": stamp}, separators=(",", ":"))
        self._agent.shared.write(path, there + line.encode() + b"\n")
