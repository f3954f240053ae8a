"""What lies on a box is found by name in the same way on a real one and in memory."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from orchestrator.hosts.ssh import lookup
from orchestrator.hosts.ssh.link import Link
from orchestrator.model.boxes import Address
from orchestrator.ports.boxes import RemoteFile
from orchestrator.testing.fake_clone import Clone
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from tests.remote import boxes
from tests.remote.boxes import Box

FILES = {
    "greet.py": "one\ntwo\n",
    "shop/a b.py": "one\ntwo\nthree",
    "shop/$(id)'\"\\.py": "x\n",
    "-n": "x\n",
    "void.py": "",
    "hollow/nothing.py": "",
}


class Bench(Protocol):
    """A folder on a box, whose repository has `FILES` committed in it."""

    place: str
    first: str
    last: str

    def file_at(self, path: str) -> RemoteFile | None: ...
    def commit_at(self, name: str, base: str = "") -> str: ...


class InMemory:
    """Commits of the fake, each with one more of the files."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.place = "/box/alpha/repo"
        workspaces = FakeWorkspaces()
        self.clone = Clone(workspaces, Path("/project"))
        self.first = self.last = self.clone.head(self.place)
        for name, text in files.items():
            self.last = self.clone.commit(self.place, "task/demo", self.first, text, name)

    def file_at(self, path: str) -> RemoteFile | None:
        return self.clone.file_at(self.place, path)

    def commit_at(self, name: str, base: str = "") -> str:
        return self.clone.commit_at(self.place, name, base)


@dataclass
class OnBox:
    """A repository on a real box."""

    place: str
    link: Link
    first: str
    last: str

    def file_at(self, path: str) -> RemoteFile | None:
        return lookup.file_at(self.link, self.place, path, "tasks/t1")

    def commit_at(self, name: str, base: str = "") -> str:
        return lookup.commit_at(self.link, self.place, name, base, 0.0)


def repository(box: Box, files: Mapping[str, str]) -> tuple[Path, str, str]:
    """Make a repository with two commits there; return it, the first and the last of them."""
    made = box.home / "a repo"

    def git(*words: str) -> str:
        who = ["-c", "user.name=A User", "-c", "user.email=user@example.org", "-c", "init.defaultBranch=main"]
        output = subprocess.run(["git", "-C", made, *who, *words], capture_output=True, text=True, check=True)
        return output.stdout.strip()

    made.mkdir()
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "first")
    first = git("rev-parse", "HEAD")
    for name, text in files.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text)
    git("add", "-A")
    git("commit", "-qm", "second")
    return made, first, git("rev-parse", "HEAD")


@pytest.fixture(scope="module", params=["memory", "box"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """Give one for all tests: nothing changes in it."""
    if request.param == "memory":
        yield InMemory(FILES)
        return
    if boxes.MISSING:
        pytest.skip(f"{' and '.join(boxes.MISSING)} missing: scripts/setup --boxes installs them")
    with boxes.boxes() as made:
        place, first, last = repository(made.add("alpha"), FILES)
        link = Link(Address("alpha"), made.folder / "s", os.environ, config=made.config, connect=60)
        yield OnBox(str(place), link, first, last)
        link.close()


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("greet.py", RemoteFile(is_folder=False, lines=2)),
        ("./shop//../greet.py", RemoteFile(is_folder=False, lines=2)),
        ("shop/a b.py", RemoteFile(is_folder=False, lines=3)),
        ("shop/$(id)'\"\\.py", RemoteFile(is_folder=False, lines=1)),
        ("-n", RemoteFile(is_folder=False, lines=1)),
        ("void.py", RemoteFile(is_folder=False, is_empty=True)),
        ("shop", RemoteFile(is_folder=True)),
        ("shop/", RemoteFile(is_folder=True)),
        ("hollow", RemoteFile(is_folder=True, is_empty=True)),
        ("never.py", None),
        ("never/greet.py", None),
        ("greet.py/greet.py", None),
        ("../beside.py", None),
        ("..", None),
        (".", None),
        ("/etc/passwd", None),
        ("/", None),
    ],
)
def test_a_file_is_found_by_its_path(bench: Bench, path: str, found: RemoteFile | None) -> None:
    assert bench.file_at(path) == found


def test_a_file_is_found_by_its_whole_path(bench: Bench) -> None:
    assert bench.file_at(f"{bench.place}/greet.py") == RemoteFile(is_folder=False, lines=2)
    assert bench.file_at(f"{bench.place}/../a repo/never.py") is None
    assert bench.file_at(f"{bench.place}-2/greet.py") is None


def test_a_commit_behind_head_is_found_by_its_hash(bench: Bench) -> None:
    for commit in (bench.first, bench.last):
        assert bench.commit_at(commit) == commit
    assert bench.commit_at("f" * 40) == ""


def test_a_commit_that_the_base_has_is_none_of_the_task(bench: Bench) -> None:
    assert bench.commit_at(bench.first, bench.first) == ""
    assert bench.commit_at(bench.last, bench.first) == bench.last
