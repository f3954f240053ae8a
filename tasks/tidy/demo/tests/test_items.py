from pantry import Item


def test_a_label_tells_amount_and_unit():
    assert Item("rice", 500, "g").label() == "500 g of rice"
    assert Item("egg", 6).label() == "6 x egg"


def test_nothing_left_is_empty():
    assert Item("salt", 0).is_empty()
    assert not Item("salt", 1).is_empty()


def test_items_do_not_share_their_tags():
    one, other = Item("rice", 1), Item("egg", 1)
    one.tags.append("dry")
    assert other.tags == []
