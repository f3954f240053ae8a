import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.strict_json import load_json
from orchestrator.model.errors import BadFile


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("", "f, line 1: is not JSON"),
        ('{"a": 1,\n "b": }', "f, line 2: is not JSON"),
        ('{"a": {"b": 1, "b": 2}}', "f: holds 'b' twice in one object: keep one"),
        ('{"a": NaN}', "f: holds NaN, which is no number in JSON"),
        ("[-Infinity]", "f: holds -Infinity"),
        ('{"a": 1e999}', "f: holds 1e999, which is too large a number"),
        ("[-1.5e400]", "f: holds -1.5e400"),
        ("1" * 5000, "f: holds a number of too many digits"),
        ('\n{"a": ' + "[" * 32 + "]" * 32 + "}", "f, line 2: is nested deeper than 32 levels"),
        ("[" * 100_000, "f, line 1: is nested deeper"),
        ('{"a":' * 100_000, "f, line 1: is nested deeper"),
        (r'["\ud800"]', "f: holds half of a surrogate pair"),
        (r'{"\uDFFF": 1}', "f: holds half of a surrogate pair"),
        ('["\t"]', "f, line 1: is not JSON"),
        ("[1] x", "f, line 1: is not JSON"),
    ],
)
def test_json_that_would_do_harm_is_refused_with_the_place(text, reported):
    with pytest.raises(BadFile) as caught:
        load_json(text.encode(), "f")
    assert str(caught.value).startswith(reported)


def test_brackets_in_strings_are_text():
    text = r'{"a": "' + "[{" * 100 + r" \" " + "[" * 100 + r'", "b\\": [[]]}'
    assert load_json(text.encode(), "f")["b\\"] == [[]]


def test_pairs_of_surrogates_are_one_sign():
    assert load_json(rb'["\ud83d\ude42"]', "f") == ["\U0001f642"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(values)
def test_any_value_is_read_as_it_was_written(value):
    assert load_json(json.dumps(value, ensure_ascii=False).encode(), "f") == value
    assert load_json(json.dumps(value).encode(), "f") == value
