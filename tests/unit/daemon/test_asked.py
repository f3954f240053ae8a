"""Which hosts an action asks: what waits for a box is given to hands of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.daemon.actions.asked import hosts_asked
from orchestrator.model.actions import Action, Commit, End, Inspect, Launch, Look, Merge, Nudge
from orchestrator.model.host_names import HERE
from orchestrator.model.plan import Gate
from orchestrator.model.task import Location
from tests.unit.pm.story import Story

BOX = "me@box"


@pytest.fixture
def story() -> Story:
    return Story(cwd=Location("/repo", BOX)).planned("a")


def of_run(kind: type[Launch | End | Look | Nudge], run: str) -> Action:
    made: dict[type[Action], Action] = {
        Launch: Launch("i", run),
        End: End("i", run),
        Look: Look("i", run),
        Nudge: Nudge("i", run, "go on"),
    }
    return made[kind]


@pytest.mark.parametrize("kind", [Launch, End, Look, Nudge])
def test_what_is_done_to_a_run_is_asked_of_its_host(story, kind) -> None:
    state = story.state
    far = story.run_of("dev:a")
    assert hosts_asked(state, of_run(kind, far.id)) == (BOX,)
    near = next(run for run in state.runs.values() if not run.on_box)
    assert hosts_asked(state, of_run(kind, near.id)) == (HERE,)


def test_work_is_asked_of_the_box_on_which_its_agent_works(story) -> None:
    for kind in (Commit, Inspect):
        assert hosts_asked(story.state, kind("i", "dev:a", 1)) == (BOX,)
        assert hosts_asked(story.state, kind("i", "review:a", 1)) == ()


def test_what_needs_this_machine_alone_asks_nobody(story) -> None:
    assert hosts_asked(story.state, Merge("i", "review:a", 1, "c0")) == ()


@pytest.mark.parametrize(("commit", "asked"), [("", (HERE, BOX)), ("c0", (HERE,))])
def test_judge_of_work_that_is_still_on_a_box_asks_that_box(story, commit, asked) -> None:
    state = story.state
    judge = next(step for step in state.steps.values() if step.judges)
    judged = replace(state.steps[judge.judges], gates=(Gate.COMMIT,), commit=commit)
    near = next(run for run in state.runs.values() if not run.on_box)
    launched = replace(near, id="r-judge", step=judge.id)
    state = replace(state, steps=state.steps.with_step(judged), runs=state.runs.with_run(launched))
    assert hosts_asked(state, Launch("i", launched.id)) == asked
