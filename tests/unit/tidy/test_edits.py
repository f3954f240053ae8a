import edits
import linter
import pytest
from findings import Edit, Fix, Safety
from hypothesis import given
from hypothesis import strategies as st
from linter import Manner

Place = tuple[int, int]
SAFE = Manner(own_rules=False, target="py39")


def fix(*spans: tuple[Place, Place, str]) -> Fix:
    return Fix(Safety.SAFE, tuple(Edit(start, end, content) for start, end, content in spans))


def test_fixes_are_applied_at_their_places():
    fixes = [fix(((1, 1), (1, 2), "y")), fix(((2, 5), (2, 6), "2"))]
    assert edits.apply(b"x = 0\ny = 1\n", fixes) == b"y = 0\ny = 2\n"


def test_line_ends_and_byte_order_mark_stay():
    source = "\ufeffä = 0\r\nb = 1\r\n".encode()
    assert edits.apply(source, [fix(((2, 1), (2, 2), "c"))]) == "\ufeffä = 0\r\nc = 1\r\n".encode()


def test_columns_are_characters_and_rows_are_pythons():
    source = "s = 'ä\x0c\u2028'; x = 1\n".encode()
    assert edits.apply(source, [fix(((1, 12), (1, 13), "y"))]) == "s = 'ä\x0c\u2028'; y = 1\n".encode()


def test_a_fix_that_overlaps_an_earlier_one_waits():
    fixes = [fix(((1, 1), (1, 4), "a")), fix(((1, 3), (1, 6), "b"))]
    assert edits.apply(b"123456\n", fixes) == b"a456\n"


def test_two_findings_with_one_fix_are_one_edit():
    same = fix(((1, 1), (2, 1), ""))
    assert edits.apply(b"import os, sys\nx = 1\n", [same, same]) == b"x = 1\n"


@pytest.mark.parametrize(
    "span", [((9, 1), (9, 2), ""), ((1, 90), (1, 91), ""), ((1, 3), (1, 2), ""), ((0, 1), (1, 1), "")]
)
def test_a_place_outside_of_the_file_is_refused(span):
    with pytest.raises(ValueError, match="edit"):
        edits.apply(b"x = 1\n", [fix(span)])


@given(st.text(alphabet="ab\r\n\u2028é", max_size=30), st.data())
def test_deleting_a_span_takes_out_just_that(text, data):
    at = data.draw(st.integers(0, len(text)))
    row, column = _place(text, at)
    source = text.encode()
    assert (
        edits.apply(source, [fix(((row, column), (row, column), "X"))])
        == (text[:at] + "X" + text[at:]).encode()
    )


def _place(text: str, at: int) -> Place:
    """The row and column of an offset, by counting."""
    row = column = 1
    for n, char in enumerate(text[:at]):
        if char == "\n" or (char == "\r" and text[n + 1 : n + 2] != "\n"):
            row, column = row + 1, 1
        else:
            column += 1
    return row, column


def test_all_single_fixes_together_are_what_ruff_does(tmp_path):
    source = '"""Ä."""\r\nimport os\r\nimport json\r\n\r\nprint(f"ü", json, f"x")\r\n'.encode()
    path = tmp_path / "a.py"
    path.write_bytes(source)
    found = linter.findings(tmp_path, SAFE, ["a.py"])
    ours = edits.apply(source, [each.fix for each in found if each.fix and each.code in {"F401", "F541"}])
    linter.fix(tmp_path, SAFE, ["a.py"], ["F401", "F541"], unsafe=False)
    assert ours == path.read_bytes() != source
