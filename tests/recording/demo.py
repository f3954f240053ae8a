"""Runs the demo in a terminal of its own, then `task watch`, and returns what they showed."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.integration.daemon.world import World, a_world_at
from tests.recording.terminal import drawn

IMAGES: Final = Path(__file__).parents[2] / "docs" / "images"
COLUMNS: Final = 100
_ROWS: Final = 24
_WATCH_ROWS: Final = 34
"""As many as all steps of the demo need."""
_PATIENCE: Final = 300.0
"""Seconds: the demo takes one minute of a quiet machine."""

_SETTINGS: Final = '[notify]\nchannels = ["tmux://"]\n'
"""A user who has said how to be notified: the demo need not explain it."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What a terminal showed: lines with their colours, the user's home written as `~`."""

    name: str
    title: str
    screen: str

    @property
    def picture(self) -> Path:
        """The picture of it that ships."""
        return IMAGES / f"{self.name}.svg"

    def drawn(self) -> str:
        """Return a picture of it."""
        return drawn(self.screen, COLUMNS, self.title)


def recorded() -> list[Recording]:
    """Return what the demo shows, and what `task watch` shows of it once it has ended."""
    with a_world_at(None, {}) as world:
        _furnish(world)
        window = world.tmux.tmux
        command = f"{shlex.quote(sys.executable)} -P -m orchestrator.demo --keep {world.root}/home/pantry"
        ends = f"printf '$ scripts/demo\\n'; {command}; touch {world.root}/ended; exec sleep {_PATIENCE:.0f}"
        window("new-session", "-d", "-s", "demo", "-x", str(COLUMNS), "-y", str(_ROWS), ends)
        world.until((world.root / "ended").exists, within=_PATIENCE)
        demo = window("capture-pane", "-e", "-p", "-S", "-", "-t", "demo")
        shown = {"demo": ("scripts/demo", demo), "watch": ("task watch", _watched(world))}
        return [
            Recording(name, f"agent-orchestrator: {title}", screen.replace(f"{world.root}/home", "~"))
            for name, (title, screen) in shown.items()
        ]


def _watched(world: World) -> str:
    """Return the screen of `task watch` once Textual draws it: then what is chosen has the keys."""
    window = world.tmux.tmux
    size = ("-x", str(COLUMNS), "-y", str(_WATCH_ROWS))
    window(
        "new-session",
        "-d",
        "-s",
        "watch",
        *size,
        f"{shlex.quote(sys.executable)} -P -m orchestrator.cli watch",
    )
    screens = [""]

    def still() -> bool:
        screens.append(window("capture-pane", "-e", "-p", "-t", "watch"))
        whole = "Zoom" in screens[-1] and "passed" in screens[-1] and "alive" not in screens[-1]
        return whole and screens[-1] == screens[-2]

    world.until(still, within=_PATIENCE)
    window("send-keys", "-t", "watch", "q")
    return screens[-1]


def _furnish(world: World) -> None:
    """Give the world's user the usual pace, this checkout's `task`, and a channel."""
    for key in [each for each in world.environ if "__" in each and not each.endswith("SOCKET")]:
        del world.environ[key]
    world.environ["PATH"] = f"{Path(sys.executable).parent}:{world.environ['PATH']}"
    settings = Path(world.environ["HOME"], ".config", "agent-orchestrator", "config.toml")
    settings.parent.mkdir(parents=True)
    settings.write_text(_SETTINGS)
    settings.chmod(0o600)
