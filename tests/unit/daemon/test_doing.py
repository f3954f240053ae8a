from __future__ import annotations

import pytest

from orchestrator.model.actions import End
from orchestrator.model.facts import LaunchFailed
from orchestrator.model.run import Life
from orchestrator.model.settings import Settings
from orchestrator.testing.simulation.desk import Manners
from orchestrator.testing.simulation.fate import Fate
from orchestrator.testing.simulation.wish import Wish
from orchestrator.testing.simulation.world import World, listening


@pytest.fixture
def world():
    world = World(Fate("doing"), (Wish("alpha"),), Manners(bad=0), Settings(), deaf=0.0, slow=True)
    with listening(world):
        world.boot()
        world.start(world.wishes[0], "much to do", ("it works",))
        while not any(task.engine.state.live_runs for task in world.tasks().values()):
            assert world.go_on(until=world.clock.monotonic() + 3600)
        yield world
    assert not world.complaints


def test_a_run_that_was_told_to_end_and_could_not_even_be_launched_is_left_alone(world):
    (task,) = world.tasks().values()
    (run,) = task.engine.state.live_runs
    assert run.life is Life.STARTING
    task.doing.act(task.engine.state, task.where, End("a-1", run.id))
    assert task.doing.moments(), "it is killed after the grace"
    task.feed(LaunchFailed(world.clock.now(), "a-2", run.id, "no window could be made", again=False))
    assert not task.engine.state.runs[run.id].live
    task.see_what_is_due()
    assert not task.doing.moments()
