"""The whole daemon on a quiet day, with programs whose model hangs, or that go round in circles: what it costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import pytest

from orchestrator import layout
from orchestrator.daemon.journal.segments import segments, unpacked
from tests.simulation.engine import hook_events
from tests.simulation.engine.fault_schedule import FaultSchedule
from tests.simulation.engine.faults import CALM, NEVER
from tests.simulation.engine.hook_events import HookEmitter
from tests.simulation.engine.run import simulate_world
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shared_state import Behaviour
from tests.simulation.engine.user import Habits
from tests.simulation.engine.user_task import UserTask
from tests.simulation.engine.world import World

QUIET = FaultSchedule("quiet", 1.0, 1.0, CALM, NEVER, Habits(restless=0.0, eager=0.0))
MINUTE = 60.0
HANGS = 5 * 60 * MINUTE

Trouble = Callable[[HookEmitter], Generator[float, None, None]]


@dataclass
class Day:
    """A quiet day with one task, in which something is wrong with the first program of each step; `began` is when."""

    trouble: Trouble
    began: dict[str, float] = field(default_factory=dict)
    world: World | None = None
    _seen: set[str] = field(default_factory=set)

    def lives(self, monkeypatch: pytest.MonkeyPatch, seed: str) -> dict[str, str]:
        """Let it pass, and return how its task ended."""
        day = self

        def goes_wrong(emitter: HookEmitter) -> Generator[float, None, None]:
            order = emitter._agent.environment
            work = f"{order['STEP']}/{order['ATTEMPT']}"
            if work in day._seen:
                return
            day._seen.add(work)
            day.began[order["RUN"]] = emitter._agent.shared.clock.now()
            yield from day.trouble(emitter)

        monkeypatch.setattr(hook_events.HookEmitter, "_makes_no_progress", goes_wrong)
        return simulate_world(seed, schedule=QUIET, world_of=self._world).tasks

    def _world(self, scenario: Scenario) -> World:
        behaviour = Behaviour(bad=0.0, rejects=0.0, odd=0.0, longest=30.0, subtasks=1)
        self.world = World(scenario, (UserTask("alpha", hooks=True),), behaviour, deaf=0.0, slow=False)
        return self.world

    def changes(self, kind: str) -> list[dict[str, Any]]:
        """Return the changes of one kind that were journaled, in order."""
        assert self.world is not None
        files, folder = self.world.files, layout.task_journal(self.world.user_tasks[0].home)
        lines = []
        for name in segments(entry.name for entry in files.entries(folder)):
            lines += [
                json.loads(line) for line in unpacked(name, files.read(folder / name)).splitlines() if line
            ]
        return [each for line in lines for each in line.get("changes", ()) if each["kind"] == kind]

    def questions(self) -> list[dict[str, Any]]:
        """Return the questions, other than permission requests."""
        asked = [each["question"] for each in self.changes("question_asked")]
        return [question for question in asked if question.get("kind") != "permission"]

    def endings(self) -> dict[str, tuple[str, float]]:
        """Return why each run in which something went wrong was ended, and after how many seconds."""
        ended = {each["run"]: each for each in self.changes("run_ending")}
        return {run: (ended[run]["ending"], ended[run]["at"] - began) for run, began in self.began.items()}


SEEDS = ["quiet-1", "quiet-2", "quiet-3"]


@pytest.mark.parametrize("seed", SEEDS)
def test_hang_costs_ten_minutes_and_no_question(monkeypatch: pytest.MonkeyPatch, seed: str) -> None:
    day = Day(lambda emitter: emitter._recorder.stalls(HANGS))
    assert set(day.lives(monkeypatch, seed).values()) == {"complete"}
    assert len(day.began) >= 5
    for ending, took in day.endings().values():
        assert ending == "stalled"
        assert took <= 10 * MINUTE
    assert not day.questions()


def answers_and_hangs(emitter: HookEmitter) -> Generator[float, None, None]:
    """An answer grows on the screen for an hour, and then it does not."""
    yield from emitter._recorder.answers(60 * MINUTE)
    yield from emitter._recorder.stalls(HANGS)


def test_hang_after_an_hour_of_answer_costs_ten_minutes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    day = Day(answers_and_hangs)
    assert set(day.lives(monkeypatch, "quiet-4").values()) == {"complete"}
    for ending, took in day.endings().values():
        assert ending == "stalled"
        assert 60 * MINUTE < took <= 70 * MINUTE


@pytest.mark.parametrize("obeys", [True, False])
def test_repeating_agent_is_cautioned_within_minutes(
    monkeypatch: pytest.MonkeyPatch,
    obeys: bool,  # noqa: FBT001 (a parameter)
) -> None:
    day = Day(lambda emitter: emitter._circles(obeys=obeys))
    assert set(day.lives(monkeypatch, "quiet-5").values()) == {"complete"}
    cautioned = day.changes("run_cautioned")
    for run, began in day.began.items():
        at = [each["at"] - began for each in cautioned if each["run"] == run]
        assert len(at) == (1 if obeys else 2)
        assert at[0] < 12 * 3 * 22 + 2 * MINUTE, "a dozen calls from the third on, and a rescan"
    if not obeys:
        assert {ending for ending, _ in day.endings().values()} == {"repeating"}
    assert not day.questions()
