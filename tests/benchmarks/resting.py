"""A task with many agents at rest, each in a worktree of its own."""

from __future__ import annotations

from tests.benchmarks.waiting import PATIENCE, until
from tests.benchmarks.world import Begun, World, brief

SETTINGS = {"limits__max_concurrent_runs": 1000}


def rest(
    world: World, agents: int, command: str = "sleep 3600", host: str = "", patience: float = PATIENCE
) -> Begun:
    """Start a daemon and, in one task, as many agents of one command; return when all of them live."""
    world.make_repository()
    world.start_daemon()
    text = brief(dict.fromkeys(("explore", "dev"), command), "worktree")
    if host:
        text = text.replace("workspace:", f"host: {host}\nworkspace:", 1)
    task = world.start_task("measure", text)
    for number in range(agents - 1):
        task.ask("spawn", agent="dev", instructions=f"Rest, number {number}.")
    until(
        lambda: len(list(task.home.glob("runs/*/pid"))) == agents,
        f"{agents} agents",
        world.complaint,
        patience=patience,
    )
    return task
