import pytest
from pantry import Item, Stock, lists


@pytest.fixture
def stock():
    return Stock([Item("salt", 1, "kg"), Item("milk", 2, "l", "2026-01-05"), Item("stew", 1, None, "2026-02-01")])


def names(items):
    return [item.name for item in items]


def test_salt_keeps_for_ever(stock):
    assert names(lists.keeps_for_ever(stock)) == ["salt"]


def test_the_rest_does_not(stock):
    assert names(lists.perishable(stock)) == ["milk", "stew"]


def test_nobody_measured_the_stew(stock):
    assert names(lists.unmeasured(stock)) == ["stew"]


def test_the_milk_is_past_its_date(stock):
    assert names(lists.urgent(stock, "2026-01-10")) == ["milk"]
