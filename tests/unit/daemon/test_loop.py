from __future__ import annotations

import errno

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
