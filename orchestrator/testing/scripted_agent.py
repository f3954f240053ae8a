"""The fake CLI in virtual time: a program for `FakeHost` that follows the same scripts and tells the same events."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from orchestrator.testing.fake_cli import APPROVING, BUSY, PROMPT
from orchestrator.testing.fake_process import FOREVER, FakeProcess, Signalled
from orchestrator.testing.fake_script import Script, Turn
from orchestrator.testing.memory_files import MemoryFiles

_SPIN: Final = 0.1

Waits = Generator[float, None, int | None]


@dataclass(slots=True)
class Sessions:
    """What outlives a run of the program: the prompts of each session, and what each run reported of itself."""

    prompts: dict[str, list[str]] = field(default_factory=dict)
    events: dict[str, list[dict[str, object]]] = field(default_factory=dict)


@dataclass(slots=True)
class ScriptedAgent:
    """One life of the program. `resumed` is the session that it goes on with, if any."""

    files: MemoryFiles
    sessions: Sessions
    script: Script
    order: str | None = None
    resumed: str = ""
    _queue: deque[str] = field(default_factory=deque)
    _report: Callable[..., None] = field(default=lambda *_, **__: None)

    def __call__(self, process: FakeProcess) -> Generator[float, None, int]:
        """Live, and return the exit status."""
        events = self.sessions.events.setdefault(process.run, [])
        self._report = lambda event, **more: events.append({"event": event, **more})
        ignores = {signal.SIGTERM: self.script.ignore_term, signal.SIGHUP: self.script.ignore_hup}
        process.ignores = {number for number, ignored in ignores.items() if ignored}
        process.on_end = lambda number: self._report("session_end", reason=f"signal {number}")
        process.left_behind = self.script.child
        process.say(
            *(f"line {number} of a flood that nobody will read" for number in range(self.script.flood))
        )
        yield self.script.ready_after
        process.typed.clear()
        if self.script.dialog and not (yield from self._asks(process, self.script.dialog)):
            return self._ends(1)
        self._report("session_start", session=self.script.session, resumed=self.resumed)
        if self.order is not None:
            self._queue.append(self.order)
        return (yield from self._live(process))

    def _live(self, process: FakeProcess) -> Generator[float, None, int]:
        prompts = self.sessions.prompts.setdefault(self.script.session, [])
        if not self.resumed:
            prompts.clear()
        while True:
            while not self._queue:
                process.say(PROMPT)
                yield FOREVER
                self._hear(process)
            prompt = self._queue.popleft()
            prompts.append(prompt)
            self._report("prompt_submitted", text=prompt)
            code = yield from self._take(process, self.script.turn(len(prompts) - 1))
            if code is not None:
                return self._ends(code)

    def _take(self, process: FakeProcess, turn: Turn) -> Waits:
        if turn.dialog and not (yield from self._asks(process, turn.dialog)):
            process.say("Refused.")
            self._report("stop")
            return None
        left = turn.busy
        while left > 0:
            process.say(f"{BUSY} ({left:.1f} s)")
            yield min(left, _SPIN)
            left -= _SPIN
            self._hear(process)
        if turn.say:
            process.say(turn.say)
        if turn.report:
            self.files.put(Path(turn.report.path), turn.report.text.encode())
        self._report("stop")
        if turn.signal is not None:
            raise Signalled(turn.signal)
        return turn.code

    def _asks(self, process: FakeProcess, question: str) -> Generator[float, None, bool]:
        """Show a dialog; the first key decides, whatever it was meant for. Enter is the refusal."""
        process.say(question, "  1. Yes", "> 2. No")
        self._report("permission_request", text=question)
        while not process.typed:
            yield FOREVER
        answer = process.typed.popleft()[:1]
        return bool(answer) and answer in APPROVING

    def _hear(self, process: FakeProcess) -> None:
        while process.typed:
            if line := process.typed.popleft():
                self._queue.append(line)

    def _ends(self, code: int) -> int:
        self._report("session_end", reason=f"exit {code}")
        return code
