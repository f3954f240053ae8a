"""Real agent CLIs in real panes, against the scripted model server, in a network of their own.

with a_bench("claude", always(say("Hello."))) as bench:
    pane = bench.start("Say hello.")
    wait_until(lambda: bench.server.turns)
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.clis.drivers import DRIVERS, Driver
from tests.clis.model_server import ModelServer, Script
from tests.clis.network import Network, a_network
from tests.clis.pinned import default_cache
from tests.clis.place import Place
from tests.polling import wait_until
from tests.tmux_server import TmuxSocket

SEEN: Final = 180.0  # seconds within which a CLI has to do what it is waited for
WIDTH, HEIGHT = 120, 40
OPEN: Final[set[Path]] = set()
"""The places of benches that have not ended: for whoever is ended in the middle of one."""


@dataclass(frozen=True, slots=True)
class Pane:
    """A CLI in a pane."""

    socket: TmuxSocket
    pane_id: str

    def screen(self) -> str:
        """Return what a user would see."""
        return self.socket.tmux("capture-pane", "-p", "-t", self.pane_id)

    def shows(self, text: str) -> bool:
        return text in self.screen()

    def until(self, *texts: str, within: float = SEEN) -> str:
        """Wait until the screen shows one of these texts, and return the screen."""
        try:
            wait_until(lambda: any(self.shows(text) for text in texts), within=within, every=0.1)
        except AssertionError as late:
            raise AssertionError(f"none of {texts} within {within} s on\n{self.screen()}") from late
        return self.screen()

    def keys(self, *keys: str) -> None:
        """Press keys, by tmux's names."""
        self.socket.tmux("send-keys", "-t", self.pane_id, *keys)

    def type(self, text: str) -> None:
        """Type a text as it is, without Enter."""
        self.socket.tmux("send-keys", "-t", self.pane_id, "-l", "--", text)

    def paste(self, text: str) -> None:
        """Paste a text in brackets, as a terminal does."""
        self.socket.tmux("set-buffer", "-b", "bench", "--", text)
        self.socket.tmux("paste-buffer", "-p", "-d", "-b", "bench", "-t", self.pane_id)

    def submit(self, text: str, is_taken: Callable[[], object]) -> None:
        """Type a text and press Enter, until `is_taken` is true: a CLI may swallow the first one."""
        self.type(text)
        self.until(text[-10:])
        for within in (3.0, 5.0, 20.0):
            self.keys("Enter")
            with suppress(AssertionError):
                wait_until(is_taken, within=within, every=0.1)
                return
        raise AssertionError(f"{text!r} was not taken:\n{self.screen()}")

    def pid(self) -> int:
        return int(self.socket.tmux("display-message", "-p", "-t", self.pane_id, "#{pane_pid}"))

    def is_dead(self) -> bool:
        return self.socket.tmux("display-message", "-p", "-t", self.pane_id, "#{pane_dead}") == "1"


@dataclass(slots=True)
class Bench:
    """One CLI, one model server, one tmux server, one place."""

    driver: Driver
    place: Place
    server: ModelServer
    socket: TmuxSocket
    panes: list[Pane] = field(default_factory=list)

    def start(
        self,
        order: str = "",
        *,
        resume: str = "",
        extra: tuple[str, ...] = (),
        environ: dict[str, str] | None = None,
    ) -> Pane:
        """Start the CLI in a pane of its own with an order as launch argument; `resume` is a session's id."""
        pane = self.run([*self.driver.argv(self.place, order, resume), *extra], environ)
        if resume and order:
            self.driver.go_on(self.place, order, resume)
        return pane

    def run(self, argv: list[str], environ: dict[str, str] | None = None) -> Pane:
        """Start a command line of the CLI in a pane of its own."""
        return self.open(
            argv, self.place.environ() | self.driver.environ(self.place) | (environ or {}), self.place.work
        )

    def open(self, argv: list[str], environ: dict[str, str], cwd: Path) -> Pane:
        """Start a command line in a pane of its own, with nothing in its environment but `environ`."""
        script = self.place.run / f"launch-{len(self.panes) + 1}.sh"
        words = [f"{name}={value}" for name, value in environ.items()]
        # By way of a file: tmux takes no command of more than 16 KB.
        script.write_text(
            f"cd {shlex.quote(os.fspath(cwd))}\nexec {shlex.join(['env', '-i', *words, *argv])}\n"
        )
        made = self.socket.tmux(
            "new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "bench:", "sh", os.fspath(script)
        )
        self.panes.append(Pane(self.socket, made))
        return self.panes[-1]

    def end(self, pane: Pane) -> None:
        """End a CLI and what it started in its pane by TERM, and if that is not enough by KILL."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            os.killpg(pane.pid(), number)
            with suppress(AssertionError):
                wait_until(pane.is_dead, within=15)
                return
        raise AssertionError(f"outlived a KILL: {pane.screen()}")

    def left(self) -> list[str]:
        """Return the command lines of the processes that live in this place, but for the tmux server's own."""
        own = {"tmux", "cat", "sh"}
        found = []
        for pid in at_home(self.place.root):
            with suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
                if words[0].decode().rpartition("/")[2] not in own:
                    found.append(" ".join(word.decode(errors="replace") for word in words)[:200])
        return found

    def events(self, kind: str = "") -> list[dict[str, Any]]:
        """Return what the CLI told of itself so far, perhaps of one kind only."""
        reported = self.driver.events(self.place)
        return [each for each in reported if not kind or self.driver.kind(each) == kind]

    def wait_for(self, kind: str, count: int = 1, *, within: float = SEEN) -> dict[str, Any]:
        """Wait for an event, the `count`th of its kind, and return it."""
        try:
            return wait_until(lambda: self.events(kind)[count - 1 : count], within=within, every=0.05)[0]
        except AssertionError as late:
            raise AssertionError(f"no {kind} within {within} s; {self.seen()}") from late

    def seen(self) -> str:
        """Return all that there is to look at when a test fails."""
        kinds = [self.driver.kind(each) for each in self.events()]
        asked = [
            f"{each.number} {each.method} {each.path} {each.prompt[:60]!r}" for each in self.server.requests
        ]
        screens = "\n---\n".join(pane.screen() for pane in self.panes)
        return f"events {kinds}; requests {asked}; faults {self.server.faults}; screens:\n{screens}"


@contextmanager
def a_bench(
    name: str, script: Script, *, cache: Path | None = None, laid_down: bool = True
) -> Iterator[Bench]:
    """Make a bench for a CLI by its pin's name, with its configuration laid down; everything ends with it."""
    driver = DRIVERS[name.partition("-")[0]]
    # A short path: a socket's must be shorter than 104 bytes.
    root = Path(tempfile.mkdtemp(prefix="clis-", dir="/tmp"))
    OPEN.add(root)
    with (
        a_network() as network,
        ModelServer(script, is_main=driver.is_main, listener=network.listener()) as server,
    ):
        with network.listener() as free:
            port = free.getsockname()[1]
        place = Place(root, cache or default_cache(), name, server.url, network, port)
        place.make()
        if laid_down:
            driver.lay_down(place)
        socket = TmuxSocket(root, environ=place.environ() | {"TMUX_TMPDIR": os.fspath(root)})
        try:
            _start_tmux(socket, network)
            yield Bench(driver, place, server, socket)
        finally:
            _end(socket, root)


def _start_tmux(socket: TmuxSocket, network: Network) -> None:
    session = ["new-session", "-d", "-s", "bench", "-x", str(WIDTH), "-y", str(HEIGHT), "cat"]
    command = [
        "tmux",
        "-L",
        socket.name,
        "-f",
        "/dev/null",
        *session,
        ";",
        "set-option",
        "-g",
        "remain-on-exit",
        "on",
    ]
    subprocess.run(network.inside(command), env=socket.environ, check=True, timeout=10)


def _end(socket: TmuxSocket, root: Path) -> None:
    """End the tmux server, and every process that still has this place as its home: some ignore a hang-up."""
    socket.kill()
    leave(root)


def leave(root: Path) -> None:
    """Kill all that lives in a place, and remove it."""
    for pid in at_home(root):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not at_home(root), every=0.05)
    shutil.rmtree(root, ignore_errors=True)
    OPEN.discard(root)


def at_home(root: Path) -> list[int]:
    """Return the pids of the processes whose home is below this root (where there is a /proc)."""
    home = f"HOME={root}/".encode()
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if any(each.startswith(home) for each in environ.read_bytes().split(b"\0")):
                found.append(int(environ.parent.name))
    return found
