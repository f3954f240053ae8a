"""The environment of a run: an allow-list of the daemon's own variables, and what the run is told (U4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.model.environment import NEVER_PASSED


@dataclass(frozen=True, slots=True)
class Assignment:
    """What one run finds in its environment. Paths are absolute and as the run sees them."""

    run: str
    """Id of the run. A report repeats it as `**Run:**`."""

    task: str
    """Name of the task."""

    instance: str
    """Name of the agent; `dev-2` for a second one at the same time."""

    agent: str
    """Name of the agent's definition, whichever instance this is."""

    step: str
    """Id of the step of the plan."""

    attempt: int
    """Which attempt of the step this is, from 1. Attempts that nobody began do not count."""

    order: Path
    """File that holds the order."""

    reply_to: str
    """File name of the order in `handoffs/`. A report repeats it as `**In reply to:**`."""

    task_dir: Path
    """Folder of the task."""

    handoffs: Path
    """Folder in which the agent puts its handoffs."""

    workspace: Path
    """Folder in which the agent works."""

    artifacts: Path
    """The agent's folder for artifacts."""

    scratchpad: Path
    """The agent's folder for anything else."""

    subtask: str = ""
    """Id of the subtask, or empty."""

    template: Path | None = None
    """Folder of the task's template, or empty."""

    base: str = ""
    """Commit that the task began with, or empty."""

    branch: str = ""
    """Branch that the workspace is on, or empty."""

    check_exit: int | None = None
    """Exit status of the step's check command, or empty."""

    resumes: str = ""
    """Run whose work this one goes on with, or empty."""


def passed(environ: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Return those of the daemon's variables that may reach an agent.

    Args:
        environ: the daemon's environment.
        names: the setting `environment.pass`; a `*` at the end of a name stands for any rest.

    """
    return {
        variable: value
        for variable, value in environ.items()
        if not variable.startswith(NEVER_PASSED) and any(_matches(variable, name) for name in names)
    }


def run_variables(assignment: Assignment) -> dict[str, str]:
    """Return the `ORCHESTRATOR_…` variables of a run. All are always there: what does not apply is empty."""
    values = {
        "RUN": assignment.run,
        "TASK": assignment.task,
        "AGENT": assignment.instance,
        "DEFINITION": assignment.agent,
        "STEP": assignment.step,
        "SUBTASK": assignment.subtask,
        "ATTEMPT": assignment.attempt,
        "ORDER": assignment.order,
        "REPLY_TO": assignment.reply_to,
        "TASK_DIR": assignment.task_dir,
        "HANDOFFS": assignment.handoffs,
        "WORKSPACE": assignment.workspace,
        "ARTIFACTS": assignment.artifacts,
        "SCRATCHPAD": assignment.scratchpad,
        "TEMPLATE": assignment.template,
        "BASE": assignment.base,
        "BRANCH": assignment.branch,
        "CHECK_EXIT": assignment.check_exit,
        "RESUMES": assignment.resumes,
    }
    return {f"ORCHESTRATOR_{name}": "" if value is None else str(value) for name, value in values.items()}


def run_environment(
    environ: Mapping[str, str], names: Sequence[str], assignment: Assignment, extra: Mapping[str, str]
) -> dict[str, str]:
    """Return all that the process of a run gets: what passes, what the runtime adds, what it is told."""
    return passed(environ, names) | dict(extra) | run_variables(assignment)


def _matches(variable: str, name: str) -> bool:
    return variable.startswith(name[:-1]) if name.endswith("*") else variable == name
