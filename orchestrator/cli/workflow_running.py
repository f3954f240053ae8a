"""`task workflow adapt` and `archive`: what is done with a workflow that was started."""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import Final

from orchestrator import layout, plain_files
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.requests import ask
from orchestrator.cli.screen import harmless, typed
from orchestrator.cli.tasks import AT_WORK, TaskRecord, find, tasks
from orchestrator.cli.workflow_files import read_design, task_meant
from orchestrator.daemon.core.session_archive import archive_sessions
from orchestrator.daemon.core.workflow_folder import WorkflowFolder
from orchestrator.formats.text import FILE_BYTES, neutral_json
from orchestrator.formats.workflow.edits import EDIT_FIELDS, read_edits
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.workflow_records import ArchivalOperation

_SAMPLE: Final = """{
  "edits": [
    {"edit": "set_needs", "agent": "api_agent", "needs": ["database_agent"]},
    {"edit": "reinstruct", "agent": "api_agent", "instructions": "the whole new text"}
  ]
}"""


def adapt(options: Namespace) -> int:
    """Have the running plan edited as a file says; print what that does to whom."""
    if not options.file:
        raise CommandError(Exit.USAGE, _how(options.name))
    named = options.file
    data = sys.stdin.buffer.read(FILE_BYTES + 1) if named == "-" else _read(Path(named))
    edits = read_edits(data, "standard input" if named == "-" else named)
    if not edits:
        raise CommandError(Exit.USAGE, f"{named} holds no edit")
    task = find(options.name, options.project)
    arguments = {"edits": data.decode(), "file": Path(named).name, "base": options.base, "why": options.why}
    message = ask(task.home, "adapt", arguments)
    if options.json:
        print(neutral_json(json.dumps({"name": task.name, "edits": len(edits), "message": message})))
    else:
        print(harmless(message))
    return Exit.DONE


def archive(options: Namespace) -> int:
    """Put the sessions of a workflow away that is not at work."""
    name, project, folder = task_meant(options.name, options.project)
    task = next((each for each in _known(name, project)), None)
    if task is not None and task.readable_view().get("state") in AT_WORK:
        stop = typed("task", "stop", name)
        raise CommandError(
            Exit.FAILED, f"{name} is at work, and its agents need their sessions: `{stop}` first"
        )
    complete = task is not None and task.view.get("state") == "complete"
    design = read_design(name, project, folder)
    agents = [agent.id for agent in design.plan.agents]
    operation = ArchivalOperation.ARCHIVE if complete else ArchivalOperation.STALE
    done = archive_sessions(WorkflowFolder(DiskFiles(), folder), agents, operation, int(time.time()))
    failed = [each for each in done if not each.done]
    if options.json:
        rows = [
            {
                "agent": each.agent,
                "source": each.source,
                "target": each.target,
                "done": each.done,
                "reason": each.reason,
            }
            for each in done
        ]
        print(
            neutral_json(
                json.dumps({"name": name, "folder": str(layout.orchestration(folder)), "sessions": rows})
            )
        )
        return Exit.FAILED if failed else Exit.DONE
    for each in done:
        print(harmless(f"{each.source} -> {each.target}" if each.done else f"{each.source}: {each.reason}"))
    if not done:
        print("there is no session to put away")
    return Exit.FAILED if failed else Exit.DONE


def _known(name: str, project: Path) -> list[TaskRecord]:
    return [each for each in tasks(layout.state_folder(os.environ), name) if each.project == str(project)]


def _read(path: Path) -> bytes:
    try:
        return plain_files.read(path, FILE_BYTES)
    except OSError as error:
        raise CommandError(Exit.USAGE, f"{path} cannot be read: {error.strerror}") from error


def _how(name: str) -> str:
    kinds = "\n".join(
        f"  {kind.value}: {', '.join(fields) or 'nothing more'}" for kind, fields in EDIT_FIELDS.items()
    )
    example = typed("task", "workflow", "adapt", name, "edits.json")
    return (
        f"name a file with the edits: `{example}`. For example:\n{_SAMPLE}\n"
        f"Each edit names an agent, and by its kind:\n{kinds}"
    )
