"""What can go wrong in a night beside the model's service. Durations are seconds of the night."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.chaos.machine import fill_up
from tests.clis.answers import Trouble
from tests.clis.pinned import default_cache, pins
from tests.nights.acts import TEMPORARY
from tests.nights.directing import Scene

Act = Callable[[Scene], None]


def kills_daemon(down: float = 60.0) -> Act:
    """Kill the daemon; it is started again after a while."""

    def act(scene: Scene) -> None:
        world, began = scene.house.world, time.time()
        scene.daemon_wanted = False
        if pid := world.pid:
            os.kill(pid, signal.SIGKILL)
        scene.pause(scene.real(down))
        until = time.time()  # from here on it may be up
        scene.start_daemon()
        while world.pid == 0 and not scene.ended.is_set():
            scene.pause(0.1)
        scene.daemon_wanted = True
        scene.note("daemon killed", began, until=until)

    return act


def kills_tmux(scene: Scene) -> None:
    """Kill the tmux server that the agents' panes are in."""
    began = time.time()
    scene.house.world.tmux.kill()
    scene.note("tmux killed", began)


def kills_agent(scene: Scene) -> None:
    """Kill the CLI of the run whose turn it was last, as a crash would."""
    began, turn = time.time(), scene.last_turn
    if turn is None:
        return
    for pid in scene.watcher.living(turn.order.run):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    scene.note(f"the CLI of {turn.order.agent} killed", began)


def stands_still(seconds: float) -> Act:
    """Stop every process of the machine's user, as a paused machine's are, and let them go on."""

    def act(scene: Scene) -> None:
        began, world = time.time(), scene.house.world
        held: set[int] = set()
        for _ in range(2):  # what was started meanwhile as well
            for pid in set(world.processes()) - held:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
                    held.add(pid)
        scene.pause(scene.real(seconds))
        for pid in held:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        scene.note("everything stood still", began, outage=True)

    return act


def fills_disk(seconds: float) -> Act:
    """Use up all room of the night's disk for a while (`Night.disk`)."""

    def act(scene: Scene) -> None:
        began = time.time()
        filler = fill_up(scene.house.world.root)
        scene.pause(scene.real(seconds))
        filler.unlink()
        scene.note("disk full", began, outage=True)

    return act


def removes_tree(scene: Scene) -> None:
    """Remove the working tree of the run whose turn it was last, with all that is in it."""
    began, turn = time.time(), scene.last_turn
    tree = working_directory(turn.order.run, scene) if turn else None
    if tree is not None:
        shutil.rmtree(tree, ignore_errors=True)
        scene.note(f"working tree {tree.name} removed", began)


def renames(after: float) -> Act:
    """Give handoffs that were saved under a temporary name their own, so long after they were written."""

    def act(scene: Scene) -> None:
        while not scene.ended.is_set():
            for path in (scene.house.world.project / "tasks").glob(f"*/handoffs/*{TEMPORARY}"):
                began = time.time()
                scene.pause(scene.real(after))
                path.rename(path.with_name(path.name.removesuffix(TEMPORARY) + ".md"))
                scene.note(f"{path.name} was renamed", began)
            scene.pause(0.1)

    return act


def upgrades(name: str) -> Act:
    """Let a CLI on the PATH be another version from now on."""

    def act(scene: Scene) -> None:
        program = scene.house.world.root / "bin" / name.partition("-")[0]
        fresh = program.with_suffix(".new")
        fresh.symlink_to(pins()[name].path(default_cache()))
        fresh.rename(program)
        scene.note(f"{name} installed", time.time())

    return act


def logs_in(scene: Scene) -> None:
    """Log in again, or pay: the service refuses nobody for that any more."""
    scene.service.lift(Trouble.UNAUTHORIZED, Trouble.CREDIT_GONE)


def working_directory(run: str, scene: Scene) -> Path | None:
    """Return where a run was told to work."""
    for _, request, turn in reversed(scene.service.seen):
        if turn is not None and turn.order.run == run:
            line = next(
                (
                    line
                    for prompt in request.prompts
                    for line in prompt.splitlines()
                    if line.startswith("Your working directory: ")
                ),
                "",
            )
            return Path(line.partition(": ")[2]) if line else None
    return None
