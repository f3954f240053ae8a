import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.text import (
    FILE_LINES,
    cut,
    cut_at_word,
    decoded,
    local_time,
    neutral,
    one_line,
    refused,
)
from orchestrator.model.errors import BadFile, Fault


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\r\nb\rc\n", "a\nb\nc\n"),
        (b"\xef\xbb\xbf# A", "# A"),
        ("ü\u2028x".encode(), "ü\u2028x"),
        (b"", ""),
    ],
)
def test_line_ends_and_byte_order_marks_are_read(data, text):
    assert decoded(data, "f") == text


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        ("a\nb".encode("utf-16"), 1, "is UTF-16: save it as UTF-8"),
        (b"a\nb\nc\xff", 3, "byte 0xff is not UTF-8"),
        (b"a\nb\0", 2, "holds a NUL"),
        ("ab".encode("utf-16-le"), 1, "holds a NUL"),
        (b"x" * 11, 0, "is larger than 10 bytes"),
    ],
)
def test_what_is_no_text_is_refused_with_its_line(data, line, reason):
    with pytest.raises(BadFile) as caught:
        decoded(data, "f", 10)
    assert caught.value.faults == (Fault(line, reason),)


def test_a_file_of_too_many_lines_is_refused():
    with pytest.raises(BadFile, match="more than 100000 lines"):
        decoded(b"\n" * (FILE_LINES + 1), "f")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;x\x07", "␛]52;c;x␇"),
        ("a\x1b[201~b", "a␛[201~b"),
        ("\x9b31m\x85", "�31m�"),
        ("user\u202egnp.exe", "user�gnp.exe"),
        ("\u2066\u200b\u2060\ufeff\U000e0041", "�����"),
        ("a\r\nb\tc\rd", "a\nb\tc␍d"),
        ("\ud800\x00\x7f", "�␀␡"),
        ("naïve 🙂 für", "naïve 🙂 für"),
    ],
)
def test_neutral_makes_what_acts_visible(text, shown):
    assert neutral(text) == shown


@given(st.text())
def test_neutral_text_is_printable_and_stays_as_it_is(text):
    clean = neutral(text)
    assert neutral(clean) == clean
    assert clean.encode().decode() == clean
    assert not any(ord(sign) < 32 or 0x7F <= ord(sign) < 0xA0 for sign in clean if sign not in "\n\t")


@given(st.text())
def test_one_line_is_one_line(text):
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert one_line(line) == line == line.strip()


@given(st.text(), st.integers(1, 50))
def test_cut_text_fits_and_says_that_it_was_cut(text, limit):
    short = cut(text, limit)
    assert len(short) <= limit
    assert short == text or short.endswith("…")


@pytest.mark.usefixtures("_pacific")
def test_a_time_is_written_as_in_the_document():
    assert local_time(1764286200.0) == "2025-11-27 15:30:00 PST"


@pytest.mark.parametrize("at", [1e300, float("nan"), float("-inf"), -1e18])
def test_a_time_that_no_calendar_has_is_no_error(at):
    assert local_time(at) == "unknown time"


def test_hundred_faults_are_listed_and_the_rest_counted():
    error = refused("f", [Fault(n, "x") for n in range(500, 0, -1)])
    assert [fault.line for fault in error.faults[:3]] == [1, 2, 3]
    assert error.faults[-1] == Fault(0, "and 400 more faults")


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("one two", 7, "one two"),
        ("one two three", 9, "one two…"),
        ("one two three", 8, "one two…"),
        ("one two three", 10, "one two…"),
        ("a " + "b" * 30, 12, "a bbbbbbbbb…"),
        ("b" * 30, 5, "bbbb…"),
        ("one\ntwo three", 9, "one\ntwo…"),
    ],
)
def test_a_text_is_cut_between_two_words(text, limit, shown):
    assert cut_at_word(text, limit) == shown
