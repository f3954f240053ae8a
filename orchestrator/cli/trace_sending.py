"""Carries out `task observe --otlp`: sends the traces of what ended in a period, or since they were last sent."""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from orchestrator import layout, own_files
from orchestrator.cli.caller import forbid_inside_run
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.extras import require
from orchestrator.cli.observed_records import Period, gathered_traces
from orchestrator.cli.observing import period_of, tell_unread
from orchestrator.cli.screen import harmless
from orchestrator.formats.endpoints import read_endpoint
from orchestrator.formats.redact import redacted
from orchestrator.formats.settings import load_section
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import Unavailable
from orchestrator.records.observer import DAY
from orchestrator.records.task_trace import TaskTrace

SETTLED: Final = 60.0
"""Seconds after which what ended is sent: the end of a task and those of its last runs come within them."""

FIRST: Final = DAY
"""Seconds of which all is sent if nothing was yet."""

LONGEST: Final = 7 * DAY
"""Seconds after which what could not be sent is given up."""

_MOST: Final = 16
_BYTES: Final = 64 * 1024


def run(options: Namespace) -> int:
    """Send, say how much; return 0."""
    forbid_inside_run("observe --otlp")
    now = time.time()
    if not options.unsent:
        _send(options, period_of(options, now), _endpoint(options.otlp))
        return Exit.DONE
    if options.otlp is None or not options.all_projects or options.date is not None:
        raise CommandError(Exit.USAGE, "--unsent goes with --otlp and --all-projects, and without --date")
    state = layout.state_folder(os.environ)
    own_files.make_state_folder(state)
    endpoint, marks = _endpoint(options.otlp), Path(layout.traces_sent(state))
    with _alone(marks.parent) as alone:
        if not alone:
            print("another process sends them")
            return Exit.DONE
        sent = _read(marks)
        until = now - SETTLED
        since = max(sent.get(endpoint, until - FIRST), until - LONGEST)
        if since < until:
            _send(options, Period(since, until, now), endpoint)
            newest = sorted((sent | {endpoint: until}).items(), key=lambda each: each[1])[-_MOST:]
            DiskFiles().write(marks, json.dumps(dict(newest)).encode(), 0o600)
    return Exit.DONE


def _send(options: Namespace, period: Period, endpoint: str) -> None:
    require("traces", "--otlp needs the SDK of OpenTelemetry")
    records = gathered_traces(options, period)
    tell_unread(records.unread, "sent")
    try:
        count = _sent(records.traces, endpoint)
    except Unavailable as problem:
        where = endpoint or "the collector that OpenTelemetry's variables name, or at its default"
        raise CommandError(Exit.FAILED, harmless(redacted(f"not sent to {where}: {problem}"))) from problem
    print(f"sent {count} span{'' if count == 1 else 's'} of {_tasks(len(records.traces))}")
    if records.unfinished:
        words = "is at work: of this" if records.unfinished == 1 else "are at work: of these"
        print(f"task: {_tasks(records.unfinished)} {words}, runs that have ended", file=sys.stderr)


def _sent(traces: list[TaskTrace], endpoint: str) -> int:
    if not traces:
        return 0
    from orchestrator.records.otlp import send  # a quarter of a second, for nothing most of the time

    return send(traces, endpoint)


def _tasks(count: int) -> str:
    return f"{count} task{'' if count == 1 else 's'}"


def _endpoint(text: str) -> str:
    """Return the URL that was given, or that of the settings; empty: OpenTelemetry's variables or default say it."""
    if not text:
        said = load_section(Path(layout.config_file(os.environ)), os.environ, "observer").traces
        return str(said)
    try:
        return read_endpoint(text)
    except ValueError as problem:
        raise CommandError(Exit.USAGE, f"--otlp {problem}") from problem


# Up to when -------------------------------------------------------------------------------------------


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Yield whether no other process sends: one that a killed daemon had begun goes on without it."""
    DiskFiles().make_folder(folder)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        yield True
    finally:
        os.close(descriptor)


def _read(path: Path) -> dict[str, float]:
    """Return up to when traces were sent to each collector; what is no such moment is as if it were not there."""
    try:
        found = own_files.own_json(str(path), _BYTES)
    except (FileNotFoundError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {url: float(at) for url, at in found.items() if isinstance(at, int | float)}
