"""`task merge`: merges a task's branch into the branch that the user has checked out, or undoes that.

The guarded git only reads. The user's own git merges, with their hooks, signatures and filters, as if they had typed
`git merge`.
"""

from __future__ import annotations

import json
import os
import time
from argparse import Namespace
from pathlib import Path

from orchestrator import layout
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import harmless, typed
from orchestrator.cli.task_branch import (
    SHORT,
    Work,
    astray,
    commits_said,
    elsewhere,
    lacking,
    names_said,
    work_of,
)
from orchestrator.cli.tasks import called, chosen
from orchestrator.cli.unmerge import merge_note, refresh, undo
from orchestrator.hosts.disk import DiskFiles
from orchestrator.workspaces.git_process import as_the_user
from orchestrator.workspaces.merging import Merging, Way, foreseen, is_result
from orchestrator.workspaces.user_tree import UserTree

_NEVER_FORWARD = frozenset({"false", "no", "off", "0"})


def run(options: Namespace) -> int:
    """Merge a task's branch, or undo that."""
    task = chosen(options)
    if options.undo:
        return undo(task, dry=options.dry_run)
    work = work_of(task)
    _refuse_if_empty(work)
    _refuse_unless_complete(work, anyway=options.anyway)
    own = _ready(work)
    wanted = "no" if options.no_ff else own.git.find("config", "--get", "merge.ff").lower()
    plan = foreseen(work.repository, own, work.tip, forward=wanted not in _NEVER_FORWARD)
    if plan.way is Way.THERE:
        print(f"{work.branch} is in {own.branch} already: there is nothing to merge")
        return Exit.DONE
    if plan.way is Way.COMMIT and wanted == "only":
        raise CommandError(
            Exit.FAILED,
            f"{own.branch} has changed since {task.name} began, and your git makes no merge commits "
            f"(merge.ff = only); to move the work on top of it: {typed('task', 'rebase', called(task))}",
        )
    _refuse_on_conflict(work, own, plan)
    said = f"{work.branch} ({commits_said(plan.commits)}, {plan.tip[:SHORT]}) into {own.branch} in {harmless(own.top)}"
    print("\n".join(_stat(own, plan)))
    if options.dry_run:
        print(f"would merge {said}: {_how(own, plan)}")
        return Exit.DONE
    _merge(work, own, plan)
    now = work.repository.head(work.code)
    print(f"merged {said}: {plan.way.value}, {own.branch} went from {own.head[:SHORT]} to {now[:SHORT]}")
    print(f"to undo it: {typed('task', 'merge', called(task), '--undo')}", flush=True)
    refresh(task)
    return Exit.DONE


# Reasons to refuse --------------------------------------------------------------------------------


def _refuse_if_empty(work: Work) -> None:
    if work.count():
        return
    if moved := astray(work):
        raise CommandError(Exit.FAILED, moved)
    boxes = elsewhere(work.task.view)
    there = (
        f" (its agents work on {boxes}; `bring: branch` in task.md fetches their commits)" if boxes else ""
    )
    raise CommandError(
        Exit.FAILED, f"{work.branch} has no commit of its own: there is nothing to merge{there}"
    )


def _refuse_unless_complete(work: Work, *, anyway: bool) -> None:
    """Refuse to merge what is not whole, or what was not accepted: somebody else may have moved the branch."""
    task, moved = work.task, astray(work)
    lacks = [*lacking(task.view), *([moved] if moved else [])]
    if lacks and not anyway:
        listed = "\n".join(f"  {each}" for each in lacks)
        raise CommandError(
            Exit.FAILED,
            f"{task.name} is not complete, so it was not merged:\n{listed}\n"
            f"to merge what is on its branch anyway: {typed('task', 'merge', called(task), '--anyway')}",
        )
    for each in lacks:
        print(f"not complete: {each}")


def _ready(work: Work) -> UserTree:
    """Return the user's tree if the branch can be merged into it as it is. Raises CommandError."""
    own = work.own_tree()
    where = harmless(own.top)
    if what := own.under_way:
        raise CommandError(
            Exit.FAILED,
            f"a {what} is in progress in {where}: finish it, or `git {what} --abort`, then try again",
        )
    if not own.branch:
        raise CommandError(
            Exit.FAILED,
            f"no branch is checked out in {where}: `git switch` to the branch that shall get the work",
        )
    if own.branch == work.branch:
        raise CommandError(
            Exit.FAILED,
            f"{work.branch} itself is checked out in {where}: `git switch` to a branch of yours first",
        )
    if not work.repository.is_ancestor(work.base, own.head):
        strange = own.git.ask("rev-list", "--count", f"{own.head}..{work.base}")
        raise CommandError(
            Exit.FAILED,
            f"{own.branch} lacks {work.base[:SHORT]}, from which {work.task.name} began: the merge would also bring "
            f"{commits_said(int(strange))} from elsewhere. Switch to the branch that has it, or "
            f"move the work onto this one: {typed('task', 'rebase', called(work.task))}",
        )
    return own


def _refuse_on_conflict(work: Work, own: UserTree, plan: Merging) -> None:
    if plan.conflicts:
        raise CommandError(
            Exit.FAILED,
            f"{work.task.name} was not merged: {own.branch} has changed since in the same places:\n"
            f"{names_said(plan.conflicts)}\n"
            f"nothing was changed; to merge by hand: {typed('git', '-C', own.top, 'merge', work.branch)}",
        )
    if plan.in_the_way:
        raise CommandError(
            Exit.FAILED,
            f"{work.task.name} was not merged: these files in {harmless(own.top)} have uncommitted changes:\n"
            f"{names_said(plan.in_the_way)}\n"
            f"commit them, or stash them: {typed('git', '-C', own.top, 'stash', '--include-untracked')}",
        )


# Doing it -----------------------------------------------------------------------------------------


def _merge(work: Work, own: UserTree, plan: Merging) -> None:
    """Let the user's git merge. First writes down where the branch is.

    Raises:
        CommandError: git did not merge; the branch and the tree are unchanged.

    """
    note = {"branch": own.branch, "before": own.head, "tip": plan.tip, "at": time.time()}
    home = Path(work.task.home)
    disk, path = DiskFiles(home.parents[1]), layout.task_merged(home)
    earlier = merge_note(work.task)
    disk.write(path, json.dumps(note).encode())
    way = "--ff-only" if plan.way is Way.FORWARD else "--no-ff"
    words = ["merge", way, "--commit", "--no-squash", "--no-edit", "--no-stat", "--quiet"]
    code = as_the_user(own.top, *words, "-m", f"Merge branch '{work.branch}'", plan.tip, environ=os.environ)
    if code == 0 and is_result(work.repository, work.repository.head(work.code), own.head, plan.tip):
        return
    if own.under_way == "merge":
        as_the_user(own.top, "merge", "--abort", environ=os.environ)
    if work.repository.head(work.code) == own.head:
        if earlier:
            disk.write(path, json.dumps(earlier).encode())
        else:
            path.unlink(missing_ok=True)
        raise CommandError(
            Exit.FAILED, f"git did not merge (status {code}, see above); {own.branch} is unchanged"
        )
    raise CommandError(
        Exit.FAILED,
        f"git ended with status {code}, and {own.branch} is not at the expected commit; it was at {own.head}; "
        f"to see what happened: {typed('git', '-C', own.top, 'log', '-3')}",
    )


def _how(own: UserTree, plan: Merging) -> str:
    if plan.way is Way.FORWARD:
        return f"fast-forward from {own.head[:SHORT]}"
    return "with a merge commit" if plan.result else "with a merge commit, if there is no conflict"


def _stat(own: UserTree, plan: Merging) -> list[str]:
    """Return which files change, in the format of `git diff --stat`."""
    if not plan.result:
        return []
    said = own.git.ask(
        "diff", "--no-ext-diff", "--no-textconv", "--stat=100", "--stat-count=20", own.head, plan.result
    )
    return [harmless(line) for line in said.splitlines()]
