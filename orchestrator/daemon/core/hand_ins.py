"""What an agent of a workflow hands in on a box: its files there, merged into the workflow's files here.

::

    before a run   files here ─▶ the box; what its shared status says there, and whose it is, is kept and sent last
    turn over      files as they were brought ─▶ own entry of the status (three-way), notes, what the plan wants
                   ─▶ files here, which are then read as those of an agent here (daemon.ingest.turn_ends)

Of a box that was lost, what was brought last counts, if it is of this run.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from orchestrator.daemon.core.workflow_folder import FILE, WorkflowFolder
from orchestrator.formats.strict_json import load_json
from orchestrator.formats.text import FILE_BYTES
from orchestrator.formats.workflow.json_text import json_text
from orchestrator.formats.workflow.merge import DAEMON, Version, merge_status
from orchestrator.formats.workflow.session import read_session, render_kept
from orchestrator.model.errors import BadFile, Fault
from orchestrator.model.workflow import OUTPUT_FOLDER, SESSION_FILE, STATUS_FILE
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from orchestrator.ports.files import Files

log = logging.getLogger(__name__)

RUN_FILE: Final = "shared_status.run"
"""Whose files a box has: it names the run for which they were sent. It is sent behind all others."""

TRIES: Final = 20
"""How often a file here is written again because somebody wrote it meanwhile."""


def keep_sent(files: Files, task: Path, home: Path, run: str) -> Path:
    """Keep the shared status as a run on a box is to find it, and return the folder to send.

    `task` is the task's folder, `home` the run's. Raises Unreadable, OSError.
    """
    sent = WorkflowFolder(files, home / "sent")
    files.make_folder(sent.task)
    sent.write(STATUS_FILE, WorkflowFolder(files, task).read(STATUS_FILE))
    sent.write(RUN_FILE, f"{run}\n".encode())
    return sent.task


def take_hand_in(
    files: Files, task: Path, home: Path, brought: Path, run: str, agent: str, wanted: Iterable[str]
) -> None:
    """Merge what an agent left on its box into the files here. Repeatable.

    Args:
        files: The files here.
        task: The task's folder.
        home: The run's folder.
        brought: The folder in which the files of the box were brought.
        run: The run.
        agent: Its agent.
        wanted: The files of the agent's `task_output/` that count.

    Raises:
        Unreadable: a folder of the workflow here is a link.
        OSError: the disk cannot do it now.

    """
    here, there = WorkflowFolder(files, task), WorkflowFolder(files, brought)
    try:
        if there.read(RUN_FILE).decode(errors="replace").strip() != run:
            return  # of an earlier run
        status, notes = there.read(STATUS_FILE), there.read(f"agents/{agent}/{SESSION_FILE}")
    except Unreadable as error:
        log.warning("what %s left on its box is not read: %s", agent, error)
        return
    for path in wanted:
        data = there.output(agent, path)
        if data is not None:
            _write_output(here, f"agents/{agent}/{OUTPUT_FOLDER}/{path}", data)
    _take_notes(here, f"agents/{agent}/{SESSION_FILE}", notes)
    _take_claim(here, WorkflowFolder(files, home / "sent").read(STATUS_FILE), status, agent)


def _write_output(here: WorkflowFolder, path: str, data: bytes) -> None:
    place = here.place(path, make=True)
    if place is not None:
        here.files.write(place, data, FILE, durable=False)


def _take_notes(here: WorkflowFolder, path: str, notes: bytes) -> None:
    """Write the notes from the box, with those that somebody has added here since they were sent."""
    if not notes:
        return
    for _ in range(TRIES):
        there = here.read(path)
        try:
            text = render_kept(read_session(notes, path), there)
        except BadFile:
            text = notes  # it is judged as one that was written here
        if here.replace(path, text, there):
            return


def _take_claim(here: WorkflowFolder, sent: bytes, written: bytes, agent: str) -> None:
    """Merge an agent's own entry of the shared status; what it wrote of others there is not taken."""
    try:
        theirs = _document(written)
    except BadFile as error:
        log.warning("the shared status that %s left on its box is not read: %s", agent, error)
        if written:
            here.set_aside(STATUS_FILE, written)
        return
    base = _document(sent)
    for _ in range(TRIES):
        there = here.read(STATUS_FILE)
        try:
            ours = _document(there)
        except BadFile:
            return  # its agent is asked again, once it is written anew
        merged = merge_status(
            base, Version(_with_entry(base, theirs, agent), agent, 1), Version(ours, DAEMON)
        )
        if here.replace(STATUS_FILE, json_text(merged.document), there):
            return


def _document(data: bytes) -> dict[str, Any]:
    """Return a shared status as it stands. Raises BadFile."""
    document = load_json(data, STATUS_FILE, FILE_BYTES)
    if not isinstance(document, dict):
        raise BadFile(STATUS_FILE, [Fault(0, "is no object")])
    return document


def _with_entry(base: dict[str, Any], theirs: dict[str, Any], agent: str) -> dict[str, Any]:
    """Return a shared status that differs from the one that was sent in one agent's entry at most."""
    agents, written = base.get("agents", {}), theirs.get("agents", {})
    entry = written.get(agent) if isinstance(written, dict) else None
    return {**base, "agents": {**agents, agent: entry}} if isinstance(entry, dict) else base
