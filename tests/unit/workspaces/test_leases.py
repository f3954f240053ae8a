from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.workspaces.leases import Lease, Queue, is_full, may_take, queue_of

HELD = Lease("/a/b", run="r1", task="demo")


@pytest.mark.parametrize(
    "path", ["/a/b", "/a/b/", "/a//b", "/a/b/c", "/a/b/c/d", "/a", "/", "/a/./b", "/a/c/../b"]
)
def test_one_writer_keeps_out_another_at_above_and_beneath(path):
    assert may_take([HELD], path) is HELD


@pytest.mark.parametrize("path", ["/a/bb", "/a/c", "/b", "/a/b-2", "/b/a/b"])
def test_other_folders_are_free(path):
    assert may_take([HELD], path) is None


def test_nobody_holds_anything_at_first():
    assert may_take([], "/") is None


def test_the_first_holder_is_named():
    other = Lease("/x", run="r2", task="other")
    assert may_take([other, HELD], "/a") is HELD
    assert may_take([other, HELD], "/") is other


def test_a_box_is_full_when_as_many_are_there_as_it_may_have():
    there = [Lease("box:/a", "r1", "demo", "box"), Lease("", "r2", "demo", "box"), HELD]
    assert is_full(there, "box", 2)
    assert not is_full(there, "box", 3)
    assert not is_full(there, "other", 1)


def test_run_that_only_takes_a_slot_leases_no_folder():
    assert may_take([Lease("", "r2", "demo", "box")], "/") is None


# Queues ------------------------------------------------------------------------------------------


def opened(number, cli="", box="", path="", **values):
    return Lease(path, f"r{number:04}", "demo", box, cli, opened_at=float(number), **values)


def test_who_waits_for_its_cli_leaves_its_host_to_others():
    """One of two places here stayed empty, as the run that waited for Claude Code's account had taken it."""
    waits = opened(2, "claude", waits=Queue.CLI, begun=False)
    assert queue_of(opened(3, "codex"), [opened(1, "claude"), waits], 2, 1) == (Queue.NONE, None)
    assert queue_of(opened(3, "claude"), [waits], 2, 1) == (Queue.CLI, None)


def test_who_waits_for_its_tree_leaves_all_places_to_others():
    waits = opened(2, "claude", path="/a", waits=Queue.TREE, begun=False)
    working = opened(1, "codex", path="/a")
    assert queue_of(opened(3, "claude"), [working, waits], 2, 1) == (Queue.NONE, None)
    assert queue_of(opened(3, path="/a/b"), [waits], None, None)[0] is Queue.TREE


def test_first_in_the_queue_of_a_host_keeps_its_cli():
    """Otherwise runs on other hosts could take the CLI's place each time before the host is free."""
    local = opened(1)
    first, second = (opened(each, "claude", waits=Queue.HOST, begun=False) for each in (2, 3))
    assert queue_of(opened(4, "claude", "far"), [local, first, second], None, 2) == (Queue.NONE, None)
    assert queue_of(opened(4, "claude", "far"), [local, first, second], None, 1) == (Queue.CLI, None)


def test_who_overtook_keeps_its_place():
    """An earlier run whose tree is free at last waits for the later one that took the place meanwhile."""
    overtook = opened(2)
    assert queue_of(opened(1), [overtook], 1, None) == (Queue.HOST, None)


def test_later_run_that_nobody_tried_to_launch_takes_nothing():
    assert queue_of(opened(1), [opened(2, begun=False)], 1, None) == (Queue.NONE, None)
    assert queue_of(opened(2), [opened(1, begun=False)], 1, None) == (Queue.HOST, None)


class Line:
    """Runs that come, queue, work and leave, with a cap on each host and for each CLI."""

    def __init__(self, on_host: int, per_cli: int) -> None:
        self.on_host, self.per_cli = on_host, per_cli
        self.runs: list[Lease] = []
        self.came = 0

    def comes(self, cli: str, box: str, path: str = "") -> str:
        self.came += 1
        self.runs.append(opened(self.came, cli, box, path, begun=False))
        self.goes_on(self.runs)
        return self.runs[-1].run

    def goes_on(self, order: Sequence[Lease]) -> None:
        """Launch who may begin, looking at the runs in some order, until nothing changes."""
        before = None
        while before != self.runs:
            before = list(self.runs)
            for each in order:
                self._looked_at(next(run for run in self.runs if run.run == each.run))

    def _looked_at(self, run: Lease) -> None:
        if not run.begun:
            queue, _ = queue_of(run, self.runs, self.on_host, self.per_cli)
            self.runs[self.runs.index(run)] = replace(run, waits=queue, begun=queue is Queue.NONE)

    def leaves(self, run: str) -> None:
        self.runs = [each for each in self.runs if each.run != run]

    @property
    def working(self) -> list[Lease]:
        return [each for each in self.runs if each.begun]

    @property
    def waiting(self) -> list[Lease]:
        return [each for each in self.runs if not each.begun]


CLIS, HOSTS, TREES = (
    st.sampled_from(each) for each in (("", "claude", "codex"), ("", "far"), ("", "/a", "/a/b"))
)
RUN = st.tuples(CLIS, HOSTS, TREES)


@given(st.lists(RUN, max_size=14), st.integers(1, 3), st.integers(1, 3), st.randoms())
def test_caps_hold_and_no_place_is_empty_for_nothing(wanted, on_host, per_cli, chance):
    """At each moment: caps hold, and who waits waits for runs that work. In the end everybody has worked."""
    line = Line(on_host, per_cli)
    for run in wanted:
        line.comes(*run)
    while line.runs:
        hosts, clis = Counter(each.box for each in line.working), Counter(each.cli for each in line.working)
        assert max(hosts.values()) <= on_host
        assert max([clis["claude"], clis["codex"]]) <= per_cli
        first = {each.box: each for each in reversed(line.waiting) if each.waits is Queue.HOST}
        kept = Counter(each.cli for each in first.values())
        for each in line.waiting:
            if each.waits is Queue.HOST:
                assert hosts[each.box] == on_host
            if each.waits is Queue.CLI:
                assert clis[each.cli] + kept[each.cli] >= per_cli
        assert line.working
        line.leaves(chance.choice(line.working).run)
        order = list(line.runs)
        chance.shuffle(order)
        line.goes_on(order)


def test_nobody_is_overtaken_for_ever():
    """Others that need only one of its two places come and go; it still begins before long."""
    line = Line(1, 1)
    line.comes("", "")
    line.comes("claude", "far")
    late = line.comes("claude", "")
    for _ in range(4):
        for cli, box in (("", ""), ("claude", "far")):
            line.comes(cli, box)
            for run in [each.run for each in line.working if each.box == box]:
                line.leaves(run)
            line.goes_on(line.runs)
    assert late not in {each.run for each in line.waiting}
