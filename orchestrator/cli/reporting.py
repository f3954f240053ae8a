"""Gathers what a report consists of (journal, state, commits, artifacts), and writes or prints it."""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from orchestrator import layout
from orchestrator.cli.beat import Beat
from orchestrator.cli.brief_now import asked_since
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.journal import newest_first
from orchestrator.cli.screen import harmless
from orchestrator.cli.status import shape
from orchestrator.cli.task_branch import Work, work_of
from orchestrator.cli.tasks import TaskRecord, chosen, tasks
from orchestrator.formats.text import neutral_json
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.reporting.build import report_of
from orchestrator.reporting.history import NOTABLE, History
from orchestrator.reporting.room import clean
from orchestrator.reporting.shape import document_of
from orchestrator.reporting.task_report import CommitSeen, TaskReport

_COMMITS: Final = 200
_DIFF: Final = 20_000
"""Characters that are shown of one commit's diff."""

_DIFFS: Final = 100_000
"""Characters of all diffs of a task together: the page stays one that opens at once."""


def run(options: Namespace) -> int:
    """Write or print the report; return 0."""
    if options.all and options.name:
        raise CommandError(Exit.USAGE, "either NAME or --all: a report is about one task, or about all")
    state = layout.state_folder(os.environ)
    if options.all:
        records = sorted(tasks(state), key=lambda each: -float(each.view.get("updated") or 0))
        if not records:
            raise CommandError(Exit.FAILED, "there is no task: `task start NAME` makes one")
    else:
        records = [chosen(options)]
        records[0].readable_view()
    reports = [gathered(record, time.time()) for record in records if record.view]
    if options.json:
        print(neutral_json(json.dumps({"reports": [document_of(each) for each in reports]})))
        return Exit.DONE
    text = _text(options, reports)
    printed = options.md or (
        options.html and not sys.stdout.isatty()
    )  # nobody reads a page's source on a terminal
    if printed and not options.output and not options.open:
        print(text, end="")
        return Exit.DONE
    path = Path(options.output).expanduser().absolute() if options.output else _place(state, options, reports)
    _write(path, text)
    print(harmless(str(path)))
    if options.open:
        _open(path)
    return Exit.DONE


def document(record: TaskRecord) -> dict[str, Any]:
    """Return the JSON document about one task. Raises CommandError: its state cannot be read."""
    record.readable_view()
    return {"reports": [document_of(gathered(record, time.time()))]}


def _open(path: Path) -> None:
    import webbrowser  # costs more than the interpreter's start, and few ask for it

    if not webbrowser.open(path.as_uri()):
        raise CommandError(Exit.FAILED, "no browser could be opened: open the file by hand")


def gathered(record: TaskRecord, now: float) -> TaskReport:
    """Return the report of one task, from what lies on disk."""
    history, gaps = History(), list[str]()
    commits: list[CommitSeen] | None = []
    for line in reversed(list(newest_first(Path(layout.task_journal(record.home)), NOTABLE))):
        history.take(line)
    work = None
    try:
        work = work_of(record)
        commits = list(_commits(work))
    except CommandError as error:  # no branch, or no longer: the message says which
        gaps += [f"No commit is shown: {clean(error)}."] if record.view.get("base") else []
    except (Refused, Unavailable) as error:
        gaps.append(f"Its commits could not be read: {clean(error)}.")
        commits = None
    folder = layout.task_folder(Path(record.project), record.name)
    beat = Beat(layout.state_folder(os.environ))
    if record.view["state"] in {"running", "waiting"} and not beat.up:
        gaps.append("The daemon is not running: nothing after its last words is known.")
    if more := asked_since(record.view):
        gaps.append(f"task.md {more}.")
    view = shape(record.view, beat)
    return report_of(
        view, history, made_at=now, commits=commits, where=lambda path: _where(path, folder, work), gaps=gaps
    )


def _where(name: str, folder: Path, work: Work | None) -> str:
    """Return where a file that a report named is now; empty if it is nowhere."""
    base = folder.resolve()
    path = (base / name).resolve()
    if path.is_relative_to(base) and path.exists():
        return "the task's folder"
    if work is None or name.startswith("/"):
        return ""
    with suppress(Unavailable):
        if work.repository.git.find(
            "ls-tree", "--name-only", "--full-tree", work.tip, "--", name.rstrip("/")
        ):
            return "the branch"
    return ""


def _commits(work: Work) -> Iterator[CommitSeen]:
    """Yield the commits of the task's branch, oldest first. Raises Unavailable."""
    git, room = work.repository.git, _DIFFS
    log = git.ask(
        "log", "--reverse", f"--max-count={_COMMITS}", "--format=%H%x00%ct%x00%s", f"{work.base}..{work.tip}"
    )
    for line in log.splitlines():
        commit, at, subject = line.split("\0", 2)
        options = ("--no-ext-diff", "--no-textconv", "--no-relative", "--format=", commit)
        stat, _ = _beginning(work, 4_000, "show", "--stat=80", *options)
        diff, cut = _beginning(work, min(_DIFF, room), "show", "--patch", *options)
        room -= len(diff)
        yield CommitSeen(clean(commit, 64), float(at), clean(subject, 400), stat, diff, cut)


def _beginning(work: Work, limit: int, *words: str) -> tuple[str, bool]:
    """Return the first `limit` characters of what git prints, and whether there is more."""
    if limit <= 0:
        return "", True
    process = work.repository.git.stream(*words)
    assert process.stdout is not None  # noqa: S101 (it is a pipe)
    with process:
        data = process.stdout.read(limit + 1)
        process.terminate()
    return clean(data[:limit].decode(errors="replace").strip("\n"), limit), len(data) > limit


def _text(options: Namespace, reports: Sequence[TaskReport]) -> str:
    title = "All tasks" if options.all else f"{reports[0].name}: report"
    if options.md:
        from orchestrator.reporting.markdown import page as markdown

        return markdown(reports, title)
    from orchestrator.reporting.compiled_template import CompiledTemplate
    from orchestrator.reporting.html import page as html

    kept = layout.report_template(Path(layout.state_folder(os.environ)))
    return html(reports, title, CompiledTemplate(kept))


def _place(state: str, options: Namespace, reports: Sequence[TaskReport]) -> Path:
    if options.all:
        return Path(layout.night_report(state))
    folder = layout.task_folder(Path(str(reports[0].view["project"])), reports[0].name)
    return layout.task_report(folder)


def _write(path: Path, text: str) -> None:
    if not path.parent.is_dir():
        raise CommandError(
            Exit.FAILED, f"{path.parent} is not a folder: say with --output where to write the report"
        )
    DiskFiles().write(path, text.encode(), 0o600)
