"""Shared by the tests of requests."""

from __future__ import annotations

from orchestrator.model.handoff import ReportStatus
from orchestrator.model.limits import Limits
from orchestrator.model.task import TaskState
from tests.unit.pm.story import MET, Story


def complete() -> Story:
    """A story that ended well."""
    story = Story().planned("a")
    story.finishes("a")
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.COMPLETE
    return story


def blocked() -> Story:
    """A story that waits for an answer about its explorer."""
    story = Story(limits=Limits(max_blocks=0))
    story.starts()
    story.does("explore", ReportStatus.BLOCKED, blockers="no key")
    return story
