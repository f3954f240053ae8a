"""A box without port and network: a `ProxyCommand` of the user runs an sshd for each connection, as `podman exec`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

import pytest

from orchestrator.hosts.ssh import sftp
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.pull import Mirror
from orchestrator.model.boxes import Address
from orchestrator.ports.box_link import Way
from tests.integration.daemon.world import a_world
from tests.polling import wait_until
from tests.remote.boxes import SSHD, Box, Boxes
from tests.remote.furnished import COMMIT


@pytest.fixture
def shut(boxes: Boxes) -> Box:
    """A box on which no sshd listens; one that speaks on its standard input and output is run by a command here."""
    box = boxes.add("gamma", isolated=False)
    box.stop()
    config = box.folder / "sshd_config.host"
    inner = shlex.join([SSHD, "-i", "-e", "-f", str(config)])
    command = f"{inner} 2>>{shlex.quote(str(box.folder / 'sshd.log'))}"
    settings = boxes.folder / "config.d/boxes"
    text = f"Host inside\n    ProxyCommand {command}\n    HostKeyAlias {box.known_name}\n"
    settings.write_text(text + settings.read_text())
    return box


@pytest.fixture
def inside(boxes: Boxes, shut: Box) -> Iterator[Link]:
    made = Link(Address("inside"), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    yield made
    made.close()


def test_proxy_command_carries_a_box_without_a_port(boxes: Boxes, shut: Box, inside: Link) -> None:
    assert not shut._listens()
    assert inside.run(["sh", "-c", "echo $HOME"]).out.decode().strip() == str(shut.home)
    with sftp.opened(inside) as there:
        there.put(f"{shut.home}/file", b"here")
    mirror = Mirror(inside, boxes.folder / "mirror/tree", os.environ)
    mirror.bring([f"{shut.home}/./file"])
    assert (mirror.folder / "file").read_bytes() == b"here"
    assert shut.logins() == 1


def test_its_end_is_known_and_the_next_command_makes_another(shut: Box, inside: Link) -> None:
    inside.run(["true"])
    assert inside._connection._master is not None
    inside._connection._master.close()
    wait_until(lambda: inside.state().way is Way.UNREACHABLE)
    inside.again()
    assert inside.run(["true"]).status == 0
    assert shut.logins() == 2


def test_task_is_worked_on_in_a_box_without_a_port(boxes: Boxes, shut: Box) -> None:
    with a_world() as world:
        world.environ["PATH"] = f"{boxes.front(world.root / 'bin')}:{world.environ['PATH']}"
        (shut.home / ".gitconfig").write_text("[user]\nname = A User\nemail = user@localhost\n")
        world.git("clone", "-q", str(world.project), str(shut.home / "repo"))
        world.begin({"dev:greet": [COMMIT]}, config=[f"cwd: inside:{shut.home}/repo", "bring: branch"])
        world.until_is("complete")
        world.check_once()
    assert not shut._listens()
