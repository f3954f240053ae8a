"""A user's terminal, of 80 columns and 24 lines."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.integration.daemon.world import World
from tests.tmux_server import TmuxSocket

WATCH = [sys.executable, "-P", "-m", "orchestrator.cli", "watch"]


@dataclass
class Terminal:
    """A user's terminal: a window of a tmux server of its own, which the world ends with all its processes."""

    world: World
    socket: TmuxSocket = field(init=False)

    def __post_init__(self) -> None:
        world = self.world
        self.socket = TmuxSocket(world.root / "tmux", "user", world.environ | {"TERM": "xterm"})
        self.socket.folder.mkdir(exist_ok=True)

    def run(self, *words: str) -> None:
        """Run a command in it. A shell says how it ended: tmux up to 3.5a loses exit statuses, as Debian builds it."""
        reported = ["sh", "-c", '"$@"; echo "ended with $?"; exec cat', "sh", *words]
        self.socket.tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "--", *reported)

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names for them; after `-l`, type a text."""
        self.socket.tmux("send-keys", *keys)

    def resize(self, width: int, height: int) -> None:
        """Make it another size."""
        self.socket.tmux("resize-window", "-x", str(width), "-y", str(height))

    @property
    def screen(self) -> str:
        return self.socket.tmux("capture-pane", "-p")

    @property
    def styled(self) -> str:
        """What it shows, with the sequences for colours and the like."""
        return self.socket.tmux("capture-pane", "-p", "-e")

    def _screen_with(self, texts: Sequence[str]) -> str:
        screen = self.screen
        return screen if all(text in screen for text in texts) else ""

    def until_hides(self, text: str) -> None:
        """Wait until the screen shows this no longer."""
        self.world.until(lambda: text not in self.screen)

    def until_shows(self, *texts: str) -> str:
        """Wait until the screen shows all of these; return it."""
        try:
            return self.world.until(lambda: self._screen_with(texts))
        except AssertionError as error:
            raise AssertionError(f"{texts} not on the screen:\n{self.screen}\n{error}") from None
