"""Lets the template `tidy` work on packages of the index, by a real daemon that is killed in the middle.

Two packages at a time are worked on; the daemon is killed at a moment drawn by the seed, and the next `task`
command that is typed finds it dead and starts it again. Afterwards everything is looked at that must hold
(`looks.py`), the project's tests are run once more by hand, and a table is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.integration.daemon.world import World
from tests.packages.looks import Looked, look
from tests.packages.package import Package, state_of

ROOT = Path(__file__).parents[2]
EVERY = 2.0
COMMAND_SECONDS = 120
ENDED = {"complete", "failed", "waiting", "stopped"}
SOONEST, LATEST = 4, 16
HEAD = (
    "package",
    "lines",
    "findings",
    "accepted, aside, rejections",
    "tests that pass",
    "seconds",
    "killed",
    "faults",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Work on all packages that are named.

    Returns:
        0 if nothing was seen that must not be, else 1.
    """
    parser = argparse.ArgumentParser(prog="scripts/tidy-packages", description=__doc__)
    parser.add_argument("packages", nargs="+", type=Package.read, metavar="PACKAGE", help=Package.__doc__)
    parser.add_argument("--keep", type=Path, help="work in this folder, and leave everything there")
    parser.add_argument("--at-once", type=int, default=2, help="how many are worked on at a time (2)")
    parser.add_argument("--seed", type=int, default=0, help="draws the moments of the kills")
    parser.add_argument("--no-kill", action="store_true", help="let the daemon live")
    parser.add_argument("--hours", type=float, default=2.0, help="the most for each pair")
    options = parser.parse_args(arguments)
    drawn = None if options.no_kill else random.Random(options.seed)
    print(f"| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}", flush=True)
    good = True
    with a_user(options.keep) as world:
        for some in _portions(options.packages, options.at_once):
            for package, looked, killed in worked_on(world, some, drawn, options.hours * 3600):
                print(row(package, looked, killed), flush=True)
                good &= not isinstance(looked, str) and not looked.faults
    return 0 if good else 1


@contextmanager
def a_user(folder: Path | None) -> Iterator[World]:
    """A user with a daemon, a tmux server and a home of their own, all in one folder.

    Limits are those that any user has, but for the alarm: a dead daemon is started again after 15 s.
    """
    # Short, since it holds the tmux server's socket.
    root = (folder or Path(tempfile.mkdtemp(prefix="packages-", dir="/tmp"))).resolve()
    for name in ("home", "tmux", "tmp", "packages"):
        (root / name).mkdir(mode=0o700, parents=True)
    (root / "home" / ".gitconfig").write_text("[user]\nname = A User\nemail = user@localhost\n")
    environ = {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "HOME": str(root / "home"),
        "TMPDIR": str(root / "tmp"),
        "TMUX_TMPDIR": str(root / "tmux"),
        "ORCHESTRATOR_HOME": str(root / "state"),
        "ORCHESTRATOR_TMUX__SOCKET": "test",
        "ORCHESTRATOR_DAEMON__HEARTBEAT_TIMEOUT": "15 s",
    }
    world = World(root, environ)
    try:
        yield world
    finally:
        world.end_processes() if folder else world.end()


def worked_on(
    world: World, packages: Sequence[Package], drawn: random.Random | None, patience: float
) -> Iterator[tuple[Package, Looked | str, str]]:
    """Let the template work on some packages at once; yield each with what was seen, and when the kill came."""
    projects, before = {}, {}
    for package in packages:
        projects[package] = package.fetched(world.root / "packages")
        before[package] = state_of(projects[package], package.name)
        package.lay_brief(projects[package])
    for package in packages:
        command = ["start", package.name, "--template", "tidy", "--project", str(projects[package])]
        print(said(world, *command).strip(), file=sys.stderr, flush=True)
    killed = seen_through(world, [package.name for package in packages], drawn, patience)
    for package in packages:
        state = world.stands(package.name)
        if state != "complete":
            yield package, f"it is {state}: {world.state_shown(package.name).get('questions')}", killed
        else:
            yield package, look(world, package, projects[package], before[package]), killed


def seen_through(world: World, names: Sequence[str], drawn: random.Random | None, patience: float) -> str:
    """Type `task status` until all tasks have ended; kill the daemon once. Return at which moment."""
    victim, at_run, killed = "", 0, ""
    if drawn:
        victim, at_run = drawn.choice(names), drawn.randint(SOONEST, LATEST)
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        shown = [json.loads(said(world, "status", name, "--json") or "{}") for name in names]
        if all(each.get("state") in ENDED for each in shown):
            break
        if drawn and not killed and len(world.story(victim).runs) >= at_run:
            time.sleep(drawn.uniform(0, EVERY))
            killed = f"run {len(world.story(victim).runs)} of {victim}"
            pid = json.loads(said(world, "daemon", "status", "--json"))["pid"]
            os.kill(pid, signal.SIGKILL)
            print(f"killed the daemon, pid {pid}, at {killed}", file=sys.stderr, flush=True)
        time.sleep(EVERY)
    return killed


def said(world: World, *words: str) -> str:
    """What a `task` command of this checkout prints, nothing if it takes too long; complaints go to standard error."""
    try:
        return subprocess.run(
            [str(ROOT / "scripts" / "task"), *words],
            cwd=world.root,
            env=world.environ,
            stdout=subprocess.PIPE,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        ).stdout
    except subprocess.TimeoutExpired:
        print(f"task {' '.join(words)}: no answer in {COMMAND_SECONDS} s", file=sys.stderr, flush=True)
        return ""


def row(package: Package, looked: Looked | str, killed: str) -> str:
    """One line of the table."""
    if isinstance(looked, str):
        return f"| {package.title} | | | | | | {killed or 'no'} | {looked} |"
    cells = (
        package.title,
        f"{looked.lines:,}",
        " → ".join(f"{number:,}" for number in looked.findings),
        f"{looked.accepted}, {looked.aside}, {looked.rejections}",
        " → ".join(f"{number:,}" for number in looked.tests) if any(looked.tests) else "none",
        f"{looked.seconds:,}",
        killed or "no",
        "; ".join(looked.faults) or "none",
    )
    return f"| {' | '.join(cells)} |"


def _portions(packages: Sequence[Package], size: int) -> Iterator[Sequence[Package]]:
    for start in range(0, len(packages), size):
        yield packages[start : start + size]


if __name__ == "__main__":
    sys.exit(main())
