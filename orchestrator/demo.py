"""The whole system at work on a throw-away project, in about half a minute: no model, no account, no network.

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

from orchestrator import layout
from orchestrator.cli.main import main as task
from orchestrator.cli.screen import typed
from orchestrator.shipped import shipped

NAME: Final = "demo"
RULES: Final = "F401, F541, E401, E713, I001, E711"
"""What of all that ruff finds in the project is mended: few enough steps for one screen, and one that tests reject."""

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

    _write_brief(project)
    code = _run(*_of_the_demo("start", project), "--follow")
    _run(*_of_the_demo("diff", project), "--stat")
    print()
    print("\n".join(_directions(project)))
    return code


def _fresh(wanted: Path | None) -> Path:
    """Return a new folder, or the one that was named, which must be empty."""
    if wanted is None:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        wanted = cache / layout.APPLICATION / f"demo-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
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


def _write_brief(project: Path) -> None:
    """Write the template's task.md with a few rules of its choice."""
    folder = Path(layout.task_folder(project, NAME))
    folder.mkdir(parents=True)
    text = layout.task_brief(shipped("tasks") / TEMPLATE).read_text(encoding="utf-8")
    in_turn = text.replace(
        "## Agent Config\n", "## Agent Config\nparallel: 1\n"
    )  # what is shown has one order
    layout.task_brief(folder).write_text(f"{in_turn}\n- rules: {RULES}\n", encoding="utf-8")


def _directions(project: Path) -> list[str]:
    called = _called()
    status, merge, delete = (
        typed(called, *_of_the_demo(verb, project)) for verb in ("status", "merge", "delete")
    )
    return [
        f"look around:  {status}",
        "              (likewise: diff, why, attach)",
        f"take it over: {merge}",
        f"clean up:     {delete}",
        f"              {typed(called, 'daemon', 'stop')}; {typed('rm', '-r', project)}",
    ]


def _called() -> str:
    """Return how `task` is called here: there are other programs of that name."""
    ours = Path(sys.executable).with_name("task")
    return "task" if shutil.which("task") == str(ours) else str(ours)


def _of_the_demo(verb: str, project: Path) -> tuple[str, ...]:
    """Return the words of a command for this demo's task: each demo has one of the same name."""
    return verb, NAME, "--project", str(project)


def _run(*words: str) -> int:
    """Show a command as a user would type it, and run it."""
    print(f"$ {typed('task', *words)}", flush=True)
    return task(list(words))


if __name__ == "__main__":
    sys.exit(main())
