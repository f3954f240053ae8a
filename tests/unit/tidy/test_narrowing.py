from hypothesis import given
from hypothesis import strategies as st
from narrowing import Budget, keep_harmless

UNITS = st.lists(st.integers(0, 60), unique=True, max_size=25)


@given(UNITS, st.sets(st.integers(0, 60)))
def test_with_enough_tries_only_the_harmful_are_left_out(units, harmful):
    kept = keep_harmless(units, harmful.isdisjoint, Budget(1000))
    assert kept == [unit for unit in units if unit not in harmful]


@given(UNITS, st.sets(st.integers(0, 60)), st.integers(0, 12))
def test_within_any_bound_what_is_kept_was_seen_to_be_harmless(units, harmful, tries):
    asked = []

    def harmless(chosen):
        asked.append(list(chosen))
        return harmful.isdisjoint(chosen)

    kept = keep_harmless(units, harmless, Budget(tries), kept=[-1])
    assert len(asked) <= tries
    assert kept == [-1] or kept in asked
    assert harmful.isdisjoint(kept)


def test_one_harmful_among_many_costs_few_tries():
    budget = Budget(1000)
    keep_harmless(range(64), lambda chosen: 17 not in chosen, budget)
    assert 1000 - budget.tries <= 13


def test_time_is_a_bound_too():
    now = iter([0.0, 1.0, 2.0, 3.0, 4.0]).__next__
    budget = Budget(100, until=2.0, clock=now)
    assert keep_harmless([1, 2, 3, 4], lambda chosen: len(chosen) <= 1, budget) == []
    assert budget.tries == 98
