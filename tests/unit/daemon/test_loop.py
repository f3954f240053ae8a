from __future__ import annotations

import errno
from functools import partial

import pytest

from orchestrator.model.errors import JournalFailed
from orchestrator.model.settings import Settings
from orchestrator.testing.simulation.fate import Fate
from orchestrator.testing.simulation.wish import Wish
from orchestrator.testing.simulation.world import World, listening


@pytest.mark.parametrize("spared", [0, 1], ids=["the segment", "the line"])
def test_a_journal_that_fails_under_a_request_ends_the_daemon_and_the_next_one_hears_it(spared):
    """A refusal would be a guess: the line may be on the disk, and the next one would bear the same number."""
    world = World(Fate("loop"), (Wish("alpha"),), settings=Settings(), deaf=0.0, slow=False)
    (wish,) = world.wishes
    left = spared

    def broken(step, path):
        nonlocal left
        if step == "fsync" and "journal" in path.parts:
            if not left:
                raise OSError(errno.EIO, "broken disk", str(path))
            left -= 1

    with listening(world):
        world.boot()
        world.start(wish, "much to do", ("it works",))
        world.files.before = broken
        assert world.daemon.loop is not None
        with pytest.raises(JournalFailed):
            world.daemon.loop.turn(0)
        world.files.before = None
        assert [entry.name for entry in world.files.entries(wish.requests) if entry.is_file] == [
            "000001.json"
        ]
        world.daemon.drop()
        world.boot()
        (task,) = world.tasks().values()
    assert task.engine.lines == 1
    assert not world.complaints


def test_a_start_has_every_lost_box_called_again():
    """What kept the task from going on may be mended: a box that refuses is not called unless somebody says so."""
    world = World(Fate("loop"), (Wish("alpha", box="near"),), settings=Settings(), deaf=0.0, slow=False)
    (wish,) = world.wishes
    with listening(world):
        world.boot()
        world.start(wish, "much to do", ("it works",))
        box = world.boxes["near"]
        while not any(run.far for task in world.tasks().values() for run in task.engine.state.live_runs):
            assert world.go_on(until=world.clock.monotonic() + 86400)
        box.refuses = True
        assert world.daemon.loop is not None
        belief = partial(world.daemon.loop.office.world.boxes.belief, "near")
        while (believed := belief()) is None or believed.reachable:
            assert world.go_on(until=world.clock.monotonic() + 86400)
        world.ask(wish, "stop")
        box.refuses = False
        assert world.go_on(until=world.clock.monotonic() + 86400)
        believed = belief()
        assert believed is not None
        assert believed.refused
        world.start(wish, "much to do", ("it works",))
        until = world.clock.monotonic() + 60
        while (believed := belief()) is None or not believed.reachable:
            assert world.go_on(until=until), "it was not called"
    assert not world.complaints
