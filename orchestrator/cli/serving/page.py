"""What the page of `task serve` shows: a function of the tasks' files and the time, in the words of `task status`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, Template

from orchestrator.cli import list as task_list
from orchestrator.cli import status_facts
from orchestrator.cli.branch_now import with_branch_now
from orchestrator.cli.exits import SAID, on_word, step_said
from orchestrator.cli.screen import clock
from orchestrator.cli.tasks import AT_WORK, REMEDY, TaskRecord
from orchestrator.cli.watching import picture
from orchestrator.formats.timestamps import unstamped
from orchestrator.model.question import OPTIONS_ONLY
from orchestrator.reporting.build import cleaned
from orchestrator.reporting.html import code

_ENDLESS: Final = 1_000_000
"""Columns: a browser wraps lines, so that none is cut here."""

_MOODS: Final = {"complete": "good", "failed": "bad", "partial": "bad", "damaged": "bad"}


@dataclass(frozen=True, slots=True)
class Asked:
    """An open question. `task` is the id of its task, `more` who waits and what happens if nobody answers.

    `in_words` is False if nothing but one of its options is an answer.
    """

    task: str
    name: str
    id: str
    text: str
    asked: str
    more: str
    options: tuple[str, ...]
    in_words: bool


@dataclass(frozen=True, slots=True)
class TaskCard:
    """One task.

    `mood` is the class by which its state is coloured; `but` is what a complete task rests on, if that is a word alone;
    `readable` says whether it has a report.
    """

    id: str
    name: str
    state: str
    mood: str
    but: str
    phase: str
    why: str
    counts: str
    readable: bool
    facts: tuple[tuple[str, str], ...]
    notices: tuple[str, ...]
    agents: tuple[str, ...]
    steps: tuple[tuple[object, ...], ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """The whole page. `form` is the secret in its forms, `note` what came of the last answer."""

    title: str
    daemon: str
    daemon_up: bool
    at: str
    form: str
    note: str
    questions: tuple[Asked, ...]
    headings: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    tasks: tuple[TaskCard, ...]
    nothing: str = picture.NO_TASKS


class Picture:
    """Makes what is shown of records. What it made of a record is kept until there is another one of that task."""

    def __init__(self) -> None:
        self._fit: dict[str, tuple[TaskRecord, TaskRecord]] = {}

    def shown(
        self,
        records: Sequence[TaskRecord],
        daemon: str,
        now: float,
        *,
        daemon_up: bool,
        form: str,
        note: str = "",
    ) -> Shown:
        """Return what the page shows of these tasks at a moment, in seconds since the epoch."""
        tasks = [_parts_of(record, now) for record in self._all_fit(records)]
        questions = tuple(each for _, _, asked in tasks for each in asked)
        open_ones = f"({len(questions)}) " if questions else ""
        return Shown(
            title=f"{open_ones}task serve: {len(records)} task{'s' * (len(records) != 1)}",
            daemon=daemon,
            daemon_up=daemon_up,
            at=time.strftime("%H:%M:%S", time.localtime(now)),
            form=form,
            note=note,
            questions=questions,
            headings=task_list.HEADINGS,
            rows=tuple(row for row, _, _ in tasks),
            tasks=tuple(card for _, card, _ in tasks),
        )

    def _all_fit(self, records: Sequence[TaskRecord]) -> list[TaskRecord]:
        """Return the records with texts that are fit to be shown: secrets masked, control characters visible."""
        known, self._fit = self._fit, {}
        for record in records:
            before = known.get(record.id)
            if before is None or before[0] is not record:
                fit = copy(record)
                fit.view = cleaned(record.view)
                before = record, fit
            before[1].moved, before[1].lost = (
                record.moved,
                record.lost,
            )  # looked at again while the view stays
            self._fit[record.id] = before
        return [fit for _, fit in self._fit.values()]


def page(content: Shown) -> str:
    """Return the page in HTML."""
    return _template().render(shown=content)


@cache
def asset(name: str) -> bytes:
    """Return one of the files that the page loads: `page.css` or `live.js`."""
    own = files("orchestrator.cli.serving").joinpath(name).read_bytes()
    return (
        files("orchestrator.reporting").joinpath("base.css").read_bytes() + own if name == "page.css" else own
    )


@cache
def _template() -> Template:
    loader = PackageLoader("orchestrator", "cli/serving")
    world = Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, auto_reload=False
    )
    world.filters["code"] = code
    return world.get_template("page.html.jinja")


def _parts_of(record: TaskRecord, now: float) -> tuple[tuple[object, ...], TaskCard, list[Asked]]:
    """Return a task's row in the list of all, what is shown of it, and its questions."""
    try:
        asked = [_asked(record, each, now) for each in record.view.get("questions") or ()]
        return task_list.row(record, now), _task(record, now), asked
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        why = f"its state.json cannot be shown ({error}): {REMEDY}"
        return (record.name, "damaged"), _without_view(record, "damaged", why), []


def _task(record: TaskRecord, now: float) -> TaskCard:
    view = record.view
    state = task_list.state_of(record)
    if leaving := record.leaving:
        return _without_view(record, state, leaving.replace("`", ""))
    if not view:
        why = f"{record.fault}: {REMEDY}" if record.begun else "the daemon has not begun it yet"
        return _without_view(record, state, why)
    view = with_branch_now(view, now)
    counted = view.get("counts") or {}
    active = state in AT_WORK
    agents = sorted(view["agents"], key=lambda agent: agent.get("state") == "gone")
    facts = status_facts.labelled(view, record.name, now)
    return TaskCard(
        id=record.id,
        name=record.name,
        state="limited" if view.get("limited") else SAID.get(state, state),
        mood=_MOODS.get(state, "warn"),
        but=on_word(view),
        phase=str(view["phase"]) if active else "",
        why=str(view.get("why") or ""),
        counts=f"{counted.get('passed', 0)} of {counted.get('total', 0)} passed",
        readable=True,
        facts=tuple(
            (label, said) for label, said in facts if label != "report"
        ),  # the page links to a fresh one
        notices=tuple(unstamped(str(notice), now) for notice in view["notices"]),
        agents=tuple(" ".join(_agent(agent, now)) for agent in agents),
        steps=tuple(_step(step, now) for step in view["steps"]),
    )


def _without_view(record: TaskRecord, state: str, why: str) -> TaskCard:
    mood = _MOODS.get(state, "warn")
    return TaskCard(record.id, record.name, state, mood, "", "", why, "", False, (), (), (), ())  # noqa: FBT003 (a field)


def _agent(agent: dict[str, Any], now: float) -> list[str]:
    """Return the state of an agent as `task watch` says it: since when, by which evidence; and on what it works."""
    return [f"{agent.get('step')}:", *picture.agent_details(agent, _ENDLESS, now)]


def _step(step: dict[str, Any], now: float) -> tuple[object, ...]:
    status = step_said(step)
    why = "" if status == "passed" else step.get("why")
    return step.get("id"), status, clock(step.get("since"), now), step.get("title"), why


def _asked(record: TaskRecord, question: dict[str, Any], now: float) -> Asked:
    name, *more = picture.question_details(
        {**question, "text": str(question.get("id")), "options": ()}, _ENDLESS, now
    )
    return Asked(
        task=record.id,
        name=record.name,
        id=name,
        text=str(question.get("text")),
        asked=clock(question.get("asked_at"), now),
        more="; ".join(more),
        options=tuple(map(str, question.get("options") or ())),
        in_words=question.get("kind") not in OPTIONS_ONLY,
    )
