"""What tokens cost: by model, cached reads and writes apart; a model without a price is never free."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.amounts import cost_said, prices_said
from orchestrator.formats.prices import price_said, prices_in_force, shipped_prices
from orchestrator.formats.pricing import UNKNOWN, dollars, plain_name, price_of, priced
from orchestrator.model.prices import Price
from orchestrator.model.usage import Tokens, Usage

MILLION = 1_000_000
PRICE = Price("m", ("m", "m-*"), 4.0, 20.0, 0.2, 5.0, 8.0, "2026-10-27")
OLDER = Price("n", ("n",), 1.0, 1.0, 1.0, 1.0, 1.0, "2026-01-01")


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (Tokens(input=MILLION), 4.0),
        (Tokens(output=MILLION), 20.0),
        (Tokens(input=MILLION, cached=MILLION), 0.2),
        (Tokens(input=MILLION, written=MILLION), 5.0),
        (Tokens(input=MILLION, kept=MILLION), 8.0),
        (Tokens(input=10 * MILLION, output=MILLION, cached=7 * MILLION, written=MILLION, kept=MILLION), 38.4),
        (Tokens(input=10, cached=MILLION, written=MILLION), 0.000002),
        (Tokens(), 0.0),
    ],
)
def test_each_kind_of_token_has_its_price(tokens, expected):
    assert dollars(tokens, PRICE) == pytest.approx(expected)


def test_an_estimate_names_the_oldest_day_and_what_has_no_price():
    models = (
        ("m", Tokens(MILLION)),
        ("n", Tokens(MILLION)),
        ("x/y", Tokens(5)),
        ("", Tokens(5)),
        ("z", Tokens()),
    )
    used = priced(Usage(1, 1, models=models), (PRICE, OLDER))
    assert (used.estimate, used.prices, used.unpriced) == (5.0, "2026-01-01", ("x/y", UNKNOWN))
    assert used.models == (), "what is journaled is what it came to"


def test_what_has_no_price_is_no_cost_of_nothing():
    used = priced(Usage(5, 5, models=(("x", Tokens(5, 5)),)), (PRICE,))
    assert (used.estimate, used.dollars, used.unpriced) == (None, None, ("x",))


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("claude-opus-5-5[1m]", "claude-opus-5-5"),
        ("claude-opus-4-5-20251101", "claude-opus-5"),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4"),
        ("openrouter/anthropic/claude-sonnet-4.5", "claude-sonnet-4"),
        ("claude-haiku-4-5@20251001", "claude-haiku-4-5"),
        ("gpt-5.1-codex", "gpt-5"),
        ("openai/gpt-5-2025-08-07", "gpt-5"),
        ("gpt-6.1-sol", "gpt-6.1-sol"),
        ("gemini-2.5-pro", "gemini-2.5-pro"),
        ("google/gemini-3.1-pro-preview", "gemini-3.1-pro"),
        ("gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"),
        ("claude-opus-9", None),
        ("gpt-5.9", None),
        ("gpt-5.1-codex-huge", None),
        ("model", None),
        ("", None),
    ],
)
def test_a_model_is_known_by_whatever_name_it_is_served(model, expected):
    found = price_of(model, shipped_prices())
    assert (found and found.name) == expected


def test_each_shipped_price_is_dated_and_found_by_its_name():
    for price in shipped_prices():
        assert date.fromisoformat(price.date) >= date(2026, 10, 1)
        assert 0 < price.cache_read <= price.input <= price.cache_write <= price.cache_write_hour
        assert price.input < price.output
        assert all(
            price_of(name, shipped_prices()) == price for name in price.models if not set("[*") & set(name)
        )
        assert price.date in price_said(price)


def test_own_prices_come_first_and_replace_by_name():
    own = Price("gpt-5.5", ("gpt-5.5",), 1.0, 1.0, 1.0, 1.0, 1.0, "2026-11-20")
    any_ = Price("own", ("claude-*",), 2.0, 2.0, 2.0, 2.0, 2.0, "2026-11-20")
    prices = prices_in_force((own, any_))
    assert len(prices) == len(shipped_prices()) + 1
    assert price_of("gpt-5.5", prices) == own
    assert price_of("claude-opus-5-5", prices) == any_


def test_an_estimate_is_shown_as_one_and_with_its_age():
    at = 1_795_305_600.0  # 22 November 2026
    assert cost_said(3.4, None) == "$3.40"
    assert cost_said(None, 3.4) == "~$3.40"
    assert cost_said(3.0, 0.4) == "~$3.40"
    assert cost_said(3.0, 0.000001) == "$3"
    assert prices_said("2026-10-27", at) == "by prices of 2026-10-27, 26 days old"
    assert prices_said("2026-11-21", at) == "by prices of 2026-11-21, 1 day old"
    assert (
        prices_said("2026-11-23", at, ["x"]) == "by prices of 2026-11-23, 0 days old; no price is known of x"
    )
    assert prices_said("", at, ["x", "y"]) == "no price is known of x, y"


@given(st.text(max_size=300))
def test_any_name_has_a_plain_one(model):
    assert len(plain_name(model)) <= 2 * len(model)
    price_of(model, shipped_prices())


@given(st.builds(Tokens, *[st.integers(0, 10**15)] * 5))
def test_price_lies_between_nothing_and_the_dearest(tokens):
    assert 0 <= dollars(tokens, PRICE) <= (tokens.input * 8.0 + tokens.output * 20.0) / MILLION + 1
