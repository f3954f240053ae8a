"""Going round in circles: told once, then another begins anew, then a person is asked (law 8)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.model.activity import Activity, Stage
from orchestrator.model.event import CAUTION, Event, EventKind, Reply, Say
from orchestrator.model.limits import Limits
from orchestrator.model.permission import Act, PermissionDecision
from orchestrator.model.plan import StepState
from orchestrator.model.run import Ending, Exit, Quiet, Run, Sight
from orchestrator.model.tool_request import Judgement, ToolRequest
from tests.unit.pm.story import Story

LIMITS = Limits()
ALLOWED = Judgement(PermissionDecision.ALLOW, "a rule")
LISTS = ToolRequest("Bash", Act.RUN, command="ls")
TAKEN = Event(EventKind.TAKEN, session="s-1", transcript="/t.jsonl")


class Circling(Story):
    """A story whose explorer is a program that tells of itself."""

    def __init__(self, *, records: bool = True) -> None:
        super().__init__()
        self.agents = {name: replace(agent, receipts=True) for name, agent in self.agents.items()}
        self.count = 0
        self.starts()
        self.begins(records=records)

    @property
    def run(self) -> Run:
        return self.run_of("explore")

    def begins(self, *, records: bool = True) -> None:
        """The newest run comes alive and takes its order."""
        self.comes_alive("explore")
        self.emits("explore", TAKEN, whole=True)
        if records:
            self.circles(0)

    def circles(self, times: int) -> bool:
        """So many calls in a row brought nothing new."""
        self.count += 1
        return self.records(
            "explore", Activity(Stage.MODEL, self.count, self.at, "", 0.0, times, "Bash: make all")
        )

    def asks(self, wish: ToolRequest = LISTS) -> str:
        """It asks leave, and has it."""
        self.at += 1
        return self.emits("explore", Event(EventKind.ASKED, tool_request=wish), waits=True, judgement=ALLOWED)

    @property
    def cautions(self) -> list[Reply]:
        return [reply for name, reply in self.replies.items() if name == CAUTION]


def test_repetition_warning_goes_through_the_hook() -> None:
    """It is given once, and nothing is typed."""
    story = Circling()
    assert not story.circles(LIMITS.max_repeated_calls - 1)
    assert story.circles(LIMITS.max_repeated_calls)
    (made_story,) = story.cautions
    assert made_story.say is Say.CAUTION
    assert "Bash: make all" in made_story.reason
    assert (story.run.ending, story.run.nudges, story.run.cautioned_at) == (Ending.NOT, 0, story.at)
    assert not story.state.open_questions


def test_repeating_run_is_replaced_by_a_fresh_one() -> None:
    """The fresh conversation begins on its tree."""
    story = Circling()
    story.circles(LIMITS.max_repeated_calls)
    story.at += 60
    story.circles(LIMITS.max_repeated_calls)
    first = story.run
    assert first.ending is Ending.REPEATING
    story.ends(run=first, how=Exit(signal=15))
    assert story.state.runs[first.id].spent
    assert story.step("explore").keep_tree
    order = story.order_of("explore")
    assert order.run != first.id
    assert "Bash: make all" in order.instructions
    assert not story.state.open_questions


def test_repetition_after_a_fresh_start_is_a_question() -> None:
    story = Circling()
    for _ in range(LIMITS.max_fresh_starts + 1):
        for _ in range(2):
            story.at += 60
            story.circles(LIMITS.max_repeated_calls)
        story.ends(run=story.run, how=Exit(signal=15))
        if story.works_on():
            story.begins()
    assert story.step("explore").state is StepState.BLOCKED
    assert "Bash: make all" in story.question().text
    assert len(story.state.questions) == 1


def test_an_agent_that_has_reported_is_left_alone() -> None:
    story = Circling()
    run = story.run
    story.reports("explore")
    story.state.runs[run.id]
    story.circles(LIMITS.max_repeated_calls)
    assert not story.cautions


def test_records_that_bring_nothing_new_are_no_progress() -> None:
    """What waits for something may do so for an hour and a half; then it is ended, and told why."""
    story = Circling()
    story.sees = Sight(cpu=1.0, printed=5, said="x/")
    began = story.at
    while story.run.ending is Ending.NOT:
        story.passes(60)
        story.circles(1)
        assert story.at - began < 2 * 3600
    assert story.at - began > 3600
    assert (story.run.ending, story.run.quiet) == (Ending.SILENT, Quiet.REPEATING)
    assert "anything new" in story.run.evidence


# Leave ------------------------------------------------------------------------------------------------


def test_granted_permission_is_no_progress() -> None:
    story = Circling()
    before = story.run.progress_at
    for _ in range(5):
        story.asks(ToolRequest("Bash", Act.RUN, command="make"))
    assert story.run.progress_at == before
    assert story.run.event_at == story.at


@pytest.mark.parametrize("times", [342])
def test_repetition_is_seen_without_records(times: int) -> None:
    story = Circling(records=False)
    began = story.at
    for _ in range(times):
        if story.run.ending is Ending.NOT:
            story.asks()
    assert story.at - began < 3 * LIMITS.max_repeated_calls
    assert len(story.cautions) == 1
    assert story.run.ending is Ending.REPEATING
    assert story.run.progress_at < story.at - LIMITS.max_repeated_calls


def test_new_requests_without_records_are_progress() -> None:
    story = Circling(records=False)
    for number in range(100):
        story.asks(ToolRequest("Bash", Act.RUN, command=f"sed -n {number}p a"))
        assert story.run.progress_at == story.at
        story.asks(ToolRequest("write", Act.WRITE, paths=("/a",)))
    assert not story.cautions
    assert len(story.run.tool_requests) <= 30


def test_tests_that_are_run_again_after_edits_are_no_circle() -> None:
    story = Circling(records=False)
    for _ in range(100):
        story.asks(ToolRequest("write", Act.WRITE, paths=("/a",)))
        story.asks(ToolRequest("Bash", Act.RUN, command="pytest"))
    assert not story.cautions
