"""Runs that no journal knows are ended before their task begins, and no other task waits for it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.model.errors import Unavailable
from orchestrator.model.settings import Settings
from orchestrator.ports.marked_runs import MarkedRun
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.user_task import UserTask
from tests.simulation.engine.world import World, listening

SOON = 5.0
"""Seconds: less than a rescan takes to come, which would find the request too."""


@dataclass
class Orphan:
    """One run that works for every task, until it is ended; how that goes, `outcome` says."""

    outcome: bool | Exception = True
    tries: list[str] = field(default_factory=list)
    asked: set[Path] = field(default_factory=set)

    def of_task(self, task: Path) -> list[MarkedRun]:
        self.asked.add(task)
        return [] if self.tries and self.outcome is True else [MarkedRun("r1", "77@1", Path("/gone/r1"))]

    def end(self, run: MarkedRun) -> bool:
        self.tries.append(run.run)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def started(orphan: Orphan) -> World:
    """Return a world in which a task was asked to start, and the deciding thread took one turn."""
    world = World(Scenario("orphans"), (UserTask("alpha"),), settings=Settings(), deaf=0.0, slow=False)
    with listening(world):
        world.boot()
        assert world.daemon.loop is not None
        context = world.daemon.loop.context
        context.adapters = replace(context.adapters, marked_runs=orphan)
        world.start(world.user_tasks[0], "much to do", ("it works",))
        world.daemon.loop.turn(0)
    return world


def replies(world: World) -> list[str]:
    folder = world.user_tasks[0].requests
    return [world.files.read(folder / name).decode() for name in world.files.names(folder) if "reply" in name]


def test_orphan_is_ended_by_a_worker_and_then_the_task_begins():
    """Its processes may take five seconds to vanish, in which the deciding thread looked after no task."""
    orphan = Orphan()
    world = started(orphan)
    assert orphan.tries == []
    assert not any(task.begun for task in world.tasks().values())
    with listening(world):
        until = world.clock.monotonic() + SOON
        while not any(task.begun for task in world.tasks().values()):
            assert world.go_on(until=until)
        (task,) = world.tasks().values()
    assert orphan.tries == ["r1"]
    assert orphan.asked == {task.where.task}
    assert not world.complaints


def test_run_below_the_tasks_own_folder_is_ended_by_a_worker(monkeypatch):
    """Its journal was lost, and with it what it knew of the run."""
    ended = list[Path]()
    world = World(Scenario("orphans"), (UserTask("alpha"),), settings=Settings(), deaf=0.0, slow=False)
    (user_task,) = world.user_tasks
    with listening(world):
        world.boot()
        assert world.daemon.loop is not None
        folder = layout.task_runs(user_task.requests.parent) / "r-lost"
        world.files.make_folder(folder)
        end = world.host.end

        def noted(each, *, kill):
            ended.append(each)
            end(each, kill=kill)

        monkeypatch.setattr(world.host, "end", noted)
        world.start(user_task, "much to do", ("it works",))
        world.daemon.loop.turn(0)
        assert ended == []
        until = world.clock.monotonic() + 60
        while not any(task.begun for task in world.tasks().values()):
            assert world.go_on(until=until)
    assert folder in ended
    assert not world.complaints


@pytest.mark.parametrize("error", [None, Unavailable("tmux does not answer")])
def test_recovery_has_unknown_runs_ended_by_a_worker(monkeypatch, error):
    """Damage took a line from its journal: recovery ended the run in the deciding thread, and every task waited."""
    ended = list[Path]()
    world = World(Scenario("orphans"), (UserTask("alpha"),), settings=Settings(), deaf=0.0, slow=False)
    (user_task,) = world.user_tasks
    with listening(world):
        world.boot()
        world.start(user_task, "much to do", ("it works",))
        until = world.clock.monotonic() + SOON
        while not any(task.begun for task in world.tasks().values()):
            assert world.go_on(until=until)
        world.daemon.drop()
        folder = layout.task_runs(user_task.requests.parent) / "r-lost"
        world.files.make_folder(folder)
        end = world.host.end

        def noted(each, *, kill):
            ended.append(each)
            if error is not None:
                raise error
            end(each, kill=kill)

        monkeypatch.setattr(world.host, "end", noted)
        world.boot()
        (task,) = world.tasks().values()
        assert (ended, task.troubled) == ([], True)
        until = world.clock.monotonic() + SOON
        while task.troubled:
            assert world.go_on(until=until)
    assert set(ended) == {folder}
    assert not world.complaints


@pytest.mark.parametrize("outcome", [False, OSError("no more processes")])
def test_start_is_refused_if_an_orphan_cannot_be_ended(outcome):
    orphan = Orphan(outcome)
    world = started(orphan)
    with listening(world):
        until = world.clock.monotonic() + 60
        while not replies(world):
            assert world.go_on(until=until)
    assert orphan.tries == ["r1"]
    assert not any(task.begun for task in world.tasks().values())
