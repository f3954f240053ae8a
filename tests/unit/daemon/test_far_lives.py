"""What a keeper saw of runs on boxes becomes facts; what is stale or unknown says nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from orchestrator import layout
from orchestrator.daemon.ingest.run_lifecycle import LAUNCHED, far_facts_of, overdue
from orchestrator.model.facts import LaunchFailed, RunGone, RunStarted
from orchestrator.model.limits import Limits
from orchestrator.model.run import Exit, Run
from orchestrator.model.task import Location
from orchestrator.ports.boxes import Sighting
from orchestrator.ports.host import Observation, Standing
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.story import AT, Story

HOME = Path("/pm/tasks/t-1")
BOX = "me@box"
ENDED_EARLY = Exit(signal=15)


@dataclass
class Boxes:
    """Boxes of which one run was seen."""

    sighting: Sighting | None = None
    hurried: list[str] = field(default_factory=list)

    def seen(self, box: str, folder: Path) -> Sighting | None:
        return self.sighting

    def hurry(self, box: str) -> None:
        self.hurried.append(box)


def saw(standing: Standing, pid: int | None = None, how: Exit | None = None, at: float = AT) -> Any:
    return cast("Any", Boxes(Sighting(Observation(standing, pid, "%1" if pid else "", how), at)))


@pytest.fixture
def story() -> Story:
    return Story(cwd=Location("/repo", BOX)).planned("a")


def starting(story: Story) -> Run:
    return story.run_of("dev:a")


def test_it_lives_and_ends_as_it_was_seen_to(story: Story) -> None:
    run = starting(story)
    (started,) = far_facts_of(saw(Standing.ALIVE, 7), HOME, run, AT)
    assert isinstance(started, RunStarted)
    run = story.comes_alive("dev:a")
    assert far_facts_of(saw(Standing.ALIVE, 7), HOME, run, AT) == []
    (gone,) = far_facts_of(saw(Standing.GONE, 7, Exit(code=0)), HOME, run, AT)
    assert isinstance(gone, RunGone)
    assert gone.exit == Exit(code=0)


def test_one_that_began_and_ended_between_two_looks_did_both(story: Story) -> None:
    facts = far_facts_of(saw(Standing.GONE, 7, Exit(code=0)), HOME, starting(story), AT)
    assert [type(fact) for fact in facts] == [RunStarted, RunGone]


def test_what_was_seen_before_a_launch_says_nothing_of_it(story: Story) -> None:
    run = story.comes_alive("dev:a")
    assert far_facts_of(saw(Standing.NOT_CLAIMED), HOME, run, AT) == []
    assert far_facts_of(cast("Any", Boxes()), HOME, run, AT) == []


def test_fenced_launch_never_began_and_may_be_retried(story: Story) -> None:
    (failed,) = far_facts_of(saw(Standing.GONE, None, ENDED_EARLY), HOME, starting(story), AT)
    assert isinstance(failed, LaunchFailed)
    assert failed.again


def test_one_that_was_to_be_ended_before_it_began_is_gone(story: Story) -> None:
    run = starting(story)
    story.stops()
    (gone,) = far_facts_of(saw(Standing.GONE, None, ENDED_EARLY), HOME, story.state.runs[run.id], AT)
    assert isinstance(gone, RunGone)


def test_of_one_that_is_unreachable_nothing_is_said(story: Story) -> None:
    run = story.comes_alive("dev:a")
    story.loses(BOX)
    run = story.state.runs[run.id]
    assert far_facts_of(saw(Standing.GONE, 7, Exit(code=0)), HOME, run, AT) == []


@pytest.mark.parametrize(
    ("seen_after", "standing", "late", "hurried"),
    [
        (31.0, Standing.NOT_CLAIMED, True, 0),
        (31.0, Standing.CLAIMED, True, 0),
        (31.0, Standing.ALIVE, False, 0),
        (29.0, Standing.NOT_CLAIMED, False, 1),  # asked too early: it may have come since
        (None, Standing.NOT_CLAIMED, False, 1),
    ],
)
def test_a_launcher_is_late_only_by_what_was_asked_when_it_was(
    story: Story, *, seen_after: float | None, standing: Standing, late: bool, hurried: int
) -> None:
    files, run = MemoryFiles(now=lambda: AT), starting(story)
    folder = layout.run_home(HOME, run.id)
    files.make_folder(folder)
    files.write(folder / LAUNCHED, b"")
    boxes = Boxes() if seen_after is None else saw(standing, 7, at=AT + seen_after)
    found = overdue(files, cast("Any", boxes), HOME, run, AT + 40, Limits(start_timeout=30))
    assert (found, len(boxes.hurried)) == (late, hurried)


def test_one_that_was_not_launched_yet_is_not_late(story: Story) -> None:
    files, run = MemoryFiles(), starting(story)
    boxes = saw(Standing.NOT_CLAIMED, at=AT + 1000)
    assert not overdue(files, boxes, HOME, run, AT + 1000, Limits(start_timeout=30))
