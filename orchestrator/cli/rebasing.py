"""`task rebase`: moves a task's work on top of what the user's tree has checked out now.

This command replays the commits one by one; on a conflict nothing is changed. Then it asks the daemon, which records
the new base, reopens what was tested and accepted, and moves the branch.
"""

from __future__ import annotations

import os
import time
from argparse import Namespace
from typing import Final

from orchestrator import layout
from orchestrator.cli.daemon_startup import ensure_running
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.progress import Waiting
from orchestrator.cli.requests import ask
from orchestrator.cli.screen import harmless, typed
from orchestrator.cli.task_branch import SHORT, Work, astray, commits_said, names_said, work_of
from orchestrator.cli.tasks import AT_WORK, called, chosen
from orchestrator.formats.timestamps import parted
from orchestrator.workspaces.rebase import Replayed, replayed

_PATIENCE: Final = 15.0
_PAUSE: Final = 0.05


def run(options: Namespace) -> int:
    """Rebase a task's branch."""
    task = chosen(options)
    work = work_of(task)
    if task.view["state"] in AT_WORK:
        raise CommandError(
            Exit.FAILED,
            f"{task.name} is {harmless(task.view['state'])}; stop it first: {typed('task', 'stop', called(task))}",
        )
    onto = _onto(work)
    if onto == work.base:
        print(
            f"{task.name} is based on {onto[:SHORT]} already, which is checked out in {harmless(work.code)}"
        )
        return Exit.DONE
    if moved := astray(work):
        raise CommandError(Exit.FAILED, f"{task.name} was not rebased: {moved}")
    made = replayed(work.repository, work.base, work.tip, onto)
    _refuse_on_conflict(work, made, onto)
    left_out = sum(not new for new in made.commits.values())
    moved = commits_said(len(made.commits) - left_out)
    said = f"{moved} of {work.branch} onto {onto[:SHORT]}, from {work.base[:SHORT]}"
    said += f" ({left_out} left out: their changes are there already)" if left_out else ""
    if options.dry_run:
        print(f"would move {said}")
        return Exit.DONE
    ensure_running(layout.state_folder(os.environ))
    commits = "\n".join(f"{old} {new}".rstrip() for old, new in made.commits.items())
    reply = ask(task.home, "rebase", {"base": onto, "old": work.tip, "new": made.tip, "commits": commits})
    print(harmless(reply))
    _wait(work, made.tip)
    kept = f"; the old branch is kept as refs/tasks/{work.branch}/rebased/at-{work.tip}"
    print(f"moved {said}{kept if work.repository.commit_of(kept.rpartition(' ')[2]) else ''}")
    if task.view["state"] != "complete" or made.tip != work.tip:  # else there is nothing to go on with
        print(f"to go on: {typed('task', 'start', task.name, '--project', task.project)}")
    return Exit.DONE


def _onto(work: Work) -> str:
    """Return the commit that becomes the new base. Raises CommandError."""
    own = work.own_tree()
    if what := own.under_way:
        raise CommandError(Exit.FAILED, f"a {what} is in progress in {harmless(own.top)}: finish it first")
    if own.branch == work.branch:
        raise CommandError(
            Exit.FAILED,
            f"{work.branch} itself is checked out in {harmless(own.top)}: `git switch` to the branch that shall be "
            f"its new base",
        )
    return own.head


def _refuse_on_conflict(work: Work, made: Replayed, onto: str) -> None:
    if made.stopped:
        raise CommandError(
            Exit.FAILED,
            f"{work.task.name} was not rebased: {harmless(made.stopped)} conflicts with {onto[:SHORT]} in\n"
            f"{names_said(made.conflicts)}\n"
            f"nothing was changed. To merge by hand: {typed('git', '-C', work.code, 'merge', work.branch)}; or "
            f"start a task of another name with the same task.md, which does the work again: `task start NAME`",
        )


def _wait(work: Work, tip: str) -> None:
    """Wait until the daemon has moved the branch.

    Raises:
        CommandError: it could not; or it has not done so yet, and keeps trying.

    """
    deadline = time.monotonic() + _PATIENCE
    with Waiting("waiting for the daemon to move the branch") as waiting:
        while (now := work.repository.commit_of(f"refs/heads/{work.branch}")) != tip:
            waiting.look()
            work.task.read()
            if str(work.task.view.get("base")) == work.base:
                notices = work.task.view.get("notices") or [
                    f"see `{typed('task', 'why', called(work.task))}`"
                ]
                raise CommandError(
                    Exit.FAILED,
                    f"the branch was not moved, nothing has changed: {parted(str(notices[-1]))[1]}",
                )
            if time.monotonic() > deadline:
                raise CommandError(
                    Exit.DOWN,
                    f"{work.branch} is still at {now[:SHORT]}; the daemon keeps trying, see "
                    f"`{typed('task', 'status', called(work.task))}`",
                )
            time.sleep(_PAUSE)
