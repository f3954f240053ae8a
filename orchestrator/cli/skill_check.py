"""What can be known about a task of skills before it starts: its session, and with it the agents of its phases (S4)."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.cli.findings import Finding, Severity
from orchestrator.cli.start_target import known_task
from orchestrator.daemon.ingest.skill_plan import read_plan, session_file, taken_back
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.composite import SkillPlan
from orchestrator.model.errors import Refused
from orchestrator.records.skill_key import skill_key
from orchestrator.records.skill_store import SkillStore

if TYPE_CHECKING:
    from orchestrator.model.task import Brief

_TOPIC = "session"


def with_session(project: Path, name: str, brief: Brief) -> tuple[Brief, list[Finding]]:
    """Return a task.md together with the session that it names, and what keeps the task from starting with it.

    The session of a task that was begun stays its own, wherever it stands. One that cannot be carried out is returned
    too, if its skill is known: the agents of its phases are checked all the same.
    """
    try:
        plan = _shown(project, brief)
    except Refused as error:
        return brief, [Finding(_TOPIC, Severity.MISSING, str(error))]
    found = list[Finding]()
    try:
        task = known_task(layout.state_folder(os.environ), name, str(project))
        if task is not None and task.begun and plan is not None:
            if plan.session.task != name:
                found.append(Finding(_TOPIC, Severity.MISSING, taken_back(plan.state_file)))
        else:
            plan = read_plan(DiskFiles(), project, name, brief, _key())[0]
    except Refused as error:
        found.append(Finding(_TOPIC, Severity.MISSING, str(error)))
    return replace(brief, skill=plan), found


def _shown(project: Path, brief: Brief) -> SkillPlan | None:
    """Return the session as its state file shows it; None before its skill was read. Raises Refused."""
    path = session_file(project, brief)
    session = SkillStore(DiskFiles(), path, _key()).load()
    done = tuple((each.agent, "") for each in session.phases_completed)
    return SkillPlan(session, str(path), memories=done) if session.config is not None else None


def _key() -> bytes:
    return skill_key(DiskFiles(), Path(layout.state_folder(os.environ)))
