"""One look at every pane."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

from orchestrator.hosts import panes
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.world import World

PANES = 200
_AT_ONCE = 50


def rows(bench: Bench) -> Iterator[Row]:
    measured, floor = list[float](), list[float]()
    with World() as world:
        bench.progress.show(f"{PANES} panes open")
        world.socket.tmux("new-session", "-d", "-s", "many", "-x", "200", "-y", "50", "sleep", "3600")
        for _ in range(0, PANES, _AT_ONCE):
            more = ["new-window", "-d", "-t", "=many:", "sleep", "3600", ";"] * _AT_ONCE
            world.socket.tmux(*more[:-1])
        raw = ["tmux", "-L", world.socket.name, "list-panes", "-a", "-F", panes._PANE_FIELDS]
        for _ in bench.times(60, "looks"):
            watch = Stopwatch()
            subprocess.run(raw, env=world.environ, capture_output=True, check=True)
            floor.append(watch.ms)
            watch = Stopwatch()
            seen = world.host.panes()
            measured.append(watch.ms)
            if len(seen) != PANES + 1:
                raise RuntimeError(f"{len(seen)} panes were seen of {PANES + 1}")
    yield Row(
        f"one look at {PANES} panes", "ms", measured, floor, "raw tmux list-panes -a", Reach(Of.RATIO, 2)
    )
