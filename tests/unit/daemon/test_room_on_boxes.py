"""No more agents at once on a box of a pool than it has room for, of all tasks together."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.daemon.actions.dispatcher import Dispatcher, leases
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.hints import Hint, OutcomeHint
from orchestrator.daemon.core.task_paths import Adapters, TaskPaths
from orchestrator.model.actions import Launch
from orchestrator.model.facts import LaunchFailed
from orchestrator.model.pools import Pool
from orchestrator.model.settings import Settings
from orchestrator.model.task import Location
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.story import Story


class Hands:
    """Hands that only note what they are to do."""

    def __init__(self):
        self.given = []

    def do(self, key, work):
        self.given.append(key)

    def close(self):
        pass


class Tasks:
    """Tasks whose developers are to work on boxes, each in a folder of its own unless told."""

    def __init__(self, *boxes, pools, path="/srv/{}"):
        self.clock, self.executor = FakeClock(), Hands()
        self.posted: list[Hint] = []
        self.stories = []
        for number, box in enumerate(boxes):
            story = Story(cwd=Location(path.format(number), box))
            story.at += number
            self.stories.append(story.planned("a"))
        settings = Settings(hosts=pools)
        world = Adapters(MemoryFiles(), None, None, settings, {})  # type: ignore[arg-type]
        context = Context(
            world, self.clock, self.executor, self.executor, lambda: "n", self.posted.append, Path("/pm"), self.leases
        )  # fmt: skip
        self.doings = [Dispatcher(context, str(n), Path(f"/pm/tasks/{n}")) for n in range(len(boxes))]

    def leases(self, opened_at, run):
        return [lease for story in self.stories for lease in leases(story.state, opened_at, run)]

    def where(self, number):
        project = Path("/project")
        return TaskPaths(project, Path(f"/pm/tasks/{number}"), project / "tasks/demo", Path("/pm/trees"))

    def launched(self):
        """Have all launched that may be; return the numbers of those that were since the last time."""
        self.executor.given.clear()
        for number, (story, doing) in enumerate(zip(self.stories, self.doings, strict=True)):
            doing.see_what_is_due(story.state, self.where(number))
        return [int(key.partition("/")[0]) for key in self.executor.given[::2]]

    def begin(self):
        """Have all launches begun; return the numbers of those tasks where the hands were given one."""
        for number, (story, doing) in enumerate(zip(self.stories, self.doings, strict=True)):
            (launch,) = (each for each in story.state.outbox.values() if isinstance(each, Launch))
            doing.act(story.state, self.where(number), launch)
        return [int(key.partition("/")[0]) for key in self.executor.given[::2]]


def test_more_than_the_cap_wait_and_the_oldest_goes_first_when_one_is_gone():
    tasks = Tasks("alpha", "alpha", "alpha", "alpha", pools=(Pool("farm", ("alpha", "beta"), 2),))
    assert tasks.begin() == [0, 1]
    assert tasks.launched() == []
    tasks.stories[1].does("dev:a")
    assert tasks.launched() == [2]
    assert tasks.launched() == []


def test_each_box_has_its_own_room():
    tasks = Tasks("alpha", "beta", "alpha", pools=(Pool("farm", ("alpha", "beta"), 1),))
    assert tasks.begin() == [0, 1]


def test_a_box_outside_of_pools_has_no_cap():
    tasks = Tasks("old", "old", "old", pools=(Pool("farm", ("alpha",), 1),))
    assert tasks.begin() == [0, 1, 2]


def test_one_whose_box_does_not_answer_keeps_its_room():
    tasks = Tasks("alpha", "alpha", pools=(Pool("farm", ("alpha",), 1),))
    assert tasks.begin() == [0]
    tasks.stories[0].comes_alive("dev:a")
    tasks.stories[0].loses("alpha")
    assert tasks.launched() == []


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/srv/{}", "alpha has been full all the time: 1 at once work there"),
        ("/srv", "task demo has been writing in alpha:/srv all the time"),
    ],
)
def test_it_waits_no_longer_than_a_run_may_take(path, reason):
    tasks = Tasks("alpha", "alpha", pools=(Pool("farm", ("alpha",), 1),), path=path)
    assert tasks.begin() == [0]
    tasks.clock.advance(Settings().limits.max_run_time - 1)
    tasks.launched()
    assert not tasks.posted
    tasks.clock.advance(1)
    tasks.launched()
    (hint,) = tasks.posted
    assert isinstance(hint, OutcomeHint)
    assert isinstance(hint.fact, LaunchFailed)
    assert hint.fact.reason == reason
