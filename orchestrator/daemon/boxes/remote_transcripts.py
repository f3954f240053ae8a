"""Copies here of the transcripts that agent programs keep on boxes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.hosts.ssh.growing_files import grown

if TYPE_CHECKING:
    from orchestrator.hosts.ssh.link import Link
    from orchestrator.ports.files import Files

LARGEST: Final = 67_108_864
"""Bytes of a transcript that are copied at most."""

_APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


def copy_transcripts(link: Link, files: Files, runs: Sequence[Path]) -> None:
    """Add to the copies what the transcripts of these runs, by their folders here, have grown by there.

    Raises:
        Unavailable, OSError: they could not be copied.
        Unreachable, Cut, NotLetIn: as `Link.run` does.

    """
    wanted = []
    for folder in runs:
        note, path = layout.run_transcript_there(folder), layout.run_transcript(folder)
        if files.entry(note) is not None:
            copy = files.entry(path)
            there = files.read(note).decode(errors="surrogateescape")
            wanted.append((path, there, copy.size if copy else 0))
    told = grown(link, [(there, size) for _, there, size in wanted])
    for (path, _, size), more in zip(wanted, told, strict=True):
        if more and size + len(more) <= LARGEST:
            # No port for this: what is cut off is gone on with, and nobody else writes there.
            with os.fdopen(os.open(path, _APPEND, 0o600), "ab") as file:
                file.write(more)
