"""Rules on what is told of what happened: each event of `task why`, who is at work, and what task.md is said to say."""

from __future__ import annotations

import re
from typing import Final

from tests.nights.judging.rules import LAG, Checking, Ruled, by_source, clock, task_named
from tests.nights.looking import NOTIFICATION, PROGRESS, STATUS, WHY
from tests.nights.observation import Observation, Shown

NEAR: Final = 5.0
"""Real seconds within which an event and its time belong together."""

_LIVES: Final = re.compile(r"^(\d\d:\d\d:\d\d) run (r-\w+) lives as process \d+", re.MULTILINE)
_ENDED: Final = re.compile(r"^(\d\d:\d\d:\d\d) run (r-\w+) (?:was ended by|exited)", re.MULTILINE)
_COMMIT: Final = re.compile(r"the work of (\S+) is commit ([0-9a-f]{7,40}) \((\d+) files?\)")
_AT_WORK: Final = re.compile(r"^\*\*Now:\*\* at work\b.*; no agent running", re.MULTILINE)
_SAYS: Final = re.compile(r".*\bas task\.md says.*")


def history(seen: Observation) -> Ruled:
    """What `task why` tells in the end happened, and then."""
    checking = Checking("history")
    for shown in {each.task: each for each in by_source(seen, WHY)}.values():
        for found in _LIVES.finditer(shown.text):
            begun = [life.begun for life in seen.lives if life.run == found[2] and life.first]
            checking.check(shown, found[0], _another_time(begun, found[1]))
        for found in _ENDED.finditer(shown.text):
            ended = [life.last for life in seen.lives if life.run == found[2] and life.first]
            checking.check(shown, found[0], _another_time(ended, found[1]))
        for found in _COMMIT.finditer(shown.text):
            files = next(
                (count for commit, count in seen.commits.items() if commit.startswith(found[2])), None
            )
            truth = "there is no such commit" if files is None else f"it changes {files} files"
            checking.check(shown, found[0], None if files == int(found[3]) else truth)
    return checking.ruled


def _another_time(moments: list[float], notified: str) -> str | None:
    """Return when something was, if it was not at the time that a clock showed; nothing where it was not seen."""
    hours, minutes, seconds = (int(part) for part in notified.split(":"))
    for at in moments:
        apart = abs((at % 86400) - (hours * 3600 + minutes * 60 + seconds))
        if min(apart, 86400 - apart) <= NEAR:
            return None
    return f"that was at {', '.join(clock(at) for at in moments)}" if moments else None


def at_work(seen: Observation) -> Ruled:
    """Nobody is at work where no agent lives: who waits is not at work."""
    checking = Checking("at-work")
    for shown in by_source(seen, PROGRESS):
        for found in _AT_WORK.finditer(shown.text):
            idle = _idle_since(seen, shown)
            truth = (
                f"nobody has been since {clock(idle)}" if idle and shown.at - idle > 2 * NEAR + LAG else None
            )
            checking.check(shown, found[0], truth)
    return checking.ruled


def _idle_since(seen: Observation, shown: Shown) -> float:
    """Return since when no process of a task has lived at a moment; 0 if one does."""
    runs = {order.run for order in seen.orders if order.task == shown.task}
    mine = [life for life in seen.lives if life.run in runs and life.begun <= shown.at]
    last = max((life.last for life in mine), default=0.0)
    return 0.0 if last >= shown.at - LAG else last


def as_task_md_says(seen: Observation) -> Ruled:
    """What is said to be taken from task.md stands there."""
    checking = Checking("task-md")
    for shown in by_source(seen, STATUS, PROGRESS, NOTIFICATION, WHY):
        task = task_named(seen, shown.task)
        for found in _SAYS.finditer(shown.text):
            wishes = [line for line in task.config if line.startswith("unanswered:")] if task else []
            answer = re.search(r": ([\w-]+), as task", found[0])
            there = any(answer is None or answer[1] in line for line in wishes)
            checking.check(shown, found[0], None if there or task is None else "task.md says nothing of it")
    return checking.ruled
