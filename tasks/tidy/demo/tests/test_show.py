from pantry import Item, Stock, show


def test_both_formats_are_there():
    assert show.formats() == ["csv", "text"]


def test_text():
    assert show.show(Stock([Item("egg", 6)])) == "Stock, 1 kinds\n6 x egg"


def test_csv():
    assert show.show(Stock([Item("rice", 500, "g")]), "csv") == "rice,500,g\r\n"
