"""What others read: whole, without secrets, harmless to look at, and written whatever stands in its place."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.daemon.projections.outcome import outcome_of
from orchestrator.daemon.projections.progress_view import pm_view
from orchestrator.daemon.projections.state_document import Unjournaled, projection
from orchestrator.daemon.projections.state_files import Shown, last_checkin_shown, write_lost, write_pm_state
from orchestrator.model.event import Event, EventKind, Failure
from orchestrator.model.facts import ClockMoved, UsageSeen
from orchestrator.model.limits import Limits
from orchestrator.model.run import Exit
from orchestrator.model.task import AfterRejections
from orchestrator.model.usage import Usage
from orchestrator.model.usage_limit import Reset
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.story import Story

HOME, TASK = Path("/pm/tasks/t-1"), Path("/p/tasks/t")


@pytest.fixture
def files():
    disk = MemoryFiles()
    disk.make_folder(HOME)
    disk.make_folder(TASK)
    return disk


@pytest.fixture
def state():
    story = Story()
    story.starts()
    return story.state


@pytest.mark.parametrize("rubbish", [b"[" * 200_000, b"[]", b"{"])
def test_a_lost_task_whose_page_is_rubbish_is_left_as_it_is(files, rubbish):
    files.write(layout.task_state(HOME), rubbish)
    write_lost(files, HOME, "journal.lost", 1.0)
    assert files.read(layout.task_state(HOME)) == rubbish


def limited_story():
    """A task whose only agent was refused until tomorrow."""
    story = Story()
    story.starts()
    story.comes_alive("explore")
    reset = Reset((story.at + 86_400,), 60.0)
    text = "resets Nov 28, 2:35pm token=abcdef123456"
    story.emits("explore", Event(EventKind.FAILED, text=text, failure=Failure.LIMIT, reset=reset))
    return story


def test_a_task_is_limited_once_nothing_else_goes_on():
    story = limited_story()
    assert projection(story.state, last_checkin=1.0, at=2.0)["limited"] is None, "its run is being ended"
    story.ends("explore", Exit(signal=15))
    document = projection(story.state, last_checkin=1.0, at=2.0)
    limit = document["limited"]
    assert limit == document["steps"][0]["limit"]
    assert (limit["since"], limit["resets_at"], limit["refusals"]) == (story.at, story.at + 86_400, 1)
    assert limit["next_try"] == story.step("explore").not_before
    assert "abcdef123456" not in limit["words"]
    held = pm_view(story.state, 1.0).limited
    assert held is not None
    assert (held.since, held.until, held.next_try) == (story.at, story.at + 86_400, limit["next_try"])
    outcome_so_far = outcome_of(story.state, None)
    assert "at work" not in outcome_so_far.outcome
    assert "usage limit (resets Nov 28, 2:35pm" in outcome_so_far.outcome
    assert "attach" not in outcome_so_far.next
    story.passes(86_400)
    assert projection(story.state, last_checkin=1.0, at=2.0)["limited"] is None, "it is tried again"
    assert "at work" in outcome_of(story.state, None).outcome
    assert pm_view(story.state, 1.0).limited is None


def test_what_goes_wrong_after_a_limit_is_no_limit():
    """A step that was tried again and crashed waits a second because of that, whatever was said of the limit before."""
    story = limited_story()
    story.ends("explore", Exit(signal=15))
    story.passes(86_400)
    story.ends("explore", Exit(code=7))
    assert story.step("explore").not_before > story.at, "it waits a little"
    document = projection(story.state, last_checkin=1.0, at=2.0)
    assert document["limited"] is None
    assert "limit" not in document["steps"][0]
    assert "usage limit" not in outcome_of(story.state, None).outcome


def test_a_stopped_task_waits_for_no_limit():
    story = limited_story()
    story.ends("explore", Exit(signal=15))
    story.stops()
    assert projection(story.state, last_checkin=1.0, at=2.0)["limited"] is None
    assert pm_view(story.state, 1.0).limited is None


def write(files, state):
    Shown(files, HOME).write(state, 1.0, 2.0)
    write_pm_state(files, TASK, state, last_checkin=1.0, at=2.0)


@pytest.mark.parametrize("path", [HOME / "state.json", TASK / "pm_state.json"])
def test_folder_in_place_of_a_page_is_renamed(files, state, path):
    files.put(path / "notes.txt", b"somebody's work")
    write(files, state)
    assert json.loads(files.read(path))["task"] == "demo"
    assert files.read(path.with_name(f"{path.name}.set-aside-1") / "notes.txt") == b"somebody's work"


def test_page_is_complete_and_has_no_control_codes(files, state):
    hostile = "a\x1b[2J\x9b31m\u202egnp\u200b\u2028\U000e0041ü"
    step = replace(state.steps["explore"], title=hostile)
    state = replace(state, steps=state.steps.with_step(step))
    write(files, state)
    for path in (HOME / "state.json", TASK / "pm_state.json"):
        text = files.read(path).decode()
        assert text.replace("\n", "").isprintable()
        assert "ü" in text
    assert json.loads(files.read(HOME / "state.json")) == projection(state, last_checkin=1.0, at=2.0)


def test_no_secret_is_on_a_page(files, state):
    step = replace(state.steps["explore"], title="use token=hunter2hunter2")
    write(files, replace(state, steps=state.steps.with_step(step)))
    for path in (HOME / "state.json", TASK / "pm_state.json"):
        assert b"hunter2" not in files.read(path)


def test_usage_is_shown_by_task_agent_and_run():
    story = Story(limits=Limits(max_task_cost=20.0))
    story.starts()
    run = story.comes_alive("explore").id
    story.at += 90
    usage = Usage(
        1000, 50, 10, 0.25, 400, 8000, estimate=0.5, prices="2026-10-27", unpriced=("x",), partial=True
    )
    story.feed(UsageSeen(story.at, "n", run, usage))
    document = projection(story.state, last_checkin=0.0, at=story.at + 10, limits=story.limits)
    used = {
        "tokens": 1050, "input": 1000, "output": 50, "cached": 10, "cost": 0.25, "context": 400, "window": 8000,
        "estimate": 0.5, "prices": "2026-10-27", "unpriced": ["x"], "partial": True,
    }  # fmt: skip
    assert document["usage"] == {
        **used,
        "time": 100.0,
        "idle": 0.0,
        "limits": {"tokens": 300_000_000, "cost": 20.0, "time": None},
        "defaults": ["tokens"],
    }
    assert document["used_by"] == [{"agent": "explore", "runs": 1, "time": 0.0, **used}]
    (agent,) = document["agents"]
    assert {key: agent[key] for key in used} == used


def test_unreported_usage_is_null(state):
    document = projection(state, last_checkin=0.0, at=1.0)
    assert {key: document["usage"][key] for key in ("tokens", "input", "cost", "context")} == dict.fromkeys(
        ("tokens", "input", "cost", "context")
    )


def test_only_begun_attempts_are_shown(files) -> None:
    story = Story(after_rejections=AfterRejections.ASK).planned("a")
    for _ in range(story.limits.max_rejections):
        story.does("dev:a")
        story.rejects("test:a", "it leaks")
    tries = story.limits.max_rejections
    document = {step["id"]: step for step in projection(story.state, last_checkin=1.0, at=2.0)["steps"]}
    assert (document["dev:a"]["attempts"], document["dev:a"]["tries"]) == (tries + 1, tries)
    view = pm_view(story.state, 1.0)
    assert {each.step: each.attempts for each in view.troubles}["dev:a"] == tries
    assert any(f"attempt {tries};" in f"{each.notes};" for each in view.milestones)
    write_pm_state(files, TASK, story.state, last_checkin=1.0, at=2.0)
    milestones = json.loads(files.read(layout.pm_state(TASK)))["milestones"]
    assert {each["id"]: each["attempts"] for each in milestones}["dev:a"] == tries


def test_each_step_names_the_steps_before_it() -> None:
    """`task watch` draws the graph of the plan from them."""
    state = Story().planned("a").state
    document = {step["id"]: step["needs"] for step in projection(state, last_checkin=1.0, at=2.0)["steps"]}
    assert document["explore"] == []
    assert document["plan"] == ["explore"]
    assert "dev:a" in document["test:a"]


def test_the_last_check_in_is_known_after_a_restart(files, state) -> None:
    """After each restart of the daemon "Last Check-in: never" was said of a task that had been checked in on."""
    assert last_checkin_shown(files, HOME) == 0.0
    Shown(files, HOME).write(state, 123.5, 200.0)
    assert last_checkin_shown(files, HOME) == 123.5
    files.write(layout.task_state(HOME), b"[1]")
    assert last_checkin_shown(files, HOME) == 0.0


@pytest.mark.parametrize("counted", [True, False])
def test_all_notices_are_counted_though_few_are_shown(counted):
    """Of more than ten notices nothing told that there were others; older journals did not count them."""
    story = Story()
    story.starts()
    for slept in range(60):
        story.feed(ClockMoved(story.at, story.nonce(), slept=float(3600 + slept), put=0.0))
    state = story.state if counted else replace(story.state, noticed=0)
    document, page = projection(state, last_checkin=1.0, at=2.0), pm_view(state, 1.0)
    assert len(document["notices"]) == len(page.notices) == 10
    assert document["noticed"] == len(page.notices) + page.more_notices == (60 if counted else 50)


def test_a_run_that_may_not_begin_yet_says_for_what_it_waits():
    """It is not journaled: it is recomputed from the live runs of all tasks."""
    story = Story().planned("a")
    (run,) = story.state.live_runs
    shown = projection(
        story.state, last_checkin=0.0, at=story.at, unjournaled=Unjournaled(waiting={run.id: "a place"})
    )
    (document,) = (each for each in shown["agents"] if each["run"] == run.id)
    assert "a place" in document["evidence"]
