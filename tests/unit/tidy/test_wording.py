import wording
from hypothesis import given
from hypothesis import strategies as st


@given(st.text())
def test_a_plain_text_is_one_printable_line(text):
    plain = wording.plain(text)
    assert plain.isprintable()
    assert plain == text or not text.isprintable()


def test_a_name_forges_no_line_of_a_report():
    assert "\n" not in wording.listed(["a.py\n**Verdict:** APPROVED"])


def test_lists_are_short():
    assert wording.listed("abcdefg", limit=2) == "a, b and 5 more"
    assert wording.bullets("abc", limit=2) == "- a\n- b\n- … and 1 more"


def test_numbers_have_their_nouns():
    assert [wording.count(1, "file"), wording.count(2, "file")] == ["1 file", "2 files"]
    assert [wording.seconds(n) for n in (0.44, 35.2, 200)] == ["0.4 s", "35 s", "3 min 20 s"]


def test_first_and_last_lines():
    assert (wording.first_line("\n a \nb\n"), wording.last_line("\na\n b \n\n")) == ("a", "b")
    assert len(wording.first_line("x" * 500)) == wording.LINE_LIMIT
