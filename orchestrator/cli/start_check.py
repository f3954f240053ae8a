"""`task start --check`: reports everything that can be known about a task before it starts. Changes nothing."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator import layout
from orchestrator.cli.brief import is_remote, read_or_made
from orchestrator.cli.brief_now import asked_since
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.findings import Finding, Severity, can_run
from orchestrator.cli.screen import coloured, columns, typed
from orchestrator.cli.start_target import folder_of, known_task, meant
from orchestrator.cli.tasks import AT_WORK
from orchestrator.formats.amounts import money_said, span_said, tokens_said
from orchestrator.formats.settings import load_settings
from orchestrator.formats.text import neutral_json
from orchestrator.model.budget import Measure
from orchestrator.model.task import SKILLS, WORKFLOW

if TYPE_CHECKING:
    from orchestrator.cli.precheck import Case
    from orchestrator.model.settings import Settings
    from orchestrator.model.task import Brief

_SAID = {Measure.TOKENS: tokens_said, Measure.COST: money_said, Measure.TIME: span_said}


def check(options: Namespace) -> int:
    """Check everything that a task needs, and print the findings as they are made; return 1 if it could not start."""
    name, project = meant(options)
    folder = folder_of(project, name)
    record = known_task(layout.state_folder(os.environ), name, str(project))
    brief = read_or_made(folder, project, options.template, options.family)
    settings = load_settings(Path(layout.config_file(os.environ)), os.environ)
    found = dict.fromkeys(_of_brief(name, project, brief, settings))
    if brief.config.family == SKILLS:
        from orchestrator.cli.skill_check import with_session  # other families have none

        brief, of_session = with_session(project, name, brief)
        found |= dict.fromkeys(of_session)
    if not options.json:
        _print(found)
    from orchestrator.cli.precheck import Case, look, together  # costs as much again as all before it

    case = Case(name, project, brief, settings, os.environ, record is not None)
    for step in (look, _of_workflow, _of_machine, _of_channels, _of_boxes):
        new = [each for each in together(step(case)) if each not in found]
        found |= dict.fromkeys(new)
        if not options.json:
            _print(new)
    if options.json:
        shapes = [each.shape() for each in found]
        print(neutral_json(json.dumps({"can_run": can_run(found), "findings": shapes})))
    else:
        view = record.view if record else {}
        print(f"\n{_verdict(name, view, fit=can_run(found))}; nothing was started")
    return Exit.DONE if can_run(found) else Exit.FAILED


def _verdict(name: str, view: dict[str, Any], *, fit: bool) -> str:
    """Return what a start would come to, by the task's `state.json`: the same that the daemon would reply."""
    if not fit:
        return f"{name} could not start: provide what is missing"
    if view.get("state") in AT_WORK:
        return f"{name} is {view['state']} already"
    if view.get("state") == "complete" and not asked_since(view):
        return (
            f"{name} is complete already: to have more done, change the goal or the criteria in its task.md"
        )
    return f"{name} could start"


def _print(found: Iterable[Finding]) -> None:
    width, colour = columns(), coloured(sys.stdout)
    for each in found:
        print("\n".join(each.lines(width, colour=colour)), flush=True)


def _of_brief(name: str, project: Path, brief: Brief, settings: Settings) -> Iterator[Finding]:
    """Yield what task.md itself says: whether it is filled in, and how much the task may use."""
    path = layout.task_brief(layout.task_folder(project, name))
    if brief.unfilled:
        text = "does not yet say what to do"
        yield Finding("task.md", Severity.MISSING, text, typed("task", "start", name, "--project", project))
    else:
        yield Finding("task.md", Severity.OK, str(path))
    yield _limits(brief, settings)


def _of_workflow(case: Case) -> Iterator[Finding]:
    """Yield why the plan of a workflow would not be carried out."""
    if case.brief.config.family != WORKFLOW or case.known:
        return
    from orchestrator.cli.workflow_files import read_design
    from orchestrator.pm.plan.workflow_check import check_design
    from orchestrator.pm.plan.workflow_check.findings import Weight

    try:
        design = read_design(case.name, case.project, layout.task_folder(case.project, case.name))
    except CommandError as error:
        yield Finding("plan", Severity.MISSING, str(error))
        return
    found = check_design(design.document.plan, design.around) if design.document else []
    wrong = [f"{each.file}:{each.line}: {each.reason}" for each in design.unread]
    wrong += [each.text for each in found if each.weight is Weight.FAULT]
    if wrong:
        more = f", and {len(wrong) - 1} more" if wrong[1:] else ""
        yield Finding(
            "plan", Severity.MISSING, f"{wrong[0]}{more}", typed("task", "workflow", "check", case.name)
        )
    elif design.document and design.document.plan.approval is None:
        text = "nobody has approved the workflow"
        yield Finding("plan", Severity.MISSING, text, typed("task", "workflow", "approve", case.name))
    for reason in design.refused:
        yield Finding("plan", Severity.MISSING, reason)


def _of_machine(case: Case) -> Iterator[Finding]:
    """Yield what `task doctor` finds that concerns this task."""
    from orchestrator.cli.diagnosis import findings  # imports more than all else here
    from orchestrator.cli.machine_probe import examine
    from orchestrator.runtimes.cli_inventory import AGENT_CLIS

    runtimes = _runtimes(case)
    clis = [cli for cli in AGENT_CLIS if cli.name in runtimes]
    for each in findings(examine(case.project, case.environ, _quiet, clis=clis)):
        if _concerns(each, case, runtimes):
            yield each


def _of_channels(case: Case) -> Iterable[Finding]:
    from orchestrator.cli.channels import channels_found

    return channels_found(case.settings.notify, case.environ)


def _quiet(_: list[str]) -> None:
    """Print no progress."""


def _concerns(found: Finding, case: Case, runtimes: set[str]) -> bool:
    """Return whether a finding about this machine matters for this task: not if about unused agent CLIs."""
    from orchestrator.cli.git_filters import TOPIC
    from orchestrator.runtimes.cli_inventory import AGENT_CLIS

    own = {program.name for program in case.settings.runtimes}
    others = {cli.name for cli in AGENT_CLIS} | own | {"agents"}
    if found.topic == "project" and "git repository" in found.text:
        return False  # another check covers whether the task needs one
    if found.topic.startswith(TOPIC):
        return False  # another check looks at the commit that the task begins from
    return found.topic not in others - runtimes


def _runtimes(case: Case) -> set[str]:
    """Return the runtimes of the task's agents."""
    roster = case.roster[0]
    return (
        {agent.runtime for agent in roster.agents.values() if agent.name in case.needed} if roster else set()
    )


def _limits(brief: Brief, settings: Settings) -> Finding:
    """Return a finding about how much the task may use."""
    budget = brief.config.limits.within(settings.limits)
    said = [
        f"{_SAID[each](most)}{' tokens' if each is Measure.TOKENS else ''}"
        for each in Measure
        if (most := budget.of(each)) is not None
    ]
    if said:
        return Finding("budget", Severity.OK, f"it may use {', '.join(said)}; beyond that the PM asks you")
    text = "it may use any amount; to limit it, write under Agent Config of task.md:"
    return Finding("budget", Severity.NOTE, text, "limits: 2M tokens; $20; 8 h")


def _of_boxes(case: Case) -> Iterator[Finding]:
    """Yield the findings about each box. Of a pool, one fit box is enough."""
    if not is_remote(case.brief):
        return
    from orchestrator.cli.box import BoxReport, look_at  # only where an agent works on one
    from orchestrator.cli.remote import boxes_wanted

    for alternatives in boxes_wanted(case):
        seen: list[BoxReport] = [look_at(wanted, case.environ) for wanted in alternatives]
        enough = any(each.can_run for each in seen)
        for box in seen:
            for each in box.findings:
                grave = Severity.WARN if enough and each.severity is Severity.MISSING else each.severity
                yield Finding(str(box.wanted), grave, each.text, each.fix)
