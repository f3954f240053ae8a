"""Tasks that are over are let go of, and are there again as soon as something asks for them."""

from __future__ import annotations

import math

import pytest

from orchestrator import layout
from orchestrator.model.sections import DaemonSettings
from orchestrator.model.settings import Settings
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shared_state import Behaviour
from tests.simulation.engine.user_task import UserTask
from tests.simulation.engine.world import World, listening

HOUR = 3600.0
DAY = 24 * HOUR
GOOD = Behaviour(bad=0, rejects=0, odd=0, longest=2)


class Watching:
    """A world of one task that nobody disturbs."""

    def __init__(self, world):
        self.world = world
        (self.user_task,) = world.user_tasks

    @property
    def loop(self):
        return self.world.daemon.loop

    @property
    def shelved(self):
        return self.user_task.id in self.loop.passive

    def run(self, until, *, most=2 * DAY):
        limit = self.world.clock.monotonic() + most
        while not until():
            assert self.world.go_on(until=limit), "it does not come to that"

    def over(self):
        self.run(lambda: self.world.shown(self.user_task).get("state") == "complete")

    def put_away(self):
        self.over()
        self.run(lambda: self.shelved)

    def reboot(self):
        self.world.daemon.drop()
        self.world.boot()


@pytest.fixture
def watching():
    world = World(Scenario("shelf"), (UserTask("alpha"),), GOOD, Settings(), deaf=0.0, slow=False)
    with listening(world):
        world.boot()
        world.start(world.user_tasks[0], "much to do", ("it works",))
        yield Watching(world)
    assert not world.complaints


def journal_of(watching):
    folder = layout.task_journal(watching.user_task.home)
    return {entry.name: entry.size for entry in watching.world.files.entries(folder)}


def test_finished_task_is_passivated_after_an_hour(watching):
    watching.over()
    ended = watching.world.clock.monotonic()
    task = watching.world.tasks()[watching.user_task.id]
    watching.run(lambda: task.is_over)
    watching.run(lambda: watching.shelved)
    assert HOUR <= watching.world.clock.monotonic() - ended <= HOUR + 2 * 600 * 6
    assert not watching.loop.tasks
    assert watching.world.shown(watching.user_task)["state"] == "complete"


def test_start_reactivates_a_passive_task_at_once(watching):
    watching.put_away()
    before = journal_of(watching)
    asked = watching.world.clock.monotonic()
    watching.world.start(watching.user_task, "much more to do", ("that works too",))
    watching.run(lambda: watching.loop.tasks)
    assert watching.world.clock.monotonic() - asked < 1
    assert not watching.shelved
    watching.put_away()
    after = journal_of(watching)
    assert sum(after.values()) > sum(before.values())
    watching.world.take_replies()
    assert not watching.world.waiting
    assert watching.world.counts["replies: done"] == 2


def test_rescan_finds_a_request_to_a_passive_task(watching):
    watching.put_away()
    watching.world.deaf = 1.0
    watching.world.start(watching.user_task, "much more to do", ("that works too",))
    watching.run(lambda: watching.loop.tasks, most=2 * watching.world.settings.daemon.rescan)
    watching.run(lambda: watching.world.shown(watching.user_task).get("state") == "running", most=HOUR)
    assert not watching.shelved


def reads_of(watching, monkeypatch):
    """Return the list that will have every path that is read."""
    read = []
    reads = watching.world.files.read

    def counted_read(path, *rest):
        read.append(path)
        return reads(path, *rest)

    monkeypatch.setattr(watching.world.files, "read", counted_read)
    return read


def test_starting_daemon_does_not_read_passive_tasks(watching, monkeypatch):
    watching.put_away()
    read = reads_of(watching, monkeypatch)
    watching.reboot()
    assert watching.shelved
    assert not watching.loop.tasks
    assert not [path for path in read if "journal" in path.parts]


def test_but_it_does_if_something_was_asked_meanwhile(watching):
    watching.put_away()
    watching.world.daemon.drop()
    watching.world.start(watching.user_task, "much more to do", ("that works too",))
    watching.world.boot()
    assert not watching.shelved
    assert watching.world.tasks()[watching.user_task.id].engine.state.state == "running"


@pytest.mark.parametrize(
    "mark",
    [None, b"", b"[]", b"{", b'{"segment": "0000000001.jsonl", "size": 1, "folder": ""}', b'{"folder": 3}'],
)
def test_nor_does_it_believe_a_mark_that_does_not_fit(watching, monkeypatch, mark):
    watching.put_away()
    path = layout.task_passivated(watching.user_task.home)
    right = watching.world.files.read(path)
    if mark is None:
        watching.world.files.remove(path)
    else:
        watching.world.files.write(path, mark)
    read = reads_of(watching, monkeypatch)
    watching.reboot()
    assert [path for path in read if "journal" in path.parts]
    assert watching.shelved, "it is over, and was looked at"
    assert watching.world.files.read(path) == right


def test_mark_of_an_earlier_version_is_read_and_replaced(watching, monkeypatch):
    """Before 1.0 it was `shelved.json`."""
    watching.put_away()
    files, home = watching.world.files, watching.user_task.home
    files.rename(layout.task_passivated(home), layout.former_task_passivated(home))
    read = reads_of(watching, monkeypatch)
    watching.reboot()
    assert watching.shelved
    assert not [path for path in read if "journal" in path.parts]
    watching.run(lambda: watching.loop.tasks)
    watching.put_away()
    assert files.entry(layout.former_task_passivated(home)) is None
    assert files.entry(layout.task_passivated(home)) is not None


def test_passive_task_is_inspected_once_a_day(watching):
    watching.put_away()
    watching.world.save(watching.user_task.handoffs / "pm-20260101-000000.md", b"# Report\n")
    seen = watching.world.clock.monotonic()
    watching.run(lambda: watching.loop.tasks)
    assert DAY - HOUR <= watching.world.clock.monotonic() - seen <= DAY + HOUR
    state = watching.world.tasks()[watching.user_task.id].engine.state
    assert "pm-20260101-000000.md" in state.seen
    watching.put_away()


def test_finished_task_without_a_mark_is_passivated_at_start(watching):
    """Hundreds of them would take more files than a process may have open."""
    watching.put_away()
    watching.world.files.remove(layout.task_passivated(watching.user_task.home))
    watching.world.daemon.drop()
    watching.world.clock.advance(HOUR)
    watching.world.boot()
    assert watching.shelved
    assert not watching.world.tasks()


def test_task_passivated_by_an_earlier_daemon_is_inspected(watching):
    watching.put_away()
    watching.reboot()
    began = watching.world.clock.monotonic()
    watching.run(lambda: watching.loop.tasks)
    assert watching.world.clock.monotonic() - began <= HOUR


def test_task_at_work_is_not_passivated(watching):
    watching.run(lambda: any(task.engine.state.live_runs for task in watching.world.tasks().values()))
    (task,) = watching.world.tasks().values()
    assert not task.is_over


def test_a_task_whose_question_waits_is_not_over():
    world = World(
        Scenario("shelf"), (UserTask("alpha", approve=True),), GOOD, Settings(), deaf=0.0, slow=False
    )
    with listening(world):
        world.boot()
        world.start(world.user_tasks[0], "much to do", ("it works",))
        watching = Watching(world)
        watching.run(lambda: any(task.engine.state.open_questions for task in world.tasks().values()))
        world.ask(watching.user_task, "stop")
        (task,) = world.tasks().values()
        watching.run(lambda: task.rests and not task.behind)
        assert bool(task.engine.state.open_questions) is not task.is_over
    assert not world.complaints


def test_passivation_delay_is_a_setting():
    settings = Settings(daemon=DaemonSettings(passivate_after=math.inf))
    world = World(Scenario("shelf"), (UserTask("alpha"),), GOOD, settings, deaf=0.0, slow=False)
    with listening(world):
        world.boot()
        world.start(world.user_tasks[0], "much to do", ("it works",))
        watching = Watching(world)
        watching.over()
        began = world.clock.monotonic()
        while world.go_on(until=began + 2 * DAY):
            assert watching.loop.tasks
    assert not world.complaints
