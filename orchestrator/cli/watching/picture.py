"""What `task watch` shows, as lines of text: a function of the tasks' files and the time, and nothing else.

Whatever agents wrote is made harmless here, by what `task status` uses: a line holds no character that a terminal obeys
but the colours of `screen.paint`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from orchestrator.cli import list as task_list
from orchestrator.cli import status_facts, status_page
from orchestrator.cli.branch_now import with_branch_now
from orchestrator.cli.screen import ago, clock, cut, harmless, wrapped
from orchestrator.cli.table import table
from orchestrator.cli.tasks import REMEDY, TaskRecord
from orchestrator.cli.watching.appearance import clipped
from orchestrator.cli.watching.graph import graph_of
from orchestrator.formats.timestamps import unstamped

CAUSE_LINES: Final = 4
NO_TASKS: Final = "no tasks yet; to begin one, in a project's folder: task start NAME"
UNFIT: Final = (AttributeError, KeyError, TypeError, ValueError)
"""What is raised about a `state.json` of another shape than a daemon writes."""

_NO_STEPS: Final = "no steps yet"
_NO_AGENTS: Final = "no agent has run yet"


@dataclass(frozen=True, slots=True)
class Row:
    """A line that can be chosen; `key` names what it shows and stays the same while that is shown."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Listing:
    """A table: its heading, and a row for each thing. If there is none, the heading may be a sentence that says so."""

    heading: str = ""
    rows: tuple[Row, ...] = ()


def fitting(listing: Listing, width: int) -> Listing:
    """Return what a terminal of `width` columns shows of a listing."""
    rows = tuple(Row(row.key, clipped(row.text, width)) for row in listing.rows)
    return Listing(clipped(listing.heading, width), rows)


def headline(records: Sequence[TaskRecord], daemon: str, width: int) -> str:
    """Return the first line of the screen: how many tasks and questions, and how the daemon is."""
    asked = sum(len(record.view.get("questions") or ()) for record in records)
    tasks = f"{len(records)} task{'s' * (len(records) != 1)}"
    questions = f"{asked} question{'s' * (asked != 1)}"
    return cut(f"task watch   {tasks}, {questions}   {harmless(daemon)}", width)


def of_all(records: Sequence[TaskRecord], width: int, now: float) -> dict[str, Listing]:
    """Return the parts of the screen that are about all tasks, by name, from the top down."""
    return {
        "tasks": tasks_listing(records, width, now),
        "questions": questions_listing(records, width, now),
    }


def of_task(view: dict[str, Any], width: int, now: float) -> dict[str, Listing]:
    """Return the parts of the screen below these, which are about one task, by name, from the top down."""
    return {"steps": steps_listing(view, width, now), "agents": agents_listing(view, width, now)}


def tasks_listing(records: Sequence[TaskRecord], width: int, now: float) -> Listing:
    """Return the tasks as `task list` shows them."""
    rows = [task_list.row(record, now) for record in records]
    return _listing(task_list.HEADINGS, [record.id for record in records], rows, width, NO_TASKS)


def steps_listing(view: dict[str, Any], width: int, now: float) -> Listing:
    """Return a task's steps as `task status` shows them, with the graph of what needs what."""
    steps: list[dict[str, Any]] = view.get("steps") or []
    lines = graph_of(steps)
    rows = [(line, *status_page.step_cells(step, now)) for line, step in zip(lines, steps, strict=True)]
    return _listing(("", *status_page.OF_STEPS), [_key(step, "id") for step in steps], rows, width, _NO_STEPS)


def agents_listing(view: dict[str, Any], width: int, now: float) -> Listing:
    """Return a task's agents with state, turn, since when, and the evidence for it; those that live come first."""
    agents = sorted(view.get("agents") or (), key=lambda agent: agent.get("state") == "gone")
    rows = [status_page.agent_cells(agent, now) for agent in agents]
    return _listing(status_page.OF_AGENTS, [_key(agent, "run") for agent in agents], rows, width, _NO_AGENTS)


def questions_listing(records: Sequence[TaskRecord], width: int, now: float) -> Listing:
    """Return the open questions of all tasks; the key is `TASK-ID QUESTION`."""
    asked = [(record, each) for record in records for each in record.view.get("questions") or ()]
    rows = [
        (record.name, each.get("id"), ago(each.get("asked_at"), now), " ".join(str(each.get("text")).split()))
        for record, each in asked
    ]
    keys = [f"{record.id} {_key(each, 'id')}" for record, each in asked]
    return _listing(("QUESTION OF", "ID", "ASKED", "TEXT"), keys, rows, width, "")


def task_details(record: TaskRecord, width: int, now: float) -> list[str]:
    """Return what is known of a task beyond its row: result so far, limits, boxes, notices; or why it is unreadable."""
    if record.fault:
        said = f"{record.fault}: {REMEDY}" if record.begun else "requested; the daemon has not begun it yet"
        return wrapped(said, width, "")
    view = with_branch_now(record.view, now)
    why = wrapped(str(view.get("why") or ""), width, "")
    notices = [cut(f"! {unstamped(harmless(notice), now)}", width) for notice in view["notices"]]
    return [*status_facts.facts(view, record.name, width, now), *why, *notices]


def step_details(step: dict[str, Any], width: int, now: float) -> list[str]:
    """Return what is known of a step beyond its row: why it is in its state, the last feedback, what failed."""
    lines = wrapped(f"{step.get('id')}: {step.get('title')}", width, "")
    if needs := step.get("needs"):
        lines += wrapped(f"after {', '.join(map(str, needs))}", width, "  ")
    for name, key in (("why", "why"), ("feedback", "said"), ("no change", "unchanged")):
        if said := step.get(key):
            lines += wrapped(f"{name}: {said}", width, "  ")
    if limit := step.get("limit"):
        lines += wrapped(f"usage limit: {status_facts.next_try(limit, now)}", width, "  ")
    cause = step.get("cause") or {}
    if cause:
        lines += wrapped(f"failed: {cause.get('what')}", width, "  ")
    return lines + [cut(f"  | {harmless(line)}", width) for line in (cause.get("lines") or ())[-CAUSE_LINES:]]


def agent_details(agent: dict[str, Any], width: int, now: float) -> list[str]:
    """Return the state and the turn of an agent in words: since when each, and by which evidence."""
    state = f"{agent.get('state')} since {clock(agent.get('since'), now)}"
    turn = f", {agent.get('turn')} since {clock(agent.get('turn_since'), now)}"
    said = f"{agent.get('name')}: {state}{turn if agent.get('state') != 'gone' else ''}"
    return wrapped(f"{said}; evidence: {agent.get('evidence') or 'none'}", width, "")


def question_details(question: dict[str, Any], width: int, now: float) -> list[str]:
    """Return a question with its options, who waits for it, and what happens if nobody answers."""
    lines = wrapped(str(question.get("text")), width, "")
    for n, text in enumerate(question.get("options") or (), 1):
        lines += wrapped(f"{n}) {text}", width, "  ")
    if question.get("holds"):
        lines += wrapped(f"waiting for the answer: {', '.join(map(str, question['holds']))}", width, "")
    if question.get("deadline"):
        lines += wrapped(status_page.unanswered(question, now), width, "")
    return lines


def agent_of_step(view: dict[str, Any], step: str) -> dict[str, Any] | None:
    """Return the newest run of a step among those that are shown; None if there is none."""
    found = [agent for agent in view.get("agents") or () if agent.get("step") == step]
    return found[-1] if found else None


def _key(entry: dict[str, Any], name: str) -> str:
    return str(entry.get(name))


def _listing(
    headings: Sequence[str], keys: Sequence[str], rows: Sequence[Sequence[object]], width: int, otherwise: str
) -> Listing:
    if not rows:
        return Listing(otherwise)
    heading, *lines = table(headings, rows, width, colour=True, spare=True)
    return Listing(heading, tuple(Row(key, text) for key, text in zip(keys, lines, strict=True)))
