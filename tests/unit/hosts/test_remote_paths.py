"""What keeps a task's folders from being made on a box is said as it is."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.formats.location import read_location
from orchestrator.hosts.ssh.remote_paths import RemotePaths, make_folders
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Refused
from orchestrator.ports.box_link import Ended
from tests.another_user import SOMEBODY, by_root

TASK, OTHER = "t-0123abcd", "t-4567cdef"


@dataclass
class Here:
    """A way that leads to this machine, as one of its users; None is the user of the tests."""

    user: int | None = None
    address: Address = Address("alpha")  # noqa: RUF009 (it is frozen)

    def run(self, argv: Sequence[str]) -> Ended:
        done = subprocess.run(argv, capture_output=True, user=self.user, cwd="/", check=False)
        return Ended(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder in which everybody may write."""
    folder = Path(tempfile.mkdtemp(prefix="orchestrator-test-"))
    folder.chmod(0o777)
    (folder / "tasks").mkdir()
    (folder / "tasks").chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def make(way: Here, folder: Path, task: str) -> None:
    make_folders(cast("Any", way), RemotePaths(task, "t", str(folder), str(folder / "own")), ["handoffs"])


def test_folder_of_another_pm_is_refused_with_ways_out(shared: Path) -> None:
    """Both log in as the same user: the second one must not be told to remove what the first one works in."""
    make(Here(), shared, OTHER)
    with pytest.raises(Refused, match=r"rename this task.*another clone"):
        make(Here(), shared, TASK)
    assert (shared / "tasks/t/.orchestrator-box").read_text() == f"{OTHER}\n"


@given(st.lists(st.sampled_from(["/", ".", "..", "~", "srv", " ", "a:b", "-n"]), max_size=8))
@example(["/", "..", " "])  # white space at the end is no part of it
def test_what_a_task_may_name_is_a_place_on_a_box(parts: list[str]) -> None:
    """`cwd: box:/srv/shop/` passed each check at the start, and then no agent could be launched there."""
    text = f"box:/srv/{''.join(parts)}"
    if ".." in text.strip().split("/"):
        with pytest.raises(Refused, match=r"must not hold `\.\.`"):
            read_location(text)
        return
    place = read_location(text)
    assert RemotePaths(TASK, "t", place.path, "/own").cwd == place.path


@by_root
def test_folder_of_another_user_is_refused_as_such(shared: Path) -> None:
    """It is no disk that fails: another try would come to nothing again."""
    make(Here(), shared, OTHER)
    with pytest.raises(Refused, match="another user"):
        make(Here(SOMEBODY), shared, TASK)
