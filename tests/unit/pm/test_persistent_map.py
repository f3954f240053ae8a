from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.model.plan import Step, StepState
from orchestrator.model.task import Phase, WorkspaceKind
from orchestrator.pm.state.persistent_map import CHUNK, PersistentMap
from orchestrator.pm.state.steps import Steps
from tests.unit.pm.scans import assert_steps

NAMES = ("a", "b", "c", "d", "e", "f")

names = st.sampled_from(NAMES)
some = st.lists(names, max_size=3).map(tuple)
steps = st.builds(
    Step,
    id=names,
    agent=st.sampled_from(["dev", "test"]),
    title=st.just("title"),
    instructions=st.just("do"),
    phase=st.just(Phase.DEVELOPING),
    needs=some,
    after=some,
    kind=st.sampled_from(WorkspaceKind),
    workspace=st.sampled_from(["", "x", "y"]),
    judges=st.sampled_from(["", *NAMES]),
    subtask=st.sampled_from(["", "s", "t"]),
    state=st.sampled_from(StepState),
    attempt=st.integers(1, 2),
    not_before=st.sampled_from([0.0, 5.0]),
    keep_tree=st.booleans(),
)


@given(st.lists(st.tuples(st.integers(0, 300), st.integers())))
def test_a_table_holds_what_a_dictionary_would(entries: list[tuple[int, int]]) -> None:
    table, known = PersistentMap[int, int](), dict[int, int]()
    for key, value in entries:
        before, was = table, dict(known)
        table = table.with_entry(key, value)
        known[key] = value
        assert dict(before) == was, "the table that it came from was changed"
    assert list(table.items()) == list(known.items())
    assert table == known == PersistentMap(known)
    assert len(table) == len(known)
    assert [table.placed(table.place(key)) for key in known] == list(known.values())
    assert [table.get(key, "none") for key in range(301)] == [known.get(key, "none") for key in range(301)]
    assert [key in table for key in range(301)] == [key in known for key in range(301)]


def test_two_copies_of_one_table_go_their_own_ways() -> None:
    table = PersistentMap({str(n): n for n in range(CHUNK)})
    one, other = table.with_entry("one", 1), table.with_entry("other", 2)
    assert (one["one"], other["other"]) == (1, 2)
    assert "other" not in one
    assert "one" not in other
    assert "one" not in table
    assert one != other


def test_changed_copy_shares_nearly_all_with_the_original() -> None:
    table = PersistentMap({str(n): str(n) for n in range(30_000)})
    for copy in (table.with_entry("15000", "other"), table.with_entry("new", "entry")):
        assert sum(here is not there for here, there in zip(copy._chunks, table._chunks, strict=False)) <= 1
        assert sum(here is not there for here, there in zip(copy._places, table._places, strict=True)) <= 1
    assert max(len(part) for part in table._places) < 400
    assert len(table._places) <= 256


@given(st.lists(steps, max_size=12))
def test_step_indexes_equal_a_full_scan(reported: list[Step]) -> None:
    plan = Steps()
    for step in reported:
        plan = plan.with_step(step)
        assert_steps(plan)
    again = Steps(plan.values())
    assert again == plan
    assert_steps(again)


@given(steps, steps)
def test_replanned_step_keeps_its_place(old: Step, new: Step) -> None:
    other = replace(old, id="other", needs=(), after=(), judges="")
    plan = Steps([old, other]).with_step(replace(new, id=old.id))
    assert list(plan) == list(dict.fromkeys([old.id, "other"]))
    assert_steps(plan)
