import json
import os
from pantry import Item, Stock


def test_more_of_the_same_is_added():
    stock = Stock([Item("egg", 6)])
    stock.add(Item("egg", 4))
    stock.add(Item("rice", 500, "g"))
    assert [(item.name, item.amount) for item in stock] == [("egg", 10), ("rice", 500)]


def test_only_what_is_there_can_be_taken():
    stock = Stock([Item("egg", 2)])
    assert stock.take("egg", 2)
    assert not stock.take("egg", 1)
    assert not stock.take("milk", 1)


def test_what_is_missing():
    assert Stock([Item("egg", 2)]).missing({"egg": 3, "milk": 1, "salt": 0}) == {"egg": 1, "milk": 1, "salt": 0}


def test_a_stock_is_read_from_a_file(tmp_path):
    path = tmp_path / "stock.json"
    path.write_text(json.dumps([{"name": "egg", "amount": 6}]), encoding="utf-8")
    assert [item.label() for item in Stock.load(path)] == ["6 x egg"]


def test_no_file_is_an_empty_stock(tmp_path):
    assert list(Stock.load(tmp_path / "none.json")) == []
