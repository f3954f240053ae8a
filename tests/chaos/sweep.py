"""One small task run to its end while something is killed in it: at any chosen moment, and then at every one.

`python -m tests.chaos.sweep [--stride N]` sweeps over all moments and prints a table (`scripts/chaos`). The
tests beside this file take a sample of the same.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.integration.daemon.world import World, a_world

KILLER = Path(__file__).with_name("killer.py")
TURNS = {"test:greet": [{"verdict": "REJECTED", "say": "The greeting is rude."}]}
LIVES = ["explore", "plan", "dev:greet", "test:greet", "dev:greet", "test:greet", "review:greet", "accept"]
SYSCALLS = ("fsync", "rename", "link", "mkdir", "write")
STRACED = 60  # that many calls of each kind are swept: strace counts by thread


class Lost(AssertionError):
    """Work is missing that an undisturbed run has."""


class Doubled(AssertionError):
    """Something was done twice."""


class Stuck(AssertionError):
    """The task did not get to its end."""


def begin(world: World) -> None:
    """Lay the task down and leave the request to start it, as `task start` does."""
    world.let(TURNS)
    folder = world.brief()
    for name in ("handoffs", "scratchpad", "artifacts"):
        (folder / name).mkdir(exist_ok=True)
    with (world.project / ".git" / "info" / "exclude").open("a") as exclude:
        exclude.write("/tasks/t1/\n")
    world.ask("start", project=str(world.project), name="t1")


def end(world: World, *, may_repeat: bool = False) -> None:
    """See the task through and check that it came out as if nothing had happened.

    `may_repeat`: agents were killed as well, so that steps may have been worked on again by other runs.
    """
    try:
        world.until_is("complete")
    except AssertionError as error:
        raise Stuck(error) from None
    try:
        world.check_once()
        world.check_nobody_is_left()
        if not may_repeat:
            assert [step for _, step in world.lives] == LIVES, world.lives
    except AssertionError as error:
        raise Doubled(f"{error}\n{world.account()}") from None
    try:
        assert set(world.steps().values()) == {"passed"}, world.steps()
        assert [step for step in LIVES if step not in {each for _, each in world.lives}] == []
        assert world.git("diff", "--name-only", "main", "task/t1") == "pkg/greet.py"
        assert world.git("show", "task/t1:pkg/greet.py") == "NAME = 'greet'"
        assert world.git("rev-list", "--count", "main..task/t1") == "1"
        assert world.git("status", "--porcelain") == ""
        reported = {change["run"] for change in world.story().changes("run_reported")}
        assert may_repeat or reported == {run for run, _ in world.lives}
    except AssertionError as error:
        raise Lost(f"{error}\n{world.account()}") from None


# Faults -------------------------------------------------------------------------------------------


def count() -> int:
    """Return how many changes of the world the daemon makes in a run that nobody disturbs."""
    with a_world() as world:
        begin(world)
        counted = world.root / "count"
        world.daemon(sys.executable, str(KILLER), "KILL", "0", str(counted))
        end(world)
        world.stop_daemon()
        world.until(counted.exists)
        return int(counted.read_text())


def daemon_killed(*moments: int, by: str = "KILL") -> list[bool]:
    """Signal the daemon at its Nth change, the one that is started then at its Mth, and so on; then let one be.

    Returns which of them it ended: the task may be complete before.
    """
    with a_world() as world:
        begin(world)
        killed = [_ended_early(world, sys.executable, str(KILLER), by, str(moment)) for moment in moments]
        world.daemon()
        end(world)
        return killed


def daemon_killed_by_strace(call: str, number: int) -> bool:
    """Kill the daemon in its Nth system call of a kind, by threads; its children are not traced.

    Returns whether it was killed.
    """
    with a_world() as world:
        begin(world)
        trace = ["strace", "-f", "-b", "execve", "-o", "/dev/null", "-e", f"trace={call}"]
        trace += ["-e", f"inject={call}:signal=KILL:when={number}"]
        killed = _ended_early(world, *trace, sys.executable, "-P", "-m", "orchestrator.daemon")
        world.daemon()
        end(world)
        return killed


def _ended_early(world: World, *command: str) -> bool:
    """Run a daemon until it is killed, or stop it when the task is complete; return whether it was killed."""
    daemon = world.launched(*command)
    world.until(lambda: daemon.poll() is not None or world.stands() == "complete")
    killed = daemon.poll() is not None
    if not killed:
        with suppress(ProcessLookupError):
            os.kill(world.pid or daemon.pid, signal.SIGTERM)
    world.until(lambda: daemon.poll() is not None and not world.pid)
    return killed


def tmux_killed(*moments: int) -> None:
    """Kill the tmux server once that many agents had begun, each time."""
    with a_world() as world:
        begin(world)
        world.daemon()
        for moment in moments:
            world.until(partial(_got, world, moment))
            with suppress(subprocess.CalledProcessError):  # there was none just then
                world.tmux.tmux("kill-server")
        end(world, may_repeat=True)


def _got(world: World, lives: int) -> bool:
    return len(world.lives) >= lives or world.stands() == "complete"


def everything_killed(moment: int) -> None:
    """Kill daemon and tmux server at once, as a reboot would, once that many agents had begun."""
    with a_world() as world:
        begin(world)
        world.daemon()
        world.until(lambda: len(world.lives) >= moment)
        world.kill_daemon()
        world.tmux.kill()
        world.check_nobody_is_left()
        world.daemon()
        end(world, may_repeat=True)


def task_stopped(moment: int) -> None:
    """Stop the task once that many agents had begun, and start it again."""
    with a_world() as world:
        begin(world)
        world.daemon()
        world.until(lambda: len(world.lives) >= moment)
        world.ask("stop")
        world.until(lambda: world.stands() in {"stopped", "complete"})
        world.check_nobody_is_left()
        world.ask("start", project=str(world.project), name="t1")
        end(world, may_repeat=True)


# The table ----------------------------------------------------------------------------------------


@dataclass
class Row:
    """How often a fault was tried, and what came of it."""

    fault: str
    tries: int = 0
    lost: int = 0
    doubled: int = 0
    stuck: int = 0
    stories: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.fault:44} {self.tries:6} {self.lost:6} {self.doubled:8} {self.stuck:6}"


def faults(stride: int) -> Iterator[tuple[str, list[Callable[[], object]]]]:
    """Yield each fault with all its tries."""
    moments = range(1, count() + 1, stride)
    yield "daemon killed at a change", [partial(daemon_killed, n) for n in moments]
    yield "daemon killed, and again in recovery", [partial(daemon_killed, n, 1 + n * 7 % 60) for n in moments]
    yield "daemon told to end at a change", [partial(daemon_killed, n, by="TERM") for n in moments]
    lives = range(1, len(LIVES) + 1)
    yield "task stopped and started again", [partial(task_stopped, n) for n in lives]
    yield "tmux server killed", [partial(tmux_killed, n) for n in lives]
    yield "tmux server killed twice", [partial(tmux_killed, n, n + 1) for n in lives]
    yield "daemon and tmux server killed", [partial(everything_killed, n) for n in lives]
    if shutil.which("strace"):
        for call in SYSCALLS:
            numbers = range(1, STRACED, stride)
            yield f"daemon killed in {call}()", [partial(daemon_killed_by_strace, call, n) for n in numbers]


def tried(fault: str, tries: Iterable[Callable[[], object]], at_once: int) -> Row:
    """Try a fault in all ways and return what came of it."""
    row = Row(fault)

    def one(way: Callable[[], object]) -> None:
        row.tries += 1
        try:
            way()
        except AssertionError as error:
            row.lost += isinstance(error, Lost)
            row.doubled += isinstance(error, Doubled)
            row.stuck += not isinstance(error, Lost | Doubled)
            row.stories.append(str(error))

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, tries))
    return row


def say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--stride", type=int, default=1, help="take each Nth moment only (default: all)")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1, help="how many runs at once")
    parser.add_argument("--stories", action="store_true", help="tell the whole story of each failure")
    options = parser.parse_args()
    began, failed = time.monotonic(), 0
    say(f"{'fault':44} {'tries':>6} {'lost':>6} {'doubled':>8} {'stuck':>6}")
    for fault, tries in faults(options.stride):
        row = tried(fault, tries, options.at_once)
        say(row)
        failed += len(row.stories)
        for story in row.stories if options.stories else ():
            say(story)
    say(f"\n{time.monotonic() - began:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
