"""The folder of a task in its project, shared with the agents."""

from __future__ import annotations

from orchestrator.layout.paths import one_level, under

TYPE_CHECKING = False  # `typing` costs as much as `pathlib`
if TYPE_CHECKING:
    from pathlib import Path
    from typing import TypeVar

    P = TypeVar("P", str, Path)


FOR_AGENTS = ("artifacts", "handoffs", "scratchpad")
"""The folders of a task in which its agents write."""

OUTBOX = "outbox"
"""The folder in an agent's own that it hands in through, where `handoffs/` is not its to write."""

DATA = "data"
"""The folder of a project with its memories, and with the handoffs and statuses of roles."""

STATUSES = "agent-status"
"""The folder of statuses in it."""

MEMORIES = "memories"
"""The folder of memories in it."""


def task_folder(project: P, name: str) -> P:
    """Return the folder of a task in its project (H1)."""
    return under(project, "tasks", one_level(name))


def in_task_folder(path: str, folder: str) -> str:
    """Return a path, as a report names it, as one in the task's folder, if it leads to what agents made there.

    `folder` is that folder on the reporter's machine. Along a link it may have another name there, so its last two
    parts are enough.
    """
    if path.startswith(f"{folder}/"):
        return path[len(folder) + 1 :]
    parts, tail = path.split("/"), folder.split("/")[-2:]
    if path.startswith("/"):
        for at in range(len(parts) - 3, 0, -1):
            if parts[at : at + 2] == tail and parts[at + 2] in FOR_AGENTS:
                return "/".join(parts[at + 2 :])
    return path


def task_brief(folder: P) -> P:
    """Return what the user asks for."""
    return under(folder, "task.md")


def task_progress(folder: P) -> P:
    """Return the scribe's page."""
    return under(folder, "progress.md")


def task_report(folder: P) -> P:
    """Return the page that `task report` writes."""
    return under(folder, "report.html")


def pm_state(folder: P) -> P:
    """Return the PM's state as agents read it (H1)."""
    return under(folder, "pm_state.json")


def handoffs(folder: P) -> P:
    """Return the folder of orders and reports."""
    return under(folder, "handoffs")


def artifacts(folder: P, kind: str = "", subtask: str = "") -> P:
    """Return the folder of artifacts, or the one of `kind` in it (`analysis`, `code`, …), perhaps of one subtask."""
    names = [one_level(each) for each in (kind, subtask) if each]
    return under(folder, "artifacts", *names)


def scratchpad(folder: P, instance: str = "") -> P:
    """Return the folder of scratchpads, or that of one agent's instance."""
    return under(folder, "scratchpad", one_level(instance)) if instance else under(folder, "scratchpad")


def outbox(folder: P, instance: str) -> P:
    """Return the folder in which an instance hands in, where each has one of its own."""
    return under(folder, "scratchpad", one_level(instance), OUTBOX)


def role_data(folder: P) -> P:
    """Return the folder of a task's records: what roles handed on, and the statuses of their agents."""
    return under(folder, DATA)


def role_handoffs(folder: P) -> P:
    """Return the archive of what roles handed on in a task."""
    return under(folder, DATA, "handoffs")


def role_statuses(folder: P) -> P:
    """Return the folder of the statuses of a task's role agents."""
    return under(folder, DATA, STATUSES)


def orchestration(folder: P) -> P:
    """Return the folder of a workflow's files."""
    return under(folder, "orchestration")


def workflow_agent(folder: P, agent: str) -> P:
    """Return the folder of one agent of a workflow."""
    return under(folder, "orchestration", "agents", one_level(agent))
