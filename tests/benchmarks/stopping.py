"""Stopping a task in which many agents work: until every one of them is known to be gone."""

from __future__ import annotations

import os
import select
import shlex
import signal
from collections.abc import Iterator

from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.resting import SETTINGS, rest
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.world import Begun, World

FEW, MANY = 50, 200
GRACE = 2.0
"""Seconds that agents have to end by themselves."""

IGNORES_TERM = shlex.join(["/bin/bash", "-c", "trap '' TERM; while :; do read -rt 3600 <>/dev/ptmx; done"])
WORST = 3000
"""Milliseconds in which all are to be gone; of those that ignore TERM beyond their grace."""

LINEAR = 2
"""An agent among many to one among a quarter as many: what grows by the square would be at 4."""
PANES_ARE = "as many bare panes of tmux: TERM, until the last has ended"


def rows(bench: Bench) -> Iterator[Row]:
    for kind, command, grace in (("", "sleep 3600", 0.0), (" that ignore TERM", IGNORES_TERM, GRACE)):
        each = dict[int, float]()
        for agents in (FEW, MANY):
            taken, floor = list[float](), list[float]()
            for _ in bench.times(1, f"{agents} agents{kind}"):
                with World(**SETTINGS, limits__termination_grace=f"{GRACE} s") as world:
                    task = rest(world, agents, command)
                    floor.append(panes(world, agents))
                    taken.append(stopped(task, agents) - grace * 1000)
            what = f"`task stop`, {agents} agents{kind}" + (", beyond the grace" if grace else "")
            row = Row(what, "ms", taken, floor, PANES_ARE, Reach(Of.MEDIAN, WORST))
            each[agents] = row.median / agents
            yield row
        floor_is = f"the same of {FEW}"
        yield Row(
            f"`task stop`, for each of {MANY} agents{kind}",
            "ms",
            [each[MANY]],
            [each[FEW]],
            floor_is,
            Reach(Of.RATIO, LINEAR),
            note="linear is 1",
        )


def stopped(task: Begun, agents: int) -> float:
    """Stop a task, and return the milliseconds until the journal has the end of every run."""
    gone = 0
    with task.tail() as journal:
        watch = Stopwatch()
        task.ask("stop")
        while gone < agents:
            gone += journal.next().fact["kind"] == "run_gone"
        return watch.ms


def panes(world: World, number: int) -> float:
    """Return the milliseconds in which so many bare panes end that are asked to."""
    tmux = world.socket.tmux
    tmux("new-session", "-d", "-s", "floor", "-x", "200", "-y", "50", "sleep", "3600")
    for _ in range(number):
        tmux("new-window", "-d", "-t", "=floor:", "sleep", "3600")
    pids = [int(pid) for pid in tmux("list-panes", "-s", "-t", "=floor:", "-F", "#{pane_pid}").split()]
    poll, watched = select.poll(), [os.pidfd_open(pid) for pid in pids]
    for descriptor in watched:
        poll.register(descriptor, select.POLLIN)
    watch = Stopwatch()
    for pid in pids:
        os.kill(pid, signal.SIGTERM)
    while watched:
        for descriptor, _ in poll.poll():
            poll.unregister(descriptor)
            os.close(descriptor)
            watched.remove(descriptor)
    return watch.ms
