"""Local copies of the transcripts that agent programs keep on boxes."""

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
"""The maximum number of bytes of a transcript that are copied."""

_APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def copy_transcripts(link: Link, files: Files, runs: Sequence[Path]) -> None:
    """Append to the local copies what was added to the transcripts of these runs, given by their folders here.

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
    additions = grown(link, [(there, size) for _, there, size in wanted])
    for (path, _, size), more in zip(wanted, additions, strict=True):
        if more and size + len(more) <= LARGEST:
            # No port for this: a copy that is cut off is continued, and nobody else writes there.
            with os.fdopen(os.open(path, _APPEND, 0o600), "ab") as file:
                file.write(more)
