"""One small task run to its end while something is killed in it, or fails, at any chosen moment."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from tests.chaos.killer import MARK
from tests.chaos.trial import Doubled, Lost, Skipped, Stuck, Way
from tests.integration.daemon.world import World, a_world

KILLER = Path(__file__).with_name("killer.py")
TURNS = {"test:greet": [{"verdict": "REJECTED", "say": "The greeting is rude."}]}
LIVES = ["explore", "plan", "dev:greet", "test:greet", "dev:greet", "test:greet", "review:greet", "accept"]
SYSCALLS = ("write", "rename", "fsync", "link", "unlink", "mkdir")
STRACED = 60  # that many calls of each kind are swept: strace counts by thread
ERRORS = ("ENOSPC", "EIO", "EMFILE", "ENOSPC*40")


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
        assert world.git("show", "task/t1:pkg/greet.py").startswith("NAME = 'greet'")
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
    """Hit the daemon at its Nth change, the one that is started then at its Mth, and so on; then let one be.

    Returns which of them it ended: the task may be complete before.
    """
    with a_world() as world:
        begin(world)
        killed = [_ended_early(world, sys.executable, str(KILLER), by, str(moment)) for moment in moments]
        world.daemon()
        end(world)
        return killed


def call_failed(moment: int, error: str) -> bool:
    """Let the daemon's Nth change fail. It lives on or ends; in either case it says so, and all comes out well.

    Returns whether that change was ever reached: the task may be complete before.

    Agents may be started again by other runs: a launch that fails for want of room is tried again. What was put off is
    tried again at the next rescan, so these come often.
    """
    with a_world(daemon__rescan="500 ms", daemon__heartbeat_interval="100 ms") as world:
        begin(world)
        _ended_early(world, sys.executable, str(KILLER), error, str(moment))
        log = world.log
        world.daemon()
        end(world, may_repeat=True)
        assert "this should not happen" not in log, log
        return MARK.decode() in log


def daemon_killed_by_strace(call: str, number: int) -> bool:
    """Kill the daemon in its Nth system call of a kind, by threads; its children are not traced.

    Returns whether it was killed.
    """
    if not shutil.which("strace"):
        raise Skipped("there is no strace here")
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


def kills(stride: int) -> Iterator[tuple[str, list[Way]]]:
    """Yield each kind of kill with all its tries: at each `stride`th moment."""
    moments = range(1, count() + 1, stride)
    yield "daemon killed at a change", [partial(daemon_killed, n) for n in moments]
    yield "daemon killed, and again in recovery", [partial(daemon_killed, n, 1 + n * 7 % 60) for n in moments]
    yield "daemon told to end at a change", [partial(daemon_killed, n, by="TERM") for n in moments]
    yield "daemon told to end twice", [partial(daemon_killed, n, by="TERM*2") for n in moments]
    for error in ERRORS:
        yield f"a change fails: {error}", [partial(call_failed, n, error) for n in moments]
    for call in SYSCALLS:
        numbers = range(1, STRACED, stride)
        yield f"daemon killed in {call}()", [partial(daemon_killed_by_strace, call, n) for n in numbers]
    lives = range(1, len(LIVES) + 1, 1 + stride // 20)
    yield "task stopped and started again", [partial(task_stopped, n) for n in lives]
    yield "tmux server killed", [partial(tmux_killed, n) for n in lives]
    yield "tmux server killed twice", [partial(tmux_killed, n, n + 1) for n in lives]
    yield "daemon and tmux server killed", [partial(everything_killed, n) for n in lives]
