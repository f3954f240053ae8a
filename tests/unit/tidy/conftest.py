"""The tidy template's programs are run by path, so its modules are found by path here too."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

TEMPLATE = Path(__file__).parents[3] / "tasks" / "tidy"
# At the end: `test.py` and `plan.py` there must hide no module of that name.
sys.path.append(str(TEMPLATE))
Files = Mapping[str, str | bytes]


@pytest.fixture(scope="session")
def template() -> Path:
    """The folder of the template."""
    return TEMPLATE


def write(folder: Path, files: Files) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def few_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plugins of this virtualenv take pytest half a second to load, each time that a test runs it."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.fixture
def project(tmp_path: Path) -> Callable[[Files], Path]:
    """Makes a project of some files, under git with one commit."""

    def make(files: Files) -> Path:
        folder = tmp_path / "project"
        folder.mkdir()
        write(folder, files)
        git(folder, "init", "--quiet", "--initial-branch=main")
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message=first")
        return folder

    return make


@dataclass
class Daemon:
    """Plays the daemon for one task: work trees, environments, commits."""

    project: Path
    trees: Path
    base: str = ""
    name: str = "tidy-1"
    feedback: str = ""
    runs: int = field(default=0)

    def __post_init__(self) -> None:
        self.base = git(self.project, "rev-parse", "HEAD")
        git(self.project, "branch", self.branch)
        (self.task / "handoffs").mkdir(parents=True)
        (self.task / "task.md").write_bytes((TEMPLATE / "task.md").read_bytes())

    @property
    def task(self) -> Path:
        return self.project / "tasks" / self.name

    @property
    def branch(self) -> str:
        return f"task/{self.name}"

    def tree(self, label: str) -> Path:
        git(self.project, "worktree", "add", "--quiet", "--detach", str(self.trees / label), self.branch)
        return self.trees / label

    def environment(
        self, agent: str, step: str, tree: Path, *, attempt: int = 1, check: int | None = None
    ) -> dict[str, str]:
        self.runs += 1
        order = self.task / "handoffs" / f"pm-20251127-{self.runs:06d}.md"
        order.write_text(f"# Handoff: pm\n\n## Instructions\nDo it.\n\n{self.feedback}\n", encoding="utf-8")
        said = {
            "RUN": f"r-{self.runs}",
            "TASK": self.name,
            "AGENT": agent,
            "STEP": step,
            "SUBTASK": step.partition(":")[2],
            "ATTEMPT": str(attempt),
            "ORDER": str(order),
            "REPLY_TO": order.name,
            "TASK_DIR": str(self.task),
            "WORKSPACE": str(tree),
            "SCRATCHPAD": str(self.task / "scratchpad" / agent),
            "BASE": self.base,
            "BRANCH": self.branch,
            "CHECK_EXIT": "" if check is None else str(check),
        }
        kept = {
            name: os.environ[name]
            for name in ("PATH", "HOME", "LANG", "TMPDIR", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
            if name in os.environ
        }
        return kept | {f"ORCHESTRATOR_{name}": value for name, value in said.items()}

    def program(self, name: str, *arguments: str, environment: Mapping[str, str], cwd: Path) -> int:
        done = subprocess.run(
            [sys.executable, str(TEMPLATE / f"{name}.py"), *arguments],
            cwd=cwd,
            env=dict(environment),
            check=False,
            capture_output=True,
            text=True,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode

    def check(self, what: str, step: str, tree: Path, *, attempt: int = 1) -> int:
        environment = self.environment("test", step, tree, attempt=attempt)
        return self.program("check", what, environment=environment, cwd=tree)

    def run(self, agent: str, step: str, tree: Path, *, attempt: int = 1, check: int | None = None) -> str:
        """Run one agent's program; what it reports."""
        before = set((self.task / "handoffs").glob(f"{agent}-*.md"))
        environment = self.environment(agent, step, tree, attempt=attempt, check=check)
        assert self.program(agent, environment=environment, cwd=tree) == 0
        (report,) = set((self.task / "handoffs").glob(f"{agent}-*.md")) - before
        return report.read_text(encoding="utf-8")

    def commit(self, tree: Path) -> None:
        git(tree, "add", "--all")
        git(tree, "commit", "--quiet", "--allow-empty", "--message=one subtask")

    def forward(self, tree: Path) -> None:
        git(self.project, "update-ref", f"refs/heads/{self.branch}", git(tree, "rev-parse", "HEAD"))


@pytest.fixture
def daemon(tmp_path: Path) -> Callable[[Path], Daemon]:
    """Starts a task of this template on a project."""
    return lambda folder: Daemon(folder, tmp_path / "trees")
