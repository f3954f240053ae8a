import pytest
from pantry import units


def test_all_units_are_known():
    assert units.known() == ["cup", "g", "kg", "l", "ml", "oz"]


def test_a_weight_in_another_unit():
    assert units.convert(2, "kg", "g") == 2000


def test_no_way_from_weight_to_volume():
    with pytest.raises(units.UnknownUnit):
        units.convert(1, "kg", "l")


def test_an_amount_is_read():
    assert units.parse("250 g") == (250.0, "g")
    assert units.parse("1.5 l") == (1.5, "l")


@pytest.mark.parametrize("text", ["much", "3 spoons"])
def test_what_is_no_amount_is_refused(text):
    with pytest.raises(units.UnknownUnit):
        units.parse(text)
