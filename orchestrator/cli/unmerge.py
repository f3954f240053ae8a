"""`task merge --undo`: resets the user's branch to where it was, if nothing came on top of the merge."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from orchestrator import layout, own_files
from orchestrator.cli.beat import Beat
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.requests import ask
from orchestrator.cli.screen import harmless, typed
from orchestrator.cli.task_branch import SHORT, code_of, names_said, repository_of
from orchestrator.cli.tasks import TaskRecord
from orchestrator.workspaces.git_process import as_the_user
from orchestrator.workspaces.repository import Repository, checked_commit
from orchestrator.workspaces.user_tree import UserTree


def merge_note(task: TaskRecord) -> dict[str, Any]:
    """Return the note that the last merge of a task wrote before it began; empty if there is none."""
    try:
        note = own_files.own_json(layout.task_merged(task.home))
        if all(isinstance(note[key], str) for key in ("branch", "before", "tip")):
            checked_commit(note["before"]), checked_commit(note["tip"])
            return dict(note)
    except FileNotFoundError:
        pass
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise CommandError(
            Exit.FAILED, f"{layout.task_merged(task.home)} cannot be read ({error})"
        ) from error
    return {}


def undo(task: TaskRecord, *, dry: bool) -> int:
    """Undo the last merge of a task.

    Raises:
        CommandError: it cannot be undone without losing something; the message says what to type instead.

    """
    note = merge_note(task)
    if not note:
        raise CommandError(Exit.FAILED, f"`task merge` has not merged {task.name}: there is nothing to undo")
    view = task.readable_view()
    repository = repository_of(view)
    own = UserTree.of(repository, code_of(view))
    branch, before, tip = str(note["branch"]), str(note["before"]), str(note["tip"])
    if own.branch != branch:
        raise CommandError(
            Exit.FAILED,
            f"{task.name} was merged into {branch}, and {own.branch or 'no branch'} is checked out: "
            f"{typed('git', '-C', own.top, 'switch', branch)}",
        )
    if own.head != before:
        _refuse_if_not_last(task, repository, own, note)
        said = f"{branch} in {harmless(own.top)} from {own.head[:SHORT]} back to {before[:SHORT]}"
        if dry:
            print(f"would set {said}")
            return Exit.DONE
        code = as_the_user(own.top, "reset", "--quiet", "--keep", before, environ=os.environ)
        if code or repository.head(code_of(view)) != before:
            raise CommandError(Exit.FAILED, f"git did not set {branch} back (status {code}, see above)")
        print(f"set {said}; {harmless(view['branch'])} still has the work ({tip[:SHORT]})")
    else:
        print(f"{branch} is at {before[:SHORT]} again: there is nothing to undo")
    if not dry:
        Path(layout.task_merged(task.home)).unlink(missing_ok=True)
        refresh(task)
    return Exit.DONE


def refresh(task: TaskRecord) -> None:
    """Ask the daemon to look at the task's branch again, so that its files show the result.

    A daemon that is down does that when it starts. A refusal is ignored: the merge is done.
    """
    if Beat(layout.state_folder(os.environ)).up:
        with suppress(CommandError):
            ask(task.home, "checkin", {})


def _refuse_if_not_last(
    task: TaskRecord, repository: Repository, own: UserTree, note: dict[str, Any]
) -> None:
    """Refuse to undo a merge that later commits, other people or uncommitted files depend on."""
    branch, before, tip = str(note["branch"]), str(note["before"]), str(note["tip"])
    if what := own.under_way:
        raise CommandError(Exit.FAILED, f"a {what} is in progress in {harmless(own.top)}: finish it first")
    merge = _merge_in(repository, own, before, tip)
    if not merge:
        raise CommandError(
            Exit.FAILED,
            f"{branch} no longer holds the merge of {task.name}: it is at {own.head[:SHORT]}, and was at "
            f"{before[:SHORT]} before the merge",
        )
    what_else = [] if merge != tip else [f"{before[:SHORT]}..{tip[:SHORT]}"]
    revert = typed("git", "-C", own.top, "revert", *(what_else or ["-m", "1", merge[:SHORT]]))
    if own.head != merge:
        raise CommandError(
            Exit.FAILED,
            f"{branch} has newer commits ({own.head[:SHORT]}) on top of the merge of {task.name}, so the merge "
            f"cannot be removed; to undo it by a new commit: {revert}",
        )
    shared = repository.git.ask(
        "for-each-ref", "--contains", merge, "--format=%(refname:short)", "refs/remotes"
    )
    if shared:
        raise CommandError(
            Exit.FAILED,
            f"{harmless(shared.splitlines()[0])} has the merge of {task.name} already, and others may build on it; "
            f"to undo it by a new commit: {revert}",
        )
    if files := own.in_the_way(own.head, before):
        raise CommandError(
            Exit.FAILED,
            f"these files in {harmless(own.top)} have uncommitted changes, and the merge changed them too:\n"
            f"{names_said(files)}\ncommit them, or stash them: {typed('git', '-C', own.top, 'stash')}",
        )


def _merge_in(repository: Repository, own: UserTree, before: str, tip: str) -> str:
    """Return the commit that the merge added to the branch, if the branch still has it."""
    if not repository.is_ancestor(before, own.head):
        return ""
    said = own.git.ask("rev-list", "--first-parent", "--parents", f"{before}..{own.head}")
    for commit, *parents in map(str.split, said.splitlines()):
        if commit == tip or parents == [before, tip]:
            return str(commit)
    return ""
