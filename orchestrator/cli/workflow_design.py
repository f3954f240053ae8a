"""`task workflow new`, `check`, `approve` and `show`: reads and writes the files of a design."""

from __future__ import annotations

import getpass
import json
import os
import sys
import time
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from orchestrator import layout
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.findings import Finding, Severity
from orchestrator.cli.screen import coloured, columns, harmless, stamp, typed
from orchestrator.cli.start_target import known_task
from orchestrator.cli.tasks import AT_WORK
from orchestrator.cli.workflow_files import DesignFiles, read_design, task_meant
from orchestrator.formats.task_file import read_brief
from orchestrator.formats.text import neutral_json, one_line
from orchestrator.formats.workflow.graph import (
    dot_graph,
    graph_values,
    mermaid_graph,
    statuses_of,
    text_graph,
)
from orchestrator.formats.workflow.plan_text import set_approval
from orchestrator.formats.workflow.starter import EXAMPLE_AGENT, starter_files, starter_task
from orchestrator.formats.workflow.status import first_status, render_status
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.plan import StepState
from orchestrator.model.workflow import OUTPUT_FOLDER, PLAN_FILE, STATUS_FILE, PlanApproval
from orchestrator.model.workflow_records import AgentStatus
from orchestrator.pm.plan.families.workflow import do, verify
from orchestrator.pm.plan.workflow_check import DesignFinding, Rule, Weight, check_design

_MODE: Final = 0o644
_VERIFIED: Final = frozenset({AgentStatus.VERIFIED.value, AgentStatus.COMPLETE.value})
_SHOWN: Final = {
    StepState.CHECKING.value: AgentStatus.READY.value,
    StepState.PASSED.value: AgentStatus.READY.value,
    StepState.SET_ASIDE.value: AgentStatus.FAILED.value,
}
"""States of work that agents have other words for."""
_SEVERITIES: Final = {Weight.FAULT: Severity.MISSING, Weight.ADVICE: Severity.WARN}


def new(options: Namespace) -> int:
    """Write a first design, and a task.md if there is none. Nothing that exists is overwritten."""
    name, project, folder = task_meant(options.name, options.project)
    root = layout.orchestration(folder)
    if os.path.lexists(root / PLAN_FILE):
        check = typed("task", "workflow", "check", name, "--project", project)
        raise CommandError(Exit.USAGE, f"{name} has a {PLAN_FILE} already; to check it: `{check}`")
    disk, written = DiskFiles(), list[Path]()
    brief = layout.task_brief(folder)
    fresh = not brief.exists()
    if fresh:
        _make_folder(root)
        command = typed("python3", root / EXAMPLE_AGENT)
        disk.create(brief, starter_task(name, str(root), command).encode(), _MODE)
        written.append(brief)
    criteria = read_brief(disk.read(brief), str(brief)).criteria
    for path, text in starter_files(name, int(time.time()), criteria, commands=fresh).items():
        _make_folder((root / path).parent)
        if disk.create(root / path, text.encode(), _MODE):
            written.append(root / path)
    design = read_design(name, project, folder)
    _make_tree(design)
    if options.json:
        shape = {"name": name, "folder": str(root), "files": [str(path) for path in written]}
        print(neutral_json(json.dumps(shape)))
        return Exit.DONE
    print(f"a first design of three agents lies in {harmless(root)}:")
    print("\n".join(f"  {harmless(path.relative_to(project))}" for path in written))
    print("\nedit the plan and the instructions, then:")
    for action in ("check", "approve", "show"):
        print(f"  {typed('task', 'workflow', action, name)}")
    return Exit.DONE


def check(options: Namespace) -> int:
    """Print what is wrong with a design; return 1 if it must not be run, or `task start` would not carry it out."""
    design = _read(options)
    rows = _rows(design)
    sound = not any(row["weight"] == Weight.FAULT for row in rows)
    code = Exit.DONE if sound and not design.refused else Exit.FAILED
    if options.json:
        shape = {
            "name": design.name,
            "folder": str(layout.orchestration(design.folder)),
            "sound": sound,
            "approval": _approval(design),
            "hash": design.around.approval_hash,
            "findings": rows,
            "refused": list(design.refused),
        }
        print(neutral_json(json.dumps(shape)))
        return code
    for row in rows:
        _print(row)
    faults = sum(row["weight"] == Weight.FAULT for row in rows)
    if faults:
        print(f"{faults} fault{'s' if faults > 1 else ''}: the design must not be run as it is")
        return Exit.FAILED
    agents = len(design.plan.agents)
    said = {"none": "not approved yet", "valid": "approved", "void": "its approval is void"}[
        _approval(design)
    ]
    but = ", but it cannot be started as it is" if design.refused else ""
    print(f"the design is sound{but}: {agents} agents; {said}")
    _print_refused(design)
    return code


def approve(options: Namespace) -> int:
    """Sign a sound design, and create the agents' folders and the first shared status."""
    design = _read(options)
    rows = [row for row in _rows(design) if row["rule"] not in {Rule.APPROVAL_VOID, *_REWRITTEN}]
    if any(row["weight"] == Weight.FAULT for row in rows) or design.around.approval_hash is None:
        for row in rows:
            _print(row, to=sys.stderr)
        raise CommandError(Exit.FAILED, "not approved: the design has faults")
    begun = [entry.name for entry in (design.status.agents if design.status else ())
             if entry.status is not AgentStatus.PENDING]  # fmt: skip
    if begun:
        raise CommandError(
            Exit.FAILED, f"not approved: {harmless(begun[0])} has begun to work on this design"
        )
    approval = PlanApproval(design.around.approval_hash, one_line(_user())[:80], int(time.time()))
    if design.plan.approval is not None and design.plan.approval.hash == approval.hash:
        approval = design.plan.approval
    disk, root = DiskFiles(), layout.orchestration(design.folder)
    page = set_approval(design.page, approval)
    if page != design.page:
        disk.write(root / PLAN_FILE, page, _MODE)
    _make_tree(design)
    if options.json:
        shape = {
            "name": design.name,
            "hash": approval.hash,
            "by": approval.by,
            "at": stamp(approval.at),
            "plan": str(root / PLAN_FILE),
            "status": str(root / STATUS_FILE),
        }
        print(neutral_json(json.dumps(shape)))
        return Exit.DONE
    for row in rows:
        _print(row)
    print(text_graph(design.plan, statuses_of(design.plan, design.status)), end="")
    print(f"approved by {harmless(approval.by)}: {approval.hash[:16]}")
    if design.refused:
        _print_refused(design)
    else:
        print(f"to carry it out: {typed('task', 'start', design.name)}")
    return Exit.DONE


def show(options: Namespace) -> int:
    """Draw a design with the status of each agent."""
    design = _read(options)
    view = _view(design)
    statuses = unclaimed(statuses_of(design.plan, design.status), view)
    if options.json:
        shape = {
            **graph_values(design.plan, statuses),
            "approval": _approval(design),
            "task_state": view.get("state"),
        }
        print(neutral_json(json.dumps(shape)))
        return Exit.DONE
    said = _at_rest(design, view)
    match options.format:
        case "mermaid":
            graph = mermaid_graph(design.plan, statuses, said)
        case "dot":
            graph = dot_graph(design.plan, statuses, said)
        case _:
            graph = text_graph(design.plan, statuses) + (f"{said}\n" if said else "")
    print("\n".join(harmless(line) for line in graph.splitlines()))
    return Exit.DONE


def unclaimed(statuses: Mapping[str, str], view: Mapping[str, Any]) -> dict[str, str]:
    """Return the statuses of agents, where "verified" is what the task's view says too.

    In the shared file it may be a claim: of a verifier whose turn has not ended, or of the agent itself.
    """
    steps = {step["id"]: step["status"] for step in view.get("steps", ())}
    found = dict(statuses)
    for agent, status in statuses.items():
        if status in _VERIFIED and steps.get(verify(agent), StepState.PASSED) != StepState.PASSED:
            work = steps.get(do(agent), StepState.PENDING)
            found[agent] = _SHOWN.get(work, work)
    return found


def _view(design: DesignFiles) -> Mapping[str, Any]:
    """Return what the daemon last wrote of the design's task; empty if it was never started."""
    known = known_task(layout.state_folder(os.environ), design.name, str(design.project))
    return known.view if known is not None else {}


def _at_rest(design: DesignFiles, view: Mapping[str, Any]) -> str:
    """Return that nobody works at a task that is at rest and not whole: the status of its agents stays as it was."""
    state = view.get("state", "")
    if not state or state in AT_WORK or state == "complete":
        return ""
    said = {"failed": "has failed", "partial": "is complete in part"}.get(state, f"is {state}")
    return f"{design.name} {said}: nobody works at it, whatever its agents are called"


_REWRITTEN: Final = frozenset(
    {Rule.STATUS_TASK, Rule.STATUS_AGENTS, Rule.STATUS_DEPENDENCIES, Rule.STATUS_VERIFIERS}
)
"""What an approval mends itself: it writes the shared status anew, as long as nobody has begun."""


def _read(options: Namespace) -> DesignFiles:
    return read_design(*task_meant(options.name, options.project))


def _make_tree(design: DesignFiles) -> None:
    """Create the agents' folders, and a shared status of the plan; other fields of an old one stay."""
    for agent in design.plan.agents:
        folder = layout.workflow_agent(design.folder, agent.id)
        for each in (folder / "completion_drive", folder / OUTPUT_FOLDER):
            _make_folder(each)
    data = render_status(first_status(design.plan), design.status_bytes)
    if data != design.status_bytes:
        DiskFiles().write(layout.orchestration(design.folder) / STATUS_FILE, data, _MODE)


def _make_folder(folder: Path) -> None:
    """Create a folder, unless a link would have it created elsewhere."""
    if folder.resolve() != folder:
        raise CommandError(
            Exit.USAGE, f"{folder} leads elsewhere by a symbolic link: replace it by a real folder"
        )
    folder.mkdir(parents=True, exist_ok=True)


def _approval(design: DesignFiles) -> str:
    """Return whether the design is approved: `none`, `valid`, `void`."""
    approval = design.document.plan.approval if design.document else None
    if approval is None:
        return "none"
    return "valid" if approval.hash == design.around.approval_hash else "void"


def _rows(design: DesignFiles) -> list[dict[str, Any]]:
    """Return what could not be read, then what is wrong with what could."""
    rows: list[dict[str, Any]] = [
        {
            "rule": "unreadable",
            "weight": Weight.FAULT.value,
            "file": each.file,
            "line": each.line or None,
            "column": each.column or None,
            "text": each.reason,
            "correction": "",
        }
        for each in design.unread
    ]
    if design.document is not None:
        rows += [_row(design, each) for each in check_design(design.document.plan, design.around)]
    return rows


def _row(design: DesignFiles, finding: DesignFinding) -> dict[str, Any]:
    line, column = finding.line, 0
    if finding.file == PLAN_FILE and design.document is not None:
        line, column = design.document.mark(*finding.path)
    return {
        "rule": finding.rule.value,
        "weight": finding.weight.value,
        "file": finding.file,
        "line": line or None,
        "column": column or None,
        "text": finding.text,
        "correction": finding.correction,
    }


def _print(row: dict[str, Any], to: Any = None) -> None:  # noqa: ANN401 (a stream)
    stream = to or sys.stdout
    place = (
        row["file"]
        + (f":{row['line']}" if row["line"] else "")
        + (f":{row['column']}" if row["column"] else "")
    )
    finding = Finding(place, _SEVERITIES[Weight(row["weight"])], row["text"], row["correction"])
    for line in finding.lines(columns(), colour=coloured(stream)):
        print(line, file=stream)


def _print_refused(design: DesignFiles) -> None:
    """Say why `task start` would not carry the design out."""
    for reason in design.refused:
        print(f"`task start` does not carry it out: {harmless(reason)}")


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid())
