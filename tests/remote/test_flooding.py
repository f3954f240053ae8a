"""A box that tells, or holds, more than its share: its cost here is bounded, and it is used again once mended."""

from __future__ import annotations

import os
import pwd
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.hosts.ssh import channel as channels
from orchestrator.hosts.ssh import link as links
from orchestrator.hosts.ssh.bounds import Quota
from orchestrator.hosts.ssh.channel import BURST, RATE, Channel
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.pull import Mirror
from orchestrator.hosts.ssh.remote_paths import RemotePaths
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Unavailable
from orchestrator.ports.box_link import Unreachable, Way
from tests.polling import wait_until
from tests.remote.boxes import Box, Boxes

TASK = "a-0123abcd"
FLOOD = f"#!/bin/sh\necho ready inotify\nexec yes 'change {TASK}/handoffs'\n"


@pytest.fixture
def flooding(boxes: Boxes, monkeypatch: pytest.MonkeyPatch) -> Box:
    """Make a box whose python3 tells of a change without end."""
    program = boxes.folder / "bin/python3"
    program.parent.mkdir()
    program.write_text(FLOOD)
    program.chmod(0o700)
    environ = vars(Box)["environ"].fget
    path = f"{program.parent}:/usr/local/bin:/usr/bin:/bin"
    monkeypatch.setattr(Box, "environ", property(lambda self: {**environ(self), "PATH": path}))
    return boxes.add("alpha")


@pytest.fixture
def to_flooding(boxes: Boxes, flooding: Box) -> Iterator[Link]:
    made = Link(Address(flooding.name), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    yield made
    made.close()


def test_of_a_flood_of_changes_a_share_is_read(
    flooding: Box, to_flooding: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = [RemotePaths(TASK, "a", str(flooding.home), f"{flooding.home}/own")]
    channel = Channel(to_flooding, tasks, os.environ, silence=2.0)
    taken = list[int]()
    recv = channel._stream.recv

    def counted(most: int) -> bytes:
        piece = recv(most)
        taken.append(len(piece))
        return piece

    monkeypatch.setattr(channel._stream, "recv", counted)
    began = time.monotonic()
    wait_until(lambda: channel.read(0.5) and channel.floods, within=30)
    while time.monotonic() - began < 2 * 2.0:  # longer than the silence that would end it
        channel.read(0.5)
    assert sum(taken) <= BURST + RATE * (time.monotonic() - began) + channels._PIECE
    channel.close()


@pytest.mark.parametrize("quota", [None, Quota(1_000_000, 10)])
def test_rsync_that_floods_its_errors_is_no_pull(
    box: Box, link: Link, tmp_path: Path, quota: Quota | None
) -> None:
    """It transfers all the while: what it brought stays, but nothing tells that it was all."""
    if not pwd.getpwuid(os.getuid()).pw_shell.endswith("/bash"):
        pytest.skip("the login shell is not bash")
    (box.home / "file").write_text("here")
    (box.home / ".bashrc").write_text('rsync() { yes complaint >&2 & command rsync "$@"; wait; }\n')
    mirror = Mirror(link, tmp_path / "m", os.environ)
    with pytest.raises(Unavailable, match="error messages"):
        mirror.bring([f"{box.home}/./file"], quota=quota)
    assert link.run(["true"]).status == 0


def test_connection_that_leaks_sessions_is_made_anew(
    box: Box, link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten programs that we know nothing of hold all its sessions, as those do whose end was never told."""
    monkeypatch.setattr(links, "YOUNG", 0.0)
    monkeypatch.setattr(links, "LEAKED", 0.5)
    link.run(["true"])
    held = [
        subprocess.Popen(link.place.channel(f"echo; exec sleep 60{number}"), stdout=subprocess.PIPE)
        for number in range(10)
    ]
    try:
        for each in held:
            assert each.stdout is not None
            assert each.stdout.read(1) == b"\n"
        with pytest.raises(Unreachable, match="no more sessions"):
            link.run(["true"])

        def works() -> bool:
            try:
                return link.run(["true"]).status == 0
            except Unreachable:
                return False

        assert wait_until(works, within=30)
        assert link.state().way is Way.REACHABLE
        assert box.logins() == 2
        for each in held:
            each.wait(timeout=20)
    finally:
        for each in held:
            each.kill()
            each.communicate()


def test_young_connection_is_left_to_people_who_look_in(box: Box, link: Link) -> None:
    link.run(["true"])
    master = link._connection._master
    link._crowded_since = -links.LEAKED
    assert master is not None
    link._replace_leaking(master)
    assert master.stands()
    assert Path(link.place.socket).exists()
    assert box.logins() == 1
