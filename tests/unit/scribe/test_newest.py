from hypothesis import given
from hypothesis import strategies as st

from orchestrator.scribe.newest import FEW, Newest

names = st.text("abcdef", min_size=1, max_size=2)
acts = st.lists(
    st.dictionaries(names, st.integers(0, 9).map(float), max_size=12) | st.lists(names, max_size=5),
    max_size=12,
)


@given(acts, st.integers(0, 9), st.integers(0, 20))
def test_it_keeps_what_a_dictionary_would(done, at, count):
    newest, model = Newest(), dict[str, float]()
    for act in done:
        if isinstance(act, dict):
            newest.put(act)
            model |= act
        else:
            newest.drop(act)
            model = {name: time for name, time in model.items() if name not in act}
    ordered = sorted(((time, name) for name, time in model.items()), reverse=True)
    assert len(newest) == len(model)
    assert newest.newest(count) == ordered[:count]
    newest.forget_before(at)
    assert newest.newest(count) == [pair for pair in ordered if pair[0] >= at][:count]
    newest.put({"a": at - 1.0, "b": at + 1.0})
    assert len(newest) == len({"a", "b"} | {name for time, name in ordered if time >= at})


def test_many_at_once_are_as_good_as_one_by_one():
    many = {str(n): float(n % 7) for n in range(FEW + 10)}
    at_once, one_by_one = Newest(), Newest()
    at_once.put(many)
    for name, at in many.items():
        one_by_one.put({name: at})
    assert at_once.newest(1000) == one_by_one.newest(1000)
    at_once.drop(many)
    assert len(at_once) == 0
    assert at_once.newest(5) == []
