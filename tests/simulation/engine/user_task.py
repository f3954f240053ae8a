"""A task of the user: its settings and its paths."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from orchestrator import layout
from orchestrator.testing.fake_box import place_on
from tests.simulation.engine.daemon import STATE
from tests.simulation.engine.shared_state import CHECK, HELPER

PROJECT: Final = Path("/project")
AGENTS: Final = ("explore", "plan", "architect", "dev", "test", "review")


@dataclass(frozen=True)
class UserTask:
    """A task: its name and its Agent Config. The paths are cached, since they are used all the time.

    led: an agent is its PM. hooks: its agents' programs emit hook events. box, architects_box: where its developers and
    its architect run, if not here. brings: the branch is exchanged with the box. helped: every second subtask is done
    by another agent, which runs here.
    """

    name: str
    architect: bool = False
    set_aside: bool = False
    checks: bool = False
    workspace: str = "worktree"
    listens: bool = False
    approve: bool = False
    unanswered: str = ""
    replan: bool = False
    led: bool = False
    hooks: bool = False
    box: str = ""
    architects_box: str = ""
    brings: bool = False
    helped: bool = False

    @cached_property
    def id(self) -> str:
        """The task's id."""
        return f"{self.name}-0123abcd"

    @cached_property
    def folder(self) -> Path:
        """The task's folder in the project."""
        return layout.task_folder(PROJECT, self.name)

    @cached_property
    def home(self) -> Path:
        """The PM's own folder for the task."""
        return layout.task_home(STATE, self.id)

    @cached_property
    def shown(self) -> Path:
        """What `task status` reads."""
        return layout.task_state(self.home)

    @cached_property
    def requests(self) -> Path:
        """The folder of the user's requests."""
        return layout.task_requests(self.home)

    @cached_property
    def handoffs(self) -> Path:
        """The folder of orders and reports."""
        return layout.handoffs(self.folder)

    @property
    def boxes(self) -> set[str]:
        """The boxes on which its agents run."""
        return {self.box, self.architects_box} - {""}

    @property
    def branch(self) -> str:
        """The task's branch."""
        return f"task/{self.name}"

    def design(self) -> dict[str, str]:
        """Return the files of its design by their paths in `orchestration/`: of a workflow alone."""
        return {}

    def brief(self, goal: str, criteria: tuple[str, ...]) -> str:
        """Return task.md."""
        config = ["runtime: claude"] if self.hooks else [f"{agent}.command: {agent}" for agent in AGENTS]
        config += [f"workspace: {self.workspace}"]
        config += ["architect: yes"] if self.architect else []
        config += ["rejections: set-aside"] if self.set_aside else []
        config += ["rejections: replan"] if self.replan and not self.set_aside else []
        config += ["approve: plan"] if self.approve else []
        config += [f"unanswered: {self.unanswered}"] if self.unanswered else []
        config += [f"{agent}.listens: yes" for agent in AGENTS] if self.listens and not self.hooks else []
        config += [f"test.check: {CHECK[0]}"] if self.checks else []
        config += ["pm: command", "pm.command: pm"] if self.led else []
        config += [f"cwd: {self.box}:{place_on(self.box)}"] if self.box else []
        config += [f"{HELPER}.command: {HELPER}"] if self.helped else []
        config += ["bring: branch"] if self.box and self.brings else []
        if self.architects_box:
            config += [f"architect.cwd: {self.architects_box}:{place_on(self.architects_box)}"]
        listed = "\n".join(f"- {criterion}" for criterion in criteria)
        lines = "\n".join(config)
        return f"# Task: {self.name}\n\n## Goal\n{goal}\n\n## Success Criteria\n{listed}\n\n## Agent Config\n{lines}\n"
