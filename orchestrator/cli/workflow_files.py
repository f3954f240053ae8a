"""Reads a workflow's design from a task's folder, and what it refers to. Nothing in it is trusted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import typed
from orchestrator.cli.start_target import known_task
from orchestrator.cli.tasks import project_here
from orchestrator.formats.task_file import read_brief
from orchestrator.formats.text import decoded
from orchestrator.formats.workflow.approval import approval_hash, definition_bytes
from orchestrator.formats.workflow.plan import PlanDocument, read_plan_document
from orchestrator.formats.workflow.status import read_status
from orchestrator.formats.workflow.yaml_block import PLAN_BYTES
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import BadFile, Refused
from orchestrator.model.names import checked_name
from orchestrator.model.task import Brief
from orchestrator.model.workflow import PLAN_FILE, STATUS_FILE, WorkflowPlan
from orchestrator.model.workflow_records import SharedStatus
from orchestrator.pm.plan.workflow_check import Surroundings
from orchestrator.pm.plan.workflow_check.paths import wrong_path
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from orchestrator.runtimes.roster import Roster

_KEY: Final = re.compile(r"take `([^`]+):` out of task\.md")
_TEXT_BYTES: Final = 262_144
"""A file of instructions, or a summary, has less."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Why a file of the design does not read; `line` and `column` are 0 where the whole file is meant."""

    file: str
    line: int
    column: int
    reason: str


@dataclass
class DesignFiles:
    """A design as it lies on disk. `unread` is what could not be read; `document` is None if that was the plan.

    `refused` is why `task start` would not carry out even a sound plan: what is not there yet, for example.
    """

    name: str
    project: Path
    folder: Path
    unread: list[Unread] = field(default_factory=list)
    document: PlanDocument | None = None
    page: bytes = b""
    status: SharedStatus | None = None
    status_bytes: bytes = b""
    around: Surroundings = field(default_factory=Surroundings)
    refused: tuple[str, ...] = ()

    @property
    def plan(self) -> WorkflowPlan:
        """The plan.

        Raises:
            CommandError: it does not read.

        """
        if self.document is None:
            first = self.unread[0]
            where = f", line {first.line}" if first.line else ""
            check = typed("task", "workflow", "check", self.name)
            raise CommandError(
                Exit.FAILED, f"{first.file}{where}: {first.reason}; `{check}` lists all that is wrong"
            )
        return self.document.plan


def task_meant(name: str, project: str | None) -> tuple[str, Path, Path]:
    """Return the name of a task, its project, and its folder, whether it exists or not.

    Raises:
        Refused: it is no name of a task.
        CommandError: the project is no folder, or the task's folder is reached by a link.

    """
    checked_name(name, "task name")
    where = Path(project or project_here(name) or ".").expanduser().resolve()
    if not where.is_dir():
        raise CommandError(
            Exit.USAGE, f"{where} is not a folder: give the project's folder by --project PATH"
        )
    folder = layout.task_folder(where, name)
    if folder.resolve() != folder:
        raise CommandError(
            Exit.USAGE, f"{folder} leads elsewhere by a symbolic link: replace it by a real folder"
        )
    return name, where, folder


def read_design(name: str, project: Path, folder: Path) -> DesignFiles:
    """Read a design whole.

    Raises:
        CommandError: there is none; or it is gone, with the folder of a task that was started.

    """
    design = DesignFiles(name, project, folder)
    root = layout.orchestration(folder)
    if not os.path.lexists(root / PLAN_FILE):
        known = None if folder.exists() else known_task(layout.state_folder(os.environ), name, str(project))
        if known is not None and known.wanted:
            raise CommandError(
                Exit.FAILED,
                f"{folder} is missing, and with it the design of {name}: put it back to where it was",
            )
        begin = typed("task", "workflow", "new", name, "--project", project)
        raise CommandError(Exit.USAGE, f"{name} has no {PLAN_FILE}; for a first design: `{begin}`")
    # Imported late: whoever has no design is told so at once.
    from orchestrator.formats.settings import load_settings
    from orchestrator.pm.plan.workflow_obstacles import obstacles
    from orchestrator.runtimes.registry import RUNTIMES

    _read_plan(design, root)
    _read_status(design, root)
    brief = _brief(design)
    roster = _roster(design, brief) if brief is not None else None
    if design.document is None:
        return design
    plan = design.document.plan
    reasons = () if brief is None or brief.unfilled else obstacles(plan, brief)
    design.refused = tuple(_placed(design, each) for each in reasons)
    texts = {agent.instructions: _text(design, root, agent.instructions) for agent in plan.agents}
    around = Surroundings(
        task=name,
        criteria=None if brief is None or brief.unfilled else brief.criteria,
        instructions=texts,
        summary=_text(design, root, plan.summary) or "",
        status=design.status,
    )
    if roster is not None:
        commands = frozenset(agent.name for agent in roster.agents.values() if agent.command)
        settings = load_settings(Path(layout.config_file(os.environ)), os.environ)
        signed = {path: text.encode() for path, text in texts.items() if text is not None}
        around = replace(
            around,
            personas=frozenset(roster.agents),
            commands=commands,
            runtimes=frozenset((*RUNTIMES, *(program.name for program in settings.runtimes))),
            approval_hash=approval_hash(
                plan, signed, {agent.name: definition_bytes(agent) for agent in roster.agents.values()}
            ),
        )
    design.around = around
    return design


def _read_plan(design: DesignFiles, root: Path) -> None:
    for data in _data(design, root, PLAN_FILE, PLAN_BYTES):
        try:
            design.page, design.document = data, read_plan_document(data)
        except BadFile as problem:
            design.unread += _unread(PLAN_FILE, problem)


def _read_status(design: DesignFiles, root: Path) -> None:
    if os.path.lexists(root / STATUS_FILE):
        for data in _data(design, root, STATUS_FILE, PLAN_BYTES):
            try:
                design.status_bytes, design.status = data, read_status(data)
            except BadFile as problem:
                design.unread += _unread(STATUS_FILE, problem)


def _brief(design: DesignFiles) -> Brief | None:
    for data in _data(design, design.folder, "task.md", PLAN_BYTES):
        try:
            return read_brief(data)
        except BadFile as problem:
            design.unread += _unread("task.md", problem)
    return None


def _placed(design: DesignFiles, reason: str) -> str:
    """Return why a design is not carried out with the line of task.md that is to go, if it names a key of it."""
    key = _KEY.search(reason)
    for data in _data(design, design.folder, "task.md", PLAN_BYTES) if key else ():
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if key and line.strip().lstrip("-* ").startswith(f"{key[1]}:"):
                return f"task.md:{number}: {reason}"
    return reason


def _roster(design: DesignFiles, brief: Brief) -> Roster | None:
    """Return the definitions as they are written: what they stand for on this machine does not matter."""
    from orchestrator.formats.settings import load_settings
    from orchestrator.runtimes.roster import find_agents
    from orchestrator.runtimes.templates import template_folder
    from orchestrator.shipped import shipped

    settings = load_settings(Path(layout.config_file(os.environ)), os.environ)
    named = brief.config.template
    try:
        template = template_folder(named, settings.templates.folders, os.environ) if named else None
        return find_agents(
            design.project,
            template,
            brief.config,
            shipped("agents"),
            python="{python}",
            defined=settings.runtimes,
        )
    except Refused as problem:
        design.unread.append(Unread("task.md", 0, 0, str(problem)))
        return None


def _text(design: DesignFiles, root: Path, path: str) -> str | None:
    """Return the text of a file that the plan names; None if it is not there or may not be named."""
    if wrong_path(path) or not os.path.lexists(root / path):
        return None
    for data in _data(design, root, path, _TEXT_BYTES):
        try:
            return decoded(data, path, _TEXT_BYTES)
        except BadFile as problem:
            design.unread += _unread(path, problem)
    return None


def _data(design: DesignFiles, root: Path, path: str, most: int) -> Iterator[bytes]:
    """Yield the bytes of a plain file that no link leads to; note why, if there are none."""
    if (root / path).parent.resolve() != (root / path).parent:
        design.unread.append(Unread(path, 0, 0, "is reached by a symbolic link: put a real folder there"))
        return
    try:
        yield DiskFiles().read(root / path, most)
    except FileNotFoundError:
        design.unread.append(Unread(path, 0, 0, "is missing"))
    except Unreadable as problem:
        design.unread.append(Unread(path, 0, 0, str(problem)))
    except OSError as problem:
        design.unread.append(Unread(path, 0, 0, problem.strerror or str(problem)))


def _unread(file: str, problem: BadFile) -> list[Unread]:
    return [Unread(file, fault.line, fault.column, fault.reason) for fault in problem.faults]
