"""What a launch is made of: the run, who works, where that is here and there, and the folder to work in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orchestrator.daemon.actions.branch_there import BranchThere
    from orchestrator.daemon.core.task_paths import Adapters, RunView, TaskPaths
    from orchestrator.model.agents import Agent
    from orchestrator.model.facts import Fact
    from orchestrator.model.plan import Step
    from orchestrator.model.run import Run
    from orchestrator.pm.state.task_state import PMState


@dataclass(frozen=True, slots=True)
class LaunchContext:
    """A run that is to be launched.

    `where` are the task's paths here, `there` is what the run sees of them. `branch` is what the repository has in
    which the run works, if that is on a box. `tell` is told of what a person has to know.
    """

    adapters: Adapters
    state: PMState
    run: Run
    agent: Agent
    where: TaskPaths
    there: RunView
    workspace: Path
    branch: BranchThere | None = None
    tell: Callable[[Fact], None] = lambda _: None

    @property
    def step(self) -> Step:
        """The step that the run works on."""
        return self.state.steps[self.run.step]
