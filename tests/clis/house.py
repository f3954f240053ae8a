"""A user with a project and a daemon, real agent CLIs on their PATH, and a scripted model behind them.

The daemon, its tmux and all agents live in a network with nothing but loopback in it, and in a home where no CLI has
ever run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.clis.drivers import DRIVERS
from tests.clis.model_request import ModelRequest
from tests.clis.model_server import ModelServer, Script
from tests.clis.network import Network, a_network
from tests.clis.pinned import NODE, default_cache, pins
from tests.clis.users import variables
from tests.integration.daemon.world import World, a_world_at

AIDERS_MODEL = "bench"
PATIENCE = 240.0
"""Seconds until a test gives up: a CLI starts in seconds, on a busy machine in tens of them."""


@dataclass
class House:
    """A world, and the model server of its agents."""

    world: World
    server: ModelServer
    inside: list[str]
    network: Network

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
    with a_house_of([name], script, settings) as house:
        yield house


@contextmanager
def a_house_of(
    names: Sequence[str], script: Script, settings: Mapping[str, str], root: Path | None = None
) -> Iterator[House]:
    """Make a house for several CLIs, by their pins' names; of one in two versions the first is on the PATH.

    `root` is an empty folder for all of it, where it is to lie on a disk of the caller's.
    """
    clis = [name.partition("-")[0] for name in names]
    with (
        a_network() as network,
        ModelServer(script, is_main=partial(_is_main, clis), listener=network.listener()) as server,
        a_world_at(root, settings) as world,
    ):
        _furnish(world, names, server.url)
        yield House(world, server, network.inside([]), network)


def _furnish(world: World, names: Sequence[str], url: str) -> None:
    """Put CLIs on a user's PATH, and point each to the model."""
    cache, bin_folder = default_cache(), world.root / "bin"
    bin_folder.mkdir()
    node = pins()[NODE].path(cache).parent
    world.environ["PATH"] = f"{bin_folder}:{node}:{world.environ['PATH']}"
    (world.root / "tmp").mkdir()
    # Codex lays its helpers into no home that lies in the folder for temporary files.
    world.environ["TMPDIR"] = str(world.root / "tmp")
    for name in reversed(names):
        program = bin_folder / name.partition("-")[0]
        program.unlink(missing_ok=True)
        program.symlink_to(pins()[name].path(cache))
        world.environ |= variables(program.name, url)
    if "codex" in names:
        # The vendor's newest, which it would take, offers tools in a way that the model server does not read.
        config = Path(world.environ["HOME"], ".codex", "config.toml")
        config.parent.mkdir(parents=True)
        config.write_text('model = "gpt-5.1-codex"\n')


def _is_main(clis: Sequence[str], request: ModelRequest) -> bool:
    """Say whether a request is part of an agent's turn: aider, which has no tools, is known by its model."""
    if len(clis) == 1:
        return DRIVERS[clis[0]].is_main(request)
    return request.offers_tools or ("aider" in clis and request.conversation.model == AIDERS_MODEL)
