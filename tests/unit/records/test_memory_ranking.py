"""In which order memories are shown."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.model.coordination import iso
from orchestrator.model.memory import Memory, MemoryKind
from orchestrator.records.memory_ranking import Match, Wanted, query_of, ranked, relevances, score

NOW = 1_800_000_000.0
DAY = 86_400.0
ONE = Memory("mem_1700000000_one", "Run it with -n 0", MemoryKind.SEMANTIC, 0.5, ("tests",), iso(NOW))


def ids(*matches):
    return [each.memory.id for each in ranked(matches, NOW)]


def test_score_is_the_sum_that_the_page_says():
    """0.6 of relevance, 0.25 of importance, 0.15 of freshness, which halves with each half-life."""
    old = replace(ONE, kind=MemoryKind.EPISODIC, created=iso(NOW - 30 * DAY), importance=0.8)
    assert score(Match(old, 0.5), NOW) == pytest.approx(0.6 * 0.5 + 0.25 * 0.8 + 0.15 * 0.5)
    assert score(Match(replace(old, misled=iso(NOW)), 0.5), NOW) == pytest.approx(0.575 / 4)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (Match(ONE, 1.0), Match(replace(ONE, id="mem_1700000000_two"), 0.5)),
        (Match(ONE, 1.0), Match(replace(ONE, id="mem_1700000000_two", importance=0.4), 1.0)),
        (Match(ONE, 1.0), Match(replace(ONE, id="mem_1700000000_two", created=iso(NOW - DAY)), 1.0)),
        (
            Match(replace(ONE, importance=0.0, created=iso(NOW - 900 * DAY)), 1.0),
            Match(replace(ONE, id="mem_1700000000_two", importance=1.0, misled=iso(NOW)), 1.0),
        ),
    ],
)
def test_the_better_one_comes_first(better, worse):
    assert ids(worse, better) == ids(better, worse) == [better.memory.id, worse.memory.id]


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(0, 4000), st.booleans()), max_size=12),
    st.randoms(),
)
def test_order_does_not_depend_on_the_order_given(rows, random):
    matches = [
        Match(
            replace(
                ONE,
                id=f"mem_1700000000_{n}",
                importance=importance,
                created=iso(NOW - days * DAY),
                misled=iso(NOW) if misled else None,
            ),
            relevance,
        )
        for n, (relevance, importance, days, misled) in enumerate(rows)
    ]
    shuffled = random.sample(matches, len(matches))
    assert ids(*matches) == ids(*shuffled)
    assert all(0 <= score(each, NOW) <= 1 for each in matches)


def test_relevance_is_a_share_of_the_best():
    assert relevances({"a": -4.0, "b": -1.0}) == {"a": 1.0, "b": 0.25}
    assert relevances({}) == {}


def test_nothing_in_a_search_is_an_operator():
    assert query_of('suite OR "NOT') == '"suite"* OR "OR"* OR "NOT"*'
    assert query_of("; -- *") == ""


def test_tags_are_compared_without_case():
    assert Wanted(tags=("TESTS",)).takes(ONE)
    assert not Wanted(tags=("tests", "more")).takes(ONE)
    assert not Wanted(importance=0.6).takes(ONE)
    assert not Wanted(MemoryKind.EPISODIC).takes(ONE)
