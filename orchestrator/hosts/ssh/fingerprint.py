"""What a repository on a box looks like, in one word: two of them tell whether anything was changed there."""

from __future__ import annotations

from typing import Final

from orchestrator.formats.text import one_line
from orchestrator.hosts.ssh.link import Link
from orchestrator.model.errors import Unavailable

DEADLINE: Final = 120.0
"""Seconds that git may take to look through the tree."""

# Its commit, and of each differing file its inode, size and time: nothing is read. `stat` is GNU's or BSD's.
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
    """Return a word for how the repository `there` stands; empty if there is none.

    What git ignores does not count, nor does what lies in the folder `without`, a path in it.

    Raises:
        Unavailable: git cannot tell it there, or the folder is not there.
        Unreachable, Cut, NotLetIn: as `Link.run`.

    """
    ended = link.run(["sh", "-c", _SCRIPT, "sh", there, without], deadline=DEADLINE)
    if ended.status == _NO_REPOSITORY:
        return ""
    if ended.status:
        said = (
            "there is no such folder"
            if ended.status == _NO_FOLDER
            else one_line(ended.err.decode(errors="replace"))
        )
        raise Unavailable(f"{link.address}: it cannot be told what was changed in {there} ({said[-200:]!a})")
    return ended.out.decode(errors="replace").strip()
