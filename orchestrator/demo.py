"""The whole system at work on a throw-away project, in about a minute: no model, no account, no network.

usage: python -m orchestrator.demo [--keep DIR]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from orchestrator import places
from orchestrator.cli.main import main as task
from orchestrator.shipped import shipped

NAME: Final = "demo"
TEMPLATE: Final = "tidy"
_GIT_SECONDS: Final = 60


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the project, start a task on it, show it as it goes, and say where everything is."""
    parser = argparse.ArgumentParser(prog="scripts/demo", description=__doc__.splitlines()[0])
    parser.add_argument("--keep", metavar="DIR", type=Path, help="make the project here, not in the cache")
    project = _fresh(parser.parse_args(arguments).keep)
    print(f"a small project with faults in it: {project}\n", flush=True)
    left_out = shutil.ignore_patterns("__pycache__", ".*_cache")
    shutil.copytree(shipped("tasks") / TEMPLATE / "demo", project, ignore=left_out, dirs_exist_ok=True)
    _commit(project)

    _say(f"task start {NAME} --template {TEMPLATE} --project {project} --follow")
    code = task(["start", NAME, "--template", TEMPLATE, "--project", str(project), "--follow"])
    _show_progress(project)
    print("\n".join(_directions(project)))
    return code


def _fresh(wanted: Path | None) -> Path:
    """Return a new folder, or the one that was named, which must be empty."""
    if wanted is None:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        wanted = cache / places.APPLICATION / f"demo-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    folder = wanted.expanduser().resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        sys.exit(f"demo: {folder} is not empty: name a folder that is not there yet")
    return folder


def _commit(project: Path) -> None:
    """Make the project a git repository with one commit, whatever the user's git is set to."""
    author = ("-c", "user.name=demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false")
    for command in (
        ["init", "-q", "--initial-branch=main", "--template="],
        ["add", "--all"],
        [*author, "commit", "-q", "--no-verify", "-m", "A small project with faults in it"],
    ):
        subprocess.run(["git", "-C", str(project), *command], check=True, timeout=_GIT_SECONDS)


def _show_progress(project: Path) -> None:
    progress = places.task_progress(places.task_folder(project, NAME))
    if progress.is_file():
        _say(f"cat {progress}")
        print(progress.read_text(encoding="utf-8"))


def _directions(project: Path) -> list[str]:
    called, folder = _called(), places.task_folder(project, NAME)
    return [
        f"look around, in {project}:",
        f"  {called} status {NAME}      where it stands",
        f"  {called} why {NAME}         what was decided, and upon what",
        f"  {called} logs {NAME} dev    what an agent's terminal showed",
        f"  {called} attach {NAME}      the task's tmux session",
        f"  ls -R {folder.relative_to(project)}",
        f"  {called} diff {NAME}        what it has changed",
        "take the work over:",
        f"  {called} merge {NAME}",
        "clean up:",
        f"  {called} stop {NAME}; {called} daemon stop; rm -r {project}",
    ]


def _called() -> str:
    """Return how `task` is called here: there are other programs of that name."""
    ours = Path(sys.executable).with_name("task")
    return "task" if shutil.which("task") == str(ours) else str(ours)


def _say(command: str) -> None:
    print(f"$ {command}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
