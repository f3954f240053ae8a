"""A fingerprint of a repository's state on a box: two of them show whether anything changed there."""

from __future__ import annotations

from typing import Final

from orchestrator.formats.text import one_line
from orchestrator.hosts.ssh.link import Link
from orchestrator.model.errors import Unavailable

DEADLINE: Final = 120.0
"""Seconds that git may take to look through the tree."""

# Its commit, and the inode, size and time of each differing file: nothing is read. `stat` is GNU's or BSD's.
_SCRIPT: Final = r"""
GIT_OPTIONAL_LOCKS=0
export GIT_OPTIONAL_LOCKS
cd -- "$1" 2>/dev/null || exit 3
git rev-parse --git-dir >/dev/null 2>&1 || exit 4
{
    git rev-parse --verify --quiet HEAD
    git -c core.fsmonitor=false status --porcelain --untracked-files=all --ignore-submodules=all -- . ":(exclude)$2"
    git -c core.fsmonitor=false ls-files -z --modified --others --exclude-standard -- . ":(exclude)$2" |
        xargs -0 sh -c '
            for file; do stat -c "%i %s %Y" -- "$file" 2>/dev/null || stat -f "%i %z %m" -- "$file" 2>/dev/null; done
        ' sh
} | cksum
"""
_NO_FOLDER, _NO_REPOSITORY = 3, 4


def fingerprint(link: Link, there: str, without: str) -> str:
    """Return a fingerprint of the repository `there`; empty if there is none.

    Files that git ignores do not count, nor do those in the folder `without`, a path in it.

    Raises:
        Unavailable: git cannot answer there, or the folder does not exist.
        Unreachable, Cut, NotLetIn: as `Link.run`.

    """
    ended = link.run(["sh", "-c", _SCRIPT, "sh", there, without], deadline=DEADLINE)
    if ended.status == _NO_REPOSITORY:
        return ""
    if ended.status:
        reason = (
            "there is no such folder"
            if ended.status == _NO_FOLDER
            else one_line(ended.err.decode(errors="replace"))
        )
        raise Unavailable(f"{link.address}: changes in {there} cannot be determined ({reason[-200:]!a})")
    return ended.out.decode(errors="replace").strip()
