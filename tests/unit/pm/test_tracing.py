"""What a program's records tell of a run: where its turn stands, and whether it goes round in circles."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.model.activity import Called, Prompted, Record, Returned, Spoke, Stage
from orchestrator.pm.state.tracing import OFTEN, OPEN, QUICK, WINDOW, Trace


class Agent:
    """An agent whose calls are recorded, a second each."""

    def __init__(self) -> None:
        self.trace = Trace()
        self.at = 0.0
        self._ids = count()

    def calls(self, what: str, result: str = "the same", takes: float = 1.0, *, waits: bool = False) -> None:
        name = f"c{next(self._ids)}"
        self.trace.take(Called(name, hash(what), what, waits), self.at)
        self.at += takes
        self.trace.take(Returned(name, hash(result)), self.at)

    @property
    def repeats(self) -> int:
        return self.trace.activity().repeats


# Where a turn stands ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("records", "stage"),
    [
        ([], Stage.UNKNOWN),
        ([Prompted()], Stage.MODEL),
        ([Prompted(), Spoke()], Stage.MODEL),
        ([Prompted(), Called("a", 1, "x")], Stage.TOOL),
        ([Prompted(), Called("a", 1, "x"), Spoke(Stage.OVER)], Stage.TOOL),
        ([Prompted(), Called("a", 1, "x"), Called("b", 2, "y"), Returned("a", 1)], Stage.TOOL),
        ([Prompted(), Called("a", 1, "x"), Returned("a", 1)], Stage.MODEL),
        ([Prompted(), Spoke(Stage.OVER)], Stage.OVER),
        ([Prompted(), Spoke(Stage.UNKNOWN)], Stage.UNKNOWN),
        ([Called("a", 1, "x"), Prompted()], Stage.MODEL),
        ([Returned("never called", 1)], Stage.MODEL),
    ],
)
def test_last_record_gives_the_stage_of_a_turn(records: list[Record], stage: Stage) -> None:
    trace = Trace()
    for number, record in enumerate(records, 1):
        trace.take(record, number)
    seen = trace.activity()
    assert (seen.stage, seen.records, seen.recorded_at) == (stage, len(records), len(records))


def test_the_tool_that_was_called_last_is_named() -> None:
    trace = Trace()
    trace.take(Called("a", 1, "Bash: make"), 1)
    trace.take(Called("b", 2, "Bash: test"), 2)
    assert trace.activity().tool == "Bash: test"
    trace.take(Returned("b", 2), 3)
    assert trace.activity().tool == "Bash: make"


def test_calls_that_never_return_are_forgotten_at_a_bound() -> None:
    trace = Trace()
    for number in range(3 * OPEN):
        trace.take(Called(str(number), number, "x"), number)
    assert len(trace._open) == OPEN


# Circles ----------------------------------------------------------------------------------------------


def test_same_call_with_same_result_counts_from_the_third() -> None:
    agent = Agent()
    counts = []
    for _ in range(6):
        agent.calls("git status")
        counts.append(agent.repeats)
    assert counts == [0, 0, 1, 2, 3, 4]
    assert agent.trace.activity().repeated == "git status"


def test_a_circle_of_several_calls_counts() -> None:
    agent = Agent()
    for _ in range(OFTEN + 2):
        for each in ("edit", "test", "undo"):
            agent.calls(each)
    assert agent.repeats == 3 * 3


def test_tests_that_are_run_again_after_each_edit_do_not() -> None:
    agent = Agent()
    for number in range(40):
        agent.calls(f"edit {number}")
        agent.calls("pytest", "12 passed")
        assert agent.repeats <= 1


def test_different_result_is_novel() -> None:
    agent = Agent()
    for number in range(40):
        agent.calls("tail log", f"line {number}")
    assert agent.repeats == 0
    assert agent.trace.activity().novel_at == agent.at


def test_what_is_read_again_once_is_no_circle() -> None:
    """After a conversation was summed up an agent reads again what it had read."""
    agent = Agent()
    for _ in range(2):
        for number in range(25):
            agent.calls(f"read {number}")
    assert agent.repeats == 0


@pytest.mark.parametrize(("takes", "waits"), [(QUICK, False), (1.0, True)])
def test_waiting_for_something_is_no_circle(takes: float, waits: bool) -> None:  # noqa: FBT001 (a parameter)
    agent = Agent()
    for _ in range(40):
        agent.calls("sleep 30; curl localhost", "not yet", takes, waits=waits)
    assert agent.repeats == 0
    assert agent.trace.activity().novel_at <= takes, "and no news either"


def test_only_what_comes_after_a_moment_is_counted() -> None:
    agent = Agent()
    for _ in range(20):
        agent.calls("git status")
    reported = agent.at
    assert agent.trace.activity(reported).repeats == 0
    for _ in range(5):
        agent.calls("git status")
    assert agent.trace.activity(reported).repeats == 5


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.floats(0, 20)), max_size=200))
def test_history_is_bounded_and_novelty_ends_a_row(calls: list[tuple[int, int, float]]) -> None:
    agent = Agent()
    known: list[tuple[int, int]] = []
    for what, result, takes in calls:
        agent.calls(str(what), str(result), takes)
        if (what, result) not in known[-WINDOW:]:
            assert agent.repeats == 0
            assert agent.trace.activity().novel_at == agent.at
        known.append((what, result))
        assert agent.repeats <= WINDOW
        assert len(agent.trace._pairs) <= WINDOW
