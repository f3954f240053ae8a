"""What of a task lies on boxes and not here, as the deciding thread may know it at once."""

from __future__ import annotations

import pytest

from orchestrator.daemon.boxes.transfer_status import Failing, Missing, TransferStatus, behind
from orchestrator.daemon.boxes.unfetched import Awaited
from orchestrator.formats.timestamps import moment_said
from orchestrator.model.task import Location
from orchestrator.ports.boxes import Belief, TransferFailure, TransferKind
from orchestrator.ports.no_boxes import NoBoxes
from tests.unit.pm.story import Story

UP = Belief(reachable=True, why="ssh is connected")
LOST = Belief(reachable=False, why="me@box is unreachable since noon")
TROUBLE = TransferFailure(TransferKind.LARGE, 5.0, "the disk here is full: make room")


class Boxes(NoBoxes):
    """One box."""

    def __init__(self, belief: Belief | None, *troubles: TransferFailure) -> None:
        self.believed, self.fails = belief, troubles

    def belief(self, box: str, task: str = "") -> Belief | None:
        del box, task
        return self.believed

    def troubles(self, box: str, task: str) -> tuple[TransferFailure, ...]:
        del box, task
        return self.fails


@pytest.mark.parametrize(
    ("boxes", "found"),
    [
        (Boxes(UP), ()),
        (Boxes(None), ()),
        (Boxes(LOST, TROUBLE), (TransferStatus("me@box", LOST.why),)),
        (
            Boxes(UP, TROUBLE),
            (TransferStatus("me@box", "", (Failing("artifacts and logs", 5.0, TROUBLE.why),)),),
        ),
    ],
    ids=["all is well", "nobody has tried", "lost", "failing"],
)
def test_transfer_status_lists_failures_only(boxes: Boxes, found: tuple[TransferStatus, ...]) -> None:
    assert behind(boxes, "t-1", ["me@box"], []) == found


def test_a_box_that_refuses_is_listed_with_its_time() -> None:
    refuses = Belief(
        reachable=False, why="me@box refuses: permission denied", refused=True, since=1_764_254_100.0
    )
    (found,) = behind(Boxes(refuses), "t-1", ["me@box"], [])
    assert found.lost == f"{refuses.why} (since {moment_said(refuses.since)})"


def test_missing_files_are_listed_with_run_and_reason() -> None:
    run = Story(cwd=Location("/repo", "me@box")).planned("a").run_of("dev:a")
    (found,) = behind(Boxes(UP, TROUBLE), "t-1", [], [Awaited(run, 7.0)])
    assert found.missing == (Missing(run.instance, run.id, 7.0),)
    assert found.why == TROUBLE.why
