"""`task undo`: reverses the file operations of a step, if nothing else has changed those files since.

This command looks what can be reversed, and makes the commit that reverses a step on the task's branch. Then it asks
the daemon, which records it, moves the branch or puts the files back, and opens the step again.
"""

from __future__ import annotations

import os
import time
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from orchestrator import layout
from orchestrator.cli.daemon_startup import ensure_running
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.journal import newest_first, runs
from orchestrator.cli.progress import Waiting
from orchestrator.cli.requests import ask
from orchestrator.cli.screen import harmless, typed
from orchestrator.cli.task_branch import SHORT, astray, code_of, names_said, repository_of, work_of
from orchestrator.cli.tasks import AT_WORK, TaskRecord, called, chosen
from orchestrator.formats.timestamps import moment_said
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import Refused
from orchestrator.workspaces.reversal import reversal
from orchestrator.workspaces.user_tree import UserTree

_PATIENCE: Final = 15.0
_PAUSE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Applied:
    """The file operations of a run that were carried out. `undone` is when they were undone, 0.0 if they were not."""

    run: str
    step: str
    undone: float


@dataclass(frozen=True, slots=True)
class Way:
    """How a step is undone. `files` are put back; `stay` lie outside of the branch, and stay as they are.

    `old` and `new` are the commits between which the branch moves; empty where the files are put back on disk.
    """

    files: tuple[str, ...]
    where: str
    old: str = ""
    new: str = ""
    stay: tuple[str, ...] = ()


def run(options: Namespace) -> int:
    """Undo the file operations of a step."""
    task = chosen(options, "step")
    if not options.step:
        raise CommandError(Exit.USAGE, "name the step: `task undo NAME STEP`")
    view = task.readable_view()
    if view["state"] in AT_WORK:
        raise CommandError(
            Exit.FAILED,
            f"{task.name} is {harmless(view['state'])}; stop it first: {typed('task', 'stop', called(task))}",
        )
    last = _last(task, options.step)
    way = _on_branch(task, last) or _on_disk(task, last)
    said = f"the file operations of {harmless(last.step)}: {_count(way.files)} as before, {way.where}"
    if options.dry_run:
        print(f"would undo {said}\n{names_said(way.files)}")
        return Exit.DONE
    ensure_running(layout.state_folder(os.environ))
    before = _last_outcome(task)
    ask(task.home, "undo", {"step": last.step, "old": way.old, "new": way.new})
    outcome = _outcome(task, last, before)
    print(f"undid {said}\n{names_said(way.files)}")
    opened = [each.get("step") for each in outcome["changes"] if each.get("kind") == "step_reopened"]
    _say_what_is_left(task, way, again=last.step in opened)
    return Exit.DONE


# What can be undone -------------------------------------------------------------------------------


def _last(task: TaskRecord, name: str) -> Applied:
    """Return the last file operations of the step, or of the subtask, of this name that can be undone.

    Raises:
        CommandError: there are none; the message says why, and which steps have some.

    """
    steps: list[dict[str, Any]] = task.view["steps"]
    meant = {str(step["id"]) for step in steps if name in {step.get("id"), step.get("subtask")}}
    known = _applied(task)
    found = [each for each in known if each.step in meant]
    there = [each for each in found if not each.undone]
    if there:
        return there[0]
    if found:
        raise CommandError(
            Exit.FAILED,
            f"the file operations of {harmless(name)} were undone already, {moment_said(found[0].undone)}",
        )
    names = dict.fromkeys(each.step for each in reversed(known) if not each.undone)
    able = f"steps that can be undone: {', '.join(map(harmless, names)) or 'none'}"
    if not meant:
        raise CommandError(Exit.USAGE, f"{task.name} has no step or subtask {name[:40]!a}; {able}")
    commit = next((str(step["commit"]) for step in steps if step["id"] in meant and step.get("commit")), "")
    by_hand = ""
    if commit:
        revert = typed("git", "-C", code_of(task.view), "revert", commit[:SHORT])
        merged = _holder(task, commit)
        by_hand = f"; to undo its commit{'' if merged else ', merge the task, then'}: {revert}"
    raise CommandError(
        Exit.FAILED,
        f"the PM carried out no file operations for {harmless(name)}: there is nothing to undo{by_hand}; {able}",
    )


def _applied(task: TaskRecord) -> list[Applied]:
    """Return the file operations of a task that were carried out, newest first."""
    journal = Path(layout.task_journal(task.home))
    undone, records = dict[str, float](), list[str]()
    for line in newest_first(journal, b'"operations_'):
        for change in line.get("changes", ()):
            if change.get("kind") == "operations_undone":
                undone |= {str(each): float(change.get("at") or 0.0) for each in change.get("runs", ())}
            elif change.get("kind") == "operations_recorded" and (change.get("record") or {}).get("done"):
                records.append(str(change["record"].get("run")))
    steps = {each.id: each.step for each in runs(journal)} if records else {}
    return [Applied(each, steps.get(each, ""), undone.get(each, 0.0)) for each in records]


def _on_branch(task: TaskRecord, last: Applied) -> Way | None:
    """Return how a step's commit is reversed on the task's branch; None if the branch does not have it.

    Raises:
        CommandError: its files were changed since, or the branch is not where the PM left it.

    """
    commit = next(
        (str(each.get("commit") or "") for each in task.view["steps"] if each["id"] == last.step), ""
    )
    if not commit or not task.view.get("base"):
        return None
    repository = repository_of(task.view)
    tip = repository.commit_of(f"refs/heads/{task.view['branch']}")
    if not tip or not repository.commit_of(commit) or not repository.is_ancestor(commit, tip):
        return None
    work = work_of(task)
    if moved := astray(work):
        raise CommandError(Exit.FAILED, f"{harmless(last.step)} was not undone: {moved}")
    made = reversal(work.repository, commit, work.tip, f"{task.name}: undo {last.step}\n\nReverses {commit}.")
    if made.changed:
        raise CommandError(
            Exit.FAILED,
            f"{harmless(last.step)} was not undone: since its commit {commit[:SHORT]}, others changed\n"
            f"{names_said(made.changed)}\n"
            f"nothing was changed; to undo it by hand, merge the task, then: "
            f"{typed('git', '-C', work.code, 'revert', commit[:SHORT])}",
        )
    return Way(
        made.files, f"by a commit on {harmless(work.branch)}", work.tip, made.commit, _outside(task, last)
    )


def _on_disk(task: TaskRecord, last: Applied) -> Way:
    """Return how the files are put back where they lie. Raises CommandError: they were changed since."""
    from orchestrator.daemon.actions.undo import NOT_KEPT  # they import more than all else here
    from orchestrator.workspaces.operations.settle import last_transaction
    from orchestrator.workspaces.operations.transaction import undoable

    files = DiskFiles()
    folder = last_transaction(files, layout.run_home(Path(task.home), last.run))
    if folder is None:
        raise CommandError(Exit.FAILED, f"{harmless(last.step)} cannot be undone: {NOT_KEPT}")
    try:
        return Way(undoable(files, folder), "where they lie")
    except Refused as error:
        raise CommandError(
            Exit.FAILED, f"{harmless(last.step)} was not undone, nothing was changed: {harmless(error)}"
        ) from None


def _outside(task: TaskRecord, last: Applied) -> tuple[str, ...]:
    """Return the files of a run that lie in none of the task's worktrees."""
    from orchestrator.workspaces.operations.settle import last_transaction
    from orchestrator.workspaces.operations.transaction import files_of

    files = DiskFiles()
    folder = last_transaction(files, layout.run_home(Path(task.home), last.run))
    trees = files.real(layout.task_worktrees(Path(layout.state_folder(os.environ)), task.id))
    known = files_of(files, folder) if folder else ()
    return tuple(each for each in known if trees not in Path(each).parents)


# Having it done -----------------------------------------------------------------------------------


def _last_outcome(task: TaskRecord) -> dict[str, Any]:
    """Return the journal's line of the last undoing; empty if there was none."""
    lines = newest_first(Path(layout.task_journal(task.home)), b'"undone"')
    return next((line for line in lines if line["fact"].get("kind") == "undone"), {})


def _outcome(task: TaskRecord, last: Applied, before: dict[str, Any]) -> dict[str, Any]:
    """Wait until the daemon has reversed the files; return the journal's line of that.

    Raises:
        CommandError: it could not; or it has not done so yet, and keeps trying.

    """
    deadline = time.monotonic() + _PATIENCE
    with Waiting("waiting for the daemon to reverse the files") as waiting:
        while (line := _last_outcome(task)) == before:
            waiting.look()
            if time.monotonic() > deadline:
                raise CommandError(
                    Exit.DOWN,
                    f"{harmless(last.step)} is not undone yet; the daemon keeps trying, see "
                    f"`{typed('task', 'why', called(task))}`",
                )
            time.sleep(_PAUSE)
    if reason := line["fact"].get("reason"):
        raise CommandError(Exit.FAILED, f"{harmless(last.step)} was not undone: {harmless(reason)}")
    return line


def _say_what_is_left(task: TaskRecord, way: Way, *, again: bool) -> None:
    if way.stay:
        print(f"not on the branch, and left as they are:\n{names_said(way.stay)}")
    if way.new and (holder := _holder(task, way.old)):
        merge = typed("task", "merge", called(task), "--anyway")
        print(f"{harmless(holder)} has the step's work already; to undo it there too: {merge}")
    if again:
        start = typed("task", "start", task.name, "--project", task.project)
        print(f"the step counts as not done; to do it again, and what depends on it: {start}")
        if way.new:
            print(f"to go on without it: {typed('task', 'merge', called(task), '--anyway')}")


def _holder(task: TaskRecord, tip: str) -> str:
    """Return the user's branch that has this commit of the task, if they stand on it; empty if they do not."""
    repository = repository_of(task.view)
    own = UserTree.of(repository, code_of(task.view))
    return own.branch if own.branch and repository.is_ancestor(tip, own.head) else ""


def _count(files: tuple[str, ...]) -> str:
    return f"{len(files)} file{'' if len(files) == 1 else 's'}"
