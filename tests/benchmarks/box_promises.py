"""What is promised of boxes in absolute numbers: nothing is left there, nothing comes beyond its limit."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from orchestrator import layout
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.ssh.bounds import Bounds
from orchestrator.hosts.ssh.remote_paths import RemotePaths
from orchestrator.hosts.ssh.sync import LocalPaths, TaskSync
from orchestrator.model.errors import Unavailable
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.boxes import SETTINGS, OwnLink
from tests.benchmarks.far import Far, far
from tests.benchmarks.journal import JournalTail
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.waiting import TooLong, until
from tests.benchmarks.world import Begun

AT_ONCE = 20
"""Artifacts that a run leaves when it exits; no report names them."""

AGENT = f"""#!/bin/sh
for each in $(seq {AT_ONCE}); do echo "$each" >"$ORCHESTRATOR_ARTIFACTS/$ORCHESTRATOR_RUN-$each"; done
echo the last word
"""

LIMIT = 4_000_000
"""Bytes that may come in all of what a box has without end."""

KINDS = {"handoffs": "handoffs/dev-20251127-{:06}.md", "artifacts": "artifacts/code/{:06}", "logs": ""}


def rows(bench: Bench) -> Iterator[Row]:
    with far(**SETTINGS) as world:
        yield from exits(bench, world)
        yield from beyond(bench, world)


def exits(bench: Bench, world: Far) -> Iterator[Row]:
    """Measure runs that exit as soon as they have written; then the task is stopped."""
    agent = world.box.home / "agent"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    task = world.begin("exits", str(agent), place=world.cloned("exits"))
    missing, after, floor = list[float](), list[float](), list[float]()
    with task.tail() as journal:
        lived(task, journal)  # the first one makes the connection, and the folders there
        for _ in bench.times(100, "exits"):
            floor.append(world.true())
            run = lived(task, journal)
            watch = Stopwatch()
            try:
                until(lambda run=run: not left(task, run), "what a run left on the box")  # type: ignore[misc]
            except TooLong:
                missing.append(left(task, run))
            else:
                after.append(watch.ms)
                missing.append(0)
    note = f"of {len(missing)} runs, each with {AT_ONCE} artifacts that no report names, and a terminal log"
    yield Row(
        "files that are not here of runs that exit at once",
        "",
        [sum(missing)],
        reach=Reach(Of.MEDIAN, 0),
        note=note,
    )
    if after:
        yield Row("exit journaled → all that the run left is here", "ms", after, floor, "`ssh box true`")
    task.ask("stop")
    until(lambda: task.rests, "the end of the task", world.world.complaint)
    watch = Stopwatch()
    until(lambda: not windows(world), "the end of its windows", world.world.complaint)
    yield Row(
        "windows of an ended task on its box", "", [len(windows(world))], note=f"after {watch.ms:.0f} ms"
    )


def lived(task: Begun, journal: JournalTail) -> str:
    """Have an agent begin and see it to its end; return its run."""
    journal.skip()
    task.ask("spawn", agent="dev", instructions="Rest.")
    while not (line := journal.next()).launched:
        pass
    (run,) = line.launched
    while journal.next().fact["kind"] != "run_gone":
        pass
    return run


def left(task: Begun, run: str) -> int:
    """Return how many files of a run are not here."""
    folder = layout.run_home(task.home, run)
    log = folder / "pane.log"
    here = len(list(layout.artifacts(task.folder).glob(f"*/{run}-*")))
    said = log.exists() and "the last word" in log.read_text(errors="replace")
    return AT_ONCE - here + (not said)


def windows(world: Far) -> list[str]:
    """Return the windows on the box that agents had."""
    socket = world.box.folder / "tmux" / f"tmux-{os.getuid()}" / "agent-orchestrator-box"
    argv = ["tmux", "-S", str(socket), "list-windows", "-a", "-F", "#{window_name}"]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.split()


def beyond(bench: Bench, world: Far) -> Iterator[Row]:
    """Measure what comes of a box that has far more of each kind than may come."""
    bounds = Bounds(
        total=LIMIT, size=LIMIT // 2, control=LIMIT // 2, control_total=LIMIT, logs=LIMIT, largest=LIMIT // 8
    )
    with OwnLink(world) as link:
        for kind, name in KINDS.items():
            bench.progress.show(f"{kind} without end")
            home = world.user.folder / f"beyond-{kind}"
            there = RemotePaths(f"{kind}-0123abcd", kind, str(world.repo), str(world.box.home / "own"))
            here = LocalPaths(home / "task", home / "home", home / "mirror")
            here.folder.mkdir(parents=True)
            sync = TaskSync(link, DiskFiles(), there, here, os.environ, bounds=bounds)
            sync.prepare()
            runs = [f"r-{number}" for number in range(40)] if kind == "logs" else ["r-1"]
            for number in range(40):
                path = (
                    Path(there.run(runs[number])) / "pane.log"
                    if kind == "logs"
                    else Path(there.shared) / name.format(number)
                )
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(os.urandom(LIMIT // 10))
            yield Row(
                f"bytes here of a box that has {kind} without end, beyond the limit",
                "",
                [max(0, most_brought(sync, runs, here) - LIMIT)],
                reach=Reach(Of.MEDIAN, 0),
                note=f"limit {LIMIT}; it has {4 * LIMIT}",
            )


def most_brought(sync: TaskSync, runs: list[str], here: LocalPaths) -> int:
    """Pull until nothing more comes; return the most bytes that were fetched at any time."""
    most, until_then = 0, time.monotonic() + 60
    while time.monotonic() < until_then:
        try:
            parts = [sync.pull_control(runs), sync.pull_bulk(runs)]
        except Unavailable:
            parts = []
        size = sum(
            path.lstat().st_size
            for name in ("tree", "tree.incoming", "tree.stage")
            for path in (here.mirror / name).rglob("*")
            if path.is_file()
        )
        most = max(most, size)
        if not any(part.more for part in parts):
            break
    return most
