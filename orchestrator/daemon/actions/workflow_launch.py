"""What a run of a workflow's agent finds in its files: its folders, its notes with their answers, a clean slate."""

from __future__ import annotations

import logging
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.core.role_statuses import RoleStatusFiles
from orchestrator.daemon.core.session_archive import archive_sessions
from orchestrator.daemon.core.shared_status import SharedStatusFile
from orchestrator.daemon.core.workflow_folder import DataFolder, WorkflowFolder
from orchestrator.formats.workflow.session import read_session, render_kept, render_session
from orchestrator.model.errors import BadFile
from orchestrator.model.plan import Gate
from orchestrator.model.turn_end import AgentRecord
from orchestrator.model.workflow import DECISION_FILE, OUTPUT_FOLDER, RESULTS_FILE, SESSION_FILE
from orchestrator.model.workflow_records import ArchivalOperation
from orchestrator.pm.plan.families.workflow import agents_now, resolution_file
from orchestrator.pm.policies.turn_ends import hands_in_by_files, subjects_of
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orchestrator.daemon.core.task_paths import TaskPaths
    from orchestrator.model.plan import Step
    from orchestrator.model.workflow import WorkflowAgent
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files


log = logging.getLogger(__name__)

TRIES: Final = 20
"""How often an agent's notes are written again because somebody wrote them meanwhile."""


def prepare_agent(files: Files, where: TaskPaths, state: PMState, step: Step, at: float) -> tuple[str, ...]:
    """Make an agent's files ready for a run, and return those that were put back. Repeatable until the run lives.

    A session of another task is put away under its archive's name. An older results file is put away before its
    verifier judges again: what lies there when its turn ends is new. What it builds on, or judges, is put back to
    what was handed in.

    Raises:
        Unreadable: a folder of the workflow is a link.
        OSError: the disk cannot do it now.

    """
    _show_statuses(files, where, state, at)
    plan = state.brief.workflow
    if plan is None or not hands_in_by_files(step):
        return ()
    folder = WorkflowFolder(files, where.task)
    agents = agents_now(plan, state.records)
    agent = agents[step.agent]
    _write_instructions(folder, state, agent)
    for part in ("completion_drive", OUTPUT_FOLDER):
        folder.make(f"agents/{agent.id}/{part}")
    _put_session(folder, state, agent, at)
    kept, put_back = layout.task_reports(where.home), list[str]()
    for need in agent.needs:
        put_back += _restore(folder, state, need, kept)
    if Gate.RESOLUTION in step.gates:
        name = resolution_file(int(step.id.rpartition(":")[2]))
        folder.move(f"agents/{agent.id}/{OUTPUT_FOLDER}/{name}", f"records/resolutions/{name}")
    judged = subjects_of(state, step)
    for subject in judged:
        put_back += _restore(folder, state, subject, kept)
        _put_session(folder, state, agents[subject], at, judged=True)
        folder.move(f"agents/{subject}/{RESULTS_FILE}", f"records/replaced/{subject}-results.json")
        folder.move(f"agents/{subject}/{DECISION_FILE}", f"records/replaced/{subject}-decision.json")
    SharedStatusFile(folder).publish(state, own=judged or (agent.id,))
    return tuple(put_back)


def _show_statuses(files: Files, where: TaskPaths, state: PMState, at: float) -> None:
    """Write the statuses of role agents, so that the run's own says that it works before it writes there."""
    try:
        RoleStatusFiles(DataFolder(files, where.task)).publish(state, at)
    except (Unreadable, OSError) as error:
        log.warning("the statuses of the role agents of %s cannot be written: %s", state.id, error)


def _write_instructions(folder: WorkflowFolder, state: PMState, agent: WorkflowAgent) -> None:
    """Write the instructions that an adaptation gave an agent; the design's own are the user's file."""
    text = state.records.get(agent.id, AgentRecord()).instructions
    if text:
        folder.write(agent.instructions, text.encode())


def _restore(folder: WorkflowFolder, state: PMState, agent: str, kept: Path) -> Iterator[str]:
    """Put an agent's outputs back to what it handed in last, if somebody has changed them since; yield what was.

    The copies that a kill took while they were written are written now: what is verified can be put back.
    """
    record, files = state.records.get(agent, AgentRecord()), folder.files
    for path, digest in record.outputs:
        data, copy = folder.output(agent, path), kept / digest
        if data is not None and sha256(data).hexdigest() == digest:
            if files.entry(copy) is None:
                files.make_folder(kept)
                files.write(copy, data)
            continue
        try:
            folder.write(f"agents/{agent}/{OUTPUT_FOLDER}/{path}", files.read(copy))
            log.warning("%s of %s was changed after it was handed in, and is put back", path, agent)
            yield f"{path} of {agent}"
        except Unreadable as error:
            log.warning("%s of %s was changed after it was handed in: %s", path, agent, error)


def _put_session(
    folder: WorkflowFolder, state: PMState, agent: WorkflowAgent, at: float, *, judged: bool = False
) -> None:
    """Write an agent's notes as they were accepted. Ahead of its own run, what was added since stays to be taken."""
    path = f"agents/{agent.id}/{SESSION_FILE}"
    record, render = state.records.get(agent.id), render_session if judged else render_kept
    _put_away(folder, agent, path, at)
    if record is None or record.session is None:
        return
    for _ in range(TRIES):
        there = folder.read(path)
        if folder.replace(path, render(record.session, there), there):
            return
    log.warning("%s is written all the time: the notes of %s are not shown in it", path, agent.id)


def _put_away(folder: WorkflowFolder, agent: WorkflowAgent, path: str, at: float) -> None:
    """Put a session of another task away, and keep a copy of one that does not read."""
    data = folder.read(path)
    try:
        there = read_session(data, path) if data else None
    except BadFile:
        folder.set_aside(path, data)
        return
    if there is not None and there.task_id != agent.task_id:
        archive_sessions(folder, [agent.id], ArchivalOperation.STALE, int(at))
