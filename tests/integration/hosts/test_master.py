"""The ssh that holds the connection to a box: which one is ended, if an earlier process of ours left one behind."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.hosts.processes import Process, start_of
from orchestrator.hosts.ssh.master import Master, MasterPlace
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Unavailable

NOWHERE = Address("127.0.0.1", port=1)
"""Nothing listens there."""


@pytest.fixture
def place() -> Iterator[MasterPlace]:
    """Give a place in a folder whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory() as folder:
        yield MasterPlace(NOWHERE, Path(folder) / "links", Path("/dev/null"), connect=5)


@pytest.fixture
def begin() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    made: list[subprocess.Popen[bytes]] = []

    def started(*words: str) -> subprocess.Popen[bytes]:
        made.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True))
        return made[-1]

    yield started
    for each in made:
        if each.poll() is None:
            os.killpg(each.pid, signal.SIGKILL)
        each.wait()


def connect(place: MasterPlace) -> None:
    with pytest.raises(Unavailable):
        Master.connect(place, {"PATH": os.environ["PATH"]})


def write_owner(place: MasterPlace, pid: int) -> None:
    place.folder.mkdir(mode=0o700, exist_ok=True)
    place.owner.write_text(str(Process(pid, start_of(pid))))


@pytest.mark.parametrize("words", [("sleep", "600"), ("ssh", "-o", "ProxyCommand=sleep 600", "other")])
def test_a_stranger_that_its_file_names_is_not_ended(
    place: MasterPlace, begin: Callable[..., subprocess.Popen[bytes]], words: tuple[str, ...]
) -> None:
    stranger = begin(*words)
    write_owner(place, stranger.pid)
    connect(place)
    assert stranger.poll() is None


def test_the_ssh_that_was_left_behind_is_ended(
    place: MasterPlace, begin: Callable[..., subprocess.Popen[bytes]]
) -> None:
    program, *words = place.command()
    left = begin(program, "-o", "ProxyCommand=sleep 600", *words)
    write_owner(place, left.pid)
    connect(place)
    assert left.wait(timeout=10) == -signal.SIGKILL


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_whatever_is_in_the_place_of_its_file_blocks_nothing(
    place: MasterPlace, make: Callable[[Path], None]
) -> None:
    place.folder.mkdir(mode=0o700)
    make(place.owner)
    connect(place)
