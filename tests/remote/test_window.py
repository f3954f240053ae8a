"""A window here onto a session on a real box: the link is cut, it says so, and it comes back by itself."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from orchestrator.hosts.ssh.box_tmux import SOCKET
from orchestrator.hosts.ssh.host import BoxHost
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.window import ensure_window, window_argv
from orchestrator.hosts.tmux import Tmux
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Refused
from orchestrator.ports.box_link import Unreachable
from tests.polling import wait_until
from tests.remote.boxes import Box, Boxes
from tests.tmux_server import TmuxSocket, looked_at
from tests.tmux_server import tmux_socket as tmux_socket  # noqa: PLC0414 - a fixture

SESSION = "tidy-0a1b2c3d"
LOST = re.compile(r" alpha: unreachable since [0-2][0-9]:[0-5][0-9], trying again")


@pytest.fixture
def box(boxes: Boxes) -> Box:
    return boxes.add("alpha")


@pytest.fixture
def link(boxes: Boxes, box: Box) -> Iterator[Link]:
    # A state folder of a person may be called anything: a percent sign means something in ControlPath.
    made = Link(Address("alpha"), boxes.folder / "s %h", os.environ, config=boxes.config, connect=60)
    yield made
    made.close()


class Window:
    """The window of a box in a tmux here, and the tmux there."""

    def __init__(self, here: TmuxSocket, box: Box, link: Link) -> None:
        self.here, self.box, self.link = here, box, link
        self.started = ExitStack()

    def there(self, *words: str) -> str:
        command = ["tmux", "-L", SOCKET, *words]
        environ = {**self.here.environ, **self.box.environ}
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=10, check=True)
        return done.stdout.rstrip("\n")

    def clients(self) -> list[str]:
        with suppress(subprocess.CalledProcessError):
            return self.there("list-clients", "-F", "#{session_name}").splitlines()
        return []

    def open(self, *, looked_at: bool = True) -> None:
        argv = window_argv(self.link, SESSION)
        self.here.tmux("-f", "/dev/null", "new-session", "-d", "-s", "t", "-x", "90", "-y", "24", "--", *argv)
        if looked_at:
            self.look("t")

    def look(self, session: str) -> None:
        """Have somebody look at a session here."""
        self.started.enter_context(looked_at(self.here, f"={session}"))

    def end(self) -> None:
        self.started.close()

    def shows(self) -> str:
        return self.here.tmux("capture-pane", "-p", "-t", "=t:")

    def types(self, text: str) -> None:
        self.here.tmux("send-keys", "-t", "=t:", "-l", text)
        self.here.tmux("send-keys", "-t", "=t:", "Enter")

    def reconnects(self) -> bool:
        self.link.again()
        try:
            return self.link.run(["true"]).status == 0
        except Unreachable:
            return False


@pytest.fixture
def window(tmux_socket: TmuxSocket, box: Box, link: Link) -> Iterator[Window]:
    made = Window(tmux_socket, box, link)
    # The server is begun as `BoxHost` begins it, with its settings.
    BoxHost(link, box.folder / "state").open_session(
        "first", "Tidy up", box.folder / "state/tasks/first-1/pm.log"
    )
    link.close()
    made.there(
        "new-session", "-d", "-s", SESSION, "-x", "80", "-y", "20", "sh", "-c", "echo at work; exec cat"
    )
    yield made
    made.end()


@pytest.mark.thorough(reason="an ended session and a lost link stand beside it")
def test_cut_is_shown_over_the_last_picture_until_it_is_back(window: Window) -> None:
    """A cut is shown over the last picture and it comes back by itself."""
    window.link.run(["true"])
    window.open()
    wait_until(lambda: "at work" in window.shows(), within=20)
    window.types("first")
    wait_until(lambda: window.shows().count("first") == 2)
    with window.box.cut():
        wait_until(lambda: LOST.search(window.shows()), within=30)
        # The last picture stays; what is typed now reaches nobody.
        assert window.shows().count("first") == 2
        window.types("blind")
    wait_until(window.reconnects, within=60)
    wait_until(lambda: not LOST.search(window.shows()) and "at work" in window.shows(), within=30)
    window.types("second")
    wait_until(lambda: window.shows().count("second") == 2)
    assert "blind" not in window.shows()
    assert "blind" not in window.there("capture-pane", "-p", "-t", f"={SESSION}:")


def test_it_makes_no_connection_of_its_own(window: Window) -> None:
    before = window.box.logins()
    window.open()
    wait_until(lambda: LOST.search(window.shows()), within=20)
    assert window.box.logins() == before
    window.link.run(["true"])
    wait_until(lambda: "at work" in window.shows(), within=20)
    assert window.box.logins() == before + 1


def test_odd_terminal_is_reset_while_nothing_is_shown(window: Window) -> None:
    """A terminal that a program left odd is put right while nothing is shown."""
    window.link.run(["true"])
    window.there("set-option", "-g", "mouse", "on")
    window.open()
    wait_until(lambda: "at work" in window.shows(), within=20)
    flags = "#{mouse_any_flag}#{mouse_button_flag}#{mouse_sgr_flag}#{keypad_flag}#{keypad_cursor_flag}"
    asked = ("display-message", "-p", "-t", "=t:", flags)
    wait_until(lambda: "1" in window.here.tmux(*asked))
    window.link.close()
    wait_until(lambda: LOST.search(window.shows()), within=20)
    assert window.here.tmux(*asked) == "00000"


def test_ended_session_is_distinct_from_a_lost_link(window: Window) -> None:
    """A session that ended there is told from a way that is lost."""
    window.link.run(["true"])
    window.there("kill-server")
    window.open()
    wait_until(lambda: " alpha: nothing runs there since " in window.shows(), within=20)
    window.there("new-session", "-d", "-s", f"{SESSION}0", "cat")
    window.there("new-session", "-d", "-s", SESSION, "sh", "-c", "echo begun; exec cat")
    wait_until(lambda: "begun" in window.shows(), within=40)
    assert window.clients() == [SESSION]


def test_box_without_sessions_is_not_called_unreachable(window: Window) -> None:
    """A box that grants no more sessions is not called unreachable."""
    window.link.run(["true"])
    held = [subprocess.Popen(window.link.place.channel("exec cat"), stdin=subprocess.PIPE) for _ in range(10)]
    try:
        wait_until(lambda: sum(each.startswith("cat") for each in _commands(window.box)) == 10, within=20)
        window.open()
        wait_until(lambda: " alpha: too many sessions over its one connection " in window.shows(), within=20)
    finally:
        for each in held:
            # What runs there ends by the end of its input; it is not told of the client's.
            each.communicate(timeout=20)
    wait_until(lambda: "at work" in window.shows(), within=40)


def _commands(box: Box) -> list[str]:
    found = []
    for process in box.processes():
        with suppress(OSError):
            found.append(Path(f"/proc/{process.pid}/cmdline").read_text())
    return found


def test_the_keys_of_both_tmuxes_are_of_use(window: Window) -> None:
    window.there(
        "new-window", "-d", "-t", f"={SESSION}:", "-n", "other", "sh", "-c", "echo the other; exec cat"
    )
    window.link.run(["true"])
    window.open()
    wait_until(lambda: "at work" in window.shows() and "(C-a)" in window.shows(), within=20)
    window.here.tmux("send-keys", "-t", "=t:", "C-a", "n")
    wait_until(lambda: "the other" in window.shows())
    window.here.tmux("send-keys", "-t", "=t:", "C-b", "n")
    # C-b is a key like others there, and C-a C-a reaches the program.
    wait_until(lambda: "^Bn" in window.shows())
    window.here.tmux("send-keys", "-t", "=t:", "C-a", "C-a")
    wait_until(lambda: "^Bn^A" in window.shows())


def test_who_detaches_there_is_attached_again(window: Window) -> None:
    window.link.run(["true"])
    window.open()
    wait_until(window.clients, within=20)
    window.here.tmux("send-keys", "-t", "=t:", "C-a", "d")
    wait_until(lambda: " alpha: closed there since " in window.shows(), within=20)
    wait_until(window.clients, within=20)


def test_closing_the_window_leaves_the_box_as_it_is(window: Window) -> None:
    window.link.run(["true"])
    window.open()
    wait_until(window.clients, within=20)
    window.here.tmux("kill-session", "-t", "=t")
    wait_until(lambda: not window.clients(), within=20)
    assert SESSION in window.there("list-sessions", "-F", "#{session_name}").splitlines()
    assert window.link.run(["echo", "on"]).out == b"on\n"


def test_it_is_attached_only_while_somebody_looks(window: Window) -> None:
    window.link.run(["true"])
    window.open(looked_at=False)
    window.here.tmux("new-session", "-d", "-s", "elsewhere", "cat")
    window.look("elsewhere")
    wait_until(lambda: window.here.tmux("list-clients"))
    window.here.tmux("new-window", "-d", "-t", "=t:", "-n", "beside", "cat")
    assert window.clients() == []
    window.look("t")
    wait_until(window.clients, within=20)
    window.here.tmux("select-window", "-t", "=t:beside")
    wait_until(lambda: not window.clients(), within=40)
    window.here.tmux("last-window", "-t", "=t:")
    wait_until(window.clients, within=20)


def test_its_size_is_the_sessions_there(window: Window) -> None:
    window.link.run(["true"])
    window.open()
    size = ("list-clients", "-F", "#{client_width}x#{client_height}")
    wait_until(lambda: window.clients() and window.there(*size) == "90x24", within=20)
    window.here.tmux("resize-window", "-t", "=t:", "-x", "70", "-y", "15")
    wait_until(lambda: window.there(*size) == "70x15", within=20)
    window.link.close()
    wait_until(lambda: LOST.search(window.shows().splitlines()[-1]), within=20)
    window.here.tmux("resize-window", "-t", "=t:", "-x", "60", "-y", "30")
    wait_until(lambda: LOST.search(window.shows().splitlines()[-1]), within=20)


def test_a_task_has_one_window_per_box(window: Window, boxes: Boxes) -> None:
    window.link.run(["true"])
    other = Link(Address("beta", "me", 22), boxes.folder / "s", os.environ, config=boxes.config)
    window.here.tmux("-f", "/dev/null", "new-session", "-d", "-s", SESSION, "-n", "pm", "cat")
    tmux = Tmux(window.here.name, window.here.environ)
    first, second = (ensure_window(tmux, SESSION, each) for each in (window.link, other))
    assert (ensure_window(tmux, SESSION, window.link), first != second) == (first, True)
    names = window.here.tmux("list-panes", "-s", "-t", f"={SESSION}:", "-F", "#{window_name} #{@box}")
    assert names.splitlines() == ["pm ", "box-alpha alpha", "box-beta me@beta:22"]
    window.here.tmux("select-window", "-t", first)
    window.look(SESSION)
    wait_until(lambda: "at work" in window.here.tmux("capture-pane", "-p", "-t", first), within=20)
    window.here.tmux("kill-pane", "-t", first)
    assert ensure_window(tmux, SESSION, window.link) not in {first, second}


def test_ambiguous_names_are_refused(link: Link) -> None:
    """A name that tmux or a shell could take for more is refused."""
    for name in ("", "-x", "a b", "$(id)", "a;b", "A"):
        with pytest.raises(Refused):
            window_argv(link, name)
