"""What a seed draws for one event does not depend on other events."""

from __future__ import annotations

from collections import Counter

from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shrink import kind_of
from tests.simulation.engine.summary_table import table
from tests.simulation.simulate import spread


def test_only_allowed_events_occur_and_keep_their_time():
    scenario = Scenario("1", frozenset({"kill.2"}), now=lambda: 7.0)
    assert [scenario.allows("kill.1"), scenario.allows("kill.2")] == [False, True]
    assert scenario.happened == {"kill.2": 7.0}
    assert Scenario("1").allows("anything")


def test_random_numbers_of_an_event_are_its_own():
    assert Scenario("1").random("kill.2").random() == Scenario("1", frozenset()).random("kill.2").random()
    assert Scenario("1").random("kill.2").random() != Scenario("2").random("kill.2").random()


def test_kinds_are_counted():
    scenario = Scenario("1")
    for name in ("kill.1", "kill.2", "agent.alpha/dev:s1/1/1", "deaf"):
        scenario.allows(name)
    assert scenario.kinds() == {"kill": 2, "agent": 1, "deaf": 1}


def test_failures_of_two_tasks_are_of_one_kind():
    first = "alpha-0123abcd, line 12: run r-5a was opened 2 times; more"
    assert kind_of(first) == kind_of("beta-0123abcd, line 3: run r-77 was opened 3 times")
    assert kind_of(first) != kind_of("alpha-0123abcd: the daemon forgot")


def test_worlds_add_up_to_the_days_wanted():
    worlds = list(spread("1", 500))
    assert sum(world.days for world in worlds) == 500
    assert len({world.seed for world in worlds}) == len(worlds)


def test_table_has_the_counts_and_no_zeros():
    assert table(Counter({"days": 1234, "zeal": 2, "runs": 0})) == "days         1,234\nzeal             2\n"
