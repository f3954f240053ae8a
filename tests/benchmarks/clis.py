"""Real agent CLIs: until one is ready, until it has its order, until the next one runs. Only where they are asked for.

`ORCHESTRATOR_CLIS` names the folder that `scripts/clis` has filled; without it each is skipped by its name.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from orchestrator import layout
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.floors import new_window
from tests.benchmarks.row import Row
from tests.benchmarks.table import say
from tests.clis.answers import Answer, Hang
from tests.clis.answers import say as says
from tests.clis.bench import a_bench
from tests.clis.deliveries import WITH_RECEIPTS, Post
from tests.clis.house import PATIENCE, House, a_house
from tests.clis.model_request import ModelRequest
from tests.clis.pinned import why_missing
from tests.clis.players import NO_ARTIFACTS, Steps, hands_in
from tests.clis.playing import always, played
from tests.clis.spawned import spawned

VERSION_IS = "the bare program with --version"
WINDOW_IS = "tmux new-window until its program runs"


def rows(bench: Bench) -> Iterator[Row]:
    for pin in WITH_RECEIPTS:
        if why := why_missing(pin):
            say(f"skipped: {why}")
            continue
        yield from ready_rows(bench, pin)
        yield next_row(bench, pin)


def ready_rows(bench: Bench, pin: str) -> Iterator[Row]:
    ready, receipts, floor = list[float](), list[float](), list[float]()
    with a_bench(pin, always(says("Done.")), laid_down=False) as there:
        post = Post(there, pin.partition("-")[0], seed=7, cuts=False)
        with post.listening():
            post.deliver()  # the first start on a machine does what none does again
            for _ in bench.times(10, f"runs of {pin}"):
                floor.append(bare_start(there.place.program, post.environ))
                made = post.deliver()
                if made.outcome != "whole":
                    raise RuntimeError(f"an order was not delivered: {made.outcome} {made.trouble}")
                order = layout.run_order(layout.run_home(post.where.home, made.call.run))
                ready.append((min(made.started_at or made.receipt_at, made.receipt_at) - made.at) * 1000)
                receipts.append((made.receipt_at - order.stat().st_mtime) * 1000)
    yield Row(f"{pin}: spawned → ready", "ms", ready, floor, VERSION_IS)
    yield Row(f"{pin}: order written → its receipt", "ms", receipts, floor, VERSION_IS)


def bare_start(program: str, environ: dict[str, str]) -> float:
    """Return the milliseconds in which a program says its version."""
    watch = Stopwatch()
    subprocess.run(
        [program, "--version"], env=environ, stdin=subprocess.DEVNULL, capture_output=True, check=True
    )
    return watch.ms


def next_row(bench: Bench, pin: str) -> Row:
    next_runs, floor = list[float](), list[float]()
    with a_house(pin, first_of_two) as house:
        house.daemon()
        tmux = house.world.tmux
        for number in bench.times(5, f"tasks with {pin}"):
            next_runs.append(handed_over(house, f"n{number}", pin.partition("-")[0]))
            if not number:
                # Only now: the server lives in the network of whoever started it.
                tmux.tmux("new-session", "-d", "-s", "floor", "-x", "200", "-y", "50", "sleep", "3600")
            floor.append(new_window(tmux, house.world.root))
    return Row(f"{pin}: handoff in place → the next agent's process runs", "ms", next_runs, floor, WINDOW_IS)


def first_of_two(request: ModelRequest) -> Answer:
    """Play an explorer that hands in, and a planner that is never heard of."""
    return Hang() if spawned(request.prompt).role == "plan" else played(exploring)(request)


def exploring(request: ModelRequest) -> Steps:
    me = spawned(request.prompt)
    yield from hands_in(request, me, me.report("## Completed Work\nLooked around.", NO_ARTIFACTS))
    yield says("Done.")


def handed_over(house: House, name: str, cli: str) -> float:
    """Return the milliseconds from the first agent's handoff until the process of the second one."""
    folder = house.begin(name, cli)
    (home,) = house.world.state.glob(f"tasks/{name}-*")
    pids = layout.task_runs(home)
    runs = house.world.until(lambda: two(sorted(pids.glob("*/pid"), key=changed)), within=PATIENCE)
    (handoff,) = layout.handoffs(folder).glob("explore-*.md")
    house.world.ask("stop", name)
    return (changed(runs[1]) - changed(handoff)) / 1e6


def two(found: Sequence[Path]) -> Sequence[Path]:
    return found if len(found) > 1 else ()


def changed(path: Path) -> int:
    return path.stat().st_mtime_ns
