"""Runs the demo in a terminal of its own, and returns what that showed."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Final

from tests.integration.daemon.world import World, a_world_at

PICTURE: Final = Path(__file__).parents[2] / "docs" / "images" / "demo.svg"
TITLE: Final = "agent-orchestrator: scripts/demo"
COLUMNS: Final = 100
_ROWS: Final = 24
_PATIENCE: Final = 300.0
"""Seconds: the demo takes one minute of a quiet machine."""

_SETTINGS: Final = '[notify]\nchannels = ["tmux://"]\n'
"""A user who has said how to be notified: the demo need not explain it."""


def recorded() -> str:
    """Return the lines of the demo with their colours, the user's home written as `~`."""
    with a_world_at(None, {}) as world:
        _furnish(world)
        window = world.tmux.tmux
        command = f"{shlex.quote(sys.executable)} -P -m orchestrator.demo --keep {world.root}/home/pantry"
        ends = f"printf '$ scripts/demo\\n'; {command}; touch {world.root}/ended; exec sleep {_PATIENCE:.0f}"
        window("new-session", "-d", "-s", "demo", "-x", str(COLUMNS), "-y", str(_ROWS), ends)
        world.until((world.root / "ended").exists, within=_PATIENCE)
        screen = window("capture-pane", "-e", "-p", "-S", "-", "-t", "demo")
        return screen.replace(f"{world.root}/home", "~")


def _furnish(world: World) -> None:
    """Give the world's user the usual pace, this checkout's `task`, and a channel."""
    for key in [each for each in world.environ if "__" in each and not each.endswith("SOCKET")]:
        del world.environ[key]
    world.environ["PATH"] = f"{Path(sys.executable).parent}:{world.environ['PATH']}"
    settings = Path(world.environ["HOME"], ".config", "agent-orchestrator", "config.toml")
    settings.parent.mkdir(parents=True)
    settings.write_text(_SETTINGS)
    settings.chmod(0o600)
