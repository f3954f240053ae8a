"""What a seed has in store does not depend on what else it has."""

from __future__ import annotations

from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shrink import kind_of
from tests.simulation.engine.summary_table import table
from tests.simulation.simulate import spread


def test_only_what_is_let_happens_and_is_remembered_with_its_moment():
    fate = Scenario("1", frozenset({"kill.2"}), now=lambda: 7.0)
    assert [fate.lets("kill.1"), fate.lets("kill.2")] == [False, True]
    assert fate.happened == {"kill.2": 7.0}
    assert Scenario("1").lets("anything")


def test_the_dice_of_one_thing_are_its_own():
    assert Scenario("1").random("kill.2").random() == Scenario("1", frozenset()).random("kill.2").random()
    assert Scenario("1").random("kill.2").random() != Scenario("2").random("kill.2").random()


def test_kinds_are_counted():
    fate = Scenario("1")
    for name in ("kill.1", "kill.2", "agent.alpha/dev:s1/1/1", "deaf"):
        fate.lets(name)
    assert fate.kinds() == {"kill": 2, "agent": 1, "deaf": 1}


def test_two_failures_are_alike_whoever_they_befall():
    first = "alpha-0123abcd, line 12: run r-5a was opened 2 times; more"
    assert kind_of(first) == kind_of("beta-0123abcd, line 3: run r-77 was opened 3 times")
    assert kind_of(first) != kind_of("alpha-0123abcd: the daemon forgot")


def test_worlds_add_up_to_the_days_that_were_asked_for():
    worlds = list(spread("1", 500))
    assert sum(world.days for world in worlds) == 500
    assert len({world.seed for world in worlds}) == len(worlds)


def test_the_table_says_what_there_was_and_nothing_else():
    from collections import Counter

    assert table(Counter({"days": 1234, "zeal": 2, "runs": 0})) == "days         1,234\nzeal             2\n"
