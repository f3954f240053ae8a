"""dev: mends one subtask's findings in its workspace, and leaves the changes for the daemon to commit.

The first attempt lets ruff mend all. The second keeps, file by file and then fix by fix, what the tests that
newly failed can bear. The third leaves out every file that a failure names, and has all tests bear the rest.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import feedback
import workshop
from agent import carry_out
from artifacts import Artifacts
from errors import TidyError
from feedback import Feedback
from findings import Fix
from narrowing import Budget, keep_harmless
from order import Order
from report import Report
from repository import Repository, is_regular
from subtasks import Plan
from survey import Survey
from trial import Trial
from whole_file import read_json, write_bytes
from wording import bullets, count, listed, say
from workshop import Contents, Polished, Workshop

TRIES, TRIAL_SECONDS = 30, 900
FILE_BY_FILE = 2
NOT_SEEN_HARMLESS = "no fix in it was seen to keep the tests passing"


@dataclass
class Choice:
    """What an attempt wants to change, and what it leaves as it was, each file with the reason."""

    contents: Contents
    left: dict[str, str] = field(default_factory=dict)
    note: str = ""


def develop(order: Order) -> Report:
    """Carry out one subtask."""
    artifacts = Artifacts.of(order)
    subtask = Plan.from_json(read_json(artifacts.plan)).subtask(order.subtask)
    manner = Survey.from_json(read_json(artifacts.findings)).manner
    workspace = Repository(order.workspace)
    if not workspace.is_linked():
        raise TidyError(f"{order.workspace} is no work tree made for this task: nothing was changed.")
    say(f"{subtask.title} (attempt {order.attempt})")
    tracked = set(workspace.python_files())
    workspace.restore([path for path in subtask.files if path in tracked])
    files, unfit = fit(workspace.folder, [path for path in subtask.files if path in tracked])
    with workshop.opened(workspace, manner, subtask, files) as shop:
        choice = choose(order, workspace, shop, files)
        polished = shop.polished(choice.contents)
    for path, data in polished.contents.items():
        # In place: the file keeps its permissions.
        (workspace.folder / path).write_bytes(data)
    write_bytes(artifacts.change(order), workspace.diff("HEAD"))
    left = unfit | choice.left | dict(polished.refused)
    return _report(order, choice.note, polished, left)


def fit(folder: Path, files: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The files that can be mended, and the others, each with the reason."""
    unfit = {}
    for path in files:
        if not is_regular(folder / path):
            unfit[path] = "it is no regular file"
            continue
        try:
            (folder / path).read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            unfit[path] = "it is not UTF-8"
    return [path for path in files if path not in unfit], unfit


def choose(order: Order, workspace: Repository, shop: Workshop, files: Sequence[str]) -> Choice:
    """What to change, by the number of the attempt and by what the last one was rejected for."""
    if order.attempt < FILE_BY_FILE:
        return Choice(shop.mended())
    said = feedback.read(order, files)
    budget = Budget(TRIES, time.monotonic() + TRIAL_SECONDS)
    baseline = Artifacts.of(order).read_baseline(order.base)
    trial = Trial(workspace, baseline, order.project, said.tests)
    if order.attempt == FILE_BY_FILE:
        return _file_by_file(shop, trial, said, budget)
    return _without_the_named(shop, trial.of_all(), said, budget)


def _file_by_file(shop: Workshop, trial: Trial, said: Feedback, budget: Budget) -> Choice:
    whole = shop.mended()
    say(f"Trying {count(len(whole), 'file')} one by one, with {trial} …")
    # Those that no failure names first: they are likely to be kept at one stroke.
    others = [path for path in whole if path not in said.files]
    named = [path for path in whole if path in said.files]

    def harmless(paths: Sequence[str]) -> bool:
        return trial.passes({path: whole[path] for path in paths})

    kept = keep_harmless(others, harmless, budget)
    kept = keep_harmless(named, harmless, budget, kept)
    dropped = [path for path in whole if path not in kept]
    contents = {path: whole[path] for path in kept}
    some = _fix_by_fix(shop, trial, budget, dropped, contents)
    return Choice(
        {**contents, **some},
        {path: NOT_SEEN_HARMLESS for path in dropped if path not in some},
        f"Tried file by file with {trial}: {len(kept)} of {count(len(whole), 'file')} could be mended whole, "
        f"{len(some)} in part.",
    )


def _without_the_named(shop: Workshop, trial: Trial, said: Feedback, budget: Budget) -> Choice:
    paths = [path for path in shop.mended() if path not in said.files]
    say(f"Leaving out {count(len(said.files), 'file')}, trying the rest fix by fix with {trial} …")
    some = _fix_by_fix(shop, trial, budget, paths, {})
    left = dict.fromkeys(sorted(said.files), "a failure of an earlier attempt names it")
    left |= {path: NOT_SEEN_HARMLESS for path in paths if path not in some}
    return Choice(
        some, left, f"Left out the files that failures named, tried the rest fix by fix with {trial}."
    )


def _fix_by_fix(
    shop: Workshop, trial: Trial, budget: Budget, paths: Sequence[str], kept: Contents
) -> Contents:
    """What can be mended of some files, beside what is kept already."""

    def harmless(chosen: Sequence[tuple[str, Fix]]) -> bool:
        return trial.passes({**kept, **shop.with_fixes(chosen)})

    fixes = shop.single_fixes(paths) if paths else []
    return shop.with_fixes(keep_harmless(fixes, harmless, budget))


def _report(order: Order, note: str, polished: Polished, left: Mapping[str, str]) -> Report:
    mended = polished.before - polished.after
    if polished.before == 0:
        done = "Nothing was left to do: earlier subtasks have mended these findings on the way."
    else:
        done = (
            f"Mended {mended} of {count(polished.before, 'finding')} in "
            f"{count(len(polished.contents), 'file')}; {polished.after} left. {note}".strip()
        )
    say(done)
    if left:
        reasons = [f"{path}: {why}" for path, why in sorted(left.items())]
        done += f"\n\nLeft as they were:\n{bullets(reasons)}"
    if polished.contents:
        done += f"\n\nChanged: {listed(sorted(polished.contents), limit=10)}."
    sections = {} if polished.contents else {"No Changes": _why_unchanged(polished, left)}
    return Report(done=done, artifacts=(Artifacts.of(order).change(order),), sections=sections)


def _why_unchanged(polished: Polished, left: Mapping[str, str]) -> str:
    """Why nothing had to be changed: without a reason the PM takes no report over an unchanged tree."""
    if polished.before == 0:
        return "Earlier subtasks have mended these findings on the way."
    reasons = listed(sorted(set(left.values())), limit=3)
    return (
        f"No fix of these findings is harmless: {reasons}."
        if reasons
        else "ruff offers no fix for what is left."
    )


if __name__ == "__main__":
    sys.exit(carry_out(develop))
