"""The way to a box, on real ones: one connection, its bounds, and every way in which it ends."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchestrator.hosts.processes import Process, alive
from orchestrator.hosts.ssh.child import TooMuch
from orchestrator.hosts.ssh.link import CHANNELS, Link
from orchestrator.model.boxes import Address, Trouble
from orchestrator.ports.box_link import Cut, NotLetIn, Unreachable, Way
from tests.polling import wait_until
from tests.remote.boxes import Box, Boxes

HOSTILE = [
    "$(touch /tmp/x)",
    "`id`",
    "-n",
    "a  b",
    "it's",
    'say "x"',
    "two\nlines",
    ";",
    "*",
    "\\n",
    "",
    "~",
    "!!",
]


@pytest.fixture
def box(boxes: Boxes) -> Box:
    return boxes.add("alpha")


@pytest.fixture
def link(boxes: Boxes, box: Box) -> Iterator[Link]:
    made = way_to(boxes, "alpha")
    yield made
    made.close()


def way_to(boxes: Boxes, name: str, channels: int = CHANNELS) -> Link:
    # A connection takes 0.2 s; on a machine that is shared it may take ten.
    folder = boxes.folder / "s"
    return Link(Address(name), folder, os.environ, config=boxes.config, channels=channels, connect=60)


def master_of(boxes: Boxes) -> Process:
    (owner,) = (boxes.folder / "s").glob("*.pid")
    pid, _, start = owner.read_text().partition("@")
    return Process(int(pid), start)


def fingerprint(path: Path) -> str:
    done = subprocess.run(["ssh-keygen", "-lf", str(path)], capture_output=True, text=True, check=True)
    return done.stdout.split()[1]


# What a command is and leaves ---------------------------------------------------------------------


def test_words_arrive_as_they_are_and_what_is_printed_comes_back(link: Link) -> None:
    ended = link.run(["printf", "%s\\0", *HOSTILE])
    assert ended.out.decode().split("\0")[:-1] == HOSTILE
    assert (ended.status, ended.err) == (0, b"")
    assert link.state().way is Way.REACHABLE


@pytest.mark.parametrize("name", ["Application Support", "%h", 'a "b"', "c\\d", "it's #1"])
def test_the_state_folder_may_be_called_anything(boxes: Boxes, box: Box, name: str) -> None:
    link = Link(Address("alpha"), boxes.folder / name, os.environ, config=boxes.config, connect=60)
    assert link.run(["echo", "on"]).out == b"on\n"
    assert [each.name for each in (boxes.folder / name).iterdir() if each.is_socket()]
    assert (link.state().way, box.logins()) == (Way.REACHABLE, 1)
    link.close()


def test_input_of_any_size_goes_in(link: Link) -> None:
    text = os.urandom(3_000_000)
    assert link.run(["cksum"], stdin=text).out.split()[1] == b"3000000"
    assert link.run(["cat"], stdin=text[:900_000]).out == text[:900_000]


@pytest.mark.parametrize(("command", "status"), [("exit 255", 255), ("exit 3", 3), ("kill -9 $$", 137)])
def test_exit_status_is_the_commands_own(link: Link, command: str, status: int) -> None:
    """A status is the commands own even where ssh means something by it."""
    ended = link.run(["sh", "-c", f"echo out; echo err >&2; {command}"])
    assert (ended.status, ended.out, ended.err.splitlines()[0]) == (status, b"out\n", b"err")


def test_flooding_command_is_ended_and_the_connection_stays(link: Link, box: Box) -> None:
    """A command that prints too much is ended and the connection stands."""
    with pytest.raises(TooMuch, match="more than 1000 bytes"):
        link.run(["yes"], most=1000)
    assert link.run(["echo", "on"]).out == b"on\n"
    assert box.logins() == 1


def test_many_commands_share_one_connection(link: Link, box: Box) -> None:
    with ThreadPoolExecutor(20) as pool:
        statuses = [
            each.status for each in pool.map(lambda n: link.run(["sh", "-c", f"exit {n}"]), range(20))
        ]
    assert statuses == list(range(20))
    assert box.logins() == 1


def test_box_without_sessions_runs_nothing(boxes: Boxes, box: Box) -> None:
    """Where the box grants no more sessions nothing is run and no second connection made."""
    link = way_to(boxes, "alpha", channels=14)
    link.run(["true"])

    def attempt(number: int) -> str:
        script = f"echo {number} >>{box.folder}/ran; while [ ! -e {box.folder}/go ]; do sleep 0.1; done"
        try:
            return str(link.run(["sh", "-c", script], deadline=60).status)
        except Unreachable as problem:
            (box.folder / "go").touch()
            return str(problem)

    with ThreadPoolExecutor(12) as pool:
        reported = list(pool.map(attempt, range(12)))
    link.close()
    refused = [each for each in reported if "no more sessions" in each]
    assert refused, reported
    assert len((box.folder / "ran").read_text().split()) == reported.count("0") == 12 - len(refused)
    assert box.logins() == 1


# The user's own settings --------------------------------------------------------------------------


def test_users_ssh_settings_hold_but_for_active_ones(boxes: Boxes) -> None:
    """The users settings are honoured but for what acts by itself."""
    touched = boxes.folder / "touched"
    bad = f"""ForwardAgent yes
RemoteCommand echo no
RequestTTY force
PermitLocalCommand yes
LocalCommand touch {touched}
LocalForward {boxes.folder}/forward localhost:1
ControlMaster auto
ForkAfterAuthentication yes
ControlPath {boxes.folder}/theirs
StrictHostKeyChecking accept-new
LogLevel QUIET"""
    box = boxes.add("alpha", extra=bad)
    link = way_to(boxes, "alpha")
    assert link.run(["sh", "-c", "echo ${SSH_AUTH_SOCK:-none}"]).out == b"none\n"
    assert link.run(["echo", "again"]).out == b"again\n"
    assert box.logins() == 1
    link.close()
    wait_until(lambda: not box.sessions())
    assert not any((boxes.folder / name).exists() for name in ("touched", "forward", "theirs"))
    boxes.forget()
    with pytest.raises(NotLetIn):
        link.run(["true"])
    assert boxes.known.read_text() == ""


def test_a_box_behind_another_is_reached(boxes: Boxes) -> None:
    first = boxes.add("alpha", isolated=False)
    boxes.add("beta", extra="ProxyJump alpha", isolated=False)
    link = way_to(boxes, "beta")
    assert link.run(["echo", "there"]).out == b"there\n"
    link.close()
    assert first.logins() == 1
    wait_until(lambda: not first.sessions())


# Not let in ---------------------------------------------------------------------------------------


def test_unknown_box_is_refused_once_until_asked_again(boxes: Boxes, box: Box, link: Link) -> None:
    """An unknown box is refused once and not asked again until somebody says so."""
    boxes.forget()
    with pytest.raises(NotLetIn, match="accept it: `ssh -- alpha true`") as refused:
        link.run(["true"])
    assert refused.value.state.trouble is Trouble.UNKNOWN_HOST
    boxes.know(box)
    with pytest.raises(NotLetIn):
        link.run(["true"])
    link.again()
    assert link.run(["echo", "in"]).out == b"in\n"


def test_both_fingerprints_of_a_changed_key_are_shown(boxes: Boxes, box: Box, link: Link) -> None:
    boxes.know(box, "other")
    with pytest.raises(NotLetIn, match="whether its key was changed") as refused:
        link.run(["true"])
    state = link.state()
    assert state == refused.value.state
    assert state.trouble is Trouble.CHANGED_KEY
    assert state.offered == fingerprint(box.folder / "host.pub")
    assert state.known == fingerprint(box.folder / "other.pub")


def test_a_key_that_is_refused_is_named_as_such(boxes: Boxes, box: Box, link: Link) -> None:
    settings = boxes.config.read_text()
    boxes.config.write_text(settings.replace(f"{boxes.folder}/user", f"{boxes.folder}/stranger"))
    with pytest.raises(NotLetIn, match="unlock your key") as refused:
        link.run(["true"])
    assert refused.value.state.trouble is Trouble.AUTH
    assert box.logins() == 0


# Cut ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how",
    [
        "cable",
        pytest.param("sshd", marks=pytest.mark.thorough(reason="a cable that is out is as dead")),
        pytest.param(
            "session", marks=pytest.mark.thorough(reason="sessions also stand still with their sshd")
        ),
    ],
)
def test_a_dead_link_is_known_in_ten_seconds_and_comes_back(box: Box, link: Link, how: str) -> None:
    link.run(["true"])
    ways = {"cable": box.cut, "sshd": box.frozen, "session": lambda: box.frozen(sessions_only=True)}
    with ways[how]():
        began = time.monotonic()
        with pytest.raises(Cut):
            link.run(["sleep", "60"], deadline=60)
        assert time.monotonic() - began < 10
        since = link.state().since
        assert link.state().way is Way.UNREACHABLE
        with pytest.raises(Unreachable, match="unreachable for 0 min"):
            link.run(["true"])
        assert link.state().since == since
    link.again()
    assert link.run(["echo", "back"]).out == b"back\n"
    assert link.state().way is Way.REACHABLE


def test_command_on_a_killed_connection_has_unknown_outcome(box: Box, link: Link) -> None:
    """A killed connection under a command leaves its outcome unknown."""
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(link.run, ["sh", "-c", f"touch {box.folder}/began; sleep 60"])
        wait_until((box.folder / "began").exists)
        box.kill_sessions()
        with pytest.raises(Cut, match="whether it was done is unknown"):
            run.result(timeout=20)
    assert link.state().way is Way.UNREACHABLE
    link.again()
    assert link.run(["echo", "back"]).out == b"back\n"


def test_a_box_that_is_down_is_left_alone_for_growing_pauses(box: Box, link: Link) -> None:
    box.stop()
    with pytest.raises(Unreachable, match="Connection refused"):
        link.run(["true"])
    began = time.monotonic()
    for _ in range(100):
        with pytest.raises(Unreachable):
            link.run(["true"])
    assert link._connection._failures <= 2 + (time.monotonic() - began)
    box.start()
    link.again()
    assert link.run(["echo", "up"]).out == b"up\n"


# Connections that hang on this side ----------------------------------------------------------------


def test_leftover_connection_is_ended_by_id_and_replaced(boxes: Boxes, link: Link, box: Box) -> None:
    """What a killed daemon left is ended by its id and replaced."""
    link.run(["true"])
    left = master_of(boxes)
    os.kill(left.pid, signal.SIGSTOP)
    other = way_to(boxes, "alpha")
    assert other.run(["echo", "new"]).out == b"new\n"
    assert not alive(left)
    assert alive(master_of(boxes))
    other.close()
    assert box.logins() == 2


def test_a_connection_whose_own_process_hangs_is_replaced(boxes: Boxes, link: Link) -> None:
    link.run(["true"])
    os.kill(master_of(boxes).pid, signal.SIGSTOP)
    with pytest.raises(Cut, match="did not end"):
        link.run(["true"], deadline=1)
    assert link.state().why == "the connection's own process does not answer"
    link.again()
    assert link.run(["echo", "on"]).out == b"on\n"


def test_slow_command_costs_no_other_its_connection(link: Link, box: Box) -> None:
    """A command that only takes long costs no other its connection."""
    with pytest.raises(Cut, match="did not end"):
        link.run(["sleep", "60"], deadline=1)
    assert link.run(["echo", "on"]).out == b"on\n"
    assert box.logins() == 1


def test_a_folder_too_long_for_a_socket_is_refused(boxes: Boxes) -> None:
    link = Link(Address("alpha"), boxes.folder / ("x" * 90), os.environ, config=boxes.config)
    with pytest.raises(Exception, match="too long a path"):
        link.run(["true"])


def test_what_the_shell_there_prints_ahead_is_no_answer(link: Link, box: Box) -> None:
    """A banner that comes up while a task runs must not be taken for what was asked for."""
    (box.home / ".bashrc").write_text("echo Welcome; echo to alpha >&2\n")
    (box.home / ".zshenv").write_text("echo Welcome\n")
    ended = link.run(["sh", "-c", "printf '\\nhere\\n'; exit 3"])
    assert (ended.status, ended.out) == (3, b"\nhere\n")
    assert link.run(["cat"], stdin=b"x\n").out == b"x\n"


def test_what_the_shell_there_prints_behind_is_no_answer(link: Link, box: Box) -> None:
    """It was said that the connection had ended, and that the outcome is unknown."""
    (box.home / ".bashrc").write_text("trap 'echo bye; echo bye >&2' EXIT; set -x\n")
    ended = link.run(["sh", "-c", "printf '\\nhere\\n'; exit 3"])
    assert (ended.status, ended.out) == (3, b"\nhere\n")


@pytest.mark.parametrize("to", ["1", "2"])
def test_shell_that_prints_without_end_is_named(link: Link, box: Box, to: str) -> None:
    """The command was named, which had not even begun."""
    (box.home / ".bashrc").write_text(f"yes >&{to}\n")
    with pytest.raises(TooMuch, match="start-up file"):
        link.run(["true"])
    (box.home / ".bashrc").unlink()
    with pytest.raises(TooMuch, match="`yes`"):
        link.run(["yes"])


@pytest.mark.parametrize("text", ["echo hello", "internal-sftp", "false"])
def test_forced_command_differs_from_a_lost_connection(boxes: Boxes, text: str) -> None:
    """It was said to be a connection that ended, which nobody can mend."""
    box = boxes.add("forced", server=f"ForceCommand {text}")
    link = Link(Address(box.name), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    try:
        with pytest.raises(Cut, match="ForceCommand") as caught:
            link.run(["true"])
    finally:
        link.close()
    assert caught.value.stands
