"""Agents whose program tells of itself and asks leave, as real agent CLIs do: by files of `relay.sh`, as Claude Code's.

They wrap a life of any kind: the receipt comes first, or never; leave is asked for before the work, and waited for;
a turn may fail; its end is told before the handoff or after it, twice, or not at all.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from orchestrator import layout
from orchestrator.model.event import CAUTION
from orchestrator.testing.fake_process import FOREVER
from tests.simulation.engine.agents import EVEN, MINUTE, Agent
from tests.simulation.engine.transcripts import Recorder

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.simulation.engine.shared_state import Life

RUNTIME: Final = "claude"
WISHES: Final = ("make all", "docker build .", "sudo reboot", "git push", "echo $(date)")
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
"""For how long a program goes on with what comes to nothing, unless it is ended."""


def tells(agent: Agent, life: Life) -> Life:
    """Return a life that is told of by its program."""
    return (yield from Teller(agent).lives(life))


class Teller:
    """The program around one agent. `_told` counts its events."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._told = 0
        self._recorder = Recorder(agent)

    def _strays(self) -> bool:
        return self._agent.dice.strays(self._agent.dice.manners.odd)

    def lives(self, life: Life) -> Life:
        """Live: up, taken, now and then leave, the work, the end of the turn."""
        agent = self._agent
        self._tell("SessionStart")
        yield agent.random.uniform(0.1, 2.0)
        if self._strays():
            agent.dice.did("takes no order")
            yield FOREVER
        self._tell("UserPromptSubmit", prompt=self._order() + ("?" if self._strays() else ""))
        self._recorder.prompted("work")
        if said := agent.desk.service.refusal(f"{agent.told['TASK']}/{agent.told['STEP']}"):
            yield 1.0
            self._tell("StopFailure", error="rate_limit", last_assistant_message=said)
            yield FOREVER
        if agent.random.random() < EVEN:
            yield from self._asks_leave()
        if agent.dice.strays(agent.dice.manners.bad):
            agent.dice.did("has a turn that fails")
            yield agent.random.uniform(0, 20) * MINUTE
            said = agent.random.choice(("", "resets at 23:30", "try again in 2h 5m", "Prompt is too long"))
            self._tell("StopFailure", error=agent.random.choice(FAILURES), last_assistant_message=said)
            yield FOREVER
        yield from self._comes_to_nothing()
        if self._strays():
            agent.dice.did("ends its turn before it hands in")
            yield from self._waits_for(self._tell("Stop", waits=True))
            self._recorder.prompted("go on")
        if self._strays():
            agent.dice.did("has a model that answers at length")
            yield from self._recorder.answers(agent.random.uniform(5, 60) * MINUTE)
        status = yield from self._recorder.works(life)
        if agent.random.random() < EVEN:
            return status
        for _ in range(2 if self._strays() else 1):
            yield from self._waits_for(self._tell("Stop", waits=True))
        yield FOREVER
        return 0

    def _comes_to_nothing(self) -> Generator[float, None, None]:
        """Now and then have a model that does not answer any more, or go round in circles."""
        agent = self._agent
        if agent.dice.strays(agent.dice.manners.bad / 2):
            agent.dice.did("waits for its model in vain")
            yield from self._recorder.calls("look around", agent.random.uniform(0, 60))
            yield from self._recorder.stalls(VAIN)
        if agent.dice.strays(agent.dice.manners.bad / 2):
            agent.dice.did("goes round in circles")
            yield from self._circles(heeds=agent.random.random() < EVEN)

    def _circles(self, *, heeds: bool) -> Generator[float, None, None]:
        """Make the same calls again and again, until it is told so, or for long."""
        agent = self._agent
        files, said = agent.desk.files, layout.run_answers(agent.process.spec.folder) / CAUTION
        began, pause = agent.desk.clock.monotonic(), agent.random.choice((1.0, 5.0, 20.0))
        while agent.desk.clock.monotonic() < began + VAIN:
            for command in ("make all", "git status")[: agent.random.randint(1, 2)]:
                yield from self._recorder.calls(command, 0.5, "nothing to do")
            yield pause
            if heeds and files.entry(said) is not None:
                agent.dice.did("heeds what it is told")
                return

    def _asks_leave(self) -> Generator[float, None, None]:
        command = self._agent.random.choice(WISHES)
        name = self._tell("PermissionRequest", waits=True, tool_name="Bash", tool_input={"command": command})
        answer = yield from self._waits_for(name)
        if "allow" in answer and command in DENIED:
            self._agent.desk.lost_work.append(f"{self._agent.process.run} was allowed to run {command}")
        self._agent.dice.did("has leave" if "allow" in answer else "has no leave")

    def _waits_for(self, name: str) -> Generator[float, None, str]:
        """Wait for the answer to an event, however long it takes, and return it."""
        files, spec = self._agent.desk.files, self._agent.process.spec
        path = layout.run_answers(spec.folder) / name
        while files.entry(path) is None:
            yield LISTENS_EVERY
        return files.read(path).decode()

    def _tell(self, hook: str, *, waits: bool = False, **more: Any) -> str:
        """Leave an event; return its name."""
        agent = self._agent
        self._told += 1
        home = self._home
        name = f"{agent.process.run}.{int(agent.desk.clock.now())}.{self._told}"
        told = {
            "hook_event_name": hook,
            "session_id": agent.process.run,
            "cwd": agent.told["WORKSPACE"],
            "transcript_path": self._recorder.path,
            **more,
        }
        path = layout.task_events(home) / f"{name}{'.waits' if waits else ''}.json"
        data = json.dumps(told).encode()
        agent.desk.write(path, b'{"torn' if not waits and self._strays() else data)
        return name

    def _order(self) -> str:
        files = self._agent.desk.files
        return files.read(layout.run_order(self._agent.process.spec.folder)).decode()

    @property
    def _home(self) -> Path:
        return self._agent.process.spec.folder.parents[1]
