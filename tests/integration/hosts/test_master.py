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


@pytest.mark.parametrize(
    ("says", "forks"),
    [
        ("OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.19 27 Jan 2026", True),
        ("OpenSSH_10.0p2, LibreSSL 3.3.6", True),
        ("OpenSSH_8.7p1", True),
        ("OpenSSH_8.6p1", False),
        ("OpenSSH_7.9p1", False),
        ("Dropbear v2022.83", False),
        ("", False),
    ],
)
def test_ssh_is_kept_in_the_foreground_where_it_can_be(
    place: MasterPlace, tmp_path: Path, says: str, *, forks: bool
) -> None:
    """`ForkAfterAuthentication yes` in the user's settings: ssh left us, and each connection was lost and left behind.

    An ssh that does not know the setting refuses to start if it is named.
    """
    ssh, called = tmp_path / "ssh", tmp_path / "called"
    ssh.write_text(
        f'#!/bin/sh\n[ "$1" = -V ] && {{ echo "{says}" >&2; exit; }}\necho "$*" >{called}\nexit 255\n'
    )
    ssh.chmod(0o755)
    with pytest.raises(Unavailable):
        Master.connect(place, {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert ("-o ForkAfterAuthentication=no" in called.read_text()) is forks
