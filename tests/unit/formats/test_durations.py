import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.durations import read_duration, render_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (600, 600.0),
        (0.5, 0.5),
        ("599", 599.0),
        ("90 s", 90.0),
        ("10 m", 600.0),
        ("10m", 600.0),
        ("10 min", 600.0),
        ("4 h", 14400.0),
        ("1.5 h", 5400.0),
        ("250 ms", 0.25),
        ("2 d", 172800.0),
        (" 3 s ", 3.0),
    ],
)
def test_spans_of_time_are_read(text, seconds):
    assert read_duration(text) == seconds


@pytest.mark.parametrize(
    "value",
    [
        0,
        -1,
        "0",
        "-1",
        "-1 m",
        "ten",
        "10 q",
        "",
        " ",
        "m",
        "1e3",
        "nan",
        "inf",
        float("nan"),
        float("inf"),
        True,
        None,
        [],
        "10 M",
        "1,5 h",
        "10 m 5 s",
        "400 d",
        "٣ s",
        "9" * 400,
        10**400,
    ],
    ids=lambda value: repr(value)[:20],
)
def test_anything_else_is_refused_with_what_is_allowed(value):
    with pytest.raises(ValueError, match="give a time above 0 in seconds, or as text like"):
        read_duration(value)


@given(st.integers(10, 10**9).map(lambda n: n / 1000) | st.integers(1, 10**6).map(float))
def test_what_is_rendered_reads_back(seconds):
    assert read_duration(render_duration(seconds)) == pytest.approx(seconds)


def test_the_unit_is_the_largest_whole_one():
    assert [render_duration(s) for s in (600.0, 14400.0, 90.0, 0.25, 1.5)] == [
        "10 m",
        "4 h",
        "90 s",
        "250 ms",
        "1500 ms",
    ]
