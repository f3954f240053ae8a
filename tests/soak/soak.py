"""Lets a daemon work for hours, with many tasks and agents and with trouble sprinkled in, and watches what grows.

`python -m tests.soak.soak` is `scripts/soak`. All of it is private: state folder, tmux socket, home, project. It ends
with a table; and with failure, if something grows without bound, or work was lost, done twice, or got stuck.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from tests.chaos.machine import small_disk
from tests.chaos.trial import Doubled, Lost, Skipped, Stuck, check
from tests.integration.daemon import world as worlds
from tests.integration.daemon.world import World, a_world
from tests.soak.crowd import Crowd
from tests.soak.samples import Samples
from tests.soak.trouble import Trouble

SETTINGS = {
    "daemon__rescan": "5 s",
    "daemon__heartbeat_interval": "1 s",
    "limits__inactivity_timeout": "10 m",
    "limits__retry_pause": "200 ms",
    "limits__max_retry_pause": "5 s",
    "limits__termination_grace": "5 s",
    "limits__start_timeout": "30 s",
    # Small enough that every log begins anew, and every old one goes, in a short soak too.
    "logs__size": "65536",
    "logs__pack_after": "20 s",
    "logs__keep": "10 m",
    "logs__task_size": "40000",
    # What is over is shelved, and opened again when it is to go on.
    "daemon__passivate_after": "20 s",
    "limits__check_in_interval": "10 s",
}
"""Limits at which nothing waits for long. Of the rest users have the same."""

JUDGED = 240.0
"""Seconds: what grows is not judged in less."""

SAMPLES = 240
TURN = 0.5
PATIENCE = 120.0
"""Seconds without a handoff after which a task that has not ended is stuck, once nothing goes wrong any more."""


@dataclass
class Result:
    """What came of a soak."""

    table: list[str] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    lives: int = 0


def soak(options: argparse.Namespace, say: Callable[[str], None]) -> Result:
    """Run it for `options.span` seconds, and see everything to its end."""
    chance = random.Random(options.seed)
    result = Result()
    at_once = max(4, options.agents // options.tasks + 1)
    with ExitStack() as held:
        world = held.enter_context(a_world(**SETTINGS, limits__max_concurrent_runs=str(at_once)))
        disk = None
        try:
            disk = held.enter_context(small_disk(world, world.state, f"size={options.disk}"))
        except Skipped as reason:
            result.said.append(f"no disk was ever full: {reason}")
        crowd = Crowd(world, options.tasks, options.agents, options.pace, chance)
        samples = Samples(world)
        world.daemon()
        crowd.begin()
        _work(world, crowd, samples, Trouble(world, chance, options.often, disk), options.span, result, say)
        _end(world, crowd, result)
        result.table, growing = samples.table()
        if options.span >= JUDGED:
            result.bad += [f"{name} grows" for name in growing]
        else:
            result.said.append(f"what grows is not judged in less than {JUDGED:.0f} s")
        result.lives = len(world.lives)
        if result.bad:
            result.said.append(world.log[-3000:])
    return result


def _work(
    world: World,
    crowd: Crowd,
    samples: Samples,
    trouble: Trouble,
    span: float,
    result: Result,
    say: Callable[[str], None],
) -> None:
    began = sampled = reported = time.monotonic()
    every = max(1.0, span / SAMPLES)
    busiest = 0
    while (now := time.monotonic()) - began < span:
        crowd.tend()
        trouble.sprinkle()
        world.reap()
        if now - sampled >= every:
            sampled = now
            samples.take()
        if now - reported >= max(10.0, span / 20):
            reported = now
            alive = sum(crowd.alive(crowd.state_shown(name)) for name in crowd.names)
            busiest = max(busiest, alive)
            say(f"{now - began:6.0f} s: {alive} agents at work, {len(world.lives)} lives so far")
        time.sleep(TURN)
    rounds, shelved = sum(crowd.rounds.values()), sum(1 for _ in world.state.glob("tasks/*/passivated.json"))
    result.said.append(
        f"at most {busiest} agents at once; {len(crowd.rounds)} tasks, {rounds} rounds, {shelved} shelved at some time"
    )
    result.said.append("trouble: " + ", ".join(f"{name} {n}" for name, n in sorted(trouble.counts.items())))


def _end(world: World, crowd: Crowd, result: Result) -> None:
    """Let everything come to its end, and hold what came of it against the laws."""
    crowd.rest()
    seen, deadline = 0, time.monotonic() + PATIENCE
    while (left := crowd.unsettled()) and time.monotonic() < deadline:
        crowd.tend()
        if (handoffs := sum(1 for _ in world.project.glob("tasks/*/handoffs/*"))) > seen:
            seen, deadline = handoffs, time.monotonic() + PATIENCE
        time.sleep(TURN)
    result.bad += [f"stuck: {name} is {crowd.state_shown(name).get('state')}" for name in left]
    try:
        check(world)
    except (Lost, Doubled, Stuck) as error:
        result.bad.append(f"{type(error).__name__.lower()}: {error}"[:12000])


def main(words: Sequence[str] | None = None) -> int:
    options = _options(words)
    worlds.PATIENCE = max(worlds.PATIENCE, PATIENCE)  # many agents make a machine slow
    say(f"seed {options.seed}: {options.tasks} tasks, {options.agents} agents, {options.span:.0f} s")
    result = soak(options, say)
    for line in (*result.table, "", f"{result.lives} lives of agents", *result.said):
        say(line)
    for line in result.bad:
        say(f"BAD: {line}")
    say("nothing grows without bound, nothing is lost, doubled or stuck" if not result.bad else "not well")
    return 1 if result.bad else 0


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/soak", description=__doc__)
    span = parser.add_mutually_exclusive_group()
    span.add_argument("--hours", type=float, help="how long, in hours (default: 1)")
    span.add_argument("--minutes", type=float, help="or in minutes")
    span.add_argument("--seconds", type=float, help="or in seconds")
    parser.add_argument("--tasks", type=int, default=20, help="how many tasks (20)")
    parser.add_argument("--agents", type=int, default=100, help="how many agents at once (100)")
    parser.add_argument(
        "--pace",
        type=int,
        default=40,
        help="for how many seconds an agent sleeps at most (40); real ones take minutes: 180",
    )
    parser.add_argument("--often", type=float, default=10.0, help="seconds between two agents killed (10)")
    parser.add_argument("--disk", default="128m", help="how large the PM's disk is (128m)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args(words)
    options.span = (options.hours or 0) * 3600 + (options.minutes or 0) * 60 + (
        options.seconds or 0
    ) or 3600.0
    return options


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
