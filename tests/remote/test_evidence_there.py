"""What a report on a box names and what is not wholly here is noted with the reason, until it is here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.ssh.bounds import Bounds
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.named_artifacts import HELD, LATE
from orchestrator.hosts.ssh.pull import NOT_A_FILE
from orchestrator.hosts.ssh.withheld import withheld
from orchestrator.model.boxes import Address
from tests.remote.boxes import Boxes
from tests.remote.synced import REPORT, RUN, World, put, report

LATER = "dev-20251127-164500.md"


@pytest.fixture
def world(boxes: Boxes, tmp_path: Path) -> Iterator[World]:
    box = boxes.add("alpha")
    link = Link(Address("alpha"), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    made = World(box, link, tmp_path)
    made.prepared()
    yield made
    link.close()


def noted(world: World) -> dict[str, str]:
    return withheld(DiskFiles(), layout.task_withheld(world.here.home))


def test_folder_that_came_in_part_is_noted_until_it_is_whole(world: World) -> None:
    now = [0.0]
    sync = world.sync(Bounds(files=1), lambda: now[0])
    for number in range(5):
        put(world.shared / f"artifacts/code/{number}")
    put(world.shared / "handoffs" / REPORT, report("artifacts/code", "artifacts/code/0"))
    assert sync.pull_control([RUN]).waits
    assert noted(world) == {}
    now[0] = HELD
    assert f"handoffs/{REPORT}" in sync.pull_control([RUN]).brought
    assert noted(world) == {"artifacts/code": LATE}
    assert len(world.arrived()) < 6
    again = world.sync(Bounds(files=1), lambda: now[0])  # after a restart
    while again.pull_bulk([RUN]).more:
        assert noted(world) == {"artifacts/code": LATE}
    assert noted(world) == {}
    put(world.shared / "handoffs" / LATER, report("artifacts/code"))
    assert again.pull_control([RUN]).brought == (f"handoffs/{LATER}",)
    assert noted(world) == {}


def test_file_too_large_is_noted_with_limit_and_remedy(world: World) -> None:
    sync = world.sync(Bounds(largest=100_000))
    put(world.shared / "artifacts/code/large", bytes(100_001))
    put(world.shared / "artifacts/code/small", b"x")
    put(world.shared / "handoffs" / REPORT, report("artifacts/code/large", "artifacts/code/small"))
    assert f"handoffs/{REPORT}" in sync.pull_control([RUN]).brought
    (name,) = noted(world)
    assert name == "artifacts/code/large"
    assert "100,000 bytes" in noted(world)[name]
    assert "max_artifact_bytes" in noted(world)[name]
    sync.pull_bulk([RUN])
    assert set(noted(world)) == {name}
    put(world.shared / "artifacts/code/large", bytes(100_000))
    sync.pull_bulk([RUN])
    assert noted(world) == {}
    assert len(world.arrived()["artifacts/code/large"]) == 100_000


def test_folder_with_a_file_too_large_is_not_whole(world: World) -> None:
    """A link in it is no part of it: nobody is told of that."""
    sync = world.sync(Bounds(largest=100_000))
    put(world.shared / "artifacts/code/large", bytes(100_001))
    (world.shared / "artifacts/tests/link").symlink_to("/etc/passwd")
    put(world.shared / "artifacts/tests/small")
    put(world.shared / "handoffs" / REPORT, report("artifacts/code", "artifacts/tests"))
    assert f"handoffs/{REPORT}" in sync.pull_control([RUN]).brought
    assert set(noted(world)) == {"artifacts/code"}
    assert noted(world)["artifacts/code"].startswith("artifacts/code/large: ")


def test_link_that_a_report_names_is_noted_as_one(world: World) -> None:
    (world.shared / "artifacts/code/link").symlink_to("/etc/passwd")
    put(world.shared / "handoffs" / REPORT, report("artifacts/code/link", "artifacts/code/never"))
    world.sync().pull_control([RUN])
    assert noted(world) == {"artifacts/code/link": NOT_A_FILE}
