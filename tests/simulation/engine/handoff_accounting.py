"""No word is lost: what agents handed in was heard, once, and what the PM ordered was said once."""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256
from typing import Final

from orchestrator import layout
from tests.simulation.engine.audit import Audit
from tests.simulation.engine.shared_state import Said
from tests.simulation.engine.user_task import UserTask
from tests.simulation.engine.world import World

_RUN: Final = re.compile(r"^\*\*Run:\*\* (\S+)$", re.MULTILINE)


def _was_decided(audit: Audit, said: Said) -> bool:
    """Tell whether these are words of a PM agent that were taken in: a decision closes no order by itself."""
    told = said.name, sha256(said.data).hexdigest()
    return said.name.startswith("pm-") and audit.ledger.taken[told] > 0


def unheard(world: World, user_task: UserTask, audit: Audit, runs: list[str]) -> list[str]:
    """Return those of some runs that left a word that counts, as it still lies there, and never were heard."""
    lost = []
    for run in runs:
        if not audit.ledger.reported[run]:
            left = (
                said for said in world.desk.said.get(run, ()) if said.counts and not _was_decided(audit, said)
            )
            lost += [run for said in left if _lies_whole(world, user_task, said)][:1]
    return [f"run {run} left a handoff and was never heard" for run in lost]


def _lies_whole(world: World, user_task: UserTask, said: Said) -> bool:
    """Tell whether a word still lies where it was left: here, or on the box of its run."""
    files, folder = world.files, user_task.folder
    if said.box:
        box = world.boxes[said.box]
        files, folder = box.files, layout.task_folder(box.place, user_task.name)
    path = layout.handoffs(folder) / said.name
    return files.entry(path) is not None and files.read(path) == said.data


def ordered_twice(world: World, user_task: UserTask) -> list[str]:
    """Return the runs whose order was published under two names."""
    files, runs = world.files, Counter[str]()
    for entry in files.entries(user_task.handoffs):
        if entry.name.startswith("pm-") and entry.is_file:
            text = files.read(user_task.handoffs / entry.name).decode()
            if "**Action:**" not in text:  # a PM agent's own
                runs.update(_RUN.findall(text)[:1])
    return [f"run {run} has {times} orders" for run, times in runs.items() if times > 1]
