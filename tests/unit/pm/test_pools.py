"""Which box of a pool a task is given, and that it keeps it (H4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from orchestrator.model import facts as f
from orchestrator.model.pools import Pool
from orchestrator.model.task import AgentOverrides, Config, Location
from orchestrator.pm.plan.pools import Standings, placed, shared_places, standings
from tests.unit.pm.story import Story

FARM = Pool("farm", ("alpha", "me@beta:2222", "gamma"), 4)
ASKED = Config(cwd=Location("/srv/shop", "farm"))
NOWHERE = Config()


def seen(
    runs: str = "", tasks: str = "", lost: tuple[str, ...] = (), unfit: tuple[Location, ...] = ()
) -> Standings:
    """Return how boxes stand; a box is named once for each run, and for each task, that it has."""
    return Standings(Counter(runs.split()), Counter(tasks.split()), frozenset(lost), frozenset(unfit))


def box_for(standing: Standings, asked: Config = ASKED, was: Config = NOWHERE) -> str:
    config, _ = placed(asked, was, (FARM,), standing)
    assert config.cwd is not None
    assert config.cwd.path == "/srv/shop"
    return config.cwd.host


@pytest.mark.parametrize(
    ("standing", "box"),
    [
        (seen(), "alpha"),
        (seen("alpha"), "me@beta:2222"),
        (seen("alpha me@beta:2222"), "gamma"),
        (seen("alpha alpha me@beta:2222 gamma gamma"), "me@beta:2222"),
        (seen(tasks="alpha"), "me@beta:2222"),
        (seen(tasks="alpha me@beta:2222 gamma"), "alpha"),
        (seen("me@beta:2222 gamma", "alpha alpha alpha"), "alpha"),
        (seen(lost=("alpha",)), "me@beta:2222"),
        (seen("me@beta:2222 " * 9, lost=("alpha", "gamma")), "me@beta:2222"),
        (seen(unfit=(Location("/srv/shop", "alpha"),)), "me@beta:2222"),
        (seen(unfit=(Location("/elsewhere", "alpha"),)), "alpha"),
        (seen("alpha", lost=FARM.boxes), "me@beta:2222"),
    ],
)
def test_least_loaded_available_box_is_chosen(standing: Standings, box: str) -> None:
    """Of equal ones the box with fewer tasks is taken, then the first."""
    assert box_for(standing) == box


def test_what_was_taken_and_why_is_said() -> None:
    standing = seen("alpha alpha", "alpha me@beta:2222", lost=("gamma",))
    (said,) = placed(ASKED, NOWHERE, (FARM,), standing)[1]
    beta, _, others = said.partition(" rather than on ")
    assert beta == "farm:/srv/shop is on me@beta:2222 (0 of 4 agents at work, 1 task to use it)"
    assert others == "alpha (2 of 4 agents at work, 1 task to use it), gamma (does not answer)"
    many = Pool("farm", tuple(f"b{n}" for n in range(9)))
    (said,) = placed(ASKED, NOWHERE, (many,), seen())[1]
    assert said.endswith("b5 (0 of 4 agents at work), 3 more")
    alone = Pool("farm", ("b",), 1)
    unfit = seen(unfit=(Location("/srv/shop", "b"),))
    assert placed(ASKED, NOWHERE, (alone,), unfit)[1] == ("farm:/srv/shop is on b (cannot be worked on)",)


def test_a_place_that_names_no_pool_is_that_place() -> None:
    for place in (
        None,
        Location("/srv/till"),
        Location("/srv/shop", "alpha"),
        Location("/srv/shop", "me@farm"),
    ):
        config = Config(cwd=place, agents={"dev": AgentOverrides(cwd=place)})
        assert placed(config, NOWHERE, (FARM,), seen()) == (config, ())


def test_each_location_gets_one_box() -> None:
    here, there = Location("/srv/shop", "farm"), Location("/srv/other", "farm")
    overrides = {
        "dev": AgentOverrides(model="m", cwd=here),
        "architect": AgentOverrides(cwd=there),
        "test": AgentOverrides(),
    }
    unfit = seen(unfit=(Location("/srv/other", "alpha"),))
    config, said = placed(Config(cwd=here, agents=overrides), NOWHERE, (FARM,), unfit)
    assert config.cwd == Location("/srv/shop", "alpha")
    assert config.agents == {
        "dev": AgentOverrides(model="m", cwd=config.cwd),
        "architect": AgentOverrides(cwd=Location("/srv/other", "me@beta:2222")),
        "test": AgentOverrides(),
    }
    assert len(said) == 2


def test_restarted_task_keeps_its_box() -> None:
    """Unless task.md names another location."""
    was, busy = Config(cwd=Location("/srv/shop", "gamma")), seen("gamma gamma gamma", lost=("gamma",))
    assert box_for(busy, was=was) == "gamma"
    assert placed(ASKED, was, (FARM,), busy)[1] == ("farm:/srv/shop stays on gamma",)
    by_agent = Config(agents={"dev": AgentOverrides(cwd=Location("/srv/shop", "gamma"))})
    assert box_for(busy, was=by_agent) == "gamma"
    elsewhere = Config(cwd=Location("/srv/other", "gamma"))
    assert box_for(busy, was=elsewhere) == "alpha"
    assert placed(ASKED, was, (replace(FARM, boxes=("alpha",)),), busy)[0].cwd == Location(
        "/srv/shop", "alpha"
    )


def test_load_counts_live_runs_and_active_tasks() -> None:
    working = Story(cwd=Location("/srv/shop", "alpha")).planned("a")
    to_come = Story(
        agents={
            "dev": AgentOverrides(cwd=Location("/x", "gamma")),
            "architect": AgentOverrides(cwd=Location("/y")),
        }
    )
    to_come.starts()
    stopped = Story(cwd=Location("/srv/shop", "me@beta:2222")).planned("a")
    stopped.comes_alive("dev:a")
    stopped.stops()
    found = standings([story.state for story in (working, to_come, stopped)], ["gamma"], [])
    assert found == Standings(
        Counter({"alpha": 1, "me@beta:2222": 1}), Counter({"alpha": 1, "gamma": 1}), frozenset({"gamma"})
    )
    stopped.ends("dev:a")
    assert not standings([stopped.state], [], []).runs


def started(story: Story, box: str, *chosen: str) -> str:
    """Have a story's task started on a box of a pool; return what the user is told."""
    config = replace(story.brief.config, cwd=Location("/srv/shop", box))
    fact = f.TaskStarted(
        story.at, story.nonce(), story.nonce(), "demo-1", "demo", "/project", replace(story.brief, config=config),
        story.agents, "base", chosen=chosen,
    )  # fmt: skip
    return story.feed(fact).reply


def test_choice_of_a_box_is_noticed_at_each_start() -> None:
    """It is not noticed while the task runs."""
    story = Story()
    assert started(story, "alpha", "it is on alpha") == "demo runs; it is on alpha"
    assert story.state.notices[-1].endswith("it is on alpha")
    assert started(story, "gamma", "it is on gamma") == "demo runs already"
    assert story.state.brief.config.cwd == Location("/srv/shop", "alpha")
    story.stops()
    assert started(story, "alpha", "it stays on alpha").endswith("(stopped); it stays on alpha")
    assert [text.partition(" ")[2] for text in story.state.notices[-2:]] == [
        "it is on alpha",
        "it stays on alpha",
    ]


def test_an_edited_task_md_that_names_the_pool_moves_nothing() -> None:
    story = Story()
    started(story, "alpha", "it is on alpha")
    edited = replace(story.brief, goal="Something else", config=ASKED)
    story.feed(f.BriefChanged(story.at, edited))
    assert story.state.brief.goal == "Something else"
    assert story.state.brief.config.cwd == Location("/srv/shop", "alpha")


def test_a_clone_on_a_box_that_another_task_uses_is_named_at_the_start() -> None:
    """Somebody who merges by hand there may take along what belongs to the other task."""
    place = Location("/srv/shop", "alpha")
    other = Story(cwd=place).planned("a")
    config = Config(cwd=place)
    (said,) = shared_places(config, "mine-1", [other.state])
    assert other.state.id in said
    assert "alpha:/srv/shop" in said
    assert shared_places(config, other.state.id, [other.state]) == (), "a task shares nothing with itself"
    assert shared_places(Config(cwd=Location("/srv/other", "alpha")), "mine-1", [other.state]) == ()
    assert shared_places(Config(cwd=Location("/srv/shop", "")), "mine-1", [Story().planned("a").state]) == ()
    other.stops()
    other.ends("dev:a")
    assert shared_places(config, "mine-1", [other.state]) == ()
