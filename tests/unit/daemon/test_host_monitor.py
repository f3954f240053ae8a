"""A keeper asks, sends, brings and publishes in that order, whatever one task of its box is up to."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any, cast

import pytest

from orchestrator import layout
from orchestrator.daemon.boxes.change_queue import AT_ONCE, LATEST, ChangeQueue
from orchestrator.daemon.boxes.host_monitor import HostMonitor, Ways
from orchestrator.daemon.boxes.transfers import AGAIN, PUT_OFF, SLICE
from orchestrator.daemon.core.hints import BoxHint, Hint, RunHint, SayHint
from orchestrator.hosts.ssh.channel import ChannelEvent, Part
from orchestrator.hosts.ssh.marks import Emptied
from orchestrator.hosts.ssh.publish import Pulled
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.run import Exit
from orchestrator.ports.box_link import Cut, NotLetIn, State, Unreachable, Way
from orchestrator.ports.boxes import RemoteTask, TransferKind
from orchestrator.ports.host import Observation, Standing
from orchestrator.testing.memory_files import MemoryFiles
from tests.polling import wait_until

BOX = "me@box"
ALIVE = Observation(Standing.ALIVE, 7, "%1", start="1@b")
GONE = Observation(Standing.GONE, 7, "%1", Exit(code=0))


def remote_task(task: str = "t-1", *runs: str) -> RemoteTask:
    return RemoteTask(
        BOX, task, task, Path(f"/pm/tasks/{task}"), Path(f"/p/tasks/{task}"), "/repo", frozenset(runs)
    )


@dataclass
class Link:
    """A way that is up."""

    calls: int = 0
    closed: bool = False
    stands: bool = False
    waits: float = 60.0

    def state(self) -> State:
        return State(Way.REACHABLE) if self.stands else State(Way.UNREACHABLE, 1_764_254_100.0, "no route")

    def patience(self) -> float:
        return 0.0 if self.stands else self.waits

    def again(self) -> None:
        self.calls += 1

    def close(self) -> None:
        self.closed = True

    def end(self) -> None:
        self.closed = True


@dataclass
class Sync:
    """One task's folders on the box. `trouble` is raised by the next pulls, `unprepared` as they are made ready."""

    remote_task: RemoteTask
    sent: list[tuple[str, str, bytes]] = field(default_factory=list)
    pulls: int = 0
    hauls: int = 0
    hauled: list[frozenset[str]] = field(default_factory=list)
    prepared: int = 0
    trouble: Exception | None = None
    unprepared: Exception | None = None
    control_pulled: Callable[[], Pulled] | None = None
    comes: Pulled = field(default_factory=Pulled)
    hauled_comes: Pulled = field(default_factory=Pulled)
    asked: int = 0
    gives_way: bool = False
    gave_way: int = 0
    goes_on: threading.Event = field(default_factory=threading.Event)
    may_haul: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.goes_on.set()
        self.may_haul.set()

    def prepare(self) -> None:
        self.prepared += 1
        if self.unprepared is not None:
            raise self.unprepared

    def send_answer(self, run: str, name: str, data: bytes) -> None:
        self.sent.append((run, name, data))

    def pull_control(self, runs: frozenset[str]) -> Pulled:
        self.goes_on.wait(20)
        self.pulls += 1
        if self.trouble is not None:
            raise self.trouble
        return self.control_pulled() if self.control_pulled else self.comes

    def pull_bulk(self, runs: frozenset[str], go_on: Callable[[], bool]) -> Pulled:
        self.asked += 1
        if self.gives_way:
            wait_until(lambda: self.may_haul.is_set() or not go_on(), within=20)
            if not go_on():
                self.gave_way += 1
                return Pulled(more=True, gave_way=True)
        self.may_haul.wait(20)
        self.hauls += 1
        self.hauled.append(runs)
        return self.hauled_comes


class Channel:
    """A standing channel that says what it is given, until it is broken."""

    def __init__(self) -> None:
        self.broken = threading.Event()
        self.closed = False
        self.floods = False
        self.says: SimpleQueue[ChannelEvent] = SimpleQueue()

    def read(self, timeout: float) -> frozenset[ChannelEvent]:
        if self.broken.wait(0.01):
            raise Cut("it was cut")
        return frozenset() if self.says.empty() else frozenset({self.says.get()})

    def close(self) -> None:
        self.closed = True


class Bench:
    """A keeper and the box that it keeps, all of it made up."""

    def __init__(self) -> None:
        self.files = MemoryFiles()
        self.link = Link()
        self.syncs: dict[str, Sync] = {}
        self.channels: list[Channel] = []
        self.hints: list[Hint] = []
        self.there: dict[str, Observation] = {}
        self.lost: Exception | None = None
        self.looks = 0
        ways = Ways(cast("Any", self.link), cast("Any", self), cast("Any", self.sync), self.channel)
        self.monitor = HostMonitor(BOX, ways, self.files, self.hints.append, lambda: None)

    def observe_all(self, folders: list[Path]) -> dict[Path, Observation]:
        self.looks += 1
        if self.lost is not None:
            raise self.lost
        return {folder: self.there[folder.name] for folder in folders if folder.name in self.there}

    def sync(self, remote_task: RemoteTask) -> Sync:
        return self.syncs.setdefault(remote_task.task, Sync(remote_task))

    def channel(self, remote_tasks: list[RemoteTask]) -> Channel:
        self.channels.append(Channel())
        return self.channels[-1]

    def seen(self, run: str, task: str = "t-1") -> Observation | None:
        sighting = self.monitor.seen(layout.run_home(Path(f"/pm/tasks/{task}"), run))
        return None if sighting is None else sighting.observation

    def said(self) -> list[str]:
        return [hint.text for hint in self.hints if isinstance(hint, SayHint)]

    def round(self) -> None:
        """Have a whole round made."""
        before = self.monitor.rounds
        self.monitor.hurry()
        wait_until(lambda: self.monitor.rounds > before)


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    for sync in made.syncs.values():
        sync.goes_on.set()
        sync.may_haul.set()
    made.monitor.close()
    assert made.monitor.ended(20)
    assert all(channel.closed for channel in made.channels)


def test_run_has_ended_only_after_its_files_are_here(bench: Bench) -> None:
    bench.there["r-1"] = ALIVE
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    wait_until(lambda: bench.seen("r-1") == ALIVE)
    sync = bench.syncs["t-1"]
    sync.goes_on.clear()
    bench.there["r-1"] = GONE
    pulls = sync.pulls
    bench.monitor.hurry()
    assert bench.seen("r-1") == ALIVE
    sync.goes_on.set()
    wait_until(lambda: bench.seen("r-1") == GONE)
    assert sync.pulls > pulls
    assert bench.hints.count(RunHint("t-1", "r-1")) == 2


def mark_of(bench: Bench, run: str) -> Path:
    """Mark a run as one of which not all was brought, as its launch does."""
    mark = layout.run_outstanding(layout.run_home(Path("/pm/tasks/t-1"), run))
    bench.files.make_folder(mark.parent)
    bench.files.write(mark, b"")
    return mark


def test_run_over_is_let_go_after_a_pull_begun_after_exit(bench: Bench) -> None:
    """Its exit is known, and the daemon says at once that the run is over, while artifacts are still to come."""
    mark = mark_of(bench, "r-1")
    bench.there["r-1"] = ALIVE
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    sync = bench.syncs["t-1"]
    assert bench.files.entry(mark) is not None, "it lives, and may leave more"
    sync.may_haul.clear()
    bench.there["r-1"] = GONE
    bench.monitor.hurry()
    wait_until(lambda: bench.seen("r-1") == GONE)
    bench.monitor.keep("t-1", (replace(remote_task("t-1"), over=frozenset({"r-1"})),))
    assert bench.files.entry(mark) is not None
    before = len(sync.hauled)
    sync.may_haul.set()
    wait_until(lambda: bench.files.entry(mark) is None)
    assert BoxHint("t-1") in bench.hints
    assert all(runs == {"r-1"} for runs in sync.hauled[before:])


@pytest.mark.parametrize("cut_short", [Pulled(more=True), Pulled(more=True, ended="rsync failed")])
def test_pull_that_is_not_whole_lets_go_of_no_run(bench: Bench, cut_short: Pulled) -> None:
    mark = mark_of(bench, "r-1")
    over = replace(remote_task("t-1"), over=frozenset({"r-1"}))
    bench.sync(over).hauled_comes = cut_short
    bench.monitor.keep("t-1", (over,))
    bench.round()
    sync = bench.syncs["t-1"]
    wait_until(lambda: sync.hauls >= 2)
    assert bench.files.entry(mark) is not None
    sync.hauled_comes = Pulled()
    wait_until(lambda: bench.files.entry(mark) is None)


def test_run_is_not_gone_while_its_report_awaits_a_folder(bench: Bench) -> None:
    bench.there["r-1"] = ALIVE
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    sync = bench.syncs["t-1"]
    sync.comes = Pulled(more=True, waits=True)
    bench.there["r-1"] = GONE
    bench.round()
    assert bench.seen("r-1") == ALIVE
    sync.comes = Pulled()
    wait_until(lambda: bench.seen("r-1") == GONE)


def test_failed_transfer_of_a_task_holds_up_no_other(bench: Bench) -> None:
    """It is reported once."""
    bench.there |= {"r-1": ALIVE, "r-2": ALIVE}
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.monitor.keep("t-2", (remote_task("t-2", "r-2"),))
    wait_until(lambda: bench.seen("r-2", "t-2") == ALIVE)
    bench.syncs["t-1"].trouble = Refused("the folder was emptied")
    bench.there |= {"r-1": GONE, "r-2": GONE}
    bench.round()
    bench.round()
    assert (bench.seen("r-1"), bench.seen("r-2", "t-2")) == (ALIVE, GONE)
    assert bench.said() == ["the folder was emptied"]
    bench.syncs["t-1"].trouble = None
    bench.round()
    assert bench.seen("r-1") == GONE
    assert len(bench.said()) == 2


def test_after_half_a_pull_its_run_is_not_gone(bench: Bench) -> None:
    """Our own folder there was emptied: handoffs come, but what tells of the end of a run may be missing (law 5)."""
    bench.there["r-1"] = ALIVE
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    wait_until(lambda: bench.seen("r-1") == ALIVE)
    bench.syncs["t-1"].comes = Pulled(ended="the folder was emptied")
    bench.there["r-1"] = GONE
    bench.round()
    bench.round()
    assert bench.seen("r-1") == ALIVE
    assert bench.said() == ["the folder was emptied"]
    bench.syncs["t-1"].comes = Pulled()
    bench.round()
    assert bench.seen("r-1") == GONE


def test_a_restart_brings_what_an_emptied_box_has_left(bench: Bench) -> None:
    """Its folders were made by the daemon before, so they are not made anew; what is left of them is still brought."""
    bench.syncs["t-1"] = sync = Sync(remote_task("t-1", "r-1"))
    sync.unprepared = Emptied("the folder was emptied")
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    assert sync.pulls > 0
    prepared = sync.prepared
    bench.round()
    assert sync.prepared > prepared


def test_a_box_where_all_was_brought_is_left_alone_for_its_time(bench: Bench) -> None:
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    assert bench.monitor._next - bench.monitor.steady() > AGAIN
    bench.syncs["t-1"].comes = Pulled(more=True)
    bench.round()
    assert bench.monitor._due - bench.monitor.steady() <= AGAIN


def test_lost_box_is_retried_on_request(
    bench: Bench,
) -> None:
    """It counts as lost by the clock."""
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    bench.lost = Unreachable("no route, for 0 min")
    bench.monitor.hurry()
    wait_until(lambda: bench.monitor.belief is not None and not bench.monitor.belief.reachable)
    belief = bench.monitor.belief
    assert belief is not None
    assert (belief.refused, belief.why.startswith(f"{BOX} is unreachable since ")) == (False, True)
    assert BoxHint("t-1") in bench.hints
    bench.lost = None
    bench.monitor.call_again()
    wait_until(lambda: bench.monitor.belief is not None and bench.monitor.belief.reachable)
    assert bench.link.calls == 1


def test_one_that_refuses_says_why_and_what_to_do(bench: Bench) -> None:
    bench.lost = NotLetIn("it shows another key: ask whoever runs it", State(Way.REFUSED))
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    wait_until(lambda: bench.monitor.belief is not None)
    assert bench.monitor.belief is not None
    assert bench.monitor.belief.refused
    assert bench.monitor.belief.why == "it shows another key: ask whoever runs it"


def test_each_answer_is_sent_once_and_anew_when_it_is_another(bench: Bench) -> None:
    answers = layout.run_answers(layout.run_home(Path("/pm/tasks/t-1"), "r-1"))
    bench.files.make_folder(answers)
    bench.files.write(answers / "r-1.5.6", b"yes")
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    bench.round()
    sync = bench.syncs["t-1"]
    assert sync.sent == [("r-1", "r-1.5.6", b"yes")]
    assert sync.prepared == 1


def test_a_task_that_comes_back_to_its_box_is_heeded_again(bench: Bench) -> None:
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    bench.monitor.keep("t-1", ())
    wait_until(lambda: bench.channels[0].closed)
    bench.monitor.keep("t-1", (remote_task("t-1", "r-2"),))
    wait_until(lambda: len(bench.channels) == 2)
    bench.round()
    assert [channel.closed for channel in bench.channels] == [True, False]


def test_ended_channel_leads_to_one_look(bench: Bench) -> None:
    """It is not opened again at once."""
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    before = bench.monitor.rounds
    bench.channels[0].broken.set()
    wait_until(lambda: bench.monitor.rounds > before)
    bench.round()
    assert len(bench.channels) == 1


def test_files_set_aside_or_refused_are_reported(bench: Bench) -> None:
    bench.sync(remote_task("t-1")).comes = Pulled(
        kept=(("artifacts/a", "artifacts/a.kept-1"),), refused=(("b", "a link"),)
    )
    bench.monitor.keep("t-1", (replace(remote_task("t-1"), runs=frozenset({"r-1"})),))
    bench.round()
    assert any("artifacts/a.kept-1" in text for text in bench.said())
    assert any("b was not fetched" in text and "a link" in text for text in bench.said())


@pytest.mark.parametrize(
    ("part", "done"),
    [
        (Part.HANDOFFS, (0, 1, 0, 0)),
        (Part.EVENTS, (0, 1, 0, 0)),
        (Part.ARTIFACTS, (0, 0, 1, 0)),
        (Part.RUNS, (1, 1, 1, 0)),
    ],
)
def test_only_what_a_channel_reports_is_looked_at(bench: Bench, part: Part, done: tuple[int, ...]) -> None:
    for task in ("t-1", "t-2"):
        bench.monitor.keep(task, (remote_task(task, "r-1"),))
    wait_until(lambda: len(bench.syncs) == 2)
    bench.round()
    sync, other = bench.syncs["t-1"], bench.syncs["t-2"]

    def counted() -> tuple[int, ...]:
        return bench.looks, sync.pulls, sync.hauls, other.pulls + other.hauls

    def was_looked_at() -> bool:
        before, at = counted(), bench.monitor.rounds
        bench.channels[-1].says.put(ChannelEvent("t-1", part))
        wait_until(lambda: bench.monitor.rounds > at)
        return tuple(now - then for now, then in zip(counted(), before, strict=True)) == done

    wait_until(was_looked_at)  # a round of the beginning may still be under way


def test_large_files_hold_up_no_exit_and_no_handoff(bench: Bench) -> None:
    for task in ("t-1", "t-2"):
        bench.monitor.keep(task, (remote_task(task, f"r-{task}"),))
    bench.there |= {"r-t-1": ALIVE, "r-t-2": ALIVE}
    bench.round()
    first, second = bench.syncs["t-1"], bench.syncs["t-2"]
    first.may_haul.clear()
    bench.there["r-t-1"] = GONE
    control_pulled = second.pulls
    bench.monitor.hurry()
    wait_until(lambda: bench.seen("r-t-1") == GONE and second.pulls > control_pulled)
    # It hauls for the first one now; what is told meanwhile goes ahead of the second one's.
    control_pulled, hauled = second.pulls, second.hauls
    bench.channels[-1].says.put(ChannelEvent("t-2", Part.HANDOFFS))
    wait_until(lambda: bench.channels[-1].says.empty() and not bench.monitor._changes.is_empty())
    second.may_haul.clear()
    first.may_haul.set()
    wait_until(lambda: second.pulls > control_pulled)
    assert second.hauls == hauled


def test_box_with_few_sessions_is_polled(bench: Bench) -> None:
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    assert [channel.closed for channel in bench.channels] == [False]
    bench.link.stands = True
    bench.lost = Unreachable("it is busy: it grants this connection no more sessions")
    bench.monitor.hurry()
    wait_until(lambda: bench.channels[0].closed)
    wait_until(lambda: bench.monitor.belief is not None and not bench.monitor.belief.reachable)
    assert bench.monitor.belief is not None
    assert bench.monitor.belief.why == "it is busy: it grants this connection no more sessions"
    bench.lost = None
    bench.round()
    bench.round()
    assert len(bench.channels) == 1


def test_who_asks_while_a_box_is_lost_makes_no_pause_longer(bench: Bench) -> None:
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    bench.lost = Unreachable("no route")
    for _ in range(20):
        looks = bench.looks
        bench.monitor.hurry()
        wait_until(lambda looks=looks: bench.looks > looks)  # type: ignore[misc]
    bench.link.waits = 0.05  # so long the way itself still pauses
    bench.monitor.hurry()
    wait_until(lambda: bench.looks > looks + 1)
    bench.lost = None
    wait_until(lambda: bench.monitor.belief is not None and bench.monitor.belief.reachable, within=2)


def test_task_knows_nothing_of_its_runs_while_its_pulls_fail(bench: Bench) -> None:
    """Its box answers, and other tasks are told of theirs; a later try that fails alike began no later."""
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.monitor.keep("t-2", (remote_task("t-2", "r-2"),))
    bench.round()
    brought = bench.monitor.pulled_at
    bench.syncs["t-1"].trouble = Unavailable("rsync is not there")
    bench.round()
    belief, (trouble,) = bench.monitor.belief_for("t-1"), bench.monitor.troubles.of("t-1")
    assert belief is not None
    assert (belief.reachable, belief.refused, "rsync is not there" in belief.why) == (False, False, True)
    assert bench.monitor.belief is not None
    assert bench.monitor.belief.reachable
    assert bench.monitor.belief_for("t-2") == bench.monitor.belief
    assert BoxHint("t-1") in bench.hints
    bench.round()
    assert bench.monitor.troubles.of("t-1")[0].since == trouble.since
    assert bench.monitor.belief_for("t-1") == belief
    assert bench.monitor.pulled_at == brought, "nothing was brought since"
    bench.syncs["t-1"].trouble = None
    bench.round()
    assert bench.monitor.belief_for("t-1") == bench.monitor.belief
    assert bench.monitor.pulled_at > brought


def test_missing_artifacts_do_not_hide_runs(bench: Bench) -> None:
    bench.sync(remote_task("t-1")).hauled_comes = Pulled(more=True, ended="the disk here is full")
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    (trouble,) = bench.monitor.troubles.of("t-1")
    assert (trouble.pull, trouble.why) == (TransferKind.LARGE, "the disk here is full")
    assert bench.monitor.belief_for("t-1") == bench.monitor.belief


def test_rubbish_from_a_box_changes_no_belief(bench: Bench) -> None:
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    bench.lost = Unavailable("it told what is no answer")
    bench.monitor.hurry()
    wait_until(lambda: bench.monitor.troubles.of("t-1"))
    belief = bench.monitor.belief_for("t-1")
    assert belief is not None
    assert not belief.reachable


def test_failed_pull_is_retried_soon_or_on_request(bench: Bench) -> None:
    """Not at the next round by schedule, which is minutes away."""
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    sync = bench.syncs["t-1"]
    sync.trouble = Unavailable("rsync is not there")
    bench.round()
    tried = sync.pulls
    wait_until(lambda: sync.pulls >= tried + 2)
    sync.trouble = None
    bench.monitor.call_again()
    wait_until(lambda: not bench.monitor.troubles)


def test_run_that_ends_during_a_pull_is_seen_in_it(bench: Bench) -> None:
    """It was seen alive, and its exit came: its last handoffs were brought behind that."""
    bench.there["r-1"] = ALIVE
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    sync, looks = bench.syncs["t-1"], bench.looks

    def ends() -> Pulled:
        bench.there["r-1"] = GONE
        return Pulled(brought=("handoffs/dev-20261123-085949.md", "runs/r-1/exit"))

    sync.control_pulled = ends
    bench.round()
    assert (bench.seen("r-1"), bench.looks - looks) == (GONE, 2)


def test_exit_of_a_pull_that_is_not_whole_is_not_looked_into(bench: Bench) -> None:
    bench.there["r-1"] = ALIVE
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    sync = bench.syncs["t-1"]
    sync.comes = Pulled(brought=("runs/r-1/exit",), more=True, waits=True)
    looks = bench.looks
    bench.round()
    assert bench.looks == looks + 1


def due_bulk(bench: Bench, task: str) -> Sync:
    """Have a task's bulk files fetched, without end, by a transfer that gives way; return it."""
    bench.monitor.keep(task, (remote_task(task, f"r-{task}"),))
    bench.there[f"r-{task}"] = ALIVE
    bench.round()
    sync = bench.syncs[task]
    sync.gives_way = True
    sync.may_haul.clear()
    before = sync.asked
    bench.channels[-1].says.put(ChannelEvent(task, Part.ARTIFACTS))
    wait_until(lambda: sync.asked > before)
    return sync


@pytest.mark.parametrize("part", [Part.HANDOFFS, Part.EVENTS, Part.RUNS])
def test_bulk_transfer_gives_way_to_what_is_urgent(bench: Bench, part: Part) -> None:
    sync = due_bulk(bench, "t-1")
    pulls = sync.pulls
    bench.channels[-1].says.put(ChannelEvent("t-1", part))
    wait_until(lambda: sync.pulls > pulls)
    assert sync.gave_way >= 1
    sync.may_haul.set()
    wait_until(lambda: bench.monitor._bringing.due == math.inf)


def test_bulk_transfer_does_not_give_way_to_its_own_kind(bench: Bench) -> None:
    sync = due_bulk(bench, "t-1")
    bench.channels[-1].says.put(ChannelEvent("t-1", Part.ARTIFACTS))
    wait_until(lambda: bench.channels[-1].says.empty() and not bench.monitor._changes.is_empty())
    assert sync.gave_way == 0
    sync.may_haul.set()
    wait_until(lambda: bench.monitor._bringing.due == math.inf)
    assert sync.gave_way == 0


def test_bulk_transfer_that_was_put_off_for_long_has_its_time(bench: Bench) -> None:
    """There is always something urgent; each time that it does not come to its end it is given twice as long."""
    now, given = [1000.0], list[float]()
    transfers, task = bench.monitor._bringing, remote_task("t-2")
    transfers.is_kept = lambda _: True
    transfers.steady = lambda: now[0]
    sync = bench.sync(task)

    def pull_bulk(_: frozenset[str], go_on: Callable[[], bool]) -> Pulled:
        began = now[0]
        while go_on():
            now[0] += 0.5
        given.append(now[0] - began)
        return Pulled(more=True, gave_way=True)

    sync.pull_bulk = pull_bulk  # type: ignore[method-assign, assignment]
    transfers.want([task])
    transfers.pull_bulk([task], lambda: True)
    assert given == []
    for _ in range(3):
        now[0] += PUT_OFF
        transfers.pull_bulk([task], lambda: True)
        transfers.pull_bulk([task], lambda: True)
    assert given == [SLICE, 2 * SLICE, 4 * SLICE]


def test_task_that_hangs_is_put_off_and_holds_up_no_other(bench: Bench) -> None:
    """Each look at its folder takes all the time that it may, and other tasks wait behind it."""
    bench.there |= {"r-1": ALIVE, "r-2": ALIVE}
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.monitor.keep("t-2", (remote_task("t-2", "r-2"),))
    bench.round()
    bench.monitor.troubles.luck = lambda: 0.0
    bench.syncs["t-1"].trouble = Cut("it did not end in time", stands=True)
    bench.there |= {"r-1": GONE, "r-2": GONE}
    bench.round()
    assert (bench.seen("r-1"), bench.seen("r-2", "t-2")) == (ALIVE, GONE)
    (trouble,) = bench.monitor.troubles.of("t-1")
    assert bench.monitor.belief is not None
    assert bench.monitor.belief.reachable
    assert {each["task"] for each in bench.monitor.failing()} == {"t-1"}
    for _ in range(20):
        bench.monitor.troubles.note(("t-1", "/repo", trouble.pull), trouble.why, hangs=True)
    tried, others = bench.syncs["t-1"].pulls, bench.syncs["t-2"].pulls
    bench.round()
    assert (bench.syncs["t-1"].pulls, bench.syncs["t-2"].pulls) == (tried, others + 1)
    bench.syncs["t-1"].trouble = None
    bench.monitor.call_again()
    wait_until(lambda: bench.seen("r-1") == GONE)
    assert not bench.monitor.troubles


def test_task_that_hangs_is_not_listened_to(bench: Bench) -> None:
    """What watches its folder there would hang as well, and with it the channel of all tasks."""
    for task in ("t-1", "t-2"):
        bench.monitor.keep(task, (remote_task(task, f"r-{task}"),))
    bench.round()
    bench.syncs["t-1"].trouble = Cut("it did not end in time", stands=True)
    bench.round()
    bench.round()
    heeded = bench.monitor._listening
    assert heeded is not None
    assert heeded[0] == {("t-2", "/repo")}


def test_question_that_hangs_is_the_trouble_of_the_tasks_there(bench: Bench) -> None:
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    bench.link.stands = True
    bench.lost = Cut("it did not end `sh` in time", stands=True)
    bench.monitor.hurry()
    wait_until(lambda: bench.monitor.troubles.of("t-1"))
    belief = bench.monitor.belief_for("t-1")
    assert belief is not None
    assert not belief.reachable
    assert bench.monitor.belief is not None
    assert bench.monitor.belief.reachable


def test_box_without_a_session_is_not_shown_as_reachable(bench: Bench) -> None:
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    bench.link.stands = True
    bench.lost = Unreachable("it is busy: it grants this connection no more sessions")
    bench.monitor.hurry()
    wait_until(lambda: bench.monitor.belief is not None and not bench.monitor.belief.reachable)
    assert "no more sessions" in bench.monitor.state.why
    bench.lost = None
    bench.round()
    assert bench.monitor.state.way is Way.REACHABLE


def test_channel_that_ended_is_made_anew_at_once_when_asked(bench: Bench) -> None:
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    bench.channels[0].broken.set()
    wait_until(lambda: bench.monitor._deaf)
    bench.round()
    assert len(bench.channels) == 1
    bench.monitor.call_again()
    wait_until(lambda: len(bench.channels) == 2)


def test_failing_rounds_open_no_channel_each(bench: Bench) -> None:
    """Where a start-up file there ended each shell, each channel's end led to a round, and that to a channel."""
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.round()
    bench.lost = Unavailable("the login there ended with 0 instead of running a command")
    for looks in range(bench.looks, bench.looks + 5):
        bench.channels[-1].broken.set()
        bench.monitor.hurry()
        wait_until(partial(lambda before: bench.looks > before, looks))
    wait_until(lambda: bench.monitor._deaf)
    assert len(bench.channels) == 1
    bench.lost = None
    bench.monitor.call_again()
    wait_until(lambda: len(bench.channels) == 2)


@pytest.mark.parametrize(("works", "is_paced"), [(0.0, False), (0.5, True)], ids=["waits", "works"])
def test_box_is_paced_by_work_and_not_by_waiting(bench: Bench, works: float, *, is_paced: bool) -> None:
    """A box that floods keeps nobody busy; one that is only slow loses nothing by that."""
    moment = [0.0, 0.0]

    def look(folders: list[Path]) -> dict[Path, Observation]:
        moment[0] += 1.0
        moment[1] += works
        return dict.fromkeys(folders, ALIVE)

    monitor = bench.monitor
    monitor._changes._steady = monitor.steady = lambda: moment[0]
    monitor.worked = lambda: moment[1]
    monitor._sightings.host = cast("Any", SimpleNamespace(observe_all=look))
    monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    for _ in range(int(6 * AT_ONCE)):
        bench.round()
    pause = monitor._changes.pause
    assert (pause > 0) is is_paced
    assert pause <= LATEST


def test_box_is_not_paced_for_runs_that_begin_and_end(bench: Bench) -> None:
    """Many agents that are spawned one after another: the exit of none waits for its allowance to fill up again.

    A box that says of one run in turns that it lives and that it is gone has nothing of that.
    """
    moment, standing = [0.0], dict[str, Observation]()

    def look(folders: list[Path]) -> dict[Path, Observation]:
        moment[0] += 1.0
        return {folder: standing[folder.name] for folder in folders}

    monitor = bench.monitor
    monitor._changes._steady = monitor.steady = monitor.worked = lambda: moment[0]
    monitor._sightings.host = cast("Any", SimpleNamespace(observe_all=look))
    monitor.close()
    monitor.ended(20)
    for number in range(int(4 * AT_ONCE)):
        standing[f"r-{number}"] = ALIVE
        monitor.keep("t-1", (remote_task("t-1", f"r-{number}"),))
        monitor._round(None)
        standing[f"r-{number}"] = GONE
        monitor._round(None)
    assert monitor._changes.pause == 0
    for seen in [ALIVE, GONE] * int(4 * AT_ONCE):
        standing.update(dict.fromkeys(standing, seen))
        monitor._round(None)
    assert monitor._changes.pause > 0
    monitor._stop_listening()


class Waits(SimpleQueue[Any]):
    """Events, and how many seconds each wait for one may take."""

    def __init__(self) -> None:
        self.timeouts: list[float | None] = []

    def get(self, block: bool = True, timeout: float | None = None) -> Any:  # noqa: FBT001, FBT002 (as its base)
        self.timeouts.append(timeout)
        return super().get_nowait()


@pytest.mark.parametrize(("work", "is_paced"), [(0.0, False), (2 * AT_ONCE, True)], ids=["quiet", "floods"])
@pytest.mark.parametrize("everything", [False, True], ids=["changes", "all"])
def test_round_after_much_work_is_put_off(work: float, *, is_paced: bool, everything: bool) -> None:
    """Unless somebody asks for it. Changes of the meantime are handled with it."""
    changes = ChangeQueue(lambda: 100.0)
    changes._events = waits = Waits()
    changes.spend(work)
    changes.put(frozenset({ChannelEvent("t-1", Part.HANDOFFS)}))
    if everything:
        changes.put(None)
    assert (changes.take(1.0) is None) is everything
    pauses = waits.timeouts[1:]
    assert bool(pauses) is is_paced
    assert all(pause == LATEST for pause in pauses)


def test_monitor_knows_whether_its_channel_floods(bench: Bench) -> None:
    assert not bench.monitor.floods
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    wait_until(lambda: bench.channels and bench.monitor._listening is not None)
    assert not bench.monitor.floods
    bench.channels[-1].floods = True
    wait_until(lambda: bench.monitor.floods)


def test_nothing_is_fetched_for_a_task_that_is_kept_no_more(bench: Bench) -> None:
    """It ended, or was deleted, during a round that had begun for it: a pull would fill its mirror again."""
    bench.there["r-1"] = ALIVE
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.monitor.keep("t-2", (remote_task("t-2", "r-2"),))
    bench.round()
    first, second = bench.syncs["t-1"], bench.syncs["t-2"]
    wait_until(lambda: bench.monitor._bringing.due == math.inf)
    first.goes_on.clear()
    pulls, hauls = second.pulls, first.hauls + second.hauls
    bench.monitor.hurry()
    wait_until(lambda: bench.looks > 0 and bench.monitor._bringing._syncs[_key("t-1")][1].locked())
    bench.monitor.keep("t-1", ())
    bench.monitor.keep("t-2", ())
    first.goes_on.set()
    bench.round()
    assert (second.pulls, first.hauls + second.hauls) == (pulls, hauls)


def test_transfers_of_a_task_are_held_back_while_it_is_cleaned_up(bench: Bench) -> None:
    bench.there["r-1"] = ALIVE
    bench.monitor.keep("t-1", (remote_task("t-1", "r-1"),))
    bench.monitor.keep("t-2", (remote_task("t-2", "r-2"),))
    bench.round()
    sync = bench.syncs["t-1"]
    wait_until(lambda: bench.monitor._bringing.due == math.inf)
    with bench.monitor.idle("t-1"):
        pulls = sync.pulls
        bench.monitor.keep("t-1", ())
    bench.round()
    assert sync.pulls == pulls


def _key(task: str) -> tuple[str, str]:
    return task, remote_task(task).place
