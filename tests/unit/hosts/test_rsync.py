"""What the end of an rsync means: a connection that was cut is told from an rsync that did not start there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from orchestrator.hosts.ssh.child import Children
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.rsync import rsync
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Unavailable
from orchestrator.ports.box_link import Cut, Unreachable

CLOSED = "rsync: connection unexpectedly closed ({} bytes received so far) [Receiver]"


@dataclass
class Way:
    """A link for rsync alone; `stands` is the connection's state when something on it ended early."""

    stands: bool = True
    crowded: bool = False
    address: Address = field(default_factory=lambda: Address("alpha"))
    children: Children = field(default_factory=Children)

    @contextmanager
    def shell(self) -> Iterator[list[str]]:
        yield ["ssh"]

    def cut_off(self, why: str, said: bytes = b"") -> Unreachable:
        del said
        return Unreachable("no session") if self.crowded else Cut(why, stands=self.stands)


def failure(way: Way, folder: Path, status: int, said: str) -> Unavailable:
    """Return what a transfer raises whose rsync ends so."""
    program = folder / "rsync"
    program.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit {status}\n")
    program.chmod(0o700)
    environ = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    with pytest.raises(Unavailable) as caught:
        rsync(cast("Link", way), ["--", "box:/x", "/y"], environ)
    return caught.value


@pytest.mark.parametrize(
    ("status", "said"),
    [(127, "bash: rsync: command not found"), (127, CLOSED.format(0)), (12, CLOSED.format(0))],
)
def test_rsync_that_did_not_start_is_the_same_however_it_shows(
    tmp_path: Path, status: int, said: str
) -> None:
    """Which one rsync sees first, the end of its connection or that of ssh with a status of 127, is chance."""
    problem = failure(Way(), tmp_path, status, said)
    assert type(problem) is Unavailable
    assert "did not start" in str(problem)
    assert "install it there" in str(problem)
    assert said in str(problem)


@pytest.mark.parametrize(
    "said",
    [
        "rsync: -s: unknown option\nrsync error: syntax or usage error (code 1) at main.c(1234) [server=2.6.9]",
        "rrsync: option is not allowed",
    ],
)
def test_rsync_that_refuses_its_options_is_not_one_missing(tmp_path: Path, said: str) -> None:
    """It was said to be missing, and its own words were cut off by those of the rsync here."""
    ours = "rsync error: error in rsync protocol data stream (code 12) at io.c(232) [sender=3.2.7]"
    problem = failure(Way(), tmp_path, 12, f"{said}\n{CLOSED.format(0)}\n{ours}")
    assert type(problem) is Unavailable
    assert "did not start" not in str(problem)
    assert "3.1 or newer" in str(problem)
    assert ascii(said)[1:-1] in str(problem)
    assert ours not in str(problem)


@pytest.mark.parametrize(
    ("way", "said"),
    [(Way(stands=False), CLOSED.format(0)), (Way(), CLOSED.format(49_152)), (Way(), "")],
    ids=["no connection", "after a part", "no words"],
)
def test_transfer_whose_connection_ended_was_cut(tmp_path: Path, way: Way, said: str) -> None:
    problem = failure(way, tmp_path, 12, said)
    assert isinstance(problem, Cut)
    assert problem.stands is way.stands


def test_box_without_a_free_session_is_not_one_without_rsync(tmp_path: Path) -> None:
    problem = failure(Way(crowded=True), tmp_path, 12, CLOSED.format(0))
    assert isinstance(problem, Unreachable)
    assert not isinstance(problem, Cut)


@pytest.mark.parametrize("only_list", [True, False])
def test_listing_gives_way_without_being_asked_to_end(tmp_path: Path, *, only_list: bool) -> None:
    """A transfer is asked, as it keeps what it has of a file; exits and handoffs wait for that meanwhile."""
    program, began, asked = tmp_path / "rsync", tmp_path / "began", tmp_path / "asked"
    program.write_text(f"#!/bin/sh\ntrap ': >{asked}; exit' TERM\n: >{began}\nwhile :; do sleep 0.01; done\n")
    program.chmod(0o700)
    environ = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = rsync(
        cast("Link", Way()),
        ["--", "box:/x", "/y"],
        environ,
        only_list=only_list,
        go_on=lambda: not began.exists(),
    )
    assert done.gave_way
    assert asked.exists() is not only_list
