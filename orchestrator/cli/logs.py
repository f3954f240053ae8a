"""`task logs`: what the PM decided, or what an agent's terminal showed, made safe to look at."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from orchestrator import layout
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.journal import RunSeen, runs
from orchestrator.cli.screen import harmless
from orchestrator.cli.tail import Tail, last_lines, last_packed_lines, readable
from orchestrator.cli.tasks import TaskRecord, about_task, chosen
from orchestrator.daemon.journal.rolling_log import old_one

EXAMPLE = (
    "task logs tidy dev -f\n  task logs tidy dev:one --attempt 1\n  task logs tidy test:one --check\n"
    "  task logs tidy r-1a2b3c4d"
)
_PAUSE: Final = 0.2
_NAMED: Final = 12


def arguments(parser: ArgumentParser) -> None:
    """Say what `task logs` understands."""
    about_task(parser)
    parser.add_argument(
        "agent",
        metavar="AGENT|STEP|RUN",
        nargs="?",
        help="the newest run of an agent or a step, or a run; else the PM",
    )
    parser.add_argument("--attempt", metavar="N", type=int, help="its run of that attempt at the step")
    parser.add_argument("--check", action="store_true", help="the check that the PM ran for it")
    parser.add_argument("-n", metavar="N", type=int, default=40, dest="count", help="how many lines (40)")
    parser.add_argument("-f", action="store_true", dest="follow", help="go on as the log grows, until Ctrl-C")


def run(options: Namespace) -> int:
    """Show the end of a log."""
    # Not above: its patterns take 20 ms to compile, and `completion` imports every verb.
    from orchestrator.formats.redact import LineMask, redacted_lines

    task = chosen(options, "agent")
    path = Path(layout.task_log(task.home))
    if options.agent:
        run = _run(task, options.agent, options.attempt, check=options.check)
        kind = "check" if run.check else run.instance
        print(f"{kind} of {run.step}, attempt {run.attempt}, run {run.id}", file=sys.stderr)
        path = Path(layout.run_home(task.home, run.id)) / "pane.log"
    found = path.exists() or _packed(path).exists() or old_one(path).exists()
    if not found and not options.follow:
        raise CommandError(Exit.FAILED, _missing(path))
    growing = Tail(path, from_end=True)
    masking = LineMask()
    there = _end_of(path, max(options.count, 0))
    for line in redacted_lines([readable(line) for line in there], masking):
        print(line)
    # Into a pipe, what was printed is kept back until there is more of it: that may be hours.
    sys.stdout.flush()
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


def _run(task: TaskRecord, word: str, attempt: int | None, *, check: bool) -> RunSeen:
    """Return the newest run that a word means: an agent, an instance, a step, or the run itself.

    Of a step without `check` the agent's own run is meant, where there was one.
    """
    task.believed()
    known = list(runs(Path(layout.task_journal(task.home))))
    found = [run for run in known if word in {run.id, run.instance, run.agent, run.step}]
    if word not in {run.id for run in known}:
        found = [run for run in found if attempt in {None, run.attempt}]
        found = [run for run in found if run.check is check] or (found if not check else [])
    if found:
        return found[0]
    which = f" of attempt {attempt}" if attempt else ""
    steps = dict.fromkeys(run.step for run in known)
    told = ", ".join(harmless(step) for step in list(steps)[:_NAMED]) or "none"
    raise CommandError(
        Exit.USAGE,
        f"{task.name} had no {'check' if check else 'run'}{which} of {word[:40]!a}; the newest steps with runs: {told}",
    )
