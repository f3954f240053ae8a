"""Agents that end in every way there is."""

from __future__ import annotations

import os
import signal
from itertools import pairwise
from typing import Any

from tests.chaos.machine import cgroup
from tests.integration.daemon.world import World

HOLD = {"hold": "on"}
NEVER = {"hold": "never"}


def three_ends(world: World) -> None:
    """A signal, exit 0 without a handoff, exit 7: three different facts, and the work goes on after each."""
    world.begin({"explore": [NEVER, {"report": False}, {"report": False, "exit": 7}]})
    world.until_works("explore")
    os.kill(_program(world, "explore"), signal.SIGKILL)
    world.until_is("complete")
    ends = [_end_of(fact["exit"]) for fact in world.story().facts("run_gone")]
    assert ends[:4] == [{"signal": 9}, {"code": 0}, {"code": 7}, {"code": 0}]
    assert world.lives_of("explore") == 4


def out_of_memory(world: World) -> None:
    """An agent is killed for want of memory: that is told from being killed, and it is tried again."""
    world.daemon()
    world.begin({"explore": [HOLD], "plan": [{"eat": True}]})
    world.until_works("explore")
    with cgroup("memory", "memory.limit_in_bytes", str(64 << 20)) as group:
        (group / "cgroup.procs").write_text(str(world.tmux.server_pid()))
        world.go("on")
        world.until_is("complete")
    ends = [_end_of(fact["exit"]) for fact in world.story().facts("run_gone")]
    assert ends[:3] == [{"code": 0}, {"signal": 9, "out_of_memory": True}, {"code": 0}]
    assert "was killed for memory" in (world.home() / "pm.log").read_text()


def _program(world: World, step: str) -> int:
    """Return the process of the agent itself, which its launcher started."""
    lines = (world.root / "runs").read_text().splitlines()
    return int(next(line.split()[3] for line in reversed(lines) if line.split()[1] == step))


def _end_of(how: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in how.items() if value is not None and value is not False}


def ends_at_once(world: World, code: int, first: float) -> None:
    """An agent dies at once again and again: pauses that double, then a question; the answer lets it go on."""
    crash = {"report": False, "exit": code}
    world.begin({"dev:greet": [crash] * 4})
    world.until_is("waiting")
    (question,) = world.state_shown()["questions"]
    runs = {run["id"]: run["opened_at"] for run in world.story().runs.values() if run["step"] == "dev:greet"}
    gone = {fact["run"]: fact["at"] for fact in world.story().facts("run_gone")}
    pauses = [runs[after] - gone[before] for before, after in pairwise(runs)]
    assert [pause > first * 2**n for n, pause in enumerate(pauses)] == [True] * 3, pauses
    assert world.task("answer", "t1", question["id"], "retry").code == 0
    world.until_is("complete")
    assert world.lives_of("dev:greet") == 5


def killed_at_work(world: World, step: str, number: int) -> None:
    """An agent is signalled at its work: another one takes the step over."""
    world.begin({step: [NEVER]})
    world.until_works(step)
    os.kill(_program(world, step), number)
    world.until_is("complete")
    assert world.lives_of(step) == 2
