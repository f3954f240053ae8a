"""No more agents at once on a host, or with a CLI, than it has places for, of all tasks together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.daemon.actions.admission import leases_of
from orchestrator.daemon.actions.dispatcher import Dispatcher
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.hints import Hint, OutcomeHint
from orchestrator.daemon.core.task_paths import Adapters, TaskPaths
from orchestrator.daemon.ingest.run_lifecycle import LAUNCHED
from orchestrator.model.actions import Commit, Inspect, Launch
from orchestrator.model.facts import LaunchFailed
from orchestrator.model.limits import Limits
from orchestrator.model.pools import Pool
from orchestrator.model.settings import Settings
from orchestrator.model.task import Bring, Location
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.story import ROLES, Story


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

    def __init__(self, *boxes, pools=(), path="/srv/{}", clis=(), apart=1, checks=(), **limits):
        self.clock, self.executor = FakeClock(), Hands()
        self.posted: list[Hint] = []
        self.stories = []
        for number, box in enumerate(boxes):
            story = Story(cwd=Location(path.format(number), box) if box else None)
            story.at += number * apart
            story.serial = 1000 * number  # ids differ by it
            if clis:
                story.agents["dev"] = replace(story.agents["dev"], runtime=clis[number], command=())
            if number in checks:
                story.agents["dev"] = replace(story.agents["dev"], check=("check",))
            self.stories.append(story.planned("a"))
        self.known = True
        settings = Settings(limits=Limits(**limits), hosts=pools)
        world = Adapters(MemoryFiles(), None, None, settings, {})  # type: ignore[arg-type]
        context = Context(
            world, self.clock, self.executor, self.executor, lambda: "n", self.posted.append, Path("/pm"), self.leases
        )  # fmt: skip
        self.doings = [Dispatcher(context, str(n), Path(f"/pm/tasks/{n}")) for n in range(len(boxes))]

    def leases(self):
        if not self.known:
            return None
        pairs = zip(self.stories, self.doings, strict=True)
        lines = ((story.state, doing.launches) for story, doing in pairs)
        return [lease for state, its in lines for lease in leases_of(state, its.queues, its.tried)]

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


def test_launches_beyond_the_cap_wait_oldest_first():
    tasks = Tasks("alpha", "alpha", "alpha", "alpha", pools=(Pool("farm", ("alpha", "beta"), 2),))
    assert tasks.begin() == [0, 1]
    assert tasks.launched() == []
    tasks.stories[1].does("dev:a")
    assert tasks.launched() == [2]
    assert tasks.launched() == []


def test_launches_of_one_moment_are_no_more_than_the_cap():
    """Nothing but their ids tells which of them is first; no test noticed when that was not asked."""
    tasks = Tasks("alpha", "alpha", "alpha", "alpha", pools=(Pool("farm", ("alpha",), 2),), apart=0)
    opened = {(run.opened_at, run.id) for story in tasks.stories for run in story.state.live_runs}
    assert len(opened) == 4
    assert len({at for at, _ in opened}) == 1
    assert len(tasks.begin()) == 2


def test_each_box_has_its_own_room():
    tasks = Tasks("alpha", "beta", "alpha", pools=(Pool("farm", ("alpha", "beta"), 1),))
    assert tasks.begin() == [0, 1]


def test_this_machine_has_places_for_so_many_of_all_tasks():
    """Runs on boxes take no place here; who waits is launched as soon as a place is free, and it is known for what."""
    tasks = Tasks("", "far", "", "", max_local_runs=2)
    assert tasks.begin() == [0, 1, 2]
    (text,) = tasks.doings[3].launches.waiting.values()
    assert "this machine" in text
    assert tasks.launched() == []
    tasks.stories[0].does("dev:a")
    assert tasks.launched() == [3]
    assert tasks.doings[3].launches.waiting == {}


def test_a_cli_is_used_by_so_many_of_all_tasks_on_any_host():
    clis = ("claude", "codex", "claude", "codex", "command")
    tasks = Tasks("", "far", "far", "", "", clis=clis, max_runs_per_cli=1)
    for story in tasks.stories[4:]:
        story.state = replace(story.state, agents=story.state.agents | {"dev": ROLES["dev"]})
    assert tasks.begin() == [0, 1, 4]
    (text,) = tasks.doings[2].launches.waiting.values()
    assert "claude" in text


def test_without_caps_any_number_begins():
    assert Tasks("", "", "", "", "", "", "", "").begin() == list(range(8))


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
        ("/srv/{}", "1 agent of all tasks, the most at once, works on alpha or waits ahead of it"),
        ("/srv", "task demo writes in alpha:/srv"),
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
    assert hint.fact.reason.endswith(reason)


def test_a_run_waits_for_no_look_at_its_own_tree():
    """A step that begins again while the tree of its last run is looked at: its new run would wait for itself.

    Of a run that has left, the tree is held until that look is over.
    """
    story = Story(cwd=Location("/srv", "alpha")).planned("a")
    run = story.comes_alive("dev:a")
    look = Inspect("a-look", "dev:a", run.attempt)
    looked_at = replace(story.state, outbox=story.state.outbox | {look.id: look})
    assert all(lease.place for lease in leases_of(looked_at, {}, ()))
    story.does("dev:a")
    left = replace(story.state, outbox={look.id: look})
    (lease,) = (each for each in leases_of(left, {}, ()) if not each.place)
    assert (lease.path, lease.run) == ("alpha:/srv", run.id)


def test_a_clone_on_a_box_is_held_until_its_commits_are_here() -> None:
    """The next run there may commit too, or have HEAD moved: what was fetched then was not this step's alone."""
    story = Story(cwd=Location("/srv", "alpha"), bring=Bring.BRANCH).planned("a")
    run = story.comes_alive("dev:a")
    story.does("dev:a")
    fetched = Commit("a-commit", "dev:a", run.attempt)
    left = replace(story.state, outbox={fetched.id: fetched})
    (lease,) = (each for each in leases_of(left, {}, ()) if not each.place)
    assert (lease.path, lease.run) == ("alpha:/srv", run.id)


def test_run_that_waits_for_its_cli_leaves_its_place_here():
    """One of two places here stayed empty for as long as the account of a CLI was in use."""
    tasks = Tasks("", "", "", clis=("claude", "claude", "codex"), max_local_runs=2, max_runs_per_cli=1)
    assert tasks.begin() == [0, 2]
    tasks.stories[2].does("dev:a")
    assert tasks.launched() == []
    tasks.stories[0].does("dev:a")
    assert tasks.launched() == [1]


def test_check_is_no_run_of_its_agents_cli():
    tasks = Tasks("", "", clis=("claude", "claude"), checks=(1,), max_runs_per_cli=1)
    assert tasks.begin() == [0, 1]


def test_nothing_is_launched_before_all_tasks_are_known():
    """The first task that a new daemon opened did not know the runs of the next ones, and launched beside them."""
    tasks = Tasks("", "", path="/srv", max_local_runs=1)
    tasks.known = False
    assert tasks.begin() == []
    tasks.known = True
    assert tasks.launched() == [0]


def test_launch_that_was_tried_before_a_restart_keeps_its_place():
    """Who overtook an earlier run is not put behind it while nobody has seen that it lives."""
    tasks = Tasks("", "", max_local_runs=1)
    (late,) = tasks.stories[1].state.live_runs
    files = tasks.doings[0].context.adapters.files
    folder = layout.run_home(Path("/pm/tasks/1"), late.id)
    files.make_folder(folder)
    files.write(folder / LAUNCHED, b"")
    tasks.known = False
    assert tasks.begin() == [1]
    tasks.known = True
    assert tasks.launched() == []


def test_repeated_launch_is_not_put_into_a_queue():
    """At each rescan launches are repeated whose outcome is not known yet."""
    tasks = Tasks("", "", "", clis=("claude", "claude", "codex"), max_local_runs=2, max_runs_per_cli=1)
    assert tasks.begin() == [0, 2]
    tasks.executor.given.clear()
    assert tasks.begin() == [0, 2]
