"""`task archive`: packs a task with all that belongs to it into one file and removes it, or restores it."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from orchestrator import layout, own_files
from orchestrator.cli.archives import Archive, chosen_archive, read_manifest
from orchestrator.cli.exits import SAID, CommandError, Exit
from orchestrator.cli.removal import ARCHIVE, DELETE, begun, confirmed, let_go, sweep, take_away
from orchestrator.cli.screen import harmless, typed
from orchestrator.cli.task_resources import belongings_of
from orchestrator.cli.tasks import find
from orchestrator.formats.amounts import size_said


def run(options: Namespace) -> int:
    """Archive a task, or restore one."""
    state = Path(layout.state_folder(os.environ))
    if own_files.check_state_folder(str(state)):
        sweep(state)
    if options.restore:
        return _restore(options, state)
    task = find(options.name, options.project)
    if (half := begun(task)) == DELETE:
        raise CommandError(
            Exit.FAILED,
            f"deleting {task.name} was interrupted; to continue: {typed('task', 'delete', task.id)}",
        )
    has = belongings_of(task)
    print(f"{'what is left of' if half else 'to be archived:'} {task.name} ({harmless(task.id)}):")
    print("\n".join(has.lines()))
    if not half:
        if not confirmed(f"archive {task.name}?", yes=options.yes):
            print("nothing was archived")
            return Exit.FAILED
        let_go(task, ARCHIVE)
        has = belongings_of(task)  # again, as nobody works on it any more
    from orchestrator.cli.packing import pack  # not needed for the list above

    file = layout.archive_file(state, task.id)
    archive = Archive(file, read_manifest(file)) if half and file.exists() else pack(has, state)
    take_away(belongings_of(task))
    print(f"{task.name} was archived: {harmless(archive.file)}, {size_said(archive.size)}")
    print(f"to restore it: {typed('task', 'archive', archive.manifest.id, '--restore')}")
    return Exit.DONE


def _restore(options: Namespace, state: Path) -> int:
    from orchestrator.cli.restoring import restore

    archive = chosen_archive(options.name, options.project)
    restore(archive, state)
    was = archive.manifest.state
    print(f"{archive.name} was restored; its state is: {harmless(SAID.get(was, was))}")
    print(f"to look at it: {typed('task', 'status', archive.manifest.id)}")
    return Exit.DONE
