"""Where the names of artifacts lead on a box, along links: to what agents may hand in, or out of it.

rsync follows a link in the middle of a path by itself, wherever it leads, and none at its end. So each name is looked
at first. What lies in the folder in which the agents work, but not in `.git`, or in the task's artifacts and
scratchpads, is theirs to hand in. What lies elsewhere is not: an agent in a sandbox may make a link to any file of its
user, and that file would come here.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from orchestrator.formats.text import one_line
from orchestrator.model.errors import Unavailable
from orchestrator.ports.box_link import BoxLink

DEADLINE: Final = 30.0
"""Seconds that one look may take."""

AT_ONCE: Final = 200
"""How many names one command looks at."""

OUTSIDE: Final = "it leads along a link out of the folder in which the agents work there"


class Leads(StrEnum):
    """Where a name leads."""

    PLAIN = "plain"  # along no link, or nowhere
    ALONG = "along"  # to a file, along links above it
    TO_FILE = "file"  # it is itself a link to a file
    TO_FOLDER = "folder"  # to a folder, along links
    OUT = "out"


# Links are followed one by one, as `readlink -f` is not everywhere. The `.` after each path keeps line feeds at its
# end, which `$( )` would remove. It sets `here`, the folder, and `name` in it, which is empty for a folder.
RESOLVE: Final = r"""
unset CDPATH
resolve() {
    turns=0
    while :; do
        case $path in */*) folder=${path%/*}/ ;; *) folder=./ ;; esac
        name=${path##*/}
        cd -P -- "$folder" 2>/dev/null || return 1
        if [ -n "$name" ] && [ -d "./$name" ]; then cd -P -- "./$name" 2>/dev/null || return 1; name=; fi
        if [ -z "$name" ] || [ ! -L "./$name" ]; then break; fi
        turns=$((turns + 1))
        if [ $turns -gt 20 ]; then return 1; fi
        path=$(readlink "./$name"; echo .)
        path=${path%??}
    done
    here=$(pwd -P; echo .)
    here=${here%??}
}
"""

_WAYS: Final = (
    RESOLVE
    + r"""
real() { cd -P -- "$1" 2>/dev/null || exit 3; pwd -P; echo .; }
root=$(real "$1") || exit 3
root=${root%??}
root=${root%/}
own=$(real "$2") || exit 3
own=${own%??}
own=${own%/}
shift 2
way() (
    cd -P -- "$own" || exit
    path=$1
    if ! resolve; then echo plain; exit; fi
    found=$here/$name
    found=${found%/}
    if [ "$found" = "$own/$1" ] || { [ -n "$name" ] && [ ! -e "./$name" ]; }; then echo plain; exit; fi
    case $found/ in
        */.git/*) echo out; exit ;;
        "$own"/artifacts/*/ | "$own"/scratchpad/*/) ;;
        "$own"/*) echo out; exit ;;
        "$root"/*/) ;;
        *) echo out; exit ;;
    esac
    case $own/ in "$found"/*) echo out; exit ;; esac
    if [ -z "$name" ]; then echo folder; elif [ -L "$own/$1" ]; then echo file; else echo along; fi
)
for each; do way "$each"; done
"""
)


def ways(link: BoxLink, there: str, shared: str, names: Iterable[str]) -> dict[str, Leads]:
    """Return where each of these names leads.

    Args:
        link: The link to the box.
        there: The folder there in which agents work.
        shared: The task's folder there, in which the names are.
        names: Paths in that folder.

    Raises:
        Unavailable: it cannot be determined there, or a folder does not exist.
        Unreachable, Cut, NotLetIn: as `Link.run`.

    """
    names = list(names)
    found = dict[str, Leads]()
    for first in range(0, len(names), AT_ONCE):
        some = names[first : first + AT_ONCE]
        ended = link.run(["sh", "-c", _WAYS, "sh", there, shared, *some], deadline=DEADLINE)
        lines = ended.out.decode(errors="replace").splitlines()
        if ended.status or len(lines) != len(some) or not set(lines) <= set(Leads):
            reason = one_line((ended.err or ended.out).decode(errors="replace"))
            raise Unavailable(
                f"{link.address}: where links in {shared} lead cannot be determined ({reason[-200:]!a})"
            )
        found |= {name: Leads(line) for name, line in zip(some, lines, strict=True)}
    return found
