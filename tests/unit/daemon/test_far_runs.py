"""Runs on boxes: what went wrong on the way is never taken for what became of them there (laws 4, 5)."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from orchestrator import layout
from orchestrator.daemon.actions.answer import answer
from orchestrator.daemon.actions.dispatcher import Dispatcher
from orchestrator.daemon.actions.look import look
from orchestrator.daemon.core.hints import OutcomeHint
from orchestrator.daemon.core.task_paths import Adapters, TaskPaths
from orchestrator.daemon.ingest.run_lifecycle import LAUNCHED
from orchestrator.hosts.claims import CLAIMED
from orchestrator.hosts.tmux_failures import TmuxFailed
from orchestrator.model.actions import Answer, Launch
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.event import Reply, Say
from orchestrator.model.facts import LaunchFailed, RunStarted
from orchestrator.model.settings import Settings
from orchestrator.model.task import Location
from orchestrator.ports.box_link import Cut, NotLetIn, State, Unreachable, Way
from orchestrator.ports.boxes import RemoteEnvironment
from orchestrator.ports.host import LaunchSpec, Observation, Standing
from orchestrator.ports.no_boxes import NoBoxes
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_host import FakeHost
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.story import Story

HOME, PROJECT = Path("/pm/tasks/demo-1"), Path("/project")
WHERE = TaskPaths(PROJECT, HOME, layout.task_folder(PROJECT, "demo"), Path("/pm/trees"))


class FarHost:
    """A box on which nothing is claimed yet; `told` is what it was told to do to a run."""

    def __init__(self) -> None:
        self.deeds: list[str] = []
        self.lost = False
        self.error: Exception = Cut("the connection ended at launch: nobody knows what came of it")

    def observe(self, folder: Path) -> Observation:
        del folder
        return Observation(Standing.NOT_CLAIMED)

    def fence(self, folder: Path) -> None:
        del folder
        self._do("fence")

    def end(self, folder: Path, *, kill: bool) -> None:
        del folder
        self._do("kill" if kill else "end")

    def _do(self, deed: str) -> None:
        self.deeds.append(deed)
        if self.lost:
            raise Unavailable("the box does not answer")

    def launch(self, spec: LaunchSpec) -> None:
        del spec
        raise self.error

    def open_session(self, session: str, title: str, log: Path) -> None:
        del session, title, log

    def panes(self) -> list[Any]:
        return []

    def cpu(self, folder: Path) -> None:
        del folder


class OneBox(NoBoxes):
    """A box, whose ground cannot be had if there is an `error`.

    `changes` are folders with changed files, `asked` what was asked of them.
    """

    def __init__(self, error: Exception | None = None) -> None:
        self.there = FarHost()
        self.error = error
        self.asked: list[tuple[str, float]] = []
        self.changes: tuple[str, ...] = ()

    def host(self, box: str) -> Any:
        del box
        return self.there

    def ground(self, remote_task: Any) -> Any:
        del remote_task
        if self.error is not None:
            raise self.error
        return RemoteEnvironment(Path("/box/home"), {"HOME": "/box/home"})

    def send(self, remote_task: Any, instance: str) -> None:
        del remote_task, instance

    def hurry(self, box: str) -> None:
        del box

    def fingerprint(self, box: str, place: str, without: str) -> str:
        del box, place, without
        return "as it was"

    def changed(self, box: str, place: str, seconds: float) -> bool:
        del box
        self.asked.append((place, seconds))
        return place in self.changes


class Desk:
    """A developer of one task, on a box."""

    def __init__(self, boxes: OneBox) -> None:
        self.story = Story(cwd=Location("/repo", "me@box")).planned("a")
        self.run = self.story.run_of("dev:a")
        self.clock = FakeClock(self.story.at)
        self.files = MemoryFiles(now=self.clock.now)
        self.boxes = boxes
        self.folder = layout.run_home(HOME, self.run.id)
        self.files.make_folder(self.folder)
        self.files.make_folder(WHERE.task)
        host = FakeHost(self.files, self.clock, cast("Any", None))
        self.world = Adapters(self.files, host, FakeWorkspaces(), Settings(), {}, boxes)
        self.posted: list[Any] = []
        executor = SimpleNamespace(do=lambda _, work: work())
        context = SimpleNamespace(
            adapters=self.world,
            clock=self.clock,
            executor=executor,
            executor_for=lambda *_: executor,
            post=self.posted.append,
            leases=list,
        )
        self.doing = Dispatcher(cast("Any", context), "demo-1", HOME)

    def launch(self) -> list[LaunchFailed]:
        """Try the launch; return the failures that are told."""
        action = next(each for each in self.story.state.outbox.values() if isinstance(each, Launch))
        self.doing.act(self.story.state, WHERE, action)
        facts = [hint.fact for hint in self.posted if isinstance(hint, OutcomeHint)]
        return [fact for fact in facts if isinstance(fact, LaunchFailed)]


PROBLEMS = [OSError(28, "No space left on device"), Refused("the folder there is not the one that was made")]


@pytest.mark.parametrize("error", PROBLEMS)
def test_possibly_launched_run_has_not_failed(error):
    """It may be on its way there, though it cannot be launched again."""
    desk = Desk(OneBox(error))
    desk.files.write(desk.folder / LAUNCHED, b"")
    assert not desk.launch()
    assert desk.files.entry(desk.folder / CLAIMED) is None


@pytest.mark.parametrize("error", PROBLEMS)
def test_one_that_was_never_sent_there_has(error):
    desk = Desk(OneBox(error))
    (failed,) = desk.launch()
    assert failed.again is isinstance(error, OSError)
    assert desk.files.entry(desk.folder / CLAIMED) is None  # else, killed here, it would be nobody's for ever


def test_power_cut_here_keeps_that_a_far_launch_was_tried():
    """A launch was cut off, so its agent may live there; our power cut took nobody's life on the box."""
    desk = Desk(OneBox())
    assert not desk.launch()
    desk.files.crash(power=True)
    desk.boxes.error = Refused("the folder there is not the one that was made")
    assert not desk.launch()


def test_power_cut_here_keeps_the_answer_to_a_far_run():
    """That it was given is journaled, so nobody gives it again to the program that waits on the box."""
    desk = Desk(OneBox())
    agent = desk.story.state.agents[desk.run.agent]
    answer(
        desk.world, HOME, desk.run, agent, Answer("a-1", desk.run.id, "e-1", Reply(Say.ALLOW)), desk.story.at
    )
    desk.files.crash(power=True)
    assert desk.files.entry(layout.run_answers(desk.folder) / "e-1") is not None


def test_fenced_run_that_began_anyway_is_left_alone():
    desk = Desk(OneBox())
    desk.boxes.there.lost = True
    desk.doing.endings.fence(desk.story.state, desk.run.id)
    desk.boxes.there.lost = False
    desk.story.feed(RunStarted(desk.story.at, desk.run.id, 4711, "%1"))
    for _ in range(3):
        desk.clock.advance(Settings().limits.termination_grace)
        desk.doing.see_what_is_due(desk.story.state, WHERE)
    assert desk.boxes.there.deeds == ["fence"]


def test_one_that_still_has_not_come_is_fenced_again():
    desk = Desk(OneBox())
    desk.doing.endings.fence(desk.story.state, desk.run.id)
    desk.clock.advance(Settings().limits.termination_grace)
    desk.doing.see_what_is_due(desk.story.state, WHERE)
    desk.doing.endings.fence(desk.story.state, desk.run.id)
    assert desk.boxes.there.deeds == ["fence"] * 2


SCRATCHPAD = "/repo/tasks/demo/scratchpad/dev"


@pytest.mark.parametrize("changes", [("/repo",), (SCRATCHPAD,), ()])
def test_what_an_agent_changes_on_its_box_is_a_sign_of_work(changes):
    desk = Desk(OneBox())
    desk.boxes.changes = changes
    run = desk.story.comes_alive("dev:a")
    desk.clock.advance(1800)
    at = desk.clock.now()
    seen = look(desk.world, desk.story.state, run, WHERE, "a1", at)
    assert seen.sight is not None, seen.reason
    assert set(desk.boxes.asked) <= {(folder, at - run.progress_at) for folder in ("/repo", SCRATCHPAD)}
    assert (seen.sight.changed_at == pytest.approx(at)) is bool(changes)


WAITS = [
    NotLetIn("it refuses", State(Way.REFUSED)),
    Unreachable("no route"),
    Cut("the connection ended"),
]
FAILS = [
    Unavailable("its sshd gives no sftp"),
    Cut("it did not end `sh` within 20 s", stands=True),
]


@pytest.mark.parametrize("error", WAITS, ids=lambda each: type(each).__name__)
def test_launch_without_a_way_to_its_box_waits_for_that(error):
    desk = Desk(OneBox(error))
    assert not desk.launch()


@pytest.mark.parametrize("error", FAILS, ids=lambda each: type(each).__name__)
def test_launch_that_fails_though_there_is_a_way_has_failed(error):
    desk = Desk(OneBox(error))
    (failed,) = desk.launch()
    assert (failed.again, failed.reason) == (True, str(error))


@pytest.mark.parametrize(
    ("error", "reported", "certain"),
    [
        (Unavailable("no room for its files"), [], True),
        (TmuxFailed("create window failed"), ["fence"], True),
        (Cut("nobody knows"), [], False),
    ],
    ids=["files", "tmux", "cut"],
)
def test_launch_has_failed_once_no_launcher_can_come(error, reported, certain):
    desk = Desk(OneBox())
    desk.boxes.there.error = error
    assert bool(desk.launch()) is certain
    assert desk.boxes.there.deeds == reported
    assert (desk.files.entry(desk.folder / LAUNCHED) is None) is certain
    assert desk.doing.launches.error(desk.run.id) == str(error)


def test_launch_that_tmux_may_have_begun_has_not_failed():
    desk = Desk(OneBox())
    desk.boxes.there.error, desk.boxes.there.lost = TmuxFailed("create window failed"), True
    assert not desk.launch()
    assert desk.files.entry(desk.folder / LAUNCHED) is not None
