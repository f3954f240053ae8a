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
from orchestrator.hosts.ssh.links_there import OUTSIDE
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


def test_link_out_of_the_folder_is_refused_with_reason(world: World) -> None:
    """rsync follows a link in the middle of a path, wherever it leads: a sandboxed agent had any file sent by that."""
    beyond, beside = world.box.home / "beyond", world.shared.parent / "build-2"
    put(beyond / "secret", b"secret")
    put(beside / "artifacts/code/other", b"other")
    put(world.shared / "task.md", b"ours")
    put(world.repo / ".git/config", b"config")
    places: dict[str, Path | str] = {
        "link": "/etc/passwd",
        "far/secret": beyond,
        "home": beyond,
        "mine": world.shared / "task.md",
        "git/config": world.repo / ".git",
        "above": world.shared.parent,
        "twice": world.shared / "artifacts/code/link",
    }
    for name, to in places.items():
        (world.shared / "artifacts/code" / name.partition("/")[0]).symlink_to(to)
    named = [f"artifacts/code/{name}" for name in places]
    put(world.shared / "handoffs" / REPORT, report(*named, "artifacts/code/never"))
    sync = world.sync()
    pulled = sync.pull_control([RUN])
    assert pulled.brought == (f"handoffs/{REPORT}",)
    assert dict(pulled.refused) == dict.fromkeys(named, OUTSIDE)
    assert noted(world) == dict.fromkeys(named, OUTSIDE)
    sync.pull_bulk([RUN])
    assert noted(world) == dict.fromkeys(named, OUTSIDE)
    assert set(world.arrived()) == {f"handoffs/{REPORT}"} | {
        name for name in world.arrived() if name.startswith("withheld/")
    }


def test_what_lies_along_links_in_the_folder_is_brought(world: World) -> None:
    """A link to a file, and a folder along a link, were refused as links: the report had no evidence."""
    put(world.repo / "src/deep/one.py", b"one")
    put(world.repo / "src/two.py", b"two")
    put(world.shared / "artifacts/tests/three", b"three")
    (world.repo / "src/passwd").symlink_to("/etc/passwd")
    code = world.shared / "artifacts/code"
    (code / "src").symlink_to(world.repo / "src")
    (code / "file").symlink_to("../tests/three")
    (code / "again").symlink_to("file")
    (code / "tests").symlink_to("../tests")
    names = ("src", "file", "again", "tests/three", "src/deep/one.py")
    put(world.shared / "handoffs" / REPORT, report(*(f"artifacts/code/{name}" for name in names)))
    sync = world.sync()
    pulled = sync.pull_control([RUN])
    assert noted(world) == {}
    expected = {
        "src/deep/one.py": b"one",
        "src/two.py": b"two",
        "file": b"three",
        "again": b"three",
        "tests/three": b"three",
    }
    came = {name: data for name, data in world.arrived().items() if name.startswith("artifacts/code/")}
    assert came == {f"artifacts/code/{name}": data for name, data in expected.items()}
    assert pulled.brought[-1] == f"handoffs/{REPORT}"
    later = sync.pull_bulk([RUN])
    assert not {"artifacts/code/file", "artifacts/code/src"} & set(dict(later.refused))
    assert noted(world) == {}


def test_folder_of_tasks_may_be_a_link_itself(world: World) -> None:
    elsewhere = world.box.home / "elsewhere"
    (world.repo / "tasks").rename(elsewhere)
    (world.repo / "tasks").symlink_to(elsewhere)
    put(world.shared / "artifacts/code/one", b"one")
    (world.shared / "artifacts/code/link").symlink_to("one")
    put(world.shared / "handoffs" / REPORT, report("artifacts/code/one", "artifacts/code/link"))
    world.sync().pull_control([RUN])
    assert noted(world) == {}
    assert world.arrived()["artifacts/code/link"] == b"one"


def test_link_to_a_file_too_large_is_noted_as_that(world: World) -> None:
    put(world.repo / "large", bytes(100_001))
    (world.shared / "artifacts/code/link").symlink_to(world.repo / "large")
    put(world.shared / "handoffs" / REPORT, report("artifacts/code/link"))
    sync = world.sync(Bounds(largest=100_000))
    assert f"handoffs/{REPORT}" in sync.pull_control([RUN]).brought
    assert "100,000 bytes" in noted(world)["artifacts/code/link"]
    sync.pull_bulk([RUN])
    assert "100,000 bytes" in noted(world)["artifacts/code/link"]


def test_link_that_leads_nowhere_is_noted_as_link(world: World) -> None:
    (world.shared / "artifacts/code/link").symlink_to("nowhere")
    put(world.shared / "handoffs" / REPORT, report("artifacts/code/link"))
    world.sync().pull_control([RUN])
    assert noted(world) == {"artifacts/code/link": NOT_A_FILE}
