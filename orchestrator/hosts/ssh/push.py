"""Sending files for an agent to a box, by rsync: whole or not at all, and never replacing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from orchestrator.hosts.ssh.rsync import BOX, DEADLINE, rsync
from orchestrator.model.errors import Refused
from orchestrator.ports.box_link import BoxLink

LARGEST: Final = 16 * 1_048_576
"""The maximum size of a file that is sent: it is for agents to read."""

# Not even older files there are replaced: any difference was made by somebody. Links may lead anywhere.
_OPTIONS: Final = (
    "--recursive",
    "--relative",
    "--times",
    "--chmod=D0700,F0600",
    "--ignore-existing",
    "--exclude=.*",
    f"--max-size={LARGEST}",
)


def push(
    link: BoxLink,
    here: Path,
    folders: Sequence[str],
    there: str,
    environ: Mapping[str, str],
    *,
    deadline: float = DEADLINE,
) -> str:
    """Send the content of `folders`, below `here`, to below the absolute path `there`, as far as it is missing there.

    Returns rsync's error messages, or nothing. `deadline` is in seconds. Raises as `rsync` does.
    """
    if not there.startswith("/") or not all(folder and folder[0] not in "/-." for folder in folders):
        raise Refused("a push needs folders and an absolute path")
    sources = [f"{here}/./{folder}" for folder in folders if (here / folder).is_dir()]
    if not sources:
        return ""
    target = f"{BOX}:{there.rstrip('/')}/"
    return rsync(link, [*_OPTIONS, "--", *sources, target], environ, deadline=deadline).said
