"""Registries: what ships, what packages add, and what is not made before it is needed."""

from __future__ import annotations

import pytest

from orchestrator.model.errors import BadName, Refused
from orchestrator.model.registry import Registry


def registry(made: list[str] | None = None) -> Registry[str]:
    def make(name: str) -> str:
        if made is not None:
            made.append(name)
        return name.upper()

    return Registry("colour", {"red": lambda: make("red"), "blue": lambda: make("blue")})


def test_each_is_made_once_and_late() -> None:
    made: list[str] = []
    colours = registry(made)
    assert list(colours) == ["red", "blue"]
    assert "red" in colours
    assert len(colours) == 2
    assert made == []
    assert colours["red"] == colours.find("red") == "RED"
    assert made == ["red"]


def test_one_that_is_added_is_found_and_names_its_source() -> None:
    colours = registry()
    colours.register("green", lambda: "GREEN", "paint 1.0")
    assert colours.find("green") == "GREEN"
    assert colours.added == ("green",)
    assert (colours.origin("green"), colours.origin("red")) == ("paint 1.0", "this program")
    colours.unregister("green")
    assert "green" not in colours
    assert not colours.added


def test_what_ships_is_neither_replaced_nor_removed() -> None:
    colours = registry()
    with pytest.raises(Refused, match="this program"):
        colours.register("red", lambda: "another", "paint 1.0")
    colours.unregister("red")
    assert colours["red"] == "RED"


def test_two_packages_cannot_have_one_name() -> None:
    colours = registry()
    colours.register("green", lambda: "GREEN", "paint 1.0")
    with pytest.raises(Refused, match="paint"):
        colours.register("green", lambda: "other", "dye 2.0")
    assert colours["green"] == "GREEN"


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(Refused, match="red, blue"):
        registry().find("green")
    with pytest.raises(KeyError):
        registry()["green"]


def test_name_must_be_a_name() -> None:
    with pytest.raises(BadName):
        registry().register("../green", lambda: "x", "paint 1.0")
