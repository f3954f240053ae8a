"""One small task whose developer lives on a box, while what is said to the box fails at any chosen moment.

Every word to a box is said by a program `ssh`. Here that is one of ours, which counts how often it is started; at
the Nth time something happens, ahead of it or as soon as it runs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from tests.chaos.trial import Doubled, Lost, Skipped, Stuck, Way
from tests.integration.daemon.world import World, a_world, environ_of
from tests.remote.boxes import MISSING, Box, boxes
from tests.remote.furnished import COMMIT, ONE_EACH, cwd, furnished

FROZEN: Final = 12.0
"""Seconds for which an sshd stands still: longer than it takes until it is taken for unreachable."""

PATIENCE: Final = 90.0
"""Seconds until a try is stuck: a box that was lost is called again after pauses that grow."""

# Numbers are taken by making a folder, so that no two calls have the same one.
_COUNTED: Final = """\
number=$(ls "{calls}" | wc -l)
while ! mkdir "{calls}/$((number += 1))" 2>/dev/null; do :; done
if [ "$number" -eq {at} ]; then
    mkdir "{calls}.due"
    while {ahead} && [ ! -e "{calls}.done" ]; do sleep 0.01; done
fi
"""


@dataclass(frozen=True)
class Distance:
    """A world, a box, and the calls of `ssh`; `happens` at the call that was chosen."""

    world: World
    box: Box
    calls: Path

    def made(self) -> int:
        """Return how many calls there were."""
        return len(list(self.calls.iterdir()))

    def watch(self, happens: Callable[[], object]) -> None:
        """Wait until the call is due, and let it happen; the call itself waits for that, if it comes ahead of it."""
        due, done = (self.calls.with_suffix(ending) for ending in (".due", ".done"))
        while not due.exists() and self.world.stands() != "complete" and self.world.root.exists():
            time.sleep(0.002)
        if due.exists():
            happens()
            done.touch()


@contextmanager
def at_a_distance(at: int = 0, *, ahead: bool = True) -> Iterator[Distance]:
    """Have a world with a box, and a task that is asked for; no daemon yet. Raises Skipped."""
    if MISSING:
        raise Skipped(f"there is no {' and no '.join(MISSING)} here")
    with boxes() as user, a_world() as world:
        calls = world.root / "calls"
        calls.mkdir()
        counted = _COUNTED.format(calls=calls, at=at, ahead="true" if ahead else "false")
        world.environ["PATH"] = f"{user.front(world.root / 'bin', counted)}:{world.environ['PATH']}"
        box = furnished(user, world, "alpha")
        world.let({"dev:greet": [COMMIT]})
        folder = world.brief("t1", cwd(box), "bring: branch")
        for name in ("handoffs", "scratchpad", "artifacts"):
            (folder / name).mkdir(exist_ok=True)
        with (world.project / ".git" / "info" / "exclude").open("a") as exclude:
            exclude.write("/tasks/t1/\n")
        world.ask("start", project=str(world.project), name="t1")
        yield Distance(world, box, calls)


def count() -> int:
    """Return how many calls there are in a run that nobody disturbs."""
    with at_a_distance() as far:
        far.world.daemon()
        end(far)
        return far.made()


def end(far: Distance) -> None:
    """See the task through and check that it came out as if nothing had happened."""
    world = far.world
    try:
        world.until(lambda: world.stands() == "complete", within=PATIENCE)
    except AssertionError as error:
        raise Stuck(error) from None
    try:
        world.check_once()
        assert [step for _, step in world.lives] == ONE_EACH, world.lives
        world.until(lambda: not _agents(far.box))
    except AssertionError as error:
        raise Doubled(f"{error}\n{world.account()}") from None
    try:
        assert set(world.steps().values()) == {"passed"}, world.steps()
        assert world.git("show", "task/t1:pkg/greet.py").startswith("NAME = 'greet'")
        head = world.git("rev-parse", "HEAD", project=far.box.home / "repo")
        assert world.git("rev-parse", "task/t1") == head
        assert world.git("rev-list", "--count", "main..task/t1") == "1"
        assert world.git("status", "--porcelain") == ""
        assert (world.project / "tasks/t1/artifacts/code/dev-greet.md").read_text().startswith("exit 0")
        assert {change["run"] for change in world.story().changes("run_reported")} == {
            run for run, _ in world.lives
        }
        assert "this should not happen" not in world.log
    except (AssertionError, OSError) as error:
        raise Lost(f"{error}\n{world.account()}") from None


def _agents(box: Box) -> list[int]:
    """Return the processes of agents and launchers on a box."""
    mark = f"TMUX_TMPDIR={box.folder}/tmux".encode()
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [pid for pid in pids if mark in (environ := environ_of(pid)) and b"ORCHESTRATOR_RUN=" in environ]


# What happens -------------------------------------------------------------------------------------


def disturbed(at: int, what: Callable[[Distance], object], *, ahead: bool = True) -> bool:
    """Let something happen at the Nth call; return whether it ever came to that."""
    with at_a_distance(at, ahead=ahead) as far:
        hand = threading.Thread(target=far.watch, args=[partial(what, far)])
        hand.start()
        try:
            far.world.daemon()
            end(far)
        finally:
            hand.join()
        return far.calls.with_suffix(".due").exists()


def sessions_killed(far: Distance) -> None:
    far.box.kill_sessions()


def cable_out(far: Distance) -> None:
    with far.box.cut():
        time.sleep(FROZEN)


def sshd_frozen(far: Distance) -> None:
    with far.box.frozen():
        time.sleep(FROZEN)


def daemon_killed(far: Distance) -> None:
    far.world.kill_daemon()
    far.world.daemon()


def far_kills(stride: int) -> Iterator[tuple[str, list[Way]]]:
    """Yield each kind of trouble on the way to a box with all its tries: at each `stride`th call."""
    moments = range(1, count() + 1, stride)
    kinds = {
        "sessions of a box killed": sessions_killed,
        "cable of a box out": cable_out,
        "sshd of a box frozen": sshd_frozen,
        "daemon with a box killed": daemon_killed,
    }
    for name, what in kinds.items():
        yield f"{name} ahead of a call", [partial(_counted, n, what, ahead=True) for n in moments]
        yield f"{name} under a call", [partial(_counted, n, what, ahead=False) for n in moments]


def _counted(at: int, what: Callable[[Distance], object], *, ahead: bool) -> None:
    """Try it, and let it not count where the task was complete before. Raises Skipped."""
    if not disturbed(at, what, ahead=ahead):
        raise Skipped("the task was complete with fewer calls")
