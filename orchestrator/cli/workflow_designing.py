"""`task workflow design`: begins the conversation that comes next in a design, in an agent CLI."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from typing import Final

from orchestrator import layout
from orchestrator.cli.agent_setup import FORMS
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import typed
from orchestrator.cli.workflow_files import DesignFiles, read_design, task_meant
from orchestrator.formats.text import neutral_json
from orchestrator.model.workflow import PLAN_FILE
from orchestrator.pm.plan.workflow_check import Weight, check_design
from orchestrator.runtimes.cli_inventory import AGENT_CLIS, program_on

PERSONAS: Final = ("plan-developer", "workflow-designer", "risk-assessment", "design-verifier")
"""The personas that a design goes through, in this order."""

_PROMPT_OPTION: Final = {"claude": (), "gemini": ("-i",), "opencode": ("--prompt",)}
"""What stands before the first prompt of an interactive session, for the CLIs that have slash commands."""


def design(options: Namespace) -> int:
    """Replace this process by the agent CLI, with the persona's slash command as its first prompt."""
    name, project, folder = task_meant(options.name, options.project)
    persona = options.persona or _next_persona(read_design(name, project, folder))
    cli = options.cli or _first_cli()
    form = FORMS[cli]
    command = project / str(form.commands).format(f"persona-{persona}")
    if not command.exists():
        setup = typed("task", "setup-agents", "--workflow", "--form", cli, "--project", project)
        raise CommandError(Exit.USAGE, f"{command} is not there: `{setup}` writes the personas")
    program = next(each.program for each in AGENT_CLIS if each.name == cli)
    words = [program, *_PROMPT_OPTION[cli], f"/persona-{persona} {name}"]
    if options.json:
        print(neutral_json(json.dumps({"name": name, "persona": persona, "cli": cli, "command": words})))
        return Exit.DONE
    print(
        f"{persona} of {name}, in {cli}; afterwards: {typed('task', 'workflow', 'check', name)}", flush=True
    )
    try:
        os.chdir(project)
        os.execvp(program, words)  # noqa: S606 (no shell)
    except OSError as error:
        raise CommandError(Exit.FAILED, f"{program} cannot be started: {error.strerror}") from error


def _next_persona(design: DesignFiles) -> str:
    """Return who comes next: what is not there yet is made first, and what is there is judged."""
    root = layout.orchestration(design.folder)
    if not (root / f"conversation_summary_{design.name}.md").exists():
        return PERSONAS[0]
    if not (root / PLAN_FILE).exists() or design.document is None:
        return PERSONAS[1]
    faults = [
        each for each in check_design(design.document.plan, design.around) if each.weight is Weight.FAULT
    ]
    return PERSONAS[1] if faults else PERSONAS[-1]


def _first_cli() -> str:
    path = os.environ.get("PATH", "")
    found = [
        each.name for each in AGENT_CLIS if each.name in _PROMPT_OPTION and program_on(path, each.program)
    ]
    if not found:
        raise CommandError(
            Exit.USAGE,
            f"none of {', '.join(_PROMPT_OPTION)} is installed; without a model: `task workflow new` and an editor",
        )
    return found[0]
