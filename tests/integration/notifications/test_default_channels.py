"""The usual channels of who has set none: real terminals, and a program in the place of a desktop's."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchestrator.model.notification import DEFAULT_CHANNELS, Channel
from orchestrator.model.notify_settings import NotifySettings
from orchestrator.notifications.default_channels import at_hand
from orchestrator.notifications.subprocess_sender import SubprocessSender
from orchestrator.notifications.terminals import MOST, ring, terminals
from orchestrator.ports.sender import Message, SendOutcome, SendResult, Tone
from tests.polling import wait_until

TERMINAL, DESKTOP = DEFAULT_CHANNELS
REMEMBER = "import sys; from orchestrator.notifications.terminals import remember; remember(sys.argv[1])"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    path = tmp_path / "state"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def send(state: Path) -> Callable[..., SendOutcome]:
    """Tell something over a channel; no tmux server of ours is there."""

    def send(
        channel: Channel, title: str = "t1 asks: q1", body: str = "Keep it?", **environ: str
    ) -> SendOutcome:
        known = {"PATH": os.environ["PATH"], "ORCHESTRATOR_HOME": str(state), "TMUX_TMPDIR": str(state)}
        sender = SubprocessSender(20.0, "no-such-server", known | environ)
        (outcome,) = sender.send([Message(channel, title, body, Tone.WARNING)])
        return outcome

    return send


@contextmanager
def a_terminal(state: Path) -> Iterator[int]:
    """A terminal with a shell that called `task start` in it; what is written to it can be read from the result."""
    leader, follower = pty.openpty()
    script = f"{sys.executable} -P -c '{REMEMBER}' {state}; touch {state}/noted; read never"
    shell = subprocess.Popen(
        ["setsid", "-c", "sh", "-c", script], stdin=follower, stdout=follower, stderr=follower
    )
    os.close(follower)
    try:
        wait_until((state / "noted").exists, within=20)
        yield leader
    finally:
        os.close(leader)
        shell.kill()
        shell.wait()


def read(leader: int) -> bytes:
    return os.read(leader, 4096) if select.select([leader], [], [], 5)[0] else b""


def test_the_bell_rings_where_a_task_was_started(state: Path, send: Callable[..., SendOutcome]) -> None:
    with a_terminal(state) as leader:
        assert send(TERMINAL) == SendOutcome(SendResult.DELIVERED, "the bell of 1 terminal")
        assert read(leader) == b"\a"  # and no word: somebody may be typing there


def test_a_terminal_that_was_closed_is_not_rung(state: Path, send: Callable[..., SendOutcome]) -> None:
    with a_terminal(state):
        assert len(list(terminals(str(state)))) == 1
    assert list(terminals(str(state))) == []
    outcome = send(TERMINAL)
    assert (outcome.result, "no terminal is open" in outcome.reason) == (SendResult.REFUSED, True)


def test_a_terminal_whose_name_is_used_again_is_not_rung(state: Path) -> None:
    """The same device with another session is somebody else's window."""
    with a_terminal(state):
        (file,) = (state / "terminals").iterdir()
        document = json.loads(file.read_text())
        file.write_text(json.dumps({**document, "started": document["started"] + 1}))
        assert list(terminals(str(state))) == []


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"path": "/etc/passwd", "device": 0, "session": 1, "started": 0}']
)
def test_what_is_no_terminal_is_passed_over(state: Path, text: str) -> None:
    folder = state / "terminals"
    folder.mkdir(mode=0o700)
    (folder / "x.json").write_text(text)
    (folder / "x.json").chmod(0o600)
    assert list(terminals(str(state))) == []


def test_only_terminals_are_rung(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    assert not ring(str(plain))
    assert not ring("/dev/null")
    assert plain.read_bytes() == b""


def test_few_terminals_are_kept(state: Path) -> None:
    folder = state / "terminals"
    folder.mkdir(mode=0o700)
    for n in range(MOST + 9):
        (folder / f"old-{n}.json").write_text("{}")
    with a_terminal(state):
        assert len(list(folder.iterdir())) == MOST


# The desktop --------------------------------------------------------------------------------------


@pytest.fixture
def desktop(tmp_path: Path) -> dict[str, str]:
    """An environment with a desktop, whose program notes what it is given."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "notify-send"
    program.write_text(f'#!/bin/sh\nfor word; do printf "%s\\n" "$word"; done >{tmp_path}/shown\n')
    program.chmod(0o755)
    return {"DISPLAY": ":0", "PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.skipif(sys.platform == "darwin", reason="there it is osascript")
def test_a_message_is_shown_on_the_desktop_as_text(
    tmp_path: Path, desktop: dict[str, str], send: Callable[..., SendOutcome]
) -> None:
    assert send(DESKTOP, "-t1 asks", "<b>Keep</b> & go?", **desktop) == SendOutcome(SendResult.DELIVERED)
    shown = (tmp_path / "shown").read_text().splitlines()
    assert shown[-3:] == ["--", "-t1 asks", "&lt;b&gt;Keep&lt;/b&gt; &amp; go?"]
    assert "--urgency=critical" in shown


@pytest.mark.skipif(sys.platform == "darwin", reason="there it is osascript")
def test_a_desktop_that_refuses_is_asked_again(
    desktop: dict[str, str], send: Callable[..., SendOutcome]
) -> None:
    program = Path(desktop["PATH"].split(":")[0]) / "notify-send"
    program.write_text("#!/bin/sh\necho 'no server' >&2\nexit 1\n")
    assert send(DESKTOP, **desktop) == SendOutcome(SendResult.REFUSED, "no server")


@pytest.mark.skipif(sys.platform == "darwin", reason="there it is osascript")
def test_the_desktop_is_usual_only_where_there_is_one(desktop: dict[str, str]) -> None:
    settings = NotifySettings()
    assert at_hand(settings, desktop).channels == DEFAULT_CHANNELS
    assert at_hand(settings, {"PATH": desktop["PATH"]}).channels == (TERMINAL,)
    assert at_hand(settings, {"DISPLAY": ":0", "PATH": "/nowhere"}).channels == (TERMINAL,)
    mine = NotifySettings(channels=(Channel("d", "desktop://"),))
    assert at_hand(mine, {}) == mine
    assert at_hand(NotifySettings(channels=()), {}).channels == ()


def test_without_a_desktop_it_is_refused(send: Callable[..., SendOutcome]) -> None:
    assert send(DESKTOP).result is SendResult.REFUSED
