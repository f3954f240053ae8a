"""A large file comes bit by bit: it gives way to what is more urgent, outlives cuts, and is here when it is whole."""

from __future__ import annotations

import os
import pwd
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from orchestrator.hosts.ssh import rsync as rsyncing
from orchestrator.hosts.ssh import sync as syncing
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.pull import parts_of
from orchestrator.model.boxes import Address
from orchestrator.ports.box_link import Cut
from tests.polling import wait_until
from tests.remote.boxes import Boxes
from tests.remote.synced import RUN, World, put

LARGE = 12_000_000
SLOW = 'rsync() { first=$1; shift; command rsync "$first" --bwlimit=3000 "$@"; }\n'
"""3 MB a second."""


@pytest.fixture
def world(boxes: Boxes, tmp_path: Path) -> Iterator[World]:
    if not pwd.getpwuid(os.getuid()).pw_shell.endswith("/bash"):
        pytest.skip("the login shell is not bash")
    box = boxes.add("alpha")
    (box.home / ".bashrc").write_text(SLOW)
    link = Link(Address("alpha"), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    made = World(box, link, tmp_path)
    made.prepared()
    yield made
    link.close()


class UntilMore:
    """Lets a transfer go on until it has brought so many bytes more than are here, however long that takes."""

    def __init__(self, world: World, size: int = 1_000_000) -> None:
        self._stage = world.here.mirror / "tree.stage"
        self._enough = part_of(world) + size
        self._until = time.monotonic() + 60

    def __call__(self) -> bool:
        return size_in(self._stage) < self._enough and time.monotonic() < self._until


def part_of(world: World) -> int:
    """Return how much of a file is here."""
    return max((size for _, size in parts_of(world.here.mirror / "tree.incoming")), default=0)


def size_in(folder: Path) -> int:
    """Return the bytes in a folder whose files come and go."""
    size = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            size += path.lstat().st_size if path.is_file() else 0
    return size


def test_transfer_gives_way_and_continues_where_it_was(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was given slices of time, in which a transfer did not even begin on a busy machine, so nothing got on."""
    monkeypatch.setattr(rsyncing, "_GRACE", 30.0)
    data = os.urandom(LARGE)
    put(world.shared / "artifacts/large", data)
    sync, parts = world.sync(), [0]
    for _ in range(12):
        pulled = sync.pull_bulk([RUN], UntilMore(world))
        if not pulled.more:
            break
        assert pulled.gave_way
        assert world.arrived() in ({}, {"artifacts/large": data}), "a part of it is not published"
        parts.append(part_of(world))
    assert world.arrived() == {"artifacts/large": data}
    assert len(parts) > 2
    assert parts == sorted(parts)
    assert part_of(world) == 0


def test_cut_transfer_continues_where_it_was(world: World) -> None:
    data = os.urandom(LARGE)
    put(world.shared / "artifacts/large", data)
    sync, stage = world.sync(), world.here.mirror / "tree.stage"
    for _ in range(2):
        part, thread = part_of(world), threading.Thread(target=sync.pull_bulk, args=([RUN],))
        thread.start()
        wait_until(lambda part=part: size_in(stage) > part + 1_000_000, within=60)  # type: ignore[misc]
        world.box.kill_sessions()
        thread.join(60)
        assert part_of(world) > part
        world.link.again()
    assert part_of(world) > 2_000_000
    assert sync.pull_bulk([RUN]).brought == ("artifacts/large",)
    assert world.arrived() == {"artifacts/large": data}


def test_slow_transfer_that_gets_on_is_no_failure(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    data, patience = os.urandom(LARGE), 2.0
    put(world.shared / "artifacts/large", data)
    sync, cut_off = world.sync(), 0
    for _ in range(16):
        monkeypatch.setattr(syncing, "HAULED", patience)
        part = part_of(world)
        try:
            pulled = sync.pull_bulk([RUN])
        except Cut:  # a busy machine: nothing came in that time
            pulled = None
        if pulled is None or pulled.ended:
            assert part_of(world) == part
            patience *= 2
        elif pulled.more:
            cut_off += 1
        else:
            break
    assert cut_off
    assert world.arrived() == {"artifacts/large": data}


def test_part_of_a_file_that_is_gone_does_not_come(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    put(world.shared / "artifacts/large", os.urandom(LARGE))
    sync = world.sync()
    monkeypatch.setattr(rsyncing, "_GRACE", 30.0)
    assert sync.pull_bulk([RUN], UntilMore(world)).gave_way
    assert part_of(world) > 0
    (world.shared / "artifacts/large").unlink()
    put(world.shared / "artifacts/small")
    put(world.shared / "handoffs/dev-20251127-154500.md", b"x")
    sync.pull_control([RUN])
    sync.pull_bulk([RUN])
    assert set(world.arrived()) == {"artifacts/small", "handoffs/dev-20251127-154500.md"}


@pytest.mark.parametrize("date", [0, 4_102_444_800], ids=["epoch", "year-2100"])
def test_no_date_of_files_holds_up_a_transfer(
    world: World, monkeypatch: pytest.MonkeyPatch, date: int
) -> None:
    """A file dated 1970, as some archives make them, never came; of a clock years ahead nothing came in parts."""
    monkeypatch.setattr(rsyncing, "_GRACE", 30.0)
    data = {f"artifacts/{number}": os.urandom(LARGE // 4) for number in range(4)}
    for name, content in data.items():
        put(world.shared / name, content)
        os.utime(world.shared / name, (date, date))
    sync, incoming = world.sync(), world.here.mirror / "tree.incoming"
    until = time.monotonic() + 60
    sync.pull_bulk([RUN], lambda: size_in(incoming) < LARGE // 4 and time.monotonic() < until)
    assert not date or world.arrived()
    assert not sync.pull_bulk([RUN]).more
    assert world.arrived() == data
