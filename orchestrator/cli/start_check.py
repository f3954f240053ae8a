"""`task start --check`: reports everything that can be known about a task before it starts. Changes nothing."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path

from orchestrator import layout
from orchestrator.cli.brief import is_remote, read_or_made
from orchestrator.cli.channels import channels_found
from orchestrator.cli.diagnosis import findings
from orchestrator.cli.exits import Exit
from orchestrator.cli.findings import Finding, Severity, can_run
from orchestrator.cli.git_filters import TOPIC
from orchestrator.cli.machine_probe import examine
from orchestrator.cli.precheck import Case, look, together
from orchestrator.cli.screen import coloured, columns, typed
from orchestrator.formats.amounts import money_said, span_said, tokens_said
from orchestrator.formats.settings import load_settings
from orchestrator.formats.text import neutral_json
from orchestrator.model.budget import Measure
from orchestrator.model.task import Brief
from orchestrator.runtimes.cli_inventory import AGENT_CLIS

_SAID = {Measure.TOKENS: tokens_said, Measure.COST: money_said, Measure.TIME: span_said}


def check(options: Namespace, name: str, project: Path, *, known: bool) -> int:
    """Check everything that a task needs, and print the findings; return 1 if it could not start."""
    settings = load_settings(Path(layout.config_file(os.environ)), os.environ)
    brief = read_or_made(layout.task_folder(project, name), project, options.template)
    found = list[Finding]()
    if brief.unfilled:
        text = "does not yet say what to do"
        found.append(
            Finding("task.md", Severity.MISSING, text, typed("task", "start", name, "--project", project))
        )
    case = Case(name, project, brief, settings, os.environ, known)
    found += look(case)
    runtimes = _runtimes(case)
    clis = [cli for cli in AGENT_CLIS if cli.name in runtimes]
    seen = findings(examine(project, os.environ, _quiet, clis=clis))
    found += [each for each in seen if _concerns(each, case, runtimes)]
    found += channels_found(settings.notify, os.environ)
    found += _limits(case)
    if is_remote(brief):
        found += _boxes(brief, project)
    found = together(dict.fromkeys(found))
    if options.json:
        print(
            neutral_json(
                json.dumps({"can_run": can_run(found), "findings": [each.shape() for each in found]})
            )
        )
    else:
        width, colour = columns(), coloured(sys.stdout)
        print("\n".join(line for each in found for line in each.lines(width, colour=colour)))
        verdict = (
            f"{name} could start" if can_run(found) else f"{name} could not start: provide what is missing"
        )
        print(f"\n{verdict}; nothing was started")
    return Exit.DONE if can_run(found) else Exit.FAILED


def _quiet(_: list[str]) -> None:
    """Print no progress."""


def _concerns(found: Finding, case: Case, runtimes: set[str]) -> bool:
    """Return whether a finding about this machine matters for this task: not if about unused agent CLIs."""
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


def _limits(case: Case) -> Iterator[Finding]:
    """Yield a finding about how much the task may use."""
    budget = case.brief.config.limits.within(case.settings.limits)
    said = [
        f"{_SAID[each](most)}{' tokens' if each is Measure.TOKENS else ''}"
        for each in Measure
        if (most := budget.of(each)) is not None
    ]
    if said:
        yield Finding("budget", Severity.OK, f"it may use {', '.join(said)}; beyond that the PM asks you")
    else:
        text = "it may use any amount; to limit it, write under Agent Config of task.md:"
        yield Finding("budget", Severity.NOTE, text, "limits: 2M tokens; $20; 8 h")


def _boxes(brief: Brief, project: Path) -> Iterable[Finding]:
    """Yield the findings about each box. Of a pool, one fit box is enough."""
    from orchestrator.cli.box import BoxReport, look_at  # only where an agent works on one
    from orchestrator.cli.remote import boxes_wanted

    for alternatives in boxes_wanted(brief, project):
        seen: list[BoxReport] = [look_at(wanted, os.environ) for wanted in alternatives]
        enough = any(each.can_run for each in seen)
        for box in seen:
            for each in box.findings:
                grave = Severity.WARN if enough and each.severity is Severity.MISSING else each.severity
                yield Finding(str(box.wanted), grave, each.text, each.fix)
