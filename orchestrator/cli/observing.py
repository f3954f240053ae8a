"""Carries out `task observe`: gathers what the observer reads, and prints its report."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.extras import require
from orchestrator.cli.observed_records import Period, Records, gathered
from orchestrator.cli.screen import harmless
from orchestrator.formats.redact import redacted
from orchestrator.formats.text import neutral_json
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.coordination import HandoffStatus, Transition, iso, moment
from orchestrator.records.archive_files import UnreadRecord
from orchestrator.records.daily_report import report
from orchestrator.records.handoff_facts import HandoffFact
from orchestrator.records.observer import DAY, Observation, observe
from orchestrator.records.observer_document import document_of
from orchestrator.records.passages import issues_of, of_roles

STDOUT: Final = "-"
_MOST: Final = 3660


def run(options: Namespace) -> int:
    """Print the report; return 0."""
    records = gathered(options, period_of(options, time.time()))
    found = _observed(records)
    if options.json:
        print(neutral_json(json.dumps(document_of(found, records.reading))))
        return Exit.DONE
    if options.html:
        from orchestrator.records.observer_page import page  # it imports the engine of templates

        _put(options.html, page(found, records.reading), 0o600)
    elif options.prometheus:
        require("metrics", "--prometheus needs the client of Prometheus")
        from orchestrator.records.prometheus_text import metrics

        _put(options.prometheus, metrics(found, records.reading), 0o644)  # the exporter is another user
    else:
        _put(options.markdown or STDOUT, report(found, records.reading if options.details else None), 0o600)
    tell_unread(records.unread, "counted")
    return Exit.DONE


def _put(name: str, text: str, mode: int) -> None:
    """Write a text to a file, whole or not at all, and say which; print it if the name is `-`."""
    if name == STDOUT:
        print(text, end="")
        return
    path = Path(name).expanduser().absolute()
    if not path.parent.is_dir() or path.is_dir():
        raise CommandError(Exit.FAILED, f"{harmless(str(path))} is no place for a file: give another one")
    DiskFiles().write(path, text.encode(), mode)
    print(harmless(str(path)))


def _observed(records: Records) -> Observation:
    """Return the figures of what was gathered."""
    handoffs, period = records.handoffs, records.period
    return observe(
        list(of_roles(handoffs, records.began, records.resting)),
        list(issues_of(handoffs)),
        {each.task: each.at for each in handoffs if _completes(each, records.resting)},
        records.journals,
        since=period.since,
        until=period.until,
        now=period.now,
    )


def _completes(handoff: HandoffFact, resting: set[str]) -> bool:
    """Return whether a handoff completes its task: nobody rejected it, nor was the task left before anybody took it."""
    if handoff.transition is not Transition.COMPLETE or handoff.status is HandoffStatus.REJECTED:
        return False
    return handoff.task not in resting or handoff.status is HandoffStatus.COMPLETED


def period_of(options: Namespace, now: float) -> Period:
    """Return the period that is meant."""
    text, days = options.date or iso(now)[:10], options.days
    last = moment(f"{text}T00:00:00Z")
    if last is None:
        raise CommandError(Exit.USAGE, f"--date is {text[:20]!a}: give a day, such as 2025-12-11")
    if not (days.isascii() and days.isdigit() and len(days) <= 4 and 0 < int(days) <= _MOST):  # noqa: PLR2004
        raise CommandError(Exit.USAGE, f"--days is {days[:20]!a}: give a number from 1 to {_MOST}")
    return Period(last - (int(days) - 1) * DAY, last + DAY, now)


def tell_unread(unread: Sequence[UnreadRecord], what: str) -> None:
    """Tell which files are not `what`: counted, or taken."""
    for each in unread[:20]:
        line = redacted(f"{each.path} is not {what}: {each.reason}")
        print(f"task: {harmless(line)}", file=sys.stderr)
    if len(unread) > 20:  # noqa: PLR2004 (as many as fit a screen)
        print(f"task: and {len(unread) - 20} more files", file=sys.stderr)
