"""The lines of a journal that hold something: they are found without each line being made."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.cli.journal import _holding, newest_first


@given(
    st.lists(st.text("ab\r ", max_size=4)),
    st.sampled_from([b"a", b"ab", re.compile(b"a ?b"), b"."]),
    st.booleans(),
)
def test_lines_are_those_that_a_look_at_each_finds(texts, token, ends):
    content = "\n".join(texts).encode() + b"\n" * ends
    looked = re.compile(re.escape(token)) if isinstance(token, bytes) else token
    assert _holding(content, token) == [raw for raw in content.split(b"\n") if looked.search(raw)]


def test_without_a_token_all_lines_count_but_empty_ones():
    assert _holding(b"a\n\nb\n", b"") == [b"a", b"b"]


@pytest.mark.parametrize("token", [b"", b'"x"', re.compile(b'"x"')], ids=["none", "text", "pattern"])
def test_the_newest_line_comes_first_over_all_segments(tmp_path, token):
    """A segment replaces what older ones hold from its first line on."""
    for first, numbers in ((1, (1, 2, 3, 4)), (4, (4, 5))):
        lines = [json.dumps({"n": n, "fact": {"kind": "x"}, "changes": [], "from": first}) for n in numbers]
        (tmp_path / f"{first:010}.jsonl").write_text("\n".join(["{", *lines, 'no json "x"']) + "\n")
    assert [(each["n"], each["from"]) for each in newest_first(tmp_path, token)] == [
        (5, 4),
        (4, 4),
        (3, 1),
        (2, 1),
        (1, 1),
    ]
