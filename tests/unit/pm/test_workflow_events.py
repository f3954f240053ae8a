"""`records/events.jsonl`: what each decision means for a workflow, by its agents."""

from __future__ import annotations

from typing import Any

from orchestrator.model import facts as f
from orchestrator.pm.policies.workflow_events import events_of, statuses
from orchestrator.pm.state.draft import Decision
from tests.unit.pm.workflows import WorkflowStory, carry_out, doer, plan_of


class RecordedStory(WorkflowStory):
    """A workflow whose events are kept."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.events = list[dict[str, Any]]()

    def feed(self, fact: f.Fact) -> Decision:
        """Keep the events of what was decided, too; what follows at once comes after it."""
        before, mine = self.state, len(self.events)
        works, self.works = self.works, False
        decision = super().feed(fact)
        self.works = works
        self.events[mine:mine] = events_of(before, fact, decision, mine + 1)
        for action in decision.actions if works else ():
            self._work(action)
        return decision

    def of(self, event: str) -> list[dict[str, Any]]:
        """Return the events of one kind."""
        return [each for each in self.events if each["event"] == event]


def recorded() -> RecordedStory:
    """Return a workflow of two agents that was carried out, with one failure and one question."""
    story = RecordedStory(plan_of(doer("a"), doer("b", "a")))
    carry_out(story)
    return story


def test_transitions_end_where_the_status_file_does() -> None:
    story = recorded()
    last = {each["agent"]: each["to"] for each in story.of("transition")}
    assert last == {agent: status.value for agent, status in statuses(story.state).items()}


def test_transitions_chain_and_are_rows_of_the_table() -> None:
    at = {"a": "pending", "b": "pending"}
    for each in recorded().of("transition"):
        assert each["from"] == at[each["agent"]]
        assert each["cause"] != "started_again", each
        at[each["agent"]] = each["to"]


def test_verdicts_name_who_judged_which_version() -> None:
    verdicts = [each for each in recorded().of("verdict") if each["agent"] == "a"]
    assert [each["result"] for each in verdicts] == ["fail", "pass"]
    assert {each["by"] for each in verdicts} == {"judge"}
    assert verdicts[0]["missing"] == ["the log is empty"]
    assert {each["output"] for each in verdicts} == {"v1"}


def test_launches_name_the_versions_that_they_build_on() -> None:
    launch = next(each for each in recorded().of("launch") if each["step"] == "do:b")
    assert launch["inputs"] == {"a": "v1"}


def test_other_families_have_no_events() -> None:
    story = RecordedStory(plan_of(doer("a")))
    story.starts()
    fact = f.TimePassed(story.at, story.nonce())
    assert not list(events_of(story.state, fact, Decision(type(story.state)()), 1))
