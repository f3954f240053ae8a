"""A user with a project and a daemon, real agent CLIs on their PATH, and a scripted model behind them.

The daemon, its tmux and all agents live in a network with nothing but loopback in it, and in a home where no CLI has
ever run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.clis.drivers import DRIVERS
from tests.clis.model_server import ModelServer, Script
from tests.clis.network import a_network
from tests.clis.pinned import NODE, default_cache, pins
from tests.clis.users import variables
from tests.integration.daemon.world import World, a_world

PATIENCE = 240.0
"""Seconds until a test gives up: a CLI starts in seconds, on a busy machine in tens of them."""


@dataclass
class House:
    """A world, and the model server of its agents."""

    world: World
    server: ModelServer
    inside: list[str]

    def daemon(self) -> int:
        """Start a daemon in the house's own network."""
        made = self.world.launched(*self.inside, sys.executable, "-P", "-m", "orchestrator.daemon")

        def up() -> int:
            assert made.poll() is None, f"the daemon ended: {self.world.log}"
            return self.world.pid if self.world.beat.get("pid") == self.world.pid else 0

        return self.world.until(up, within=60)

    def brief(self, name: str, runtime: str, *config: str, goal: str = "A greeting.") -> Path:
        """Write the task.md of a task whose agents are all of a runtime; return the task's folder."""
        folder = self.world.project / "tasks" / name
        folder.mkdir(parents=True, exist_ok=True)
        parts = [f"# Task: {name}", "## Goal", goal, "## Success Criteria", "- There is a greeting."]
        parts += ["## Agent Config", f"runtime: {runtime}", *config]
        (folder / "task.md").write_text("\n".join(parts) + "\n")
        return folder

    def begin(self, name: str, runtime: str, *config: str) -> Path:
        """Start a task and return its folder."""
        folder = self.brief(name, runtime, *config)
        said = self.world.task("start", name, "--project", str(self.world.project))
        assert said.code == 0, said
        return folder

    def until_is(self, state: str, name: str) -> None:
        """Wait until a task stands so."""
        self.world.until(lambda: self.world.stands(name) == state, within=PATIENCE)

    def screens(self) -> str:
        """Return what every pane shows: for whoever looks at a failure."""
        panes = self.world.tmux.tmux("list-panes", "-a", "-F", "#{pane_id} #{window_name}").splitlines()
        shown = [(each, self.world.tmux.tmux("capture-pane", "-p", "-t", each.split()[0])) for each in panes]
        return "\n".join(f"--- {each}\n{screen.strip()}" for each, screen in shown)


@contextmanager
def a_house(name: str, script: Script, **settings: str) -> Iterator[House]:
    """Make a house for a CLI by its pin's name; everything in it ends with it."""
    driver, cache = DRIVERS[name.partition("-")[0]], default_cache()
    with (
        a_network() as network,
        ModelServer(script, is_main=driver.is_main, listener=network.listener()) as server,
        a_world(**settings) as world,
    ):
        bin_folder = world.root / "bin"
        bin_folder.mkdir()
        pin = pins()[name]
        program = bin_folder / name.partition("-")[0]
        program.symlink_to(pin.path(cache))
        node = pins()[NODE].path(cache).parent
        world.environ["PATH"] = f"{bin_folder}:{node}:{world.environ['PATH']}"
        (world.root / "tmp").mkdir()
        # Codex lays its helpers into no home that lies in the folder for temporary files.
        world.environ |= {"TMPDIR": str(world.root / "tmp")} | variables(name.partition("-")[0], server.url)
        if name == "codex":
            # The vendor's newest, which it would take, offers tools in a way that the model server does not read.
            config = Path(world.environ["HOME"], ".codex", "config.toml")
            config.parent.mkdir(parents=True)
            config.write_text('model = "gpt-5.1-codex"\n')
        yield House(world, server, network.inside([]))
