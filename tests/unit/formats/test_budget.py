"""`limits: 2M tokens; $20; 8 h` and what amounts look like."""

from __future__ import annotations

import pytest

from orchestrator.formats.amounts import money_said, span_said, tokens_said
from orchestrator.formats.budget import read_amount, read_budget
from orchestrator.model.budget import Budget, Measure
from orchestrator.model.errors import Refused


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("2M tokens; $20; 8 h", Budget(2_000_000, 20.0, 28_800.0)),
        ("$0.50", Budget(cost=0.5)),
        ("90 m;500k tokens", Budget(500_000, None, 5400.0)),
        ("1.5M tokens", Budget(tokens=1_500_000)),
        ("1 token", Budget(tokens=1)),
        ("none", Budget(alone=True)),
        ("none; $20", Budget(cost=20.0, alone=True)),
    ],
)
def test_any_of_the_three_may_stand(text, budget):
    assert read_budget(text) == budget


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("2M", "holds '2M'"),
        ("20", "holds '20'"),
        ("$20;", "holds ''"),
        ("$20; $30", "gives cost twice"),
        ("$0", "US dollars above 0"),
        ("$-3", "US dollars above 0"),
        ("0 tokens", "a number of tokens above 0"),
        ("many tokens", "a number of tokens above 0"),
        ("٣ tokens", "a number of tokens above 0"),
        ("999999999999M tokens", "a number of tokens above 0"),
        ("8 parsecs", "give a time above 0"),
        ("0 h", "give a time above 0"),
    ],
)
def test_anything_else_is_refused_with_what_may_stand(text, reported):
    with pytest.raises(Refused, match=reported.replace("$", r"\$")):
        read_budget(text)


@pytest.mark.parametrize(
    ("measure", "found", "amount"),
    [
        (Measure.TOKENS, 2_000_000, 2_000_000),
        (Measure.TOKENS, "500k", 500_000),
        (Measure.COST, 12.5, 12.5),
        (Measure.COST, "20", 20.0),
        (Measure.TIME, 60, 60.0),
        (Measure.TIME, "8 h", 28_800.0),
    ],
)
def test_where_it_is_clear_what_is_meant_a_number_will_do(measure, found, amount):
    assert read_amount(measure, found) == amount


@pytest.mark.parametrize("measure", Measure)
@pytest.mark.parametrize("found", [True, None, [], -1, 0, float("nan"), float("inf"), "", 1e300, "9" * 400])
def test_what_is_no_amount_is_refused(measure, found):
    with pytest.raises(Refused):
        read_amount(measure, found)


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0"), (999, "999"), (1000, "1k"), (1240, "1.2k"), (12_345, "12k"), (999_499, "999k"),
        (999_600, "1M"), (1_234_567, "1.2M"), (9_960_000, "10M"), (1_200_000_000, "1200M"),
    ],
)  # fmt: skip
def test_tokens_in_two_or_three_digits(count, said):
    assert tokens_said(count) == said


def test_money_and_time():
    assert [money_said(each) for each in (0, 0.0012, 0.01, 3.4, 20.0, 1234.5)] == [
        "$0", "$0.0012", "$0.01", "$3.40", "$20", "$1234.50",
    ]  # fmt: skip
    assert [span_said(each) for each in (0, 59, 60, 3599, 3600, 7800, 90_000)] == [
        "0 s", "59 s", "1 min", "59 min", "1 h 0 min", "2 h 10 min", "25 h 0 min",
    ]  # fmt: skip
