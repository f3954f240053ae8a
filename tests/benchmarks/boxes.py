"""Agents on a box: what a handoff takes from there to its decision here, a spawn there, rest, and what a cut leaves."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from orchestrator import layout
from orchestrator.daemon.boxes.ssh_boxes import KeptBoxes
from orchestrator.formats.handoff import handoff_name
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.pull import Mirror
from orchestrator.hosts.ssh.remote_paths import RemotePaths
from orchestrator.hosts.ssh.sync import LocalPaths, TaskSync
from orchestrator.hosts.tmux import Tmux
from orchestrator.model.boxes import Address
from orchestrator.ports.boxes import RemoteTask
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.far import NAME, Far, far
from tests.benchmarks.handoff import report
from tests.benchmarks.idle import pid_of, processor_seconds, resident
from tests.benchmarks.journal import JournalTail
from tests.benchmarks.marks import Marks
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.waiting import until
from tests.benchmarks.world import Begun, brief
from tests.remote.pulling import pull

SETTINGS = {"limits__max_concurrent_runs": 1000}
OWN = 100.0
"""Milliseconds that a handoff may take from a box beside the round trips that it needs."""

TRIPS = 3
"""Those: that it is there, what it is, and whether it is whole."""

GAPS = (0.15, 0.4)
"""Seconds between two handoffs: by then the daemon has written what others read, and the keeper rests."""

WINDOW = 33
"""Seconds in which what rests is measured: a rescan is among them, and six signs of life of the channel."""

ENDED = 200
"""Milliseconds until the end of an agent on a box is journaled here, on a quiet machine."""

FEW, MANY = 10, 10_000
STALL = 50
"""Milliseconds that a box may hold up a request about a task on this machine."""

NEWS, HANDOFFS = 1_000, 100
"""Files that appear on a box while the cable is out; so many of them are handoffs."""


def rows(bench: Bench) -> Iterator[Row]:
    with far(**SETTINGS) as world:
        yield from handoffs(bench, world)
        yield from spawns(bench, world)
    with far(**SETTINGS) as world:
        yield from resting(bench, world)
    with far(**SETTINGS) as world:
        yield from syncs(bench, world)
        yield from cuts(bench, world)
    with far(**SETTINGS) as world:
        yield from stalls(bench, world)


def handoffs(bench: Bench, world: Far) -> Iterator[Row]:
    measured, floor = list[float](), list[float]()
    task = world.begin("handoffs")
    run = world.developer(task)
    with task.tail() as journal:
        begin = time.time()
        for number in bench.times(120, "handoffs"):
            floor.append(world.true())
            time.sleep(random.uniform(*GAPS))
            journal.skip()
            name = handoff_name("dev", begin + number)
            renamed = lay_down(world, task, name, report(run, number, begin + number))
            measured.append((landed(journal, name) - renamed) / 1e6)
    yield Row(
        "handoff in place on a box → decided and journaled here",
        "ms",
        measured,
        floor,
        "`ssh box true` over the shared connection",
        Reach(Of.P99, round(OWN + TRIPS * median(floor))),
        f"reach: {OWN:g} ms and {TRIPS} round trips",
    )


def lay_down(world: Far, task: Begun, name: str, data: bytes) -> int:
    """Rename a handoff into place there; return when, in nanoseconds since the epoch."""
    folder = world.there(task)
    outside = folder / "scratchpad" / "new.md"
    outside.write_bytes(data)
    renamed = time.time_ns()
    outside.rename(layout.handoffs(folder) / name)
    return renamed


def landed(journal: JournalTail, name: str) -> int:
    """Return when the journal had the line of a handoff."""
    while True:
        line = journal.next()
        if line.fact["kind"] == "report_landed":
            if line.fact["name"] != name:
                raise RuntimeError(f"{name} was renamed into place, and {line.fact['name']} came")
            return line.seen


def spawns(bench: Bench, world: Far) -> Iterator[Row]:
    marks = Marks(world.world.root / "marks")
    there = world.begin("spawns", marks.command, place=world.cloned("spawns"))
    here = world.world.start_task("here", brief({"dev": marks.command}, "worktree"))
    far_ones, near, floor = list[Life](), list[Life](), list[float]()
    with there.tail() as far_journal, here.tail() as near_journal:
        lived(there, far_journal, marks)  # the first one makes the folders there
        for _ in bench.times(40, "spawns"):
            floor.append(world.true())
            near.append(lived(here, near_journal, marks))
            far_ones.append(lived(there, far_journal, marks))
    yield Row(
        "decided → the agent runs on a box",
        "ms",
        [life.begun for life in far_ones],
        [life.begun for life in near],
        "the same here, in a worktree",
        Reach(Of.MEDIAN, 1000),
    )
    yield Row(
        "agent's exit on a box → journaled with its status",
        "ms",
        [life.ended for life in far_ones],
        floor,
        "`ssh box true` over the shared connection",
        Reach(Of.P99, ENDED),
    )


@dataclass(frozen=True)
class Life:
    """Milliseconds from the decision until an agent runs, and from its last word until its exit is journaled."""

    begun: float
    ended: float


def lived(task: Begun, journal: JournalTail, marks: Marks) -> Life:
    """Have an agent begun and see it to its end."""
    journal.skip()
    task.ask("spawn", agent="dev", instructions="Rest.")
    while not (line := journal.next()).launched:
        pass
    (run,) = line.launched
    begun = marks.begun(run)
    marks.give_turn()
    while (gone := journal.next()).fact["kind"] != "run_gone":
        pass
    return Life((begun - line.seen) / 1e6, (gone.seen - marks.ended(run)) / 1e6)


def resting(bench: Bench, world: Far) -> Iterator[Row]:
    for number in range(bench.agents):
        bench.progress.show(f"{number} of {bench.agents} agents")
        name = f"rest-{number}"
        world.developer(world.begin(name, place=world.cloned(name)))
    for second in range(5):  # what the beginning left to do
        bench.progress.show(f"settling, {second + 1} of 5 s")
        time.sleep(1)
    daemon = pid_of(world.world)
    here, there = world.processes()
    groups = {"daemon": [daemon], "ssh and windows here": here, "sshd, tmux and launchers there": there}
    began, spent = time.monotonic(), {who: processor(pids) for who, pids in groups.items()}
    for second in range(WINDOW):
        bench.progress.show(f"{second + 1} of {WINDOW} s")
        time.sleep(1)
    reaches = {"daemon": Reach(Of.MEDIAN, 0.5)}
    what = f"{bench.agents} agents at rest on a box"
    for who, pids in groups.items():
        share = 100 * (processor(pids) - spent[who]) / (time.monotonic() - began)
        yield Row(
            f"{what}: {who}", "% of a core", [share], reach=reaches.get(who), note=f"{len(pids)} processes"
        )
    yield Row(f"{what}: daemon", "MB", [resident(daemon)], reach=Reach(Of.MEDIAN, 80))
    yield Row(f"{what}: connections made", "", [world.box.logins()], reach=Reach(Of.MEDIAN, 1))


def processor(pids: list[int]) -> float:
    """Return the processor time that processes have used so far, in seconds; what has ended has used none."""
    used = 0.0
    for pid in pids:
        try:
            used += processor_seconds(pid)
        except OSError:
            continue
    return used


def syncs(bench: Bench, world: Far) -> Iterator[Row]:
    """Measure a pull that finds nothing new, of few files and of many, beside rsync alone."""
    with OwnLink(world) as link:
        few, many = (Synced(world, link, count) for count in (FEW, MANY))
        idle: dict[int, list[float]] = {FEW: [], MANY: []}
        raw: dict[int, list[float]] = {FEW: [], MANY: []}
        for _ in bench.times(20, "idle syncs"):
            for each in (few, many):
                raw[each.count].append(each.floor())
                idle[each.count].append(each.pull())
    for count in (FEW, MANY):
        yield Row(f"idle sync of {count} files", "ms", idle[count], raw[count], "rsync of the same, alone")
    yield Row(
        f"idle sync of {MANY} files",
        "ms",
        idle[MANY],
        idle[FEW],
        f"the same of {FEW}",
        Reach(Of.RATIO, 2),
    )


class OwnLink(Link):
    """A connection of the benchmark's own."""

    def __init__(self, world: Far) -> None:
        folder = world.user.folder / "s"
        super().__init__(Address(NAME), folder, os.environ, config=world.user.config, connect=60)

    def __enter__(self) -> Link:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Synced:
    """A task with so many artifacts on the box, all of which are here."""

    def __init__(self, world: Far, link: Link, count: int) -> None:
        self.count = count
        name = f"idle-{count}"
        there = RemotePaths(f"{name}-0123abcd", name, str(world.repo), str(world.box.home / "own"))
        home = world.user.folder / name
        here = LocalPaths(home / "task", home / "home", home / "mirror")
        here.folder.mkdir(parents=True)
        self._sync = TaskSync(link, DiskFiles(), there, here, os.environ)
        self._sync.prepare()
        for number in range(count):
            (Path(there.shared) / "artifacts" / f"{number:05}.md").write_text("done\n")
        while pull(self._sync, ["r-1"]).more:
            pass
        self._raw = Mirror(link, home / "raw", os.environ)
        self._source = f"{there.shared}/./artifacts"
        self._raw.bring([self._source])

    def floor(self) -> float:
        watch = Stopwatch()
        self._raw.bring([self._source])
        return watch.ms

    def pull(self) -> float:
        watch = Stopwatch()
        pulled = pull(self._sync, ["r-1"])
        if pulled.ended or pulled.brought:
            raise RuntimeError(f"a pull that should find nothing: {pulled}")
        return watch.ms


def cuts(bench: Bench, world: Far) -> Iterator[Row]:
    task = world.begin("cuts")
    run = world.developer(task)
    back, all_here = list[float](), list[float]()
    for number in bench.times(3, "cuts"):
        with task.tail() as journal:
            prefix = f"cut-{number}"
            with world.box.cut():
                wait_for_fact(journal, "box_lost")
                names = appear(world, task, run, number, prefix)
            watch = Stopwatch()
            wait_for_fact(journal, "box_back")
            back.append(watch.ms / 1000)
            watch, left = Stopwatch(), set(names)
            while left:
                line = journal.next()
                if line.fact["kind"] == "report_landed":
                    left.remove(line.fact["name"])
            until(partial(all_came, task, prefix), "the artifacts")
            all_here.append(watch.ms / 1000)
    yield Row("cable back → the box is reached", "s", back, note="pauses grow to a minute; a short cut")
    yield Row(
        f"box reached → {NEWS} new files are here, {HANDOFFS} of them handoffs, each decided once",
        "s",
        all_here,
        reach=Reach(Of.MEDIAN, 5),
    )


def appear(world: Far, task: Begun, run: str, number: int, prefix: str) -> list[str]:
    """Let files appear on the box; return the names of the handoffs."""
    folder = world.there(task)
    for which in range(NEWS - HANDOFFS):
        (layout.artifacts(folder) / "code" / f"{prefix}-{which:04}.md").write_text(f"{which}\n" * 100)
    names, begin = list[str](), time.time() + number * HANDOFFS
    for which in range(HANDOFFS):
        names.append(handoff_name("dev", begin + which))
        lay_down(world, task, names[-1], report(run, which, begin + which))
    return names


def all_came(task: Begun, prefix: str) -> bool:
    return len(list((layout.artifacts(task.folder) / "code").glob(f"{prefix}-*"))) == NEWS - HANDOFFS


def wait_for_fact(journal: JournalTail, kind: str) -> None:
    while journal.next().fact["kind"] != kind:
        pass


def stalls(bench: Bench, world: Far) -> Iterator[Row]:
    """Measure requests about a local task, each of which has three boxes called again whose ssh hangs."""
    near = world.world.start_task("near", brief({"dev": "sleep 3600"}, "worktree"))
    lost = [world.box, world.more("beta"), world.more("gamma")]
    for box in lost:
        world.developer(world.begin(f"far-{box.name}", box=box.name, place=box.home / "repo"))

    def ask() -> float:
        watch = Stopwatch()
        near.ask("checkin")
        return watch.ms

    floor = [ask() for _ in bench.times(100, "requests")]
    flag = world.hang()
    for box in lost:
        box.kill_sessions()
    until(lambda: any(flag.parent.glob(f"{flag.name}.*")), "an ssh that hangs", world.world.complaint)
    answered = [ask() for _ in bench.times(100, "requests while boxes hang")]
    yield Row(
        "request about a local task answered while three boxes are connected to",
        "ms",
        answered,
        floor,
        "the same while they answer",
        Reach(Of.RATIO, 2),
    )
    yield Row(
        "what the loop asks of three boxes in a turn while they are connected to",
        "ms",
        list(turns(bench, world, [box.name for box in lost])),
        reach=Reach(Of.P99, STALL),
        note="reach: no turn longer",
    )
    flag.unlink()


def turns(bench: Bench, world: Far, names: list[str]) -> Iterator[float]:
    """Yield the milliseconds of turns of a loop of our own: each notes runs on boxes, and has them called again."""
    home = world.user.folder / "turns"
    boxes = KeptBoxes(home, DiskFiles(home), world.world.environ, lambda _: None, Tmux("turns", {}))
    try:
        for number in bench.times(200, "turns"):
            runs = frozenset({f"r-{number}"})
            watch = Stopwatch()
            for name in names:
                there = RemoteTask(name, f"t-{name}", name, home / name, home / name, "/repo", runs)
                boxes.keep(there.task, (there,))
                boxes.belief(name, there.task)
            boxes.call_again()
            yield watch.ms
            time.sleep(0.02)
    finally:
        boxes.close(5.0)
