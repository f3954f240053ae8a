"""The drawing of a plan's steps."""

import random
from itertools import pairwise

import pytest

from orchestrator.cli.watching.graph import WIDEST, Node, graph, graph_of


def drawn(*steps):
    """Draw steps that are given as `id: needs`."""
    parted = [step.partition(":") for step in steps]
    return graph([Node(name, tuple(needs.split()), "passed") for name, _, needs in parted])


def test_a_chain_is_one_column():
    assert drawn("a", "b: a", "c: b") == ["*", "*", "*"]


def test_branches_part_and_meet_again():
    assert drawn("plan", "dev1: plan", "test1: dev1", "dev2: plan", "end: test1 dev2") == [
        "*",
        "├─*",
        "│ *",
        "* │",
        "*─┘",
    ]


def test_a_line_crosses_what_lies_between():
    assert drawn("a", "b", "c", "e: b", "d: a c", "f: d e") == [
        "*",
        "│ *",
        "│ │ *",
        "│ * │",
        "*─┼─┘",
        "*─┘",
    ]


@pytest.mark.parametrize(
    ("status", "mark"),
    [("pending", "o"), ("working", ">"), ("blocked", "!"), ("failed", "x"), ("set_aside", "-"), ("new", "?")],
)
def test_the_sign_says_the_status(status, mark):
    lines = graph([Node("a", (), "passed"), Node("b", ("a",), status)])
    assert lines == ["*", mark]


def test_steps_without_needs_are_drawn_without_a_graph():
    """A `state.json` of an older version names no needs: nothing is known, so nothing is shown."""
    assert graph_of([{"id": "a", "status": "passed"}, {"id": "b"}]) == ["", ""]


def test_needs_out_of_order_or_unknown_are_left_out():
    assert drawn("a: b", "b: a nobody b", "c: b") == ["*", "*", "*"]


def test_odd_needs_do_no_harm():
    assert graph_of([{"id": "a"}, {"id": "b", "needs": 7}, {"id": "c", "needs": ["a", "a", None]}])


def test_a_graph_too_wide_has_no_lines():
    many = [Node(f"s{n}", (), "passed") for n in range(WIDEST + 2)]
    end = Node("end", tuple(node.id for node in many), "pending")
    assert graph([*many, end]) == ["*"] * len(many) + ["o"]


@pytest.mark.parametrize("seed", range(40))
def test_each_line_joins_as_many_columns_as_it_has_needs(seed):
    """In any plan: a step's row has its sign once, and a column that runs on has a sign below it."""
    chance = random.Random(seed)
    nodes: list[Node] = []
    for n in range(12):
        needs = chance.sample([node.id for node in nodes], chance.randint(0, min(2, n)))
        nodes.append(Node(f"s{n}", tuple(needs), "passed"))
    lines = graph(nodes)
    if all(line == "*" for line in lines):
        return
    assert all(line.count("*") == 1 for line in lines)
    for above, below in pairwise(lines):
        for place, sign in enumerate(above):
            if sign in "│├┤":
                assert below[place : place + 1] in set("│├┤└┘┼┴*"), (above, below)
