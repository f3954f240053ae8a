from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.daemon.actions import launching
from orchestrator.daemon.actions.admission import Obstacle
from orchestrator.daemon.actions.dispatcher import Dispatcher
from orchestrator.daemon.actions.run_endings import SECOND_LOOK
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.hints import OutcomeHint
from orchestrator.daemon.core.task_paths import Adapters as Around
from orchestrator.daemon.core.task_paths import TaskPaths
from orchestrator.daemon.ingest.run_lifecycle import LAUNCHED
from orchestrator.hosts.claims import CLAIMED
from orchestrator.model.actions import End, Launch
from orchestrator.model.facts import LaunchFailed
from orchestrator.model.run import Life
from orchestrator.model.settings import Settings
from orchestrator.ports.host import Observation, Standing
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from orchestrator.testing.memory_files import MemoryFiles
from orchestrator.workspaces.leases import Queue
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shared_state import Behaviour
from tests.simulation.engine.user_task import UserTask
from tests.simulation.engine.world import World, listening
from tests.unit.pm.story import Story

PLACES = TaskPaths(Path("/project"), Path("/pm"), Path("/project/tasks/demo"), Path("/pm/trees"))


class Ends:
    """A host, and the hands that go there: notes who is asked to end, and who is killed."""

    def __init__(self):
        self.seen = []

    def end(self, folder, *, kill):
        self.seen.append((folder.name, kill))

    def fence(self, folder):
        self.seen.append((folder.name, None))

    def observe(self, folder):
        return Observation(Standing.NOT_CLAIMED)

    def do(self, _, work):
        work()

    def taken(self):
        """Return what was noted since the last time."""
        seen, self.seen = self.seen, []
        return seen


def at_hand(ends, clock, grace, files=None, post=lambda _: None):
    settings = Settings(limits=replace(Settings().limits, termination_grace=grace))
    around = Around(files or MemoryFiles(), ends, FakeWorkspaces(), settings, {})
    context = Context(around, clock, ends, ends, lambda: "n", post, Path("/pm"), lambda *_: [])
    return Dispatcher(context, "demo-1", Path("/pm"))


@pytest.fixture
def world():
    world = World(Scenario("doing"), (UserTask("alpha"),), Behaviour(bad=0), Settings(), deaf=0.0, slow=True)
    with listening(world):
        world.boot()
        world.start(world.user_tasks[0], "much to do", ("it works",))
        while not any(task.engine.state.live_runs for task in world.tasks().values()):
            assert world.go_on(until=world.clock.monotonic() + 3600)
        yield world
    assert not world.complaints


def test_ending_run_that_never_launched_is_left_alone(world):
    (task,) = world.tasks().values()
    (run,) = task.engine.state.live_runs
    assert run.life is Life.STARTING
    task.doing.act(task.engine.state, task.where, End("a-1", run.id))
    assert task.doing.endings.moments(task.engine.state), "it is killed after the grace"
    task.feed(LaunchFailed(world.clock.now(), "a-2", run.id, "no window could be made", again=False))
    assert not task.engine.state.runs[run.id].live
    task.see_what_is_due()
    assert not task.doing.endings.moments(task.engine.state)


@pytest.mark.parametrize("grace", [10.0, SECOND_LOOK])
def test_run_is_asked_to_end_twice_before_it_is_killed(grace):
    """One look at the processes serves many runs: what begins a moment after it hears of the end by the second one."""
    story, ends, clock = Story().planned("a"), Ends(), FakeClock()
    run = story.comes_alive("dev:a").id
    doing = at_hand(ends, clock, grace)

    def until(moment):
        """Let time pass to a moment that the task wants to be woken at."""
        assert doing.endings.moments(story.state) == [pytest.approx(clock.now() + moment)]
        doing.see_what_is_due(story.state, PLACES)
        assert ends.taken() == []
        clock.advance(moment)
        doing.see_what_is_due(story.state, PLACES)
        return ends.taken()

    story.stops()
    doing.act(story.state, PLACES, End("a-1", run))
    assert ends.taken() == [(run, False)]
    if grace > SECOND_LOOK:
        assert until(SECOND_LOOK) == [(run, False)]
    assert until(grace) == [(run, True)]
    assert until(grace) == [(run, True)]
    doing.gone(run)
    assert doing.endings.moments(story.state) == []


def test_fenced_run_is_not_asked_to_end():
    story, ends, clock = Story().planned("a"), Ends(), FakeClock()
    run, doing = story.run_of("dev:a").id, at_hand(ends, clock, 10.0)
    doing.endings.fence(story.state, run)
    clock.advance(3600)
    doing.see_what_is_due(story.state, PLACES)
    assert ends.taken() == [(run, None)]


@pytest.mark.parametrize(
    ("number", "again"),
    [(errno.ENOSPC, True), (errno.EIO, True), (errno.EACCES, False), (errno.ENOTDIR, False)],
)
def test_launch_is_tried_again_for_what_may_pass(number, again):
    """What only a person can change was tried twenty times before anybody was asked."""
    story, ends, files = Story().planned("a"), Ends(), MemoryFiles()
    posted: list[object] = []
    run = story.run_of("dev:a").id
    doing = at_hand(ends, FakeClock(), 10.0, files, posted.append)
    files.make_folder(PLACES.task)
    files.fail_next("mkdir", OSError(number, "it may not"))
    doing.act(story.state, PLACES, Launch("a-1", run))
    (failed,) = [each.fact for each in posted if isinstance(each, OutcomeHint)]
    assert isinstance(failed, LaunchFailed)
    assert failed.again is again


@pytest.mark.parametrize("claimed", [True, False])
def test_launch_fails_only_if_no_launcher_can_come(claimed):
    """It may have opened a window before it failed: one that has claimed the run works, and a later one must not."""
    story, ends, files = Story().planned("a"), Ends(), MemoryFiles()
    posted: list[object] = []
    run = story.run_of("dev:a").id
    claim = layout.run_home(PLACES.home, run) / CLAIMED
    if claimed:
        files.put(claim)
    doing = at_hand(ends, FakeClock(), 10.0, files, posted.append)
    files.fail_next("write", OSError(errno.EIO, "it may not"), layout.run_home(PLACES.home, run) / LAUNCHED)
    doing.act(story.state, PLACES, Launch("a-1", run))
    failed = [each.fact for each in posted if isinstance(each, OutcomeHint) and each.fact is not None]
    assert len(failed) == (0 if claimed else 1)
    assert files.entry(claim) is not None


@pytest.mark.parametrize("claimed", [True, False])
def test_launch_that_waits_in_vain_is_claimed_before_it_fails(monkeypatch, claimed):
    """A launcher of an earlier try may have come meanwhile; one that comes later must start nothing."""
    obstacle = Obstacle(Queue.TREE, "its tree is in use")
    monkeypatch.setattr(launching, "obstacle_of", lambda *_: obstacle)
    story, clock, files = Story().planned("a"), FakeClock(), MemoryFiles()
    posted: list[object] = []
    run = story.run_of("dev:a").id
    claim = layout.run_home(PLACES.home, run) / CLAIMED
    if claimed:
        files.put(claim)
    doing = at_hand(Ends(), clock, 10.0, files, posted.append)
    doing.act(story.state, PLACES, Launch("a-1", run))
    clock.advance(Settings().limits.max_run_time)
    doing.see_what_is_due(story.state, PLACES)
    assert len(posted) == (0 if claimed else 1)
    assert not doing.launches.waiting
    assert files.entry(claim) is not None
