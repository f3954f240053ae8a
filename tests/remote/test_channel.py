"""The standing channel on a real box: what appears there is told here, and nothing is left of it when it ends."""

import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from orchestrator.hosts.processes import Process, send
from orchestrator.hosts.ssh import channel as channels
from orchestrator.hosts.ssh.channel import Channel, ChannelEvent, Part
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.remote_paths import RemotePaths, make_folders
from orchestrator.hosts.ssh.sync import FOLDERS
from orchestrator.model.boxes import Address
from orchestrator.ports.box_link import Cut, Unreachable
from tests.polling import wait_until
from tests.remote.boxes import Box, Boxes

A, B = "a-0123abcd", "b-0123abcd"


@pytest.fixture(params=["inotify", "look"])
def how(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def box(boxes: Boxes, how: str, monkeypatch: pytest.MonkeyPatch) -> Box:
    if how == "look":
        # A box whose python3 does not do.
        bad = boxes.folder / "bin/python3"
        bad.parent.mkdir()
        bad.write_text("#!/bin/sh\nexit 1\n")
        bad.chmod(0o700)
        environ = vars(Box)["environ"].fget
        path = f"{bad.parent}:/usr/local/bin:/usr/bin:/bin"
        monkeypatch.setattr(Box, "environ", property(lambda self: {**environ(self), "PATH": path}))
    return boxes.add("alpha")


@pytest.fixture
def link(boxes: Boxes, box: Box) -> Iterator[Link]:
    made = Link(Address("alpha"), boxes.folder / "s", os.environ, config=boxes.config, connect=60, channels=2)
    yield made
    made.close()


@pytest.fixture
def tasks(box: Box, link: Link) -> list[RemotePaths]:
    made = [RemotePaths(task, task[0], f"{box.home}", f"{box.home}/own") for task in (A, B)]
    for each in made:
        make_folders(link, each, list(FOLDERS))
    return made


def stands(link: Link, tasks: list[RemotePaths], beat: float = 1.0, silence: float = 20.0) -> Channel:
    made = Channel(link, tasks, os.environ, beat=beat, silence=silence)
    assert wait_until(lambda: made.read(1)) == {ChannelEvent(task, part) for task in (A, B) for part in Part}
    return made


def put(path: str) -> None:
    (Path(path).parent / ".tmp-new").write_text("a")
    (Path(path).parent / ".tmp-new").rename(path)


def programs(box: Box) -> list[Process]:
    """Return what runs on a box for a channel."""
    found = []
    for each in box.sessions():
        try:
            line = Path(f"/proc/{each.pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"notice" in line:
            found.append(each)
    return found


def test_what_appears_there_is_reported_here(
    box: Box, link: Link, tasks: list[RemotePaths], how: str
) -> None:
    channel = stands(link, tasks)
    assert channel.how == how
    (Path(tasks[1].own) / "runs/r-1").mkdir()
    for part, path in (
        (Part.HANDOFFS, f"{tasks[1].shared}/handoffs/two\nlines.md"),
        (Part.ARTIFACTS, f"{tasks[1].shared}/artifacts/code/a"),
        (Part.EVENTS, f"{tasks[1].own}/requests/events/r-1.1.1.json"),
        (Part.RUNS, f"{tasks[1].own}/runs/r-1/exit"),
    ):
        # What one of the two tells once more is told by then.
        while channel.read(2.5):
            pass
        put(path)
        assert wait_until(lambda: channel.read(5)) == {ChannelEvent(B, part)}
    assert channel.read(0) == frozenset()
    assert box.logins() == 1
    channel.close()
    wait_until(lambda: not programs(box))


def test_it_ends_there_when_the_cable_is_out_and_here_too(
    box: Box, link: Link, tasks: list[RemotePaths]
) -> None:
    channel = stands(link, tasks, beat=0.5, silence=3)
    assert programs(box)
    if not box.link:
        pytest.skip("network namespaces are not permitted here: a cable is a stopped sshd")
    with box.cut():
        with pytest.raises(Cut):
            wait_until(lambda: channel.read(1), within=30)
        wait_until(lambda: not programs(box), within=30)
    link.again()
    with_it = stands(link, tasks)
    with_it.close()


def test_one_that_hangs_there_is_given_up(box: Box, link: Link, tasks: list[RemotePaths]) -> None:
    channel = stands(link, tasks, beat=0.5, silence=2)
    stopped = programs(box)
    for each in stopped:
        send(each, signal.SIGSTOP)
    with pytest.raises(Cut, match="silent"):
        wait_until(lambda: channel.read(1), within=30)
    for each in stopped:
        send(each, signal.SIGCONT)
    wait_until(lambda: not programs(box))
    # The box is not to blame.
    assert link.run(["true"]).status == 0


@pytest.mark.parametrize("how", ["look"], indirect=True)
def test_what_comes_back_of_ours_is_no_sign_of_life(
    link: Link, tasks: list[RemotePaths], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start-up file of its shell ran `cat`: nothing was reported from there any more, for ever."""
    monkeypatch.setattr(channels, "_START", "exec cat")
    channel = Channel(link, tasks, os.environ, beat=0.1, silence=1)
    with pytest.raises(Cut, match="silent"):
        wait_until(lambda: channel.read(1), within=10)


def test_ended_connection_is_reported_and_its_channel_freed(
    box: Box, link: Link, tasks: list[RemotePaths]
) -> None:
    """A connection that ends is told and its channel given back."""

    def stands_again() -> Channel | None:
        try:
            return stands(link, tasks)
        except Unreachable:  # the loss of the connection itself was noticed only now
            link.again()
            return None

    for _ in range(3):
        channel = wait_until(stands_again)
        assert channel
        box.kill_sessions()
        with pytest.raises(Cut, match="ended"):
            wait_until(partial(channel.read, 1))
    assert channel
    with pytest.raises(Cut, match="closed"):
        channel.read(1)


@pytest.mark.parametrize("how", ["inotify"], indirect=True)
@pytest.mark.parametrize(
    "line", ["change other-0123abcd/runs", "change ../a", f"change {A}", "rm -rf", "x" * 70_000]
)
def test_only_lines_of_ours_are_read(
    link: Link, tasks: list[RemotePaths], monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setattr(channels, "_START", f"echo 'Welcome!'; echo 'ready look'; echo '{line}'; read -r _")
    channel = Channel(link, tasks, os.environ)
    with pytest.raises(Cut, match="not part of the protocol"):
        wait_until(lambda: channel.read(1) and False)


@pytest.mark.parametrize("how", ["look"], indirect=True)
def test_box_without_more_watches_is_reported_once(
    link: Link, tasks: list[RemotePaths], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    words = f"echo blind; echo 'change {A}/runs'"
    monkeypatch.setattr(
        channels, "_START", f"echo 'ready inotify'; read -r _; {words}; {words}; cat >/dev/null"
    )
    channel = Channel(link, tasks, os.environ, beat=0.1)
    wait_until(lambda: channel.read(1))
    assert wait_until(lambda: channel.read(1)) == {ChannelEvent(A, Part.RUNS)}
    assert channel.blind
    channel.close()
    assert caplog.text.count("it grants no more watches") == 1


@pytest.mark.parametrize("how", ["inotify"], indirect=True)
def test_tasks_beyond_a_commands_room_are_left_to_the_schedule(
    box: Box, link: Link, tasks: list[RemotePaths], caplog: pytest.LogCaptureFixture
) -> None:
    """Tasks for which a command has no room are left to the schedule."""
    many = [RemotePaths(f"t-{number:08x}", "t", f"{box.home}/{'x' * 200}", "/own") for number in range(200)]
    channel = Channel(link, [*tasks, *many], os.environ)
    assert channel.unwatched
    assert f"{len(channel.unwatched)} tasks are too many to be watched there" in caplog.text
    wait_until(lambda: channel.read(1))
    put(f"{tasks[0].shared}/handoffs/a.md")
    assert wait_until(lambda: channel.read(1)) == {ChannelEvent(A, Part.HANDOFFS)}
    channel.close()
