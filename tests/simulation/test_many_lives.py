"""What hundreds of runs leave behind in the daemon's memory: only what is listed here, and little of it."""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import PurePath

import pytest

from orchestrator.daemon.core.context import Context
from orchestrator.daemon.retention.log_retention import LogRetention
from orchestrator.model.run import Life
from orchestrator.model.sections import LogSettings
from orchestrator.model.settings import Settings
from orchestrator.pm.state.persistent_map import PersistentMap
from orchestrator.pm.state.task_state import PMState
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shared_state import Behaviour
from tests.simulation.engine.user_task import UserTask
from tests.simulation.engine.world import World, listening

EARLY, LATE = 100, 200
"""Lives after which is counted: in the first ones fills what has a bound."""

SLACK = 0.15
"""Entries per life that may come and go."""

GROWS = {
    # Runs, steps and handoffs are known for ever.
    "state.runs": 1,
    "state.runs._by_order": 1,
    "state.runs._by_step": 1,
    "state.steps": 1,
    "state.steps._lacks": 1,
    "state.steps._groups": 1,
    "state.seen": 1,
    "state.spoke": 1,
    # Each life has a step of its own here: with an artifact, and before the step that ends the task.
    "state.steps[*].artifacts": 1,
    "state.steps[*].after": 1,
    # The last 1,000 requests, of which each life takes one; the last 50 notices.
    "state.requests": 1,
    "state.notices": 0.5,
    # Programs with hooks may request permissions: each question is remembered, to know it again.
    "state.questions": 0.5,
    "state.questions[*].options": 1.5,
    # These are the chunks of `state.steps` themselves.
    "task._view._writer._shown._pages[*][*]": 2,
    "task._view._writer._shown._pages[*][*][*]": 4,
    # Of each file in the task's folder, by what it is known again: the order, the report, the artifact.
    "task.inputs._intake._handoffs._known": 2,
    "task._view._writer.scribe._known": 3,
    "task._view._writer.scribe._changed._times": 1,
    "task._view._writer.scribe._changed._order": 1,
    "task._view._writer.scribe._changed._order[*]": 2,
    # Of each folder of a run, that it was put away; and how large its log is, until that goes.
    "attic.done": 1,
    "attic.kept": 1,
}
"""The entries that a life may add, by where: all that is not named here stays as it is."""

BYTES = 3100
"""That a life may add, beside its places in tables. By Python 3.11 it is 3,010 and 3,050 (350 of them the page
progress.md, which names every step, and 80 the name of the run that handed a report in); it was 3,600 and 3,800 when
all was kept that had been believed of a run."""


@dataclass
class Weight:
    """How many entries there are in what a daemon remembers, by where, and how many bytes all that takes."""

    entries: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    _weighed: set[int] = field(default_factory=set)

    def add(self, where: str, thing: object) -> None:
        """Weigh a thing and all that hangs on it, once."""
        if id(thing) in self._weighed or _is_not_ours(thing):
            return
        self._weighed.add(id(thing))
        self.bytes += sys.getsizeof(thing)
        if isinstance(thing, dict | PersistentMap | set | frozenset | list | tuple | deque):
            self.entries[where] += len(thing)
        for name, part in _parts(thing):
            self.add(f"{where}{name}", part)


def _is_not_ours(thing: object) -> bool:
    """Tell whether something belongs to the world, or to the program itself, or is weighed elsewhere."""
    if isinstance(thing, Enum | PurePath | type | Context | PMState) or callable(thing):
        return True
    return type(thing).__module__.startswith(
        ("orchestrator.testing", "tests.", "threading", "_thread", "logging")
    )


def _parts(thing: object) -> Iterator[tuple[str, object]]:
    if isinstance(thing, dict | PersistentMap):
        yield from (("[*]", part) for entry in thing.items() for part in entry)
    elif isinstance(thing, set | frozenset | list | tuple | deque):
        yield from (("[*]", part) for part in thing)
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        if kind is not PersistentMap:
            yield from ((f".{name}", getattr(thing, name)) for name in slots if hasattr(thing, name))
    yield from ((f".{name}", part) for name, part in getattr(thing, "__dict__", {}).items())


@dataclass
class Lives:
    """A world in which one agent after another is asked for, and does what it should."""

    world: World
    attic: LogRetention | None = None

    @property
    def state(self) -> PMState:
        (task,) = self.world.tasks().values()
        return task.engine.state

    def until(self, lives: int) -> None:
        """Let agents live and end until there were so many."""
        user_task = self.world.user_tasks[0]
        while len(self.state.runs) < lives:
            if not (self.world.waiting or self.state.steps.pending or self.state.live_runs):
                self.world.ask(user_task, "spawn", agent="explore", instructions="Look around.")
            assert self.world.go_on(until=self.world.clock.monotonic() + 86400), "it does not go on"
            self.world.take_replies()

    def weight(self) -> Weight:
        """Weigh what the daemon remembers at this moment."""
        loop = self.world.daemon.loop
        assert loop is not None
        (task,) = self.world.tasks().values()
        if self.attic is None:
            self.attic = LogRetention(self.world.files, task.home)
        self.attic.tidy(task.engine.state, LogSettings(pack_after=0.0), self.world.clock.now())
        weight = Weight()
        for slot in PMState.__slots__:
            weight.add(f"state.{slot}", getattr(task.engine.state, slot))
        for where, thing in (
            ("task", task),
            ("loop", loop),
            ("desk", loop.context.desk),
            ("attic", self.attic),
        ):
            weight.add(where, thing)
        return weight


@pytest.fixture(
    params=[
        pytest.param(
            False,
            marks=pytest.mark.thorough(reason="programs with hooks leave all that commands leave, and more"),
            id="commands",
        ),
        pytest.param(True, id="programs with hooks"),
    ]
)
def lives(request):
    user_task = UserTask("alpha", hooks=request.param)
    behaviour = Behaviour(bad=0, rejects=0, odd=0, longest=2)
    world = World(Scenario("lives"), (user_task,), behaviour, Settings(), deaf=0.0, slow=False)
    with listening(world):
        world.boot()
        world.start(user_task, "much to do", ("it works",))
        while not world.tasks():
            assert world.go_on(until=world.clock.monotonic() + 86400), "it does not begin"
        yield Lives(world)
    assert not world.complaints


def test_a_life_leaves_little_behind(lives):
    lives.until(EARLY)
    early = lives.weight()
    lives.until(LATE)
    late = lives.weight()
    rose = {where: (count - early.entries[where]) / (LATE - EARLY) for where, count in late.entries.items()}
    grew = {where: rate for where, rate in rose.items() if rate > GROWS.get(where, 0) + SLACK}
    assert not grew, "entries per life"
    assert (late.bytes - early.bytes) / (LATE - EARLY) < BYTES

    known = lives.state
    past = [run for run in known.runs.values() if run.id not in known.runs.latest.values()]
    assert len(past) > EARLY
    assert {(run.life, run.evidence, run.pid, run.since) for run in past} == {(Life.GONE, "", None, 0.0)}
    lives.world.daemon.drop()
    lives.world.boot()
    assert lives.state == known, "what is left out is left out by the journal's reader as well"
