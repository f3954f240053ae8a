"""`task doctor`: reports whether a task could run here, or agents on a box; what is missing, and how to repair it."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from orchestrator.cli.caller import forbid_inside_run
from orchestrator.cli.diagnosis import findings, login_of, of_machine, of_programs
from orchestrator.cli.exits import Exit
from orchestrator.cli.findings import Finding, can_run
from orchestrator.cli.host_kind_check import named_kind, of_kind
from orchestrator.cli.machine_report import CliReport, MachineReport
from orchestrator.cli.progress import show
from orchestrator.cli.screen import coloured, columns
from orchestrator.cli.table import table
from orchestrator.formats.text import neutral_json
from orchestrator.runtimes.cli_inventory import AGENT_CLIS
from orchestrator.runtimes.logins import shortened

_HEADINGS = ("AGENT CLI", "VERSION", "SIGNALS", "LOGGED IN BY", "WHERE")


def run(options: Namespace) -> int:
    """Examine, print the findings, and return 1 if a task could not run."""
    if options.host is not None:
        # Agents may reach neither boxes, by the user's keys, nor an engine.
        forbid_inside_run("doctor HOST")
        kind, name = named_kind(options.host)
        return _of_kind(kind, name, options) if kind else _at_box(options)
    # Imported late: a check of a box needs less.
    from orchestrator.cli.machine_probe import examine

    project = Path(options.project).expanduser().resolve()
    seen = examine(project, os.environ, _progress, _ignore if options.json else _machine)
    found = findings(seen)
    if options.json:
        print(neutral_json(json.dumps(_shape(seen, found))))
    else:
        print("\n".join(_screen(seen, of_programs(seen), fit=can_run(found))))
    return Exit.DONE if can_run(found) else Exit.FAILED


def _ignore(_: MachineReport) -> None:
    """Print nothing."""


def _machine(seen: MachineReport) -> None:
    """Print what is known before any program has answered."""
    width, colour = columns(), coloured(sys.stdout)
    print(
        "\n".join(line for each in of_machine(seen) for line in each.lines(width, colour=colour)), flush=True
    )


def _at_box(options: Namespace) -> int:
    """Check a box instead of this machine, with all known agent CLIs."""
    from orchestrator.cli.box import Wanted, look_at, named_box, screen, shape

    address, cwd = named_box(options.host)
    _progress([str(address)])
    try:
        programs = tuple(cli.program for cli in AGENT_CLIS)
        seen = look_at(Wanted(address, cwd, programs, optional=True), os.environ)
    finally:
        _progress([])
    if options.json:
        print(neutral_json(json.dumps(shape(seen))))
    else:
        verdict = (
            "agents could work there"
            if seen.can_run
            else "no agent could work there: provide what is missing"
        )
        print("\n".join([*screen(seen, columns(), colour=coloured(sys.stdout)), "", verdict]))
    return Exit.DONE if seen.can_run else Exit.FAILED


def _of_kind(kind: str, name: str, options: Namespace) -> int:
    """Check a host of a kind instead of this machine."""
    found = of_kind(kind, name)
    if options.json:
        shape = {"can_run": can_run([found]), "clis": [], "runtimes": [], "findings": [found.shape()]}
        print(neutral_json(json.dumps(shape)))
    else:
        print("\n".join(found.lines(columns(), colour=coloured(sys.stdout))))
    return Exit.DONE if can_run([found]) else Exit.FAILED


def _progress(waited_for: list[str]) -> None:
    """Show on a terminal which programs have not answered yet; clear the line when all have."""
    show(f"asking {', '.join(waited_for)} …" if waited_for else "")


def _screen(seen: MachineReport, found: list[Finding], *, fit: bool) -> list[str]:
    """Return the lines to print once all programs have answered."""
    width, colour = columns(), coloured(sys.stdout)
    home = os.environ.get("HOME", "")
    rows = [_row(each, home) for each in seen.clis if each.asked.path]
    rows += [(each.name, "", each.signals, "", shortened(each.path or each.word, home)) for each in seen.own]
    lines = ["", *table(_HEADINGS, rows, width, colour=colour, spare=True), ""] if rows else [""]
    missing = [each.cli for each in seen.clis if not each.asked.path]
    if missing:
        lines += ["agent CLIs that are not installed, with the command that installs each:"]
        lines += [*(f"  {cli.name:8}  {cli.install}" for cli in missing), ""]
    for each in found:
        lines += each.lines(width, colour=colour)
    verdict = "a task could run here" if fit else "no task could run here: provide what is missing"
    return [*lines, "", verdict]


def _row(seen: CliReport, home: str) -> tuple[str, ...]:
    asked = seen.asked
    signals = seen.cli.event_source if seen.driven else "no runtime yet"
    return seen.cli.name, asked.version or "?", signals, login_of(seen), shortened(asked.path or "", home)


def _shape(seen: MachineReport, found: list[Finding]) -> dict[str, Any]:
    return {
        "can_run": can_run(found),
        "clis": [
            {
                "name": each.cli.name,
                "path": each.asked.path or None,
                "version": each.asked.version or None,
                "logins": list(each.logins),
                "held_back": list(each.held_back),
                "signals": each.cli.event_source if each.driven else None,
                "tested": bool(each.cli.tried),
                "install": each.cli.install,
            }
            for each in seen.clis
        ],
        "runtimes": [
            {"name": each.name, "program": each.word, "path": each.path or None, "signals": each.signals}
            for each in seen.own
        ],
        "findings": [each.shape() for each in found],
    }
