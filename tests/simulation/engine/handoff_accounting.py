"""No handoff is lost: the PM accepts each report once, and publishes each order once."""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256
from typing import Final

from orchestrator import layout
from tests.simulation.engine.audit import Audit
from tests.simulation.engine.law import Finding, Law
from tests.simulation.engine.shared_state import WrittenReport
from tests.simulation.engine.user_task import UserTask
from tests.simulation.engine.world import World

_RUN: Final = re.compile(r"^\*\*Run:\*\* (\S+)$", re.MULTILINE)


def _was_decided(audit: Audit, written: WrittenReport) -> bool:
    """Return whether this is a decision of a PM agent that was accepted. It closes no order by itself."""
    handoff = written.name, sha256(written.data).hexdigest()
    return written.name.startswith("pm-") and audit.ledger.taken[handoff] > 0


def unread_reports(world: World, user_task: UserTask, audit: Audit, runs: list[str]) -> list[Finding]:
    """Return the runs with a report that counts and still lies there as written, and that the PM never accepted."""
    lost = []
    for run in runs:
        if not audit.ledger.reported[run]:
            left = (
                written
                for written in world.shared.reports.get(run, ())
                if written.counts
                and not _was_decided(audit, written)
                and (written.name, sha256(written.data).hexdigest()) not in audit.ledger.ambiguous
            )
            lost += [run for written in left if _is_unchanged(world, user_task, written)][:1]
    return [Finding(Law.REPORT_READ, f"run {run} wrote a report that was never accepted") for run in lost]


def _is_unchanged(world: World, user_task: UserTask, written: WrittenReport) -> bool:
    """Return whether a report still lies where its agent wrote it: here, or on a box."""
    files, folder = world.files, user_task.folder
    if written.box:
        box = world.boxes[written.box]
        files, folder = box.files, layout.task_folder(box.place, user_task.name)
    path = layout.handoffs(folder) / written.name
    return files.entry(path) is not None and files.read(path) == written.data


def ordered_twice(world: World, user_task: UserTask) -> list[Finding]:
    """Return the runs whose order was published twice."""
    files, runs = world.files, Counter[str]()
    for entry in files.entries(user_task.handoffs):
        if entry.name.startswith("pm-") and entry.is_file:
            text = files.read(user_task.handoffs / entry.name).decode()
            if "**Action:**" not in text:  # a PM agent's own
                runs.update(_RUN.findall(text)[:1])
    return [
        Finding(Law.ONE_ORDER, f"run {run} has {times} orders") for run, times in runs.items() if times > 1
    ]
