"""What is believed of the way to a box is asked and told by threads that must not wait for a connection."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.hosts.ssh.link import Link
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Unavailable
from orchestrator.ports.box_link import NotLetIn, Unreachable, Way
from tests.polling import wait_until

SOON = 3.0
"""Seconds: nothing that waits for the box, which takes twenty, ends within them; a busy machine may take one."""

HANGS = """#!/bin/sh
[ "$1" = -V ] && exit
touch {folder}/hangs
while [ -e {folder}/hangs ]; do sleep 0.05; done
echo 'ssh: connect to host alpha port 22: {why}' >&2
exit 255
"""


class Slow:
    """A link whose ssh hangs while a connection is made, until it is let go; it says why it fails then."""

    def __init__(self, folder: Path, why: str) -> None:
        self.folder = folder
        ssh = folder / "ssh"
        ssh.write_text(HANGS.format(folder=folder, why=why))
        ssh.chmod(0o700)
        environ = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
        self.link = Link(Address("alpha"), folder / "s", environ, connect=60)
        self.failure: Exception | None = None
        self.thread = threading.Thread(target=self._command)
        self.thread.start()
        wait_until((folder / "hangs").exists)

    def _command(self) -> None:
        try:
            self.link.run(["true"], deadline=60)
        except Unavailable as problem:
            self.failure = problem

    def let_go(self) -> Exception | None:
        (self.folder / "hangs").unlink(missing_ok=True)
        self.thread.join(20)
        return self.failure


@pytest.fixture
def why() -> str:
    return "No route to host"


@pytest.fixture
def short() -> Iterator[Path]:
    """Return a folder with a short path: that of a socket is bounded, and those of pytest grow with a test's name."""
    with tempfile.TemporaryDirectory(prefix="slow-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def slow(short: Path, why: str) -> Iterator[Slow]:
    made = Slow(short, why)
    yield made
    made.let_go()


def seconds(act: Callable[[], object]) -> float:
    began = time.monotonic()
    act()
    return time.monotonic() - began


def test_again_and_state_return_while_connecting(slow: Slow) -> None:
    for _ in range(20):
        assert seconds(slow.link.again) < SOON
        assert seconds(slow.link.state) < SOON
        assert seconds(slow.link.patience) < SOON
    assert slow.thread.is_alive()
    assert slow.link.state().way is Way.UNTRIED


def test_failed_try_postpones_the_next_one(slow: Slow) -> None:
    assert isinstance(slow.let_go(), Unreachable)
    assert slow.link.patience() > 0
    slow.link.again()
    assert slow.link.patience() == 0


def test_again_under_a_try_that_fails_then_counts(slow: Slow) -> None:
    """Something was mended while a connection was being made in vain: the next try is made at once."""
    slow.link.again()
    assert isinstance(slow.let_go(), Unreachable)
    assert slow.link.patience() == 0
    assert slow.link.state().way is Way.UNREACHABLE


@pytest.mark.parametrize("why", ["\nme@alpha: Permission denied (publickey)."])
@pytest.mark.parametrize("called", [True, False])
def test_refusal_is_forgotten_if_asked_meanwhile(slow: Slow, *, called: bool) -> None:
    if called:
        slow.link.again()
    failure = slow.let_go()
    assert isinstance(failure, NotLetIn if not called else Unavailable)
    assert slow.link.state().way is (Way.UNTRIED if called else Way.REFUSED)


DIES = """#!/bin/sh
case " $* " in
*" -N "*) ;;
*" -O "*) exit 0 ;;
*) exit 255 ;;
esac
for word; do case $word in ControlPath=*) socket=${word#*=\\"} ;; esac; done
exec python3 -c '
import socket, sys, time
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
time.sleep(600)' "${socket%\\"}"
"""


def test_state_of_a_dead_connection_returns_at_once(short: Path) -> None:
    """Its last words may be long in coming: something else holds its standard error open."""
    ssh = short / "ssh"
    ssh.write_text(DIES)
    ssh.chmod(0o700)
    environ = {**os.environ, "PATH": f"{short}:{os.environ['PATH']}"}
    link = Link(Address("alpha"), short / "s", environ, connect=20)
    with pytest.raises(Unavailable):
        link.run(["true"])
    assert link.state().way is Way.REACHABLE
    master = link._connection._master
    assert master is not None
    close = threading.Event()
    closed = master.close

    def slowly() -> str:
        close.wait(20)
        return closed()

    master.close = slowly  # type: ignore[method-assign]
    os.kill(master._child.pid, 9)
    wait_until(lambda: not master.stands())
    assert seconds(link.state) < SOON
    assert link.state().way is Way.UNREACHABLE
    close.set()
    link.close()
    assert not link.place.socket.exists()
