"""What is recorded of escalations and crashes is what the auditor's rules want, and shows where one is broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from orchestrator.formats.workflow.approval import plan_hash
from orchestrator.formats.workflow.plan_text import render_block
from orchestrator.model.run import Exit
from orchestrator.model.workflow_records import NoteKind
from tests.auditor import escalation_rules  # noqa: F401 (it registers the rules)
from tests.auditor.folder import Folder
from tests.auditor.rules import RULES
from tests.unit.pm.test_escalations import EscalationStory, item
from tests.unit.pm.test_workflow_events import RecordedStory

RECORDED = (21, 23, 24, 25)


class Escalations(EscalationStory, RecordedStory):
    """Escalations whose events are kept."""


def broken(story: Escalations, edit: Callable[[dict[str, Any]], object] = lambda _: None) -> set[int]:
    """Return the rules that do not hold in what was recorded of a story, with each event edited."""
    plan = story.state.brief.workflow
    assert plan is not None
    events = [json.loads(json.dumps(each)) for each in story.events]
    for each in events:
        edit(each)
    page = f"```yaml\n{render_block(plan)}```\n".encode()
    lines = "".join(json.dumps(each) + "\n" for each in events).encode()
    root = "orchestration"
    names = (f"{root}/workflow_coordination_plan.md", f"{root}/records/plans/{plan_hash(plan)}.md")
    folder = Folder(dict.fromkeys(names, page) | {f"{root}/records/events.jsonl": lines})
    return {number for number in RECORDED for look in RULES[number] if list(look(folder))}


def without(key: str) -> Callable[[dict[str, Any]], object]:
    """Return an edit that takes a value out of events and their notes."""

    def edit(event: dict[str, Any]) -> None:
        event.pop(key, None)
        for note in event.get("notes", []):
            note.pop(key, None)

    return edit


def test_resolvers_answer_is_recorded_with_its_comparison() -> None:
    story = Escalations("resolver")
    story.asks("a")
    story.resolves(1, item())
    assert not broken(story)
    assert broken(story, without("checked")) == {24}


def test_answer_that_nobody_could_check_breaks_no_rule() -> None:
    """The user answers, the resolver says nothing that holds, and the answer stands."""
    story = Escalations("resolver")
    story.asks("a", NoteKind.REQUIREMENTS)
    story.answers(story.question().id, "Plural")
    for _ in range(2):
        story.resolves(1)
    assert story.note_of("a").resolution == "Plural"
    assert not broken(story)


def test_two_escalations_are_recorded_in_their_order() -> None:
    story = Escalations("resolver")
    story.asks("a")
    story.asks("b")
    story.resolves(1, item())
    story.resolves(2, item(agent="b", checked=()))
    assert not broken(story)
    swapped = {1: 2, 2: 1}
    assert 23 in broken(story, lambda it: it.update(number=swapped.get(it.get("number", 0))))


def test_loop_is_recorded_and_seen_where_it_is_not() -> None:
    story = Escalations("resolver", "loop")
    for number in (1, 2):
        story.asks("a")
        story.resolves(number, replace(item(), note=f"note_{number:03}"))
    story.asks("a")
    assert story.step("resolve:3").agent == "loop"
    assert not broken(story)
    assert broken(story, without("loop")) == {25}


def test_crashes_in_a_row_are_recorded() -> None:
    story = Escalations()
    plan = story.state.brief.workflow
    assert plan is not None
    for _ in range(plan.bounds.crashes + 1):
        story.comes_alive("do:a")
        story.ends("do:a", Exit(code=1))
        story.passes(400)
    assert [each["number"] for each in story.of("crash")] == [1, 2, 3, 4]
    assert story.question().step == "do:a"
    assert not broken(story)
    assert broken(story, lambda it: it.update(number=9) if it["event"] == "crash" else None) == {21}
