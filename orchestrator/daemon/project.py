"""Projections: the state as files that anyone can read, written whole and never the only copy of anything."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from orchestrator import places
from orchestrator.formats.redact import redacted
from orchestrator.formats.text import neutral_json
from orchestrator.model.run import Purpose
from orchestrator.model.task import TaskState
from orchestrator.pm.going_back import dependents
from orchestrator.ports.files import Unreadable
from orchestrator.scribe.page import put_page

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.model.run import Run
    from orchestrator.pm.state import PMState
    from orchestrator.ports.files import Files

VERSION: Final = 1

HELD_SHOWN: Final = 50
"""How many of the steps that wait for an answer are named."""


def projection(state: PMState, *, last_checkin: float, at: float) -> dict[str, Any]:
    """Return what `task status` shows, without secrets. Times are seconds since the epoch."""
    return {
        "version": VERSION,
        "id": state.id,
        "task": state.name,
        "project": state.project,
        "phase": state.phase.value,
        "state": state.state.value,
        "why": _told(state.why),
        "steps": [
            {
                "id": step.id,
                "agent": step.agent,
                "title": _told(step.title),
                "status": step.state.value,
                "attempts": step.attempt,
                "phase": step.phase.value,
                "subtask": step.subtask,
                "since": step.since,
                "why": _told(step.why),
            }
            for step in state.steps.values()
        ],
        "agents": [_agent(run) for run in _shown(state)],
        "questions": [
            {
                "id": question.id,
                "step": question.step,
                "text": _told(question.text),
                "options": list(question.options),
                "asked_at": question.asked_at,
                "kind": question.kind.value,
                "run": question.run,
                "default": question.default,
                "deadline": question.deadline,
                "holds": _held_up(state, question.step),
            }
            for question in state.open_questions
        ],
        "criteria": [
            {"text": _told(mark.text), "met": mark.met, "evidence": [_told(each) for each in mark.evidence]}
            for mark in state.criteria
        ],
        "branch": state.branch,
        "base": state.base,
        "started_at": state.started_at,
        "last_checkin": last_checkin or None,
        "updated": at,
        "notices": [_told(notice) for notice in state.notices[-10:]],
    }


def write_projections(files: Files, home: Path, task_folder: Path, shown: dict[str, Any]) -> None:
    """Write `state.json` for `task`, and `pm_state.json` as the document names it, into the task's folder."""
    data = neutral_json(json.dumps(shown, ensure_ascii=False, separators=(",", ":")))
    put_page(files, places.task_state(home), data.encode())
    own = {key: shown[key] for key in ("task", "phase", "state", "last_checkin", "updated", "branch")}
    own["milestones"] = [
        {key: step[key] for key in ("id", "title", "status", "phase", "attempts")} for step in shown["steps"]
    ]
    if files.entry(task_folder) is not None:
        data = neutral_json(json.dumps(own, ensure_ascii=False, indent=1))
        put_page(files, places.pm_state(task_folder), data.encode(), 0o644)


def write_lost(files: Files, home: Path, kept: str, at: float) -> None:
    """Say in what was told last of a task that its journal does not read any more, not even its beginning."""
    try:
        told = json.loads(files.read(places.task_state(home)))
    except (Unreadable, ValueError):
        return
    why = f"its journal does not read and is kept as {kept}: start it again, its handoffs are history then"
    told |= {"state": TaskState.FAILED.value, "why": why, "agents": [], "questions": [], "updated": at}
    files.write(places.task_state(home), json.dumps(told).encode())


_told: Final = lru_cache(maxsize=8192)(redacted)
"""Most of what is told was told before."""


def _held_up(state: PMState, step: str) -> list[str]:
    """Return the steps that wait for the answer about a step; none for a question about the whole task."""
    if not step:
        return []
    waiting = (state.steps[each] for each in dependents(state, step, waiting=True))
    return [each.id for each in waiting if not each.settled][:HELD_SHOWN]


def _shown(state: PMState) -> list[Run]:
    """Return the live runs, and of each instance the latest one."""
    latest = {run.instance: run for run in state.runs.values() if run.purpose is Purpose.WORK or run.live}
    return list(latest.values())


def _agent(run: Run) -> dict[str, Any]:
    return {
        "name": run.instance,
        "run": run.id,
        "agent": run.agent,
        "step": run.step,
        "state": run.life.value,
        "turn": run.turn.value,
        "evidence": run.evidence,
        "since": run.since,
        "host": run.host,
        "pane": run.pane,
        "pid": run.pid,
        "order": run.order,
    }
