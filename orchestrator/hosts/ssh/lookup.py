"""Looking up files and commits on a box, in the folder in which agents work there; this changes nothing."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.formats.text import one_line
from orchestrator.hosts.ssh.links_there import RESOLVE
from orchestrator.model.errors import Unavailable
from orchestrator.ports.box_link import BoxLink
from orchestrator.ports.boxes import RemoteFile

DEADLINE: Final = 60.0
"""Seconds that one look may take."""

LARGEST: Final = 16 * 1_048_576
"""The maximum size of a file whose lines are counted."""

# The folder itself is no file, nor is what git has there, nor what a task has but its artifacts.
_FILE: Final = (
    RESOLVE
    + r"""
cd -P -- "$1" 2>/dev/null || exit 3
root=$(pwd -P; echo .)
root=${root%??}
root=${root%/}
path=$2
resolve || exit 0
case $here/ in "$root"/*) ;; *) exit 0 ;; esac
if [ -z "$name" ] && [ "${here%/}" = "$root" ]; then exit 0; fi
case $here/$name/ in */.git/*) exit 0 ;; esac
case $here/$name/ in
    "$root/$4"/artifacts//) exit 0 ;;
    "$root/$4"/artifacts/*) ;;
    "$root/$4"/*) exit 0 ;;
esac
if [ -z "$name" ]; then
    if [ -n "$(find . -xdev -type f -size +0 -print 2>/dev/null | sed q)" ]; then echo folder; else echo void; fi
    exit 0
fi
if [ ! -f "./$name" ] || [ ! -r "./$name" ]; then exit 0; fi
size=$(($(wc -c < "./$name")))
if [ "$size" -gt "$3" ]; then echo large; exit 0; fi
if [ "$size" -eq 0 ]; then echo empty; exit 0; fi
lines=$(($(wc -l < "./$name")))
if [ -n "$(tail -c 1 "./$name" | tr '\0' x)" ]; then lines=$((lines + 1)); fi
echo "lines $lines"
"""
)

_COMMIT: Final = r"""
cd -- "$1" 2>/dev/null || exit 3
git rev-parse --git-dir >/dev/null 2>&1 || exit 0
commit=$(git rev-parse --verify --quiet --end-of-options "$2^{commit}" 2>/dev/null) || exit 0
git merge-base --is-ancestor "$commit" HEAD 2>/dev/null || exit 0
if [ -n "$3" ] && git rev-parse --verify --quiet --end-of-options "$3^{commit}" >/dev/null 2>&1; then
    git merge-base --is-ancestor "$commit" "$3" 2>/dev/null && exit 0
elif [ "$(git show --no-patch --format=%ct "$commit" 2>/dev/null)" -lt "$4" ]; then
    exit 0
fi
echo "$commit"
"""
_NO_FOLDER: Final = 3
_ANSWER: Final = re.compile(r"folder|void|empty|large|lines (\d{1,12})")
_SHORT: Final = re.compile(r"[0-9a-f]{7,64}")
_WHOLE: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def file_at(link: BoxLink, there: str, path: str, task: str) -> RemoteFile | None:
    """Return the file at a path, absolute or in the folder `there`; None if there is none below that folder.

    Links are followed as long as they stay below it. An unreadable file counts as missing. So does what is git's own,
    and what lies in `task`, a path in that folder, but for its `artifacts/`.

    Raises:
        Unavailable: it cannot be determined there, or the folder does not exist.
        Unreachable, Cut, NotLetIn: as `Link.run`.

    """
    answer = _asked(link, _FILE, there, path, str(LARGEST), task)
    if not answer:
        return None
    found = _ANSWER.fullmatch(answer)
    if not found:
        raise Unavailable(
            f"{link.address}: the file at {path[:200]!a} cannot be looked up ({answer[-200:]!a})"
        )
    if found[1]:
        return RemoteFile(is_folder=False, lines=int(found[1]))
    is_folder = answer in {"folder", "void"}
    return RemoteFile(is_folder, is_empty=answer in {"void", "empty"}, lines=None if answer == "large" else 0)


def commit_at(link: BoxLink, there: str, name: str, base: str, since: float) -> str:
    """Return the full hash of a commit, by a full or short one, if HEAD of the repository `there` has it, else empty.

    A commit that the commit `base` has does not count; where `base` is not known there, one made before `since`
    (seconds since the epoch).

    Raises:
        Unavailable: the folder does not exist.
        Unreachable, Cut, NotLetIn: as `Link.run`.

    """
    if not _SHORT.fullmatch(name):
        return ""
    answer = _asked(link, _COMMIT, there, name, base, str(int(since)))
    return answer if _WHOLE.fullmatch(answer) else ""


def _asked(link: BoxLink, script: str, there: str, *words: str) -> str:
    ended = link.run(["sh", "-c", script, "sh", there, *words], deadline=DEADLINE)
    if ended.status:
        reason = (
            "there is no such folder"
            if ended.status == _NO_FOLDER
            else one_line(ended.err.decode(errors="replace"))
        )
        raise Unavailable(f"{link.address}: nothing can be looked up in {there} ({reason[-200:]!a})")
    return ended.out.decode(errors="replace").strip()
