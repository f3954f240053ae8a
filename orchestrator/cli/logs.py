"""`task logs`: shows what the PM decided, or what an agent's terminal showed, made safe for a terminal."""

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
_BRIEF_BYTES: Final = 1_048_576


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task logs`."""
    about_task(parser)
    parser.add_argument(
        "agent",
        metavar="AGENT|STEP|RUN",
        nargs="?",
        help="the newest run of an agent or a step, or a run by its id; default: the PM",
    )
    parser.add_argument("--attempt", metavar="N", type=int, help="the run of this attempt at the step")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--check", action="store_true", help="the PM's check of the step instead")
    instead.add_argument("--prepare", action="store_true", help="what made the step's worktree ready instead")
    parser.add_argument("-n", metavar="N", type=int, default=40, dest="count", help="how many lines (40)")
    parser.add_argument(
        "-f", action="store_true", dest="follow", help="keep printing new lines, until Ctrl-C"
    )


def run(options: Namespace) -> int:
    """Print the end of a log."""
    # Imported late: its patterns take 20 ms to compile, and `completion` imports every verb.
    from orchestrator.formats.redact import LineMask, redacted_lines
    from orchestrator.formats.secret_values import without_values

    task = chosen(options, "agent")
    path = Path(layout.task_log(task.home))
    if options.agent:
        wanted = "check" if options.check else "prepare" if options.prepare else "work"
        run = _run(task, options.agent, options.attempt, wanted)
        kind = "check" if run.check else run.instance
        print(f"{kind} of {run.step}, attempt {run.attempt}, run {run.id}", file=sys.stderr)
        path = Path(layout.run_home(task.home, run.id)) / "pane.log"
    found = path.exists() or _packed(path).exists() or old_one(path).exists()
    if not found and not options.follow:
        raise CommandError(Exit.FAILED, _missing(path))
    growing = Tail(path, from_end=True)
    masking, hidden = LineMask(), _hidden(task) if options.agent else frozenset()
    there = _end_of(path, max(options.count, 0))
    for line in redacted_lines([readable(line) for line in there], masking):
        print(without_values(line, hidden))
    # A pipe holds printed lines back until its buffer is full: that may take hours.
    sys.stdout.flush()
    while options.follow:
        for line in growing.lines():
            print(without_values(masking.line(readable(line)), hidden), flush=True)
        time.sleep(_PAUSE)
    return Exit.DONE


def _hidden(task: TaskRecord) -> frozenset[str]:
    """Return the values in the files that task.md has copied into worktrees (`prepare.copy:`)."""
    if not task.view or not task.project:
        return frozenset()
    from orchestrator import plain_files

    try:
        data = plain_files.read(layout.task_brief(layout.task_folder(task.project, task.name)), _BRIEF_BYTES)
    except OSError:
        return frozenset()
    if b"prepare.copy" not in data:
        return frozenset()
    from orchestrator.cli.task_branch import code_of
    from orchestrator.daemon.core.copied_values import copied_values
    from orchestrator.formats.task_file import read_brief
    from orchestrator.hosts.disk import DiskFiles
    from orchestrator.model.errors import BadFile

    try:
        return copied_values(DiskFiles(Path(task.project)), read_brief(data).config, code_of(task.view))
    except BadFile:
        return frozenset()


def _end_of(path: Path, count: int) -> list[str]:
    """Return the last lines of a log, which may be compressed, or continue an older file."""
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
        return f"its log was removed (the setting `[logs]` says how long logs are kept; {path})"
    return f"there is no log yet ({path})"


def _run(task: TaskRecord, word: str, attempt: int | None, wanted: str) -> RunSeen:
    """Return the newest run that a word means: an agent, an instance, a step, or the run itself.

    `wanted` is its purpose. For a step the agent's own run is preferred if there was one.
    """
    task.readable_view()
    known = list(runs(Path(layout.task_journal(task.home))))
    found = [run for run in known if word in {run.id, run.instance, run.agent, run.step}]
    if word not in {run.id for run in known}:
        found = [run for run in found if attempt in {None, run.attempt}]
        found = [run for run in found if run.purpose == wanted] or (found if wanted == "work" else [])
    if found:
        return found[0]
    which = f" of attempt {attempt}" if attempt else ""
    steps = dict.fromkeys(run.step for run in known)
    newest = ", ".join(harmless(step) for step in list(steps)[:_NAMED]) or "none"
    what = {"check": "check", "prepare": "preparation"}.get(wanted, "run")
    raise CommandError(
        Exit.USAGE,
        f"{task.name} had no {what}{which} of {word[:40]!a}; the newest steps with runs: {newest}",
    )
