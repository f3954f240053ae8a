"""The plan of a workflow, read when its task starts. From then on the journal has it, and the file steers nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.core.workflow_folder import WorkflowFolder
from orchestrator.formats.text import decoded
from orchestrator.formats.workflow.approval import approval_hash, definition_bytes
from orchestrator.formats.workflow.plan import read_plan
from orchestrator.formats.workflow.yaml_block import PLAN_BYTES
from orchestrator.model.errors import BadFile, Refused
from orchestrator.model.task import WORKFLOW
from orchestrator.model.workflow import PLAN_FILE
from orchestrator.pm.plan.workflow_check import Surroundings, Weight, check_design
from orchestrator.pm.plan.workflow_obstacles import obstacles
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from orchestrator.model.agents import Agent
    from orchestrator.model.task import Brief
    from orchestrator.model.workflow import WorkflowPlan
    from orchestrator.ports.files import Files


_TEXT_BYTES: Final = 262_144
"""Instructions and summary are smaller."""

_NAMED: Final = 5


def check_workflow(
    files: Files, folder: Path, name: str, brief: Brief, definitions: Mapping[str, Agent]
) -> None:
    """Refuse a workflow whose design has a fault, or is not what the user approved.

    `definitions` are those of the task as they are written, by name.

    Raises:
        Refused: the message names the first faults and what to do.

    """
    plan = brief.workflow
    if plan is None:
        return
    root = WorkflowFolder(files, folder)
    texts = {each.instructions: _text(root, each.instructions) for each in plan.agents}
    signed = {path: text.encode() for path, text in texts.items() if text is not None}
    around = Surroundings(
        task=name,
        criteria=brief.criteria,
        instructions=texts,
        summary=_text(root, plan.summary) or "",
        personas=frozenset(definitions),
        commands=frozenset(each.name for each in definitions.values() if each.command),
        approval_hash=approval_hash(
            plan, signed, {each.name: definition_bytes(each) for each in definitions.values()}
        ),
    )
    faults = [each for each in check_design(plan, around) if each.weight is Weight.FAULT]
    if faults:
        named = "".join(f"\n  {each.text}: {each.correction}" for each in faults[:_NAMED])
        more = f"\n  and {len(faults) - _NAMED} more" if faults[_NAMED:] else ""
        raise Refused(
            f"the workflow {name} has faults; `task workflow check {name}` says where:{named}{more}"
        )
    if plan.approval is None:
        raise Refused(f"nobody has approved the workflow {name}: `task workflow approve {name}`")


def _text(root: WorkflowFolder, path: str) -> str | None:
    """Return the text of a file that the plan names; None if it is not there or does not read."""
    try:
        data = root.read(path, _TEXT_BYTES)
        return decoded(data, path, _TEXT_BYTES) if data else None
    except (Unreadable, BadFile):
        return None


def with_workflow(files: Files, folder: Path, brief: Brief, running: WorkflowPlan | None = None) -> Brief:
    """Return what a task asks for together with its workflow, if it is one.

    `folder` is the task's folder. `running` is the plan of a task that was begun: it stays.

    Raises:
        Refused: there is no plan, it does not read, or it asks for what cannot be done; the message says what to do.

    """
    if brief.config.family != WORKFLOW:
        return brief
    if running is not None:
        return replace(brief, workflow=running)
    path = layout.orchestration(folder) / PLAN_FILE
    try:
        data = WorkflowFolder(files, folder).read(PLAN_FILE, PLAN_BYTES)
    except Unreadable as error:
        raise Refused(f"the plan of the workflow cannot be read: {error}") from error
    if not data:
        raise Refused(f"there is no {path}: a task with `family: workflow` needs a plan")
    plan = read_plan(data, f"orchestration/{PLAN_FILE}")
    if faults := obstacles(plan, brief):
        raise Refused(f"orchestration/{PLAN_FILE}: {'; '.join(faults[:10])}")
    return replace(brief, workflow=plan)
