"""Carries out `task observe --merge`: takes what another archive of handoffs has into one of ours."""

from __future__ import annotations

import fcntl
import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from orchestrator import layout
from orchestrator.cli.beat import Beat
from orchestrator.cli.caller import forbid_inside_run
from orchestrator.cli.data_folder import data_folder
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.observed_records import HANDOFFS
from orchestrator.cli.observing import tell_unread
from orchestrator.cli.progress import Counting, doing
from orchestrator.cli.screen import harmless, typed
from orchestrator.formats.settings import load_section
from orchestrator.hosts.disk import DiskFiles
from orchestrator.records.archive import ArchiveMerge, HandoffArchive, open_archive
from orchestrator.records.handoff_versions import ReadHandoffs

_KEPT: Final = 64 << 20
"""Handoffs of as many bytes together are kept as they were read; beyond that each is read again."""


def run(options: Namespace) -> int:
    """Merge the archive in a folder into that of the project, or with `--all-projects` into that of the daemon."""
    forbid_inside_run("observe --merge")
    if options.date or options.details or options.days != "1":
        raise CommandError(Exit.USAGE, "--merge takes all there is: leave --date, --days and --details out")
    named = load_section(Path(layout.config_file(os.environ)), os.environ, "daemon").archive
    root = _root(options, named)
    known = ReadHandoffs(_KEPT)
    with doing("reading the other archive"):
        other = _other(Path(options.merge).expanduser().absolute(), root, known)
    with _alone(root, named), Counting("merging", "handoffs") as count:
        done = open_archive(DiskFiles(), root, known).merge(other, os.sync, count.step)
    tell_unread(done.unread, "taken")
    _tell_conflicts(done)
    print(f"{_count(done.added)} new, {done.advanced} went on: {harmless(str(root))}")
    return Exit.DONE


def _root(options: Namespace, named: str) -> Path:
    """Return the archive into which is merged."""
    if not options.all_projects:
        return data_folder(options.project, (HANDOFFS,)) / HANDOFFS
    if not named:
        raise CommandError(
            Exit.FAILED, "the setting daemon.archive names no archive of all tasks: set it, or give --project"
        )
    return Path(named)


def _other(folder: Path, root: Path, known: ReadHandoffs) -> HandoffArchive:
    """Return the archive from which is taken; it is only read. Raises CommandError: it is none."""
    if folder.is_symlink() or not folder.is_dir():
        raise CommandError(Exit.FAILED, f"{harmless(str(folder))} is no folder: give that of another archive")
    if os.path.realpath(folder) == os.path.realpath(root):
        raise CommandError(Exit.FAILED, f"{harmless(str(folder))} is this archive itself: give another one")
    other = HandoffArchive(DiskFiles(), folder, known)
    if not other.ids:
        tell_unread(other.unread, "taken")
        raise CommandError(
            Exit.FAILED,
            f"{harmless(str(folder))} has no handoffs: give the folder with a folder for each day, such as 2025-12-11",
        )
    return other


@contextmanager
def _alone(root: Path, named: str) -> Iterator[None]:
    """Keep other merges from an archive. The lock is that of its folder, and ends with this process.

    Raises:
        CommandError: the daemon writes there; or the archive is a link or a file.

    """
    state = layout.state_folder(os.environ)
    if named and os.path.realpath(root) == os.path.realpath(named) and Beat(state).up:
        stop = typed("task", "daemon", "stop")
        raise CommandError(
            Exit.FAILED, f"the daemon writes to {harmless(str(root))}: stop it first (agents go on): {stop}"
        )
    if root.is_symlink() or (root.exists() and not root.is_dir()):
        raise CommandError(
            Exit.FAILED, f"{harmless(str(root))} is a link or a file: put a folder in its place"
        )
    DiskFiles().make_folder(root)
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _tell_conflicts(done: ArchiveMerge) -> None:
    for each in done.conflicts:
        print(
            f"task: {each} is not the same in both: one has the id, any other lies in a file conflict_{each}_….json",
            file=sys.stderr,
        )


def _count(number: int) -> str:
    return f"{number} handoff{' is' if number == 1 else 's are'}"
