"""A look at a quiet run reads what its files, its processes and its screen say, and types nothing (laws 4, 5, 12)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.daemon.actions.look import look
from orchestrator.daemon.actions.nudge import nudge
from orchestrator.daemon.core.task_paths import Adapters, TaskPaths
from orchestrator.model.actions import Nudge
from orchestrator.model.event import Failure
from orchestrator.model.run import Delivery, Run, Sight
from orchestrator.model.settings import Settings
from orchestrator.model.task import WorkspaceKind
from orchestrator.ports.host import LaunchSpec
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_host import FakeHost
from orchestrator.testing.fake_process import FOREVER, FakeProcess
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.story import ROLES, Story

HOME = Path("/pm/tasks/demo-1")
PROJECT = Path("/project")


class Desk:
    """One explorer at work in a pane, in the user's own tree."""

    def __init__(self, *, listens: bool = False, computes: float = 0.0) -> None:
        self.story = Story(workspace=WorkspaceKind.SHARED)
        self.story.starts()
        self.run: Run = self.story.comes_alive("explore")
        self.clock = FakeClock(self.story.at)
        self.files = MemoryFiles(now=self.clock.now)
        self.process: FakeProcess
        self.listens, self.computes = listens, computes
        self.host = FakeHost(self.files, self.clock, lambda _: self.lives)
        self.world = Adapters(self.files, self.host, FakeWorkspaces(), Settings(), {})
        folder = layout.run_home(HOME, self.run.id)
        self.files.make_folder(folder)
        self.host.open_session("demo-1", "demo", HOME / "pm.log")
        self.host.launch(LaunchSpec(self.run.id, folder, ("agent",), PROJECT, "demo-1", "explore"))
        self.clock.advance(1)

    def lives(self, process: FakeProcess):
        self.process, process.computes = process, self.computes
        yield FOREVER
        return 0

    @property
    def where(self) -> TaskPaths:
        return TaskPaths(PROJECT, HOME, layout.task_folder(PROJECT, "demo"), Path("/pm/worktrees"))

    def put(self, path: str) -> None:
        self.files.make_folder((PROJECT / path).parent)
        self.files.put(PROJECT / path, b"x")

    def sight(self) -> Sight:
        seen = look(self.world, self.story.state, self.run, self.where, "a1", self.clock.now())
        assert seen.sight is not None, seen.reason
        return seen.sight


def test_one_that_does_nothing_shows_nothing() -> None:
    desk = Desk()
    desk.clock.advance(1800)
    sight = desk.sight()
    assert (sight.cpu, sight.printed, sight.fresh, sight.artifacts) == (0.0, 0, False, ())
    assert (sight.dialog, sight.listens) == ("", False)


def test_look_reports_processor_time() -> None:
    desk = Desk(computes=0.5)
    desk.clock.advance(1800)
    assert desk.sight().cpu == pytest.approx(900, abs=5)


def test_what_it_printed_and_whether_that_is_new() -> None:
    desk = Desk()
    desk.process.say("reading the parser")
    sight = desk.sight()
    assert (sight.printed, sight.fresh) == (len("reading the parser\r\n"), True)


def test_a_changed_file_is_seen_wherever_it_lies_in_the_tree() -> None:
    desk = Desk()
    desk.clock.advance(900)
    at = desk.clock.now()
    desk.put("src/deep/parser.py")
    desk.clock.advance(900)
    assert desk.sight().changed_at == pytest.approx(at)


def test_what_the_pm_itself_writes_is_no_sign_of_work() -> None:
    desk = Desk()
    desk.clock.advance(900)
    for ours in (
        "tasks/demo/progress.md",
        "tasks/demo/handoffs/pm-1.md",
        "tasks/other/pm_state.json",
        ".git/index",
    ):
        desk.put(ours)
    assert desk.sight().changed_at == 0.0


def test_artifacts_since_its_order_are_named() -> None:
    desk = Desk()
    desk.put("tasks/demo/artifacts/analysis/survey.md")
    assert desk.sight().artifacts == ("survey.md",)


def test_look_reports_a_dialog_with_its_screen() -> None:
    desk = Desk()
    desk.process.say("Overwrite parser.py? [y/N]")
    sight = desk.sight()
    assert sight.dialog == "yes or no"
    assert sight.screen[-1] == "Overwrite parser.py? [y/N]"


def test_a_frozen_tmux_makes_it_unknown() -> None:
    desk = Desk()
    desk.host.frozen = True
    seen = look(desk.world, desk.story.state, desk.run, desk.where, "a1", desk.clock.now())
    assert seen.sight is None
    assert "frozen" in seen.reason


# Nudges -----------------------------------------------------------------------------------------------


def nudged(desk: Desk, action: str = "a1") -> Delivery:
    said = Nudge(action, desk.run.id, "Go on, please.")
    return nudge(desk.files, desk.host, HOME, said, desk.clock.now()).delivery


def test_a_nudge_is_typed_once_however_often_it_is_asked_for() -> None:
    desk = Desk()
    assert nudged(desk) is Delivery.UNKNOWN
    assert nudged(desk) is Delivery.UNKNOWN
    assert list(desk.process.typed) == ["Go on, please."]


def test_nothing_is_typed_into_a_dialog_or_a_pane_that_is_gone() -> None:
    desk = Desk()
    desk.process.say("Overwrite? [y/N]")
    assert nudged(desk) is Delivery.NOT_DELIVERED
    desk.process.say("thank you", *["working"] * 20)
    desk.host.kill_server()
    desk.clock.advance(1)
    assert nudged(desk, "a2") is Delivery.NOT_DELIVERED
    assert not desk.process.typed


def test_frozen_tmux_leaves_delivery_unknown() -> None:
    """The line is not typed again."""
    desk = Desk()
    desk.host.frozen = True
    assert nudged(desk) is Delivery.UNKNOWN
    desk.host.frozen = False
    assert nudged(desk) is Delivery.UNKNOWN
    assert not desk.process.typed


def test_look_reports_a_failure_with_its_screen_line(monkeypatch) -> None:
    monkeypatch.setitem(ROLES, "explore", replace(ROLES["explore"], runtime="codex"))
    desk = Desk()
    shown = (Path(__file__).parents[2] / "fixtures/clis/codex/failed_credit_gone.txt").read_text()
    desk.process.say(shown.replace("\n", "\r\n"))
    sight = desk.sight()
    assert sight.failure in {Failure.CREDIT, Failure.LIMIT}
    assert sight.line
    assert sight.line in shown
    assert sight.dialog == ""
