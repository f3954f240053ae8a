"""`task logs`: what the PM decided, or what an agent's terminal showed, made safe to look at."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from orchestrator import places
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import harmless
from orchestrator.cli.tail import Tail, last_lines, last_packed_lines, readable
from orchestrator.cli.tasks import Task, about_task, chosen
from orchestrator.daemon.rolling import old_one
from orchestrator.formats.redact import LineMask, redacted_lines

EXAMPLE = "task logs tidy dev -f"
_PAUSE: Final = 0.2


def arguments(parser: ArgumentParser) -> None:
    """Say what `task logs` understands."""
    about_task(parser)
    parser.add_argument(
        "agent", metavar="AGENT", nargs="?", help="an agent, or one of its runs by id; else the PM"
    )
    parser.add_argument("-n", metavar="N", type=int, default=40, dest="count", help="how many lines (40)")
    parser.add_argument("-f", action="store_true", dest="follow", help="go on as the log grows, until Ctrl-C")


def run(options: Namespace) -> int:
    """Show the end of a log."""
    task = chosen(options, "agent")
    path = _run_log(task, options.agent) if options.agent else Path(places.task_log(task.home))
    found = path.exists() or _packed(path).exists() or old_one(path).exists()
    if not found and not options.follow:
        raise CommandError(Exit.FAILED, _missing(path))
    growing = Tail(path, from_end=True)
    masking = LineMask()
    there = _end_of(path, max(options.count, 0))
    for line in redacted_lines([readable(line) for line in there], masking):
        print(line)
    while options.follow:
        for line in growing.lines():
            print(masking.line(readable(line)), flush=True)
        time.sleep(_PAUSE)
    return Exit.DONE


def _end_of(path: Path, count: int) -> list[str]:
    """Return the last lines of a log, which may be packed, or go on from an older one."""
    if not path.exists() and _packed(path).exists():
        return last_packed_lines(_packed(path), count)
    lines = last_lines(path, count) if path.exists() else []
    if len(lines) < count and old_one(path).exists():
        lines = last_lines(old_one(path), count - len(lines)) + lines
    return lines


def _packed(path: Path) -> Path:
    return path.with_name(f"{path.name}.gz")


def _missing(path: Path) -> str:
    if (path.parent / "exit").exists():
        return f"its log is not kept any more (`[logs]` in the settings says for how long; {path})"
    return f"there is no log yet ({path})"


def _run_log(task: Task, agent: str) -> Path:
    """Return the terminal's log of an agent's newest run."""
    runs = [
        each
        for each in task.believed()["agents"]
        if agent in {each.get("name"), each.get("agent"), each.get("run")}
    ]
    if not runs:
        known = ", ".join(sorted({harmless(each.get("name")) for each in task.told["agents"]})) or "none"
        raise CommandError(
            Exit.USAGE, f"{task.name} had no run of {agent[:40]!a}; runs there were of: {known}"
        )
    newest = max(runs, key=lambda each: each.get("since") or 0.0)
    return Path(places.run_home(task.home, str(newest["run"]))) / "pane.log"
