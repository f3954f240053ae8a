"""A check-in with no news: what it takes the daemon, and what `task checkin` has to wait for."""

from __future__ import annotations

import secrets
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from orchestrator import layout
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.task_paths import Adapters as DaemonsWorld
from orchestrator.daemon.task import Task
from orchestrator.formats.settings import load_settings
from orchestrator.hosts.clock import SystemClock
from orchestrator.hosts.disk import DiskFiles
from orchestrator.workspaces.git import GitWorkspaces
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.floors import LISTENER_IS, listening
from tests.benchmarks.resting import SETTINGS, rest
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.world import World


def rows(bench: Bench) -> Iterator[Row]:
    asked, floor = list[float](), list[float]()
    with World(**SETTINGS) as world, listening(world.root / "floor") as listener:
        bench.progress.show(f"{bench.agents} agents begin")
        task = rest(world, bench.agents)
        for _ in range(2):  # the first one takes note of what the agents' beginning left
            task.ask("checkin")
        before = written(task.home)
        for number in bench.times(50, "asked for"):
            floor.append(listener.once(number, b"a request"))
            watch = Stopwatch()
            task.ask("checkin")
            asked.append(watch.ms)
        world.stop_daemon()
        itself, processor = heartbeats(bench, world, task.home)
        grown = written(task.home) - before
    who = f"{bench.agents} agents at rest"
    said = f"of the processor {statistics.median(processor):.2f} ms"
    yield Row(f"check-in with no news, {who}", "ms", itself, reach=Reach(Of.MEDIAN, 5), note=said)
    yield Row(f"asked for, until the reply is there, {who}", "ms", asked, floor, LISTENER_IS)
    yield Row("appended by all these check-ins", "bytes", [grown], reach=Reach(Of.MEDIAN, 0))


def heartbeats(bench: Bench, world: World, home: Path) -> tuple[list[float], list[float]]:
    """Be the daemon, and return what each heartbeat takes the thread that decides: by the clock, of the processor."""
    taken, processor, executor = list[float](), list[float](), Later()
    with closing(Task(context(world, executor), home)) as task:
        task.recover()
        for _ in bench.times(50, "heartbeats"):
            executor.finish()
            watch, spent = Stopwatch(), time.thread_time()
            task.check_in()
            taken.append(watch.ms)
            processor.append((time.thread_time() - spent) * 1000)
    return taken, processor


class Later:
    """Hands that work between two measurements: in the daemon they are threads, which nothing waits for."""

    def __init__(self) -> None:
        self._work = list[Callable[[], None]]()

    def do(self, key: str, work: Callable[[], None]) -> None:
        self._work.append(work)

    def finish(self) -> None:
        while self._work:
            self._work.pop(0)()

    def close(self) -> None:
        self._work.clear()


def context(world: World, executor: Later) -> Context:
    """Return what a daemon has in this world, whose task needs nobody else's."""
    settings = load_settings(Path(layout.config_file(world.environ)), world.environ)
    workspaces = GitWorkspaces(environ=world.environ)
    return Context(
        adapters=DaemonsWorld(DiskFiles(), world.host, workspaces, settings, world.environ),
        clock=SystemClock(),
        executor=executor,
        scribe_executor=executor,
        nonce=lambda: secrets.token_hex(8),
        post=lambda _hint: None,
        state_folder=world.state,
        leases=list,
    )


def written(home: Path) -> int:
    """Return how many bytes the journal and the log of a task have."""
    files = [*layout.task_journal(home).iterdir(), layout.task_log(home)]
    return sum(path.stat().st_size for path in files)
