"""Runs on boxes whose files are awaited: from their end until all is here, and no longer than a day."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.daemon.boxes.unfetched import SAID, WAITED, Unfetched
from orchestrator.formats.timestamps import day_said
from orchestrator.model.facts import LaunchFailed, RunGone
from orchestrator.model.run import Exit
from orchestrator.model.task import Location
from orchestrator.testing.local_zone import local_zone
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.story import Story

HOME = Path("/pm/tasks/demo-1")


class Desk:
    """A developer on a box that was launched there."""

    def __init__(self) -> None:
        self.story = Story(cwd=Location("/repo", "me@box")).planned("a")
        self.run = self.story.run_of("dev:a")
        self.files = MemoryFiles()
        self.mark = layout.run_outstanding(layout.run_home(HOME, self.run.id))
        self.files.make_folder(self.mark.parent)
        self.files.write(self.mark, b"")
        self.outstanding = Unfetched(self.files, HOME)
        self.hindrance = ""

    def look(self, later: float = 0.0) -> list[str]:
        return [run.id for run in self.outstanding.look(self.story.state, self.story.at + later)]

    def said(self, later: float) -> list[str]:
        return list(self.outstanding.said(self.story.at + later, lambda _: self.hindrance))

    def end(self) -> None:
        self.story.comes_alive("dev:a")
        self.look()
        self.story.feed(RunGone(self.story.at, "n1", self.run.id, Exit(code=1)))


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_files_of_a_run_are_awaited_from_its_end_until_here(desk: Desk) -> None:
    assert not desk.look()
    desk.end()
    assert desk.look() == [desk.run.id]
    desk.files.remove(desk.mark)
    assert not desk.look()
    assert not desk.outstanding
    assert not desk.said(SAID)


def test_what_is_missing_is_said_with_its_day(desk: Desk) -> None:
    """A notice is read on another day than it was written: "ended at 12:47", and of which day?"""
    desk.end()
    desk.look()
    with local_zone("UTC"):
        (said,) = desk.said(SAID)
        when = [f"{day_said(at)} " for at in (desk.story.at, desk.story.at + WAITED)]
    assert f"ended on me@box at {when[0]}" in said
    assert f"waits for them until {when[1]}" in said


def test_another_daemon_awaits_what_the_last_one_did(desk: Desk) -> None:
    desk.end()
    desk.outstanding = Unfetched(desk.files, HOME)
    assert desk.look() == [desk.run.id]


def test_run_that_never_began_left_nothing(desk: Desk) -> None:
    desk.look()
    desk.story.feed(LaunchFailed(desk.story.at, "n1", desk.run.id, "it did not come"))
    assert not desk.look()
    assert desk.files.entry(desk.mark) is None


def test_what_is_missing_is_said_once_and_once_that_it_came(desk: Desk) -> None:
    desk.end()
    desk.look()
    desk.hindrance = "me@box is unreachable since noon"
    assert not desk.said(SAID - 1)
    assert min(desk.outstanding.moments) == desk.story.at + SAID
    (text,) = desk.said(SAID)
    assert desk.hindrance in text
    assert not desk.said(SAID + 1)
    desk.files.remove(desk.mark)
    desk.look()
    assert len(desk.said(SAID + 2)) == 1
    assert not desk.outstanding.moments


def test_files_that_never_come_are_given_up_and_that_is_said(desk: Desk) -> None:
    desk.end()
    desk.look()
    desk.said(SAID)
    assert desk.look(WAITED - 1) == [desk.run.id]
    assert not desk.look(WAITED)
    (text,) = desk.said(WAITED)
    assert desk.run.id in text
    assert desk.files.entry(desk.mark) is None
