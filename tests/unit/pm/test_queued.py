"""Runs that are pending in the queue of a cluster: shown as such, neither late nor silent, and bounded."""

from __future__ import annotations

from orchestrator.model import facts as f
from orchestrator.model.limits import Limits
from orchestrator.model.run import Ending, Exit, Run
from orchestrator.pm.explain.facts import happened
from tests.unit.pm.story import Story

LONG = 500_000.0
"""Seconds: longer than any limit of a run that has begun, and shorter than `limits.queue_timeout`."""


def queued(story: Story, reason: str = "Resources") -> Run:
    run = story.run_of("explore")
    story.feed(f.RunQueued(story.at, run.id, reason))
    return story.state.runs[run.id]


def begun() -> Story:
    story = Story()
    story.starts()
    return story


def test_queued_run_says_why() -> None:
    story = begun()
    run = queued(story)
    assert run.is_queued
    assert run.evidence == "pending: Resources"
    assert queued(story, "Priority").evidence == "pending: Priority"
    assert story.feed(f.RunQueued(story.at, run.id, "Priority")).empty


def test_queued_run_is_neither_late_nor_silent() -> None:
    story = begun()
    run = queued(story)
    story.passes(LONG)
    assert story.state.runs[run.id].ending is Ending.NOT


def test_time_in_the_queue_is_no_time_of_the_run() -> None:
    """It has begun when it has a place: all limits count from then."""
    story = begun()
    run = queued(story)
    story.passes(LONG)
    now = story.comes_alive("explore")
    assert (now.id, now.is_queued, now.queued) == (run.id, False, "")
    story.passes(Limits().inactivity_timeout / 2)
    assert story.state.runs[run.id].ending is Ending.NOT


def test_time_in_the_queue_is_bounded() -> None:
    """The run is ended and its step told why."""
    story = begun()
    run = queued(story)
    story.passes(Limits().queue_timeout + 1)
    assert story.state.runs[run.id].ending is Ending.OVERDUE
    decision = story.feed(f.RunGone(story.at, story.nonce(), run.id, Exit(code=1)))
    said = " ".join(map(str, decision.changes))
    assert "longer than 168 h 0 min (limits.queue_timeout)" in said
    assert "waited too long in the queue" in said


def test_run_that_has_begun_is_not_queued_again() -> None:
    story = begun()
    run = story.comes_alive("explore")
    assert story.feed(f.RunQueued(story.at, run.id, "Resources")).empty


def test_cause_of_an_end_is_shown() -> None:
    how = Exit(code=143, cause="its job was ended by Slurm at its time limit")
    assert str(how) == "ended: its job was ended by Slurm at its time limit"
    said = happened({"kind": "run_gone", "run": "r-1", "exit": {"code": 143, "cause": how.cause}})
    assert how.cause in said
    assert "Resources" in happened({"kind": "run_queued", "run": "r-1", "reason": "Resources"})
