"""What a daemon costs whose many agents are pods of a cluster, which is simulated: `kubectl` is a script."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from orchestrator import layout
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.idle import WINDOW, pid_of, processor_seconds, resident
from tests.benchmarks.resting import SETTINGS, rest
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.waiting import until
from tests.benchmarks.world import Begun, World

MANY: Final = 500
PATIENCE: Final = 900.0

_KUBECTL: Final = """\
#!/bin/sh
shift
case $* in
'get podtemplate'*) echo '{"template": {"spec": {"containers": [{"name": "agent", "image": "agents:1"}]}}}' ;;
'get pod '*) echo 'Running|||||2026-01-01T12:00:00Z||||node-1' ;;
create*)
    for word in "$@"; do file=$word; done
    echo 'node-1 boot' >"${file%/*}/placed"
    ;;
attach*) exec sleep 3600 ;;
esac
"""
"""A cluster that takes every pod at once, and whose programs do nothing."""


def rows(bench: Bench) -> Iterator[Row]:
    agents = MANY if bench.agents == Bench.agents else bench.agents
    with World(**SETTINGS) as world:
        _simulate(world)
        clock = Stopwatch()
        bench.progress.show(f"{agents} agents begin on a simulated cluster")
        task = rest(world, agents, host="k8s:agents/small", patience=PATIENCE)
        until(
            lambda: _alive(task) == agents,
            f"{agents} agents that are known",
            world.complaint,
            every=0.2,
            patience=PATIENCE,
        )
        yield Row(f"{agents} agents placed, for each", "ms", [clock.ms / agents])
        for second in range(3):  # what the beginning left to do
            bench.progress.show(f"settling, {second + 1} of 3 s")
            time.sleep(1)
        began, spent = time.monotonic(), processor_seconds(pid_of(world))
        for second in range(WINDOW):
            bench.progress.show(f"{second + 1} of {WINDOW} s")
            time.sleep(1)
        share = 100 * (processor_seconds(pid_of(world)) - spent) / (time.monotonic() - began)
        who = f"daemon, {agents} agents on a simulated cluster"
        yield Row(who, "% of a core", [share], reach=Reach(Of.MEDIAN, 1))
        yield Row(who, "MB", [resident(pid_of(world))], reach=Reach(Of.MEDIAN, 120))


def _simulate(world: World) -> None:
    """Have the daemon find a `kubectl` that is a script."""
    programs = Path(world.root) / "bin"
    programs.mkdir()
    (programs / "kubectl").write_text(_KUBECTL)
    (programs / "kubectl").chmod(0o755)
    world.environ["PATH"] = f"{programs}:{world.environ['PATH']}"


def _alive(task: Begun) -> int:
    """Return how many agents the daemon shows as alive."""
    shown = json.loads(layout.task_state(task.home).read_text())
    return sum(agent["state"] == "alive" for agent in shown["agents"])
