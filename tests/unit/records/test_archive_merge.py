"""Archives of two daemons or more merge: in any order they say the same, and a kill at any write costs nothing."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.formats.coordination.handoff import render_handoff
from orchestrator.formats.coordination.records import read_index
from orchestrator.model.coordination import (
    ChainOutcome,
    HandoffContext,
    HandoffStatus,
    RoleHandoff,
    Transition,
    iso,
)
from orchestrator.records.archive import ArchiveMerge, HandoffArchive, open_archive
from orchestrator.records.handoff_versions import ReadHandoffs, latest, read_version
from orchestrator.testing.memory_files import MemoryFiles
from orchestrator.testing.memory_tree import Kind
from tests.unit.records.pipelines import BEGAN, LEAK, PIPELINE, handed_on
from tests.unit.records.test_archive import ROOT, KilledError, filled, tree


def grown(handoff: RoleHandoff) -> tuple[RoleHandoff, ...]:
    """Return the ways in which one handoff may lie in archives: earlier, later, and with contents at odds."""
    head = handoff.head
    accepted = replace(handoff, head=replace(head, status=HandoffStatus.ACCEPTED))
    completed = replace(handoff, head=replace(head, status=HandoffStatus.COMPLETED), issues=(LEAK,))
    rejected = replace(handoff, head=replace(head, status=HandoffStatus.REJECTED))
    other = replace(handoff, context=HandoffContext(task="task_1", scope="of another daemon"))
    return handoff, accepted, completed, rejected, other


TYPES = (Transition.AUDIT, Transition.AUDIT, Transition.COMPLETE)
VERSIONS = [
    each for number, kind in enumerate(TYPES) for each in grown(handed_on(number, kind, 60.0 * (number + 1)))
]


@st.composite
def archives(draw: st.DrawFn) -> MemoryFiles:
    """An archive with at most one version of each handoff, whose tasks began at some time, or were given up."""
    chosen = {each.head.id: each for each in draw(st.lists(st.sampled_from(VERSIONS), max_size=4))}
    files = filled(*chosen.values(), started=draw(st.sampled_from([None, BEGAN, BEGAN + 600])))
    if (at := draw(st.sampled_from([None, BEGAN + 9000.0, BEGAN + 40_000.0]))) is not None:
        archive = open_archive(files, ROOT)
        for chain in archive.chains:
            archive.give_up(chain.task, at)
    return files


def test_chain_given_up_here_and_complete_there():
    """Where the completion is rejected in a third archive, it was given up, whichever of them merge first."""
    begun, done = handed_on(1, Transition.AUDIT, 60.0), handed_on(2, Transition.COMPLETE, 120.0)
    accepted = replace(done, head=replace(done.head, status=HandoffStatus.ACCEPTED))
    rejected = replace(accepted, head=replace(accepted.head, status=HandoffStatus.REJECTED))
    given_up = filled(begun)
    open_archive(given_up, ROOT).give_up("task_1", BEGAN + 40_000.0)
    those = given_up, filled(accepted), filled(rejected)
    outcomes = set()
    for order in itertools.permutations(those):
        files = MemoryFiles()
        for each in order:
            merge(files, each)
        (chain,) = open_archive(files, ROOT).chains
        outcomes.add((chain.outcome, chain.completed))
    assert outcomes == {(ChainOutcome.FAILURE, iso(BEGAN + 40_000.0))}


def merged(*those: MemoryFiles) -> dict[str, bytes]:
    """Return the files of an empty archive into which others were merged, one after the other."""
    files = MemoryFiles()
    for each in those:
        merge(files, each)
    return tree(files)


def merge(mine: MemoryFiles, theirs: MemoryFiles, flush: Callable[[], object] | None = None) -> ArchiveMerge:
    known = ReadHandoffs(1 << 20)
    return open_archive(mine, ROOT, known).merge(HandoffArchive(theirs, ROOT, known), flush)


@settings(max_examples=25)
@given(st.lists(archives(), min_size=2, max_size=3))
def test_order_of_merging_makes_no_difference(those):
    """Chains and the index too; and what is merged first with each other, and what is merged twice."""
    whole = merged(*those)
    for order in itertools.permutations(those):
        assert merged(*order) == whole
    assert merged(*those, *those) == whole
    first, *rest = those
    for each in rest:  # the others come merged with each other
        merge(rest[0], each)
    before = tree(rest[0])
    assert merged(first, rest[0]) == whole
    assert tree(rest[0]) == before, "what is merged from is only read"


@given(archives())
def test_made_again_after_a_merge_it_is_equal(files):
    mine = filled(*PIPELINE)
    merge(mine, files)
    whole = tree(mine)
    if whole:
        mine.remove(ROOT / "index.json")
    assert open_archive(mine, ROOT).unread == ()
    assert tree(mine) == whole


@given(st.permutations(VERSIONS[:5]), st.integers(1, 4))
def test_the_versions_that_stay_are_the_same_in_any_order(versions, cut):
    read = [read_version(render_handoff(each), each.head.id or "") for each in versions]
    assert latest(latest(read[:cut]) + latest(read[cut:])) == latest(
        sorted(read, key=lambda each: each.digest)
    )
    assert len(latest(read)) == 3, "completed, rejected, and that of another daemon"


def at_odds() -> tuple[MemoryFiles, MemoryFiles]:
    """Return two archives: what is new, what went on, what is at odds, and one whose task and day are others."""
    one, two, three, _ = PIPELINE
    moved = replace(three.head, timestamp="2025-12-13T10:00:00Z")
    return filled(one, two, three), filled(
        replace(one, head=replace(one.head, status=HandoffStatus.ACCEPTED)),
        replace(two, context=HandoffContext(task="task_1", scope="other")),
        replace(three, head=moved, context=HandoffContext(task="task_2")),
        handed_on(9, Transition.AUDIT, 400, task="task_3"),
    )


@pytest.mark.parametrize("flush", [None, int], ids=["each", "together"])
def test_a_kill_at_each_write_of_a_merge_costs_nothing(flush):
    """No version is lost, and merging again comes to what one merge comes to; also if new files sync together."""
    steps = list[str]()
    whole, theirs = at_odds()
    whole.before = lambda step, path: steps.append(f"{step} {path.name}")
    done = merge(whole, theirs, flush)
    assert (done.added, done.advanced, len(done.conflicts), len(steps) > 12) == (1, 1, 2, True)
    for number in range(len(steps)):
        mine, _ = at_odds()
        left = iter(range(number))

        def before(step, path, left=left):
            if next(left, None) is None:
                raise KilledError

        mine.before = before
        with contextlib.suppress(KilledError):
            merge(mine, theirs, flush)
        mine.before = None
        mine.crash(power=True)
        assert open_archive(mine, ROOT).unread == (), steps[number]
        merge(mine, theirs)
        assert tree(mine) == tree(whole), f"killed before {steps[number]}"


def test_a_handoff_of_two_tasks_leaves_no_chain_without_one():
    mine, theirs = filled(PIPELINE[0]), filled(replace(PIPELINE[0], context=HandoffContext(task="task_2")))
    assert merge(mine, theirs).conflicts == (PIPELINE[0].head.id,)
    merge(theirs, filled(PIPELINE[0]))
    assert tree(mine) == tree(theirs)
    assert sum("chain" in name for name in tree(mine)) == read_index(tree(mine)["index.json"]).chains == 1


HANDOFF = f"{PIPELINE[0].head.id}.json"


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        (f"2025-12-11/{HANDOFF}", b"{", Kind.FILE),
        (f"2025-12-11/{HANDOFF}", b"[" * 100_000, Kind.FILE),
        (f"2025-12-11/{HANDOFF}", b"x" * 20_000_000, Kind.FILE),
        (f"2025-12-11/{HANDOFF}", b"", Kind.LINK),
        (f"2025-12-11/{HANDOFF}", b"", Kind.PIPE),
        (f"2025-12-11/{HANDOFF}", render_handoff(PIPELINE[1]), Kind.FILE),
        (f"2025-12-11/{HANDOFF}", render_handoff(PIPELINE[0]).replace(b"task_1", b"../../out"), Kind.FILE),
        (
            f"2025-12-11/{HANDOFF}",
            render_handoff(PIPELINE[0]).replace(HANDOFF[:-5].encode(), b"../x"),
            Kind.FILE,
        ),
        (f"2025-12-12/{HANDOFF}", render_handoff(PIPELINE[0]), Kind.FILE),
        (f"2025-12-11/conflict_{HANDOFF[:-5]}_00000000.json", b"", Kind.LINK),
        (f"2025-12-11/conflict_{HANDOFF[:-5]}_00000000.json", b"{", Kind.FILE),
        ("2025-12-11/chain_x.json", b'{"taskId": "../../x"}', Kind.FILE),
        ("2025-12-12", b"", Kind.LINK),
        ("notes", b"", Kind.FILE),
    ],
)
def test_what_is_hostile_in_the_other_is_named_and_left(name, data, kind):
    """The rest is taken, and nothing is written there."""
    theirs = filled(*PIPELINE[1:])
    theirs.put(ROOT / name, data, kind)
    theirs.before = lambda step, path: pytest.fail(f"{step} {path}")
    mine = MemoryFiles()
    done = merge(mine, theirs)
    assert [each.path for each in done.unread] == [ROOT / name]
    assert (done.added, done.conflicts, tree(mine)) == (3, (), tree(filled(*PIPELINE[1:])))


def test_a_file_that_goes_away_meanwhile_is_named():
    theirs = filled(*PIPELINE)
    other = HandoffArchive(theirs, ROOT)
    theirs.remove(ROOT / "2025-12-11" / HANDOFF)
    done = open_archive(MemoryFiles(), ROOT).merge(other)
    assert (done.added, [each.path.name for each in done.unread]) == (3, [HANDOFF])


def test_versions_without_end_are_not_taken():
    """Each is compared with each: of a hundred thousand that somebody made, it would take days."""
    theirs = filled(PIPELINE[0])
    for number in range(120):
        other = replace(PIPELINE[0], context=HandoffContext(task="task_1", scope=str(number)))
        theirs.put(
            ROOT / "2025-12-11" / f"conflict_{HANDOFF[:-5]}_{number:08}.json",
            render_handoff(other),
            Kind.FILE,
        )
    done = merge(MemoryFiles(), theirs)
    assert (done.added, len(done.conflicts), len(done.unread)) == (1, 1, 21)
