"""What is sent to a real box: hostile names, nothing replaced, nothing half."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.push import push
from orchestrator.model.boxes import Address
from orchestrator.ports.box_link import Cut, Unreachable
from tests.polling import wait_until
from tests.remote.boxes import Box, Boxes

NAMES = ["two\nlines.md", "-rf.md", "a:b.md", "$(touch x).md", "*.md", "ü \\ .md"]
FOLDERS = ["handoffs", "artifacts"]


@pytest.fixture
def box(boxes: Boxes) -> Box:
    made = boxes.add("alpha")
    (made.home / "task").mkdir()
    return made


@pytest.fixture
def link(boxes: Boxes, box: Box) -> Iterator[Link]:
    made = Link(Address("alpha"), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    yield made
    made.close()


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "here/handoffs").mkdir(parents=True)
    return tmp_path / "here"


def sent(link: Link, box: Box, here: Path) -> str:
    return push(link, here, FOLDERS, str(box.home / "task"), os.environ)


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_every_name_arrives_and_nothing_of_it_is_obeyed(link: Link, box: Box, here: Path) -> None:
    for name in NAMES:
        (here / "handoffs" / name).write_text(name)
    (here / "artifacts/design").mkdir(parents=True)
    (here / "artifacts/design/a").write_bytes(b"\0" * 100_000)
    assert sent(link, box, here) == ""
    expected = {f"handoffs/{name}": name.encode() for name in NAMES}
    assert contents(box.home / "task") == expected | {"artifacts/design/a": b"\0" * 100_000}
    assert (box.home / "task/handoffs").stat().st_mode & 0o777 == 0o700
    assert (box.home / "task/artifacts/design/a").stat().st_mode & 0o777 == 0o600


def test_nothing_there_is_replaced_or_deleted(link: Link, box: Box, here: Path) -> None:
    (box.home / "task/handoffs").mkdir()
    for name in ("a.md", "theirs.md"):
        (box.home / "task/handoffs" / name).write_text("theirs")
    for name in ("a.md", "b.md"):
        (here / "handoffs" / name).write_text("ours")
    sent(link, box, here)
    assert contents(box.home / "task") == {
        "handoffs/a.md": b"theirs",
        "handoffs/theirs.md": b"theirs",
        "handoffs/b.md": b"ours",
    }


def test_links_and_what_is_hidden_stay_here(link: Link, box: Box, here: Path) -> None:
    (here / "handoffs/out.md").symlink_to("/etc/passwd")
    (here / "handoffs/.tmp-1").write_text("half")
    sent(link, box, here)
    assert contents(box.home / "task") == {}


def test_a_cut_leaves_whole_files_only_and_is_caught_up(link: Link, box: Box, here: Path) -> None:
    whole = {f"handoffs/{number:03}.md": os.urandom(2_000_000) for number in range(30)}
    for name, content in whole.items():
        (here / name).write_bytes(content)
    link.run(["true"])
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(sent, link, box, here)
        wait_until(lambda: len(list((box.home / "task").glob("handoffs/[0-9]*"))) > 3, every=0.001)
        box.kill_sessions()
        with pytest.raises((Cut, Unreachable)):
            run.result(timeout=60)
    arrived = {name: data for name, data in contents(box.home / "task").items() if "/." not in name}
    assert arrived.items() <= whole.items()
    link.again()
    wait_until(lambda: _reaches(link))
    sent(link, box, here)
    arrived = {name: data for name, data in contents(box.home / "task").items() if "/." not in name}
    assert arrived == whole


def _reaches(link: Link) -> bool:
    try:
        return link.run(["true"]).status == 0
    except Unreachable:
        link.again()
        return False
