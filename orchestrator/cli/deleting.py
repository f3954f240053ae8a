"""`task delete`: shows what belongs to a task, asks, and deletes it all."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from orchestrator import layout, own_files
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.removal import ARCHIVE, DELETE, begun, confirmed, let_go, sweep, take_away
from orchestrator.cli.screen import harmless, typed
from orchestrator.cli.task_resources import belongings_of
from orchestrator.cli.tasks import called, find


def run(options: Namespace) -> int:
    """Delete a task."""
    if options.archived:
        return _delete_archived(options)
    state = Path(layout.state_folder(os.environ))
    if own_files.check_state_folder(str(state)):
        sweep(state)
    task = find(options.name, options.project)
    name, half = called(task), begun(task)
    if half == ARCHIVE and not layout.archive_file(state, task.id).exists():
        half = ""  # the archive was not written yet
    has = belongings_of(task)
    print(f"{'what is left of' if half else 'to be deleted:'} {task.name} ({harmless(task.id)}):")
    print("\n".join(has.lines()))
    if not half:
        if (lost := has.unmerged()) and not options.unmerged:
            listed = "\n".join(f"  {each}" for each in lost)
            whole = task.view.get("state") == "complete"  # of any other `task merge` takes nothing by itself
            command = typed("task", "merge", name, *([] if whole else ["--anyway"]))
            merge = f"to merge it: {command}; " if has.mergeable else ""
            raise CommandError(
                Exit.FAILED,
                f"{task.name} was not deleted, because this work is nowhere else:\n{listed}\n"
                f"{merge}to keep it in a file: {typed('task', 'archive', name)}; "
                f"to delete it: {typed('task', 'delete', name, '--unmerged')}",
            )
        for each in has.unmerged():
            print(f"  lost       {each}")
        if not confirmed(f"delete {task.name}?", yes=options.yes):
            print("nothing was deleted")
            return Exit.FAILED
        let_go(task, DELETE)
        has = belongings_of(task)  # again, as nobody works on it any more
    take_away(has)
    print(f"{task.name} was deleted")
    return Exit.DONE


def _delete_archived(options: Namespace) -> int:
    from orchestrator.cli.archives import chosen_archive
    from orchestrator.formats.amounts import size_said

    archive = chosen_archive(options.name, options.project)
    print(f"{harmless(archive.file)}, {size_said(archive.size)}")
    if not confirmed(f"delete the archive of {archive.name}?", yes=options.yes):
        print("nothing was deleted")
        return Exit.FAILED
    archive.remove()
    print(f"the archive of {archive.name} was deleted")
    return Exit.DONE
