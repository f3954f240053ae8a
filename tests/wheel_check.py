"""Builds the wheel as a release would, installs it alone, and uses it as a stranger would.

usage: python tests/wheel_check.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
SHIPPED = ("agents", "deploy", "scripts", "tasks")
BUILD_SECONDS = 300
VERB_SECONDS = 60
TASK_SECONDS = 180


PROJECT = {
    "pyproject.toml": '[project]\nname = "greeting"\nversion = "1"\n',
    "greeting.py": 'import os\n\n\ndef greeting(name):\n    return f"hello " + name\n',
    "test_greeting.py": 'from greeting import greeting\n\n\ndef test_it():\n    assert greeting("a") == "hello a"\n',
}


class Failed(Exception):
    """The wheel is not fit for release. The message says why."""


def run(
    *command: str | Path,
    seconds: float = VERB_SECONDS,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
) -> str:
    """Return what the command printed, both streams together; raise Failed unless it exits 0 in time."""
    shown = " ".join(map(str, command))
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=seconds,
            check=False,
            cwd=cwd,
            env=env,
        )
    except subprocess.TimeoutExpired as late:
        raise Failed(f"{shown}: not done after {seconds:.0f} s, having printed\n{late.output}") from late
    if done.returncode:
        raise Failed(f"{shown}: exit {done.returncode}, having printed\n{done.stdout}")
    return done.stdout


def build(into: Path) -> Path:
    """Return a wheel built from an sdist built from the checkout: so both are proven."""
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", into, CHECKOUT, seconds=BUILD_SECONDS)
    (wheel,) = into.glob("*.whl")
    return wheel


def check_content(wheel: Path) -> None:
    """Raise Failed unless the wheel holds the package with what ships, and nothing else."""
    names = zipfile.ZipFile(wheel).namelist()
    for folder in SHIPPED:
        if not any(name.startswith(f"orchestrator/_shipped/{folder}/") for name in names):
            raise Failed(f"{wheel.name} lacks the folder {folder}/")
    strangers = {name.split("/")[0] for name in names} - {"orchestrator", wheel_metadata(wheel)}
    if strangers:
        raise Failed(f"{wheel.name} would put {', '.join(sorted(strangers))} beside the package")


def wheel_metadata(wheel: Path) -> str:
    """Return the name of the wheel's metadata folder."""
    name, version, *_ = wheel.name.split("-")
    return f"{name}-{version}.dist-info"


class Installed:
    """The wheel and its locked dependencies in an environment of their own, used from an empty HOME."""

    def __init__(self, wheel: Path, root: Path) -> None:
        self.bin = root / "environment" / "bin"
        self.home = root / "home"
        self.home.mkdir()
        venv.create(self.bin.parent, with_pip=False, symlinks=True)
        locked = CHECKOUT / "requirements" / "runtime.lock"
        self._pip("install", "--require-hashes", "--no-deps", "-r", locked)
        self._pip("install", "--no-deps", wheel)
        self._pip("check")

    def _pip(self, *arguments: str | Path) -> None:
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", self.bin / "python")
        run(*pip, *arguments, seconds=BUILD_SECONDS)

    @property
    def environment(self) -> dict[str, str]:
        """What its programs get: an empty HOME, and a tmux server of their own."""
        path = os.pathsep.join([str(self.bin), *os.get_exec_path()])
        return {
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "ORCHESTRATOR_TMUX__SOCKET": "default",
            "PATH": path,
            "TERM": "dumb",
            "TMUX_TMPDIR": str(self.home),
        }

    def run(self, verb: str, *arguments: str | Path, seconds: float = VERB_SECONDS) -> str:
        """Return what an installed command printed."""
        return run(self.bin / verb, *arguments, seconds=seconds, cwd=self.home, env=self.environment)


def answers_help(installed: Installed) -> None:
    """Raise Failed unless both names of the command explain themselves."""
    for name in ("task", "agent-orchestrator"):
        if "start" not in installed.run(name, "--help"):
            raise Failed(f"{name} --help does not speak of `start`")


def sets_up_agents(installed: Installed, project: Path) -> None:
    """Raise Failed unless what ships as files is there: agents and a skill land in a project, scripts are printed."""
    printed = installed.run("task", "setup-agents", "--project", project)
    if not list((project / ".claude" / "agents").glob("*.md")):
        raise Failed(f"task setup-agents wrote no agent, but printed\n{printed}")
    if not (project / ".claude" / "skills" / "multi-agent" / "SKILL.md").is_file():
        raise Failed(f"task setup-agents wrote no skill, but printed\n{printed}")
    for shell in ("bash", "zsh", "fish"):
        if "_agent_orchestrator" not in installed.run("task", "completion", shell):
            raise Failed(f"task completion {shell} prints no script")


def carries_a_task(installed: Installed, project: Path) -> None:
    """Raise Failed unless a small task runs to its end on what ships, and leaves its work on a branch."""
    for name, text in PROJECT.items():
        (project / name).write_text(text, encoding="utf-8")
    author = ("-c", "user.name=wheel", "-c", "user.email=wheel@localhost")
    for command in (["init", "-q"], ["add", "-A"], [*author, "commit", "-qm", "greeting"]):
        run("git", "-C", project, *command)
    try:
        printed = installed.run(
            "task",
            "start",
            "hello",
            "--template",
            "tidy",
            "--project",
            project,
            "--follow",
            seconds=TASK_SECONDS,
        )
        if "outcome   complete; " not in printed:
            raise Failed(f"task start hello did not end as complete, but printed\n{printed}")
    finally:
        installed.run("task", "daemon", "stop")
        run("tmux", "kill-server", env=installed.environment)
    if "import os" in run("git", "-C", project, "show", "task/hello:greeting.py"):
        raise Failed(f"task/hello still has the unused import, after\n{printed}")


def main() -> None:
    """Run all checks, a line for each."""
    with tempfile.TemporaryDirectory(prefix="wheel-check-") as name:
        root = Path(name)
        wheel = build(root / "dist")
        check_content(wheel)
        print(f"built {wheel.name} ({wheel.stat().st_size // 1024} KB)", flush=True)
        installed = Installed(wheel, root)
        print("installed it alone", flush=True)
        answers_help(installed)
        print("task --help and agent-orchestrator --help answer", flush=True)
        project = root / "project"
        project.mkdir()
        sets_up_agents(installed, project)
        print(
            "task setup-agents lays down the agents and the skill, task completion prints its scripts",
            flush=True,
        )
        carries_a_task(installed, project)
        print("task start carries a task to its end", flush=True)


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        sys.exit(f"wheel check: {failed}")
