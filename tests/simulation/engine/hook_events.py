"""Agents whose program emits hook events and requests permissions, as real agent CLIs do: Claude Code's, by `relay.sh`.

The events wrap an agent of any behaviour. The receipt of the order comes first, or never. The program requests a
permission before the work, and waits for the answer. A turn may fail. Its end is reported before the handoff or after
it, twice, or not at all.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from orchestrator import layout
from orchestrator.model.event import CAUTION
from orchestrator.testing.fake_process import FOREVER
from tests.simulation.engine.agents import EVEN, MINUTE, Agent
from tests.simulation.engine.law import Finding, Law
from tests.simulation.engine.transcripts import Recorder

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.simulation.engine.shared_state import Life

RUNTIME: Final = "claude"
TOOL_REQUESTS: Final = ("make all", "docker build .", "sudo reboot", "git push", "echo $(date)")
DENIED: Final = frozenset({"sudo reboot", "git push"})
FAILURES: Final = (
    "rate_limit",
    "overloaded",
    "authentication_failed",
    "billing_error",
    "server_error",
    "other",
)
LISTENS_EVERY: Final = 0.5 * MINUTE
VAIN: Final = 2 * 60 * MINUTE
"""How long a program goes on without progress, unless somebody ends it."""


def with_hooks(agent: Agent, life: Life) -> Life:
    """Return the life of an agent whose program emits hook events."""
    return (yield from HookEmitter(agent).lives(life))


class HookEmitter:
    """The program around one agent. `_emitted` counts its hook events."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._emitted = 0
        self._recorder = Recorder(agent)

    def _deviates(self) -> bool:
        return self._agent.dice.deviates(self._agent.dice.behaviour.odd)

    def lives(self, life: Life) -> Life:
        """Run: the session starts, the order arrives, perhaps a permission request, the work, the end of the turn."""
        agent = self._agent
        self._emit("SessionStart")
        yield agent.random.uniform(0.1, 2.0)
        if self._deviates():
            agent.dice.did("never receives its order")
            yield FOREVER
        self._emit("UserPromptSubmit", prompt=self._order() + ("?" if self._deviates() else ""))
        self._recorder.prompted("work")
        if words := agent.shared.service.refusal(f"{agent.environment['TASK']}/{agent.environment['STEP']}"):
            yield 1.0
            self._emit("StopFailure", error="rate_limit", last_assistant_message=words)
            yield FOREVER
        if agent.random.random() < EVEN:
            yield from self._asks_permission()
        if agent.dice.deviates(agent.dice.behaviour.bad):
            agent.dice.did("has a turn that fails")
            yield agent.random.uniform(0, 20) * MINUTE
            words = agent.random.choice(("", "resets at 23:30", "try again in 2h 5m", "Prompt is too long"))
            self._emit("StopFailure", error=agent.random.choice(FAILURES), last_assistant_message=words)
            yield FOREVER
        yield from self._makes_no_progress()
        if self._deviates():
            agent.dice.did("ends its turn before its report")
            yield from self._waits_for(self._emit("Stop", waits=True))
            self._recorder.prompted("go on")
        if self._deviates():
            agent.dice.did("has a model that answers for long")
            yield from self._recorder.answers(agent.random.uniform(5, 60) * MINUTE)
        status = yield from self._recorder.works(life)
        if agent.random.random() < EVEN:
            return status
        for _ in range(2 if self._deviates() else 1):
            yield from self._waits_for(self._emit("Stop", waits=True))
        yield FOREVER
        return 0

    def _makes_no_progress(self) -> Generator[float, None, None]:
        """Sometimes wait for a model that stopped answering, or repeat the same calls."""
        agent = self._agent
        if agent.dice.deviates(agent.dice.behaviour.bad / 2):
            agent.dice.did("waits for its model in vain")
            yield from self._recorder.calls("look around", agent.random.uniform(0, 60))
            yield from self._recorder.stalls(VAIN)
        if agent.dice.deviates(agent.dice.behaviour.bad / 2):
            agent.dice.did("repeats its calls")
            yield from self._circles(obeys=agent.random.random() < EVEN)

    def _circles(self, *, obeys: bool) -> Generator[float, None, None]:
        """Repeat the same calls for long. If it `obeys`, stop at the PM's caution."""
        agent = self._agent
        files, caution = agent.shared.files, layout.run_answers(agent.process.spec.folder) / CAUTION
        began, pause = agent.shared.clock.monotonic(), agent.random.choice((1.0, 5.0, 20.0))
        while agent.shared.clock.monotonic() < began + VAIN:
            for command in ("make all", "git status")[: agent.random.randint(1, 2)]:
                yield from self._recorder.calls(command, 0.5, "nothing to do")
            yield pause
            if obeys and files.entry(caution) is not None:
                agent.dice.did("obeys a caution")
                return

    def _asks_permission(self) -> Generator[float, None, None]:
        command = self._agent.random.choice(TOOL_REQUESTS)
        name = self._emit("PermissionRequest", waits=True, tool_name="Bash", tool_input={"command": command})
        answer = yield from self._waits_for(name)
        if "allow" in answer and command in DENIED:
            text = f"{self._agent.process.run} was allowed to run {command}"
            self._agent.shared.found.append(Finding(Law.PERMITTED, text))
        self._agent.dice.did("gets a permission" if "allow" in answer else "gets no permission")

    def _waits_for(self, name: str) -> Generator[float, None, str]:
        """Wait for the answer to an event, without a limit, and return it."""
        files, spec = self._agent.shared.files, self._agent.process.spec
        path = layout.run_answers(spec.folder) / name
        while files.entry(path) is None:
            yield LISTENS_EVERY
        return files.read(path).decode()

    def _emit(self, hook: str, *, waits: bool = False, **more: Any) -> str:
        """Write an event, and return its name."""
        agent = self._agent
        self._emitted += 1
        home = self._home
        name = f"{agent.process.run}.{int(agent.shared.clock.now())}.{self._emitted}"
        event = {
            "hook_event_name": hook,
            "session_id": agent.process.run,
            "cwd": agent.environment["WORKSPACE"],
            "transcript_path": self._recorder.path,
            **more,
        }
        path = layout.task_events(home) / f"{name}{'.waits' if waits else ''}.json"
        data = json.dumps(event).encode()
        agent.shared.write(path, b'{"torn' if not waits and self._deviates() else data)
        return name

    def _order(self) -> str:
        files = self._agent.shared.files
        return files.read(layout.run_order(self._agent.process.spec.folder)).decode()

    @property
    def _home(self) -> Path:
        return self._agent.process.spec.folder.parents[1]
