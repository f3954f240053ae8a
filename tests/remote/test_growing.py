"""Files of a real box are read on from where they were read to, and are seen to change."""

from __future__ import annotations

import os

from orchestrator.hosts.ssh.changes import changed_within
from orchestrator.hosts.ssh.growing_files import grown
from orchestrator.hosts.ssh.link import Link
from tests.remote.boxes import Box


def test_what_they_have_grown_by_comes_and_nothing_twice(link: Link, box: Box) -> None:
    one, two = box.home / "it's $(one)\n.jsonl", box.home / "-two"
    one.write_bytes(b"first\n\0second")
    two.write_bytes(bytes(range(256)) * 40)
    places = {one: 0, two: 0}
    read = {one: b"", two: b""}
    for _ in range(4):
        reported = grown(link, [(str(path), place) for path, place in places.items()], each=4000)
        for path, more in zip(places, reported, strict=True):
            read[path] += more
            places[path] += len(more)
        with one.open("ab") as file:
            file.write(b"!")
    assert read[one] == b"first\n\0second!!!"
    assert read[two] == two.read_bytes()


def test_missing_or_short_file_has_not_grown(link: Link, box: Box) -> None:
    """One that is not there is short or no file has grown by nothing."""
    (box.home / "short").write_bytes(b"ab")
    paths = [box.home / "nowhere", box.home, box.home / "short", box.home / "short"]
    assert grown(link, [(str(path), place) for path, place in zip(paths, [0, 0, 5, 1], strict=True)]) == [
        b"",
        b"",
        b"",
        b"b",
    ]
    assert grown(link, []) == []


def test_recently_changed_file_is_found(link: Link, box: Box) -> None:
    """A file that was changed of late is found and what programs keep is not looked at."""
    tree = box.home / "it's a tree"
    for name in (".git/index", "node_modules/a", "tasks/t1/progress.md", "src/old.py"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).touch()
    hour_ago = (tree / "src/old.py").stat().st_mtime - 3600
    os.utime(tree / "src/old.py", (hour_ago, hour_ago))
    assert not changed_within(link, str(tree), 600)
    assert changed_within(link, str(tree), 7200)
    (tree / "src/new.py").touch()
    assert changed_within(link, str(tree), 600)
    assert not changed_within(link, str(tree / "nowhere"), 600)
