"""What an agent on a box is to find there: sent by rsync, whole or not at all, and never in place of anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.rsync import BOX, DEADLINE, rsync
from orchestrator.model.errors import Refused

LARGEST: Final = 16 * 1_048_576
"""Bytes of a file that is sent at most: it is for agents to read."""

# Not even what is older there is replaced: whatever differs was made so by somebody. Links may lead anywhere.
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
    link: Link,
    here: Path,
    folders: Sequence[str],
    there: str,
    environ: Mapping[str, str],
    *,
    deadline: float = DEADLINE,
) -> str:
    """Send what lies in `folders`, beneath `here`, to beneath the absolute path `there`, where it is missing.

    Returns what rsync could not send, in its words, or nothing. `deadline` is in seconds. Raises as `rsync` does.
    """
    if not there.startswith("/") or not all(folder and folder[0] not in "/-." for folder in folders):
        raise Refused("a push goes from folders to beneath an absolute path")
    sources = [f"{here}/./{folder}" for folder in folders if (here / folder).is_dir()]
    if not sources:
        return ""
    target = f"{BOX}:{there.rstrip('/')}/"
    return rsync(link, [*_OPTIONS, "--", *sources, target], environ, deadline=deadline).said
