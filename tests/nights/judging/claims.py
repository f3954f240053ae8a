"""Rules on what is said to be done: complete, criteria met, evidence, steps passed, the branch that holds the work."""

from __future__ import annotations

import re
from typing import Final

from tests.nights.judging.rules import (
    LAG,
    Checking,
    Ruled,
    by_source,
    documents,
    moves_of,
    read,
    task_named,
    tip_at,
)
from tests.nights.looking import EXIT_CODE, LIST, LIST_JSON, NOTIFICATION, PROGRESS, STATUS
from tests.nights.observation import Observation, Shown, TaskSeen

_COMPLETE: Final = {
    STATUS: re.compile(r"\A(?P<task>\S+)  complete\b(?!,? in part)"),
    LIST: re.compile(r"^(?P<task>\S+) +complete\b(?!,? in part)", re.MULTILINE),
    PROGRESS: re.compile(
        r"^\*\*Now:\*\* complete\b(?!,? in part)|^- \*\*Outcome:\*\* complete\b(?!,? in part)", re.MULTILINE
    ),
    NOTIFICATION: re.compile(r"^(?P<task>\S+) is complete\b(?!,? in part)", re.MULTILINE),
}
_MET: Final = re.compile(r"(?:criteria: |\b)(\d+) of (\d+)(?: success criteria(?: are)?)? met\b")
_TICK: Final = re.compile(r"^\s*(?:- )?\[x\] (.+?)(?: \(evidence: (.+)\))?$", re.MULTILINE | re.IGNORECASE)
_ON_BRANCH: Final = re.compile(
    r"(?:[Tt]he work(?: so far)?|[Ww]hat was accepted so far) is on the branch `?([\w./-]+)"
)
_SURVEYED: Final = re.compile(
    r"\bbranch `?(?P<branch>task/[\w./-]+?)`? at (?P<tip>[0-9a-f]{7,40}): (?P<said>\d+ commits?, \d+ files? changed, "
    r"\+\d+ -\d+)"
)
_EMPTY: Final = re.compile(r"nothing is on the branch `?(task/[\w./-]+)")
_AFTER: Final = re.compile(
    r"check after: exited (\d+)(?: \([^)]*\))?(, on [0-9a-f]+ and not on what came after)?"
)
_PATH: Final = re.compile(r"`?([\w.-]+(?:/[\w.-]*)*)`?(?::\d+(?:-\d+)?)?\Z")


def complete(seen: Observation) -> Ruled:
    """Complete is what has every criterion on its branch, by the judge's own probes, and whose tests pass."""
    checking = Checking("complete")
    for shown, notified in documents(seen):
        if notified.get("state") == "complete":
            checking.check(shown, '"state": "complete"', _not_whole(seen, shown.task, shown.at))
    for shown in by_source(seen, LIST_JSON):
        for each in read(shown.text).get("tasks", ()):
            if each.get("state") == "complete":
                checking.check(shown, f"{each['task']}: complete", _not_whole(seen, each["task"], shown.at))
    for shown in by_source(seen, *_COMPLETE):
        for found in _COMPLETE[shown.source].finditer(shown.text):
            task = found.groupdict().get("task") or shown.task
            checking.check(shown, found[0], _not_whole(seen, task, shown.at))
    for shown in by_source(seen, EXIT_CODE):
        if shown.code == 0:
            checking.check(shown, "exit code 0", _not_whole(seen, shown.task, shown.at))
    return checking.ruled


def _not_whole(seen: Observation, name: str, at: float) -> str | None:
    task = task_named(seen, name)
    if task is None:
        return None
    tip = tip_at(seen, task, at)
    if tip is None:
        return f"the branch {task.branch} does not resolve"
    missing = [each for each in task.criteria if not tip.criteria.get(each)]
    if missing:
        return f"at {tip.commit[:10]} does not hold: {'; '.join(missing)}"
    return None


def criteria(seen: Observation) -> Ruled:
    """So many criteria are met as hold on the branch, and each that is ticked is one of them."""
    checking = Checking("criteria")
    for shown in by_source(seen, STATUS, PROGRESS, NOTIFICATION):
        task = _about(seen, shown)
        tip = tip_at(seen, task, shown.at) if task else None
        if task is None or tip is None:
            continue
        holding = sum(bool(tip.criteria.get(each)) for each in task.criteria)
        for found in _MET.finditer(shown.text):
            met, of = int(found[1]), int(found[2])
            wrong = met > holding or of != len(task.criteria)
            truth = f"{holding} of {len(task.criteria)} hold at {tip.commit[:10]}"
            checking.check(shown, found[0], truth if wrong else None)
        for found in _TICK.finditer(shown.text):
            known = next((each for each in task.criteria if _same(each, found[1])), None)
            if known is not None:
                untrue = None if tip.criteria.get(known) else f"it does not hold at {tip.commit[:10]}"
                checking.check(shown, found[0], untrue)
    return checking.ruled


def evidence(seen: Observation) -> Ruled:
    """A path that is named as evidence stands on the task's branch, or lies in its folder."""
    checking = Checking("evidence")
    for shown, notified in documents(seen):
        task = task_named(seen, shown.task)
        tip = tip_at(seen, task, shown.at) if task else None
        for mark in notified.get("criteria", ()) if tip else ():
            for each in mark.get("evidence") or () if mark.get("met") else ():
                found = _PATH.match(str(each))
                if tip is None or found is None or "/" not in found[1]:
                    continue
                path = found[1].rstrip("/")
                there = any(
                    file == path or file.startswith(f"{path}/") for file in (*tip.files, *seen.task_files)
                )
                truth = (
                    None if there else f"there is no {path} at {tip.commit[:10]}, nor in the task's folder"
                )
                checking.check(shown, f"evidence: {each}", truth)
    return checking.ruled


def on_branch(seen: Observation) -> Ruled:
    """The branch on which the work is said to be holds commits that its beginning does not, once there is work."""
    checking, worked = Checking("on-branch"), _first_work(seen)
    for shown in by_source(seen, STATUS, PROGRESS, NOTIFICATION):
        task = _about(seen, shown)
        for found in _ON_BRANCH.finditer(shown.text):
            tip = tip_at(seen, task, shown.at) if task else None
            empty = task is not None and (tip is None or tip.commit == task.base)
            is_early = "work so far" in found[0] and shown.at < worked.get(shown.task, seen.ended) + LAG
            truth = "that branch stands at the commit from which it began" if empty and not is_early else None
            checking.check(shown, found[0], truth)
    return checking.ruled


def surveyed(seen: Observation) -> Ruled:
    """What is told of a branch is so at that moment: its tip, commits, changed files and lines, or that it has none."""
    checking = Checking("surveyed")
    for shown in by_source(seen, STATUS, PROGRESS):
        task = task_named(seen, shown.task)
        stood = _stood(seen, task, shown) if task else []
        for found in _SURVEYED.finditer(shown.text):
            tips = [tip for tip in stood if tip.startswith(found["tip"])]
            is_so = seen.surveys.get(tips[0], "") if tips else ""
            truth = None if found["said"] == is_so else is_so or f"it stands at {', '.join(stood)}"
            checking.check(shown, found[0], truth)
        for found in _EMPTY.finditer(shown.text):
            empty = task is None or task.base in stood
            checking.check(shown, found[0], None if empty else f"it stands at {', '.join(stood)}")
    return checking.ruled


def _stood(seen: Observation, task: TaskSeen, shown: Shown) -> list[str]:
    """Return the commits at which a task's branch stood around a look: that takes time, as does a page."""
    moved = moves_of(seen, task)
    until = [when for when, _ in moved[1:]] + [shown.at + 2 * LAG]
    around = [
        commit
        for (since, commit), end in zip(moved, until, strict=False)
        if since <= shown.at + LAG and end >= shown.at - shown.took - 2 * LAG
    ]
    return around or [task.base]


def checked(seen: Observation) -> Ruled:
    """A check that is told to have passed on what lies on the branch passes there."""
    checking = Checking("checked")
    for shown in by_source(seen, STATUS, PROGRESS):
        task = task_named(seen, shown.task)
        stood = _stood(seen, task, shown) if task else []
        for found in _AFTER.finditer(shown.text):
            passing = {tip.tests_pass for tip in seen.tips if tip.commit in stood}
            wrong = not found[2] and bool(passing) and (found[1] == "0") not in passing
            checking.check(shown, found[0], f"at {', '.join(stood)} it is otherwise" if wrong else None)
    return checking.ruled


def _first_work(seen: Observation) -> dict[str, float]:
    """Return when a developer's step of each task was first shown as passed."""
    first = dict[str, float]()
    for shown, notified in documents(seen):
        if any(
            step["id"].startswith("dev:") and step["status"] == "passed" for step in notified.get("steps", ())
        ):
            first[shown.task] = min(shown.at, first.get(shown.task, shown.at))
    return first


def _about(seen: Observation, shown: Shown) -> TaskSeen | None:
    if shown.task:
        return task_named(seen, shown.task)
    return next((task for task in seen.tasks if re.search(rf"\b{task.name}\b", shown.text)), None)


def _same(criterion: str, text: str) -> bool:
    """Say whether a shown text is that criterion: Markdown may have escaped signs of it."""
    return re.sub(r"\W", "", criterion) == re.sub(r"\W", "", text)
