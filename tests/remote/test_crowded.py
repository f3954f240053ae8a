"""A box that grants too few sessions, and is mended: that counts as soon as somebody says so."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.daemon.boxes.host_monitor import HostMonitor
from orchestrator.daemon.boxes.ssh_boxes import KeptBoxes
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.processes import send
from orchestrator.hosts.ssh.link import CHANNELS, Link
from orchestrator.hosts.tmux import Tmux
from orchestrator.model.boxes import Address
from orchestrator.ports.box_link import Unreachable, Way
from orchestrator.ports.boxes import RemoteTask
from tests.polling import wait_until
from tests.remote.boxes import Box, Boxes

TASK = "t-0123abcd"

SFTP_HELLO = bytes([0, 0, 0, 5, 1, 0, 0, 0, 3])
"""The first packet of SFTP: version 3."""


@pytest.fixture
def box(boxes: Boxes) -> Box:
    return boxes.add("alpha", server="MaxSessions 1")


@pytest.fixture
def kept(boxes: Boxes, box: Box) -> Iterator[KeptBoxes]:
    """The boxes of a daemon."""
    state = boxes.folder / "pm"
    state.mkdir()
    tmux = Tmux("crowded", {"PATH": os.environ["PATH"], "TMUX_TMPDIR": str(box.folder / "tmux")})
    made = KeptBoxes(state, DiskFiles(state), os.environ, lambda _: None, tmux, config=boxes.config)
    yield made
    assert made.close(20) == []


def mend(box: Box) -> None:
    """Have new connections granted sessions as usual; those that stand keep their limit."""
    assert box.sshd is not None
    send(box.sshd, signal.SIGTERM)
    for child in box._started:
        child.wait(timeout=20)
    box.server = ""
    box.start()


def test_mended_box_has_a_channel_once_somebody_says_so(box: Box, kept: KeptBoxes, tmp_path: Path) -> None:
    home = kept._state / "tasks" / TASK
    runs = frozenset({"r-1"})
    kept.keep(TASK, (RemoteTask("alpha", TASK, "t", home, tmp_path / "t", str(box.home), runs),))
    monitor: HostMonitor = kept._monitor("alpha")
    wait_until(lambda: monitor._contact.is_crowded, within=60)
    wait_until(lambda: monitor.belief is not None and monitor.belief.reachable, within=60)
    assert monitor._listening is None
    mend(box)
    kept.call_again()
    wait_until(lambda: monitor._listening is not None and not monitor._listening[1].ended, within=20)
    wait_until(lambda: monitor.belief is not None and monitor.belief.reachable, within=20)
    assert not monitor._contact.is_crowded
    link = monitor.ways.link
    assert isinstance(link, Link)
    assert link._room == CHANNELS


def test_connection_in_use_is_not_made_anew(boxes: Boxes, box: Box) -> None:
    link = Link(Address("alpha"), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    with link.shell():
        link.run(["true"])
        with link.subsystem("sftp") as stream:
            stream.send(SFTP_HELLO)
            assert stream.recv(1)  # it has its session now
            with pytest.raises(Unreachable, match="no more sessions"):
                link.run(["true"])
        mend(box)
        link.again()
        assert link.run(["true"]).status == 0
        assert box.logins() == 1
    assert link.run(["true"]).status == 0
    assert box.logins() == 2
    assert link.state().way is Way.REACHABLE
    link.close()
