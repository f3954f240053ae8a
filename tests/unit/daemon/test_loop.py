from __future__ import annotations

import errno
from functools import partial

import pytest

from orchestrator import layout
from orchestrator.daemon.ingest.task_inputs import TaskInputs
from orchestrator.hosts.ssh.marks import MARK
from orchestrator.model.errors import JournalFailed
from orchestrator.model.limits import Limits
from orchestrator.model.question import QuestionKind
from orchestrator.model.settings import Settings
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.user_task import UserTask
from tests.simulation.engine.world import World, listening


@pytest.mark.parametrize("spared", [0, 1], ids=["the segment", "the line"])
def test_journal_failure_ends_the_daemon(spared):
    """A refusal would be a guess: the line may be on the disk, and the next one would bear the same number."""
    world = World(Scenario("loop"), (UserTask("alpha"),), settings=Settings(), deaf=0.0, slow=False)
    (user_task,) = world.user_tasks
    left = spared

    def broken(step, path):
        nonlocal left
        if step == "fsync" and "journal" in path.parts:
            if not left:
                raise OSError(errno.EIO, "broken disk", str(path))
            left -= 1

    with listening(world):
        world.boot()
        world.start(user_task, "much to do", ("it works",))
        world.files.before = broken
        assert world.daemon.loop is not None
        with pytest.raises(JournalFailed):
            world.daemon.loop.turn(0)
        world.files.before = None
        assert [entry.name for entry in world.files.entries(user_task.requests) if entry.is_file] == [
            "000001.json"
        ]
        world.daemon.drop()
        world.boot()
        (task,) = world.tasks().values()
    assert task.engine.lines == 1
    assert not world.complaints


def test_a_start_has_every_lost_box_called_again():
    """What kept the task from going on may be mended: a box that refuses is not called unless somebody says so."""
    world = World(
        Scenario("loop"), (UserTask("alpha", box="near"),), settings=Settings(), deaf=0.0, slow=False
    )
    (user_task,) = world.user_tasks
    with listening(world):
        world.boot()
        world.start(user_task, "much to do", ("it works",))
        box = world.boxes["near"]
        while not any(run.on_box for task in world.tasks().values() for run in task.engine.state.live_runs):
            assert world.go_on(until=world.clock.monotonic() + 86400)
        box.refuses = True
        assert world.daemon.loop is not None
        belief = partial(world.daemon.loop.context.adapters.boxes.belief, "near")
        while (believed := belief()) is None or believed.reachable:
            assert world.go_on(until=world.clock.monotonic() + 86400)
        world.ask(user_task, "stop")
        box.refuses = False
        assert world.go_on(until=world.clock.monotonic() + 86400)
        believed = belief()
        assert believed is not None
        assert believed.refused
        world.start(user_task, "much to do", ("it works",))
        until = world.clock.monotonic() + 60
        while (believed := belief()) is None or not believed.reachable:
            assert world.go_on(until=until), "it was not called"
    assert not world.complaints


@pytest.mark.parametrize("verb", ["checkin", "answer"])
def test_who_asks_of_a_working_task_has_lost_boxes_called(verb: str):
    """A box that refuses is called each hour by itself; what its user mended is tried at once."""
    world = World(
        Scenario("loop"), (UserTask("alpha", box="near"),), settings=Settings(), deaf=0.0, slow=False
    )
    (user_task,) = world.user_tasks
    with listening(world):
        world.boot()
        world.start(user_task, "much to do", ("it works",))
        box = world.boxes["near"]
        while not any(run.on_box for task in world.tasks().values() for run in task.engine.state.live_runs):
            assert world.go_on(until=world.clock.monotonic() + 86400)
        box.refuses = True
        (task,) = world.tasks().values()
        while not (asked := [each for each in task.engine.state.open_questions if each.kind == "box"]):
            assert world.go_on(until=world.clock.monotonic() + 86400)
        box.refuses = False
        arguments = {"question": asked[0].id, "text": asked[0].options[0]} if verb == "answer" else {}
        world.ask(user_task, verb, **arguments)
        assert world.daemon.loop is not None
        boxes, until = world.daemon.loop.context.adapters.boxes, world.clock.monotonic() + 60
        while (believed := boxes.belief("near")) is None or not believed.reachable:
            assert world.go_on(until=until), "it was not called"
    assert not world.complaints


def test_reports_are_read_before_a_run_is_declared_gone(monkeypatch):
    """What it left may lie there, and be taken for half written until now (law 5)."""
    world = World(
        Scenario("unended"), (UserTask("alpha", box="near"),), settings=Settings(), deaf=0.0, slow=False
    )
    (user_task,) = world.user_tasks
    with listening(world):
        world.boot()
        world.start(user_task, "much to do", ("it works",))
        (task,) = wait_for(world, lambda: list(world.tasks().values()))

        def state():
            return task.engine.state

        (run,) = wait_for(world, lambda: [run.id for run in state().live_runs if run.on_box and run.pid])
        box = world.boxes["near"]
        box.host.lose_power()
        box.files.rename(box.root, box.root.with_name("away"))

        def asked(kind):
            return [each for each in state().open_questions if (each.run, each.kind) == (run, kind)]

        # Nothing comes from there until the box is begun anew: till then nobody says anything of the run.
        wait_for(world, lambda: asked(QuestionKind.BOX))
        own = layout.task_home(box.root, task.id)
        box.files.make_folder(own)
        box.files.write(own / MARK, task.id.encode())
        (question,) = wait_for(world, lambda: asked(QuestionKind.TERMINATION))
        assert not asked(QuestionKind.BOX)
        heard = []
        see_reports = TaskInputs.see_reports

        def seen(self, *rest, **more):
            heard.append((tuple(more.get("done", ())), state().runs[run].live))
            see_reports(self, *rest, **more)

        monkeypatch.setattr(TaskInputs, "see_reports", seen)
        world.ask(user_task, "answer", question=question.id, text="gone")
        wait_for(world, lambda: not state().runs[run].live)
    assert ((state().runs[run].instance,), True) in heard
    assert not world.complaints


def test_of_a_run_that_is_gone_nothing_left_behind_is_waited_for():
    """A moment that was noted for it and stays would be due for ever, and the task looked at all the time."""
    world = World(Scenario("left"), (UserTask("alpha"),), settings=Settings(), deaf=0.0, slow=False)
    (user_task,) = world.user_tasks
    with listening(world):
        world.boot()
        world.start(user_task, "much to do", ("it works",))
        (task,) = wait_for(world, lambda: list(world.tasks().values()))
        (run,) = wait_for(world, lambda: [run.id for run in task.engine.state.live_runs if run.pid])
        assert not task.inputs._grace.is_over(run, world.clock.monotonic())
        wait_for(world, lambda: not task.engine.state.runs[run].live)
        assert not task.inputs._grace.moments


def wait_for(world, reported):
    """Let a world go on until something is told that is not empty, and return it."""
    until = world.clock.monotonic() + 10 * 86400
    while not (found := reported()):
        assert world.go_on(until=until), "it does not come to that"
    return found


def test_new_daemon_launches_nothing_before_it_knows_all_tasks():
    """It opened alpha, whose run had waited for the one place here, before it knew the run of beta that has it."""
    settings = Settings(limits=Limits(max_local_runs=1))
    world = World(
        Scenario("loop"), (UserTask("alpha"), UserTask("beta")), settings=settings, deaf=0.0, slow=False
    )
    alpha, beta = world.user_tasks

    def at_work():
        begun = [task for task in world.tasks().values() if task.begun]
        return {name for task in begun for name in task.engine.state.runs.live} - {
            name for task in begun for name in task.doing.launches.waiting
        }

    with listening(world):
        world.boot()
        world.start(beta, "much to do", ("it works",))
        while not at_work():
            assert world.go_on(until=world.clock.monotonic() + 86400)
        world.start(alpha, "much to do", ("it works",))
        while not any(task.doing.launches.waiting for task in world.tasks().values()):
            assert world.go_on(until=world.clock.monotonic() + 86400)
        before = at_work()
        world.daemon.drop()
        world.boot()
        assert at_work() == before
        assert len(before) == 1
    assert not world.complaints


def test_a_task_that_has_not_begun_is_not_complained_about(caplog):
    """`daemon.log` said "'' cannot name a folder" of each task whose start was about to be read."""
    world = World(Scenario("loop"), (UserTask("alpha"),), settings=Settings(), deaf=0.0, slow=False)
    (user_task,) = world.user_tasks
    world.files.make_folder(user_task.home)
    world.boot()
    assert world.daemon.loop is not None
    assert list(world.daemon.loop.tasks) == [user_task.home.name]
    world.daemon.loop.turn(0)
    world.daemon.drop()
    assert [each.message for each in caplog.records if each.levelname != "INFO"] == []
