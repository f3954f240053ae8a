"""How a tree on a box stands, by content: two listings tell what was changed between them. Nothing is changed there."""

from __future__ import annotations

from typing import Final

from orchestrator.formats.text import one_line
from orchestrator.formats.tree_listing import LARGEST, MOST, TreeListing, is_litter, raw_changes
from orchestrator.hosts.ssh.child import TooMuch
from orchestrator.model.errors import Unavailable
from orchestrator.ports.box_link import BoxLink

DEADLINE: Final = 120.0
"""Seconds that git may take to look through the tree."""

_PRINTED: Final = 16 * 1_048_576
"""Bytes that the listing of a tree may have."""

# Three parts, parted by an empty record: git's name of the commit's files; how git has the files that differ from it;
# and a word and the name of each of these and of each new file. Small files are told by their content, others by size
# and time: `stat` is GNU's or BSD's. Names with a line break are, as `wc` and git answer by lines.
_SCRIPT: Final = r"""
GIT_OPTIONAL_LOCKS=0
export GIT_OPTIONAL_LOCKS
cd -- "$1" 2>/dev/null || exit 3
command -v git >/dev/null 2>&1 || exit 4
words='
    seen() { stat -c "%s %Y %i %f" -- "$1" 2>/dev/null || stat -f "%z %m %i %p" -- "$1" 2>/dev/null; }
    entry() { printf "%s\t%s\0" "$1" "$2"; }
    feed="
"
    most=$1; shift; given=$#
    for file; do
        case $file in
        *"$feed"*) entry "large $(seen "$file")" "$file"; continue ;;
        */) entry "repository $({
                git -C "$file" rev-parse --verify --quiet "HEAD^{tree}"
                git -C "$file" -c core.fsmonitor=false status --porcelain --untracked-files=all
                git -C "$file" -c core.fsmonitor=false diff --no-ext-diff --no-textconv HEAD
            } 2>/dev/null | git hash-object --stdin)" "$file"; continue ;;
        esac
        if [ -L "$file" ]; then
            entry "120000 $(printf %s "$(readlink -- "$file")" | git hash-object --stdin)" "$file"
        elif [ ! -e "$file" ]; then entry gone "$file"
        elif [ -f "$file" ] && [ -r "$file" ]; then set -- "$@" "$file"
        else entry other "$file"; fi
    done
    shift "$given"
    [ $# -eq 0 ] && exit 0
    wc -c -- "$@" | {
        given=$#
        for file; do
            read -r size rest
            if [ "$size" -gt "$most" ]; then entry "large $(seen "$file")" "$file"; else set -- "$@" "$file"; fi
        done
        shift "$given"
        [ $# -eq 0 ] && exit 0
        git hash-object --no-filters -- "$@" | for file; do
            read -r name
            mode=100644; [ -x "$file" ] && mode=100755
            entry "$mode $name" "$file"
        done
    }
'
if top=$(git rev-parse --show-toplevel 2>/dev/null); then
    prefix=$(git rev-parse --show-prefix)
    cd -- "$top" || exit 3
    head=$(git rev-parse --verify --quiet 'HEAD^{tree}') || head=$(git hash-object -t tree --stdin </dev/null)
    printf '%s %s\0\0' "$head" "$prefix$2"
    besides=":(exclude,top,literal)$prefix$2"
    differ='git -c core.fsmonitor=false diff-index -z --no-renames --ignore-submodules=all'
    $differ --raw "$head" -- . "$besides" || exit
    printf '\0'
    {
        $differ --name-only "$head" -- . "$besides"
        git -c core.fsmonitor=false ls-files -z --others --exclude-standard -- . "$besides"
    } | xargs -0 sh -c "$words" sh "$3"
else
    [ "$(find . -type f -print | sed "$4q" | wc -l)" -lt "$4" ] || exit 5
    printf ' %s\0\0\0' "$2"
    find . -path "./$2" -prune -o -name .git -prune -o \( -type f -o -type l \) -print0 |
        xargs -0 sh -c "$words" sh "$3"
fi
"""
_NO_FOLDER: Final = 3
_UNKNOWN: Final = frozenset({4, 5})

_MOVED: Final = r"""
cd -- "$1" 2>/dev/null || exit 3
none=$(git hash-object -t tree --stdin </dev/null)
git diff-tree -r -z --raw --no-renames "${2:-$none}" "${3:-$none}"
"""


def listed(link: BoxLink, there: str, without: str) -> TreeListing | None:
    """Return how the tree `there` stands; None if that cannot be told: it has too many files, or the box has no git.

    Files that git ignores do not count, nor does litter, nor what lies in the folder `without`, a path in it.

    Raises:
        Unavailable: git cannot answer there, or the folder does not exist.
        Unreachable, Cut, NotLetIn: as `Link.run`.

    """
    said = _asked(link, _SCRIPT, there, without, str(LARGEST), str(MOST))
    if said is None:
        return None
    first, _, rest = said.partition("\0\0")
    head, _, left_out = first.partition(" ")
    known, words = _parted(rest)
    was = {name: old for name, (old, _) in raw_changes(known).items()}
    files = dict[str, str]()
    for record in words.split("\0")[:-1]:
        word, _, name = record.partition("\t")
        name = name.removeprefix("./")
        if not is_litter(name) and word != was.get(name):
            files[name] = word
    return TreeListing(head, files, left_out) if len(files) <= MOST else None


def moved_between(link: BoxLink, there: str, old: str, new: str) -> dict[str, tuple[str, str]]:
    """Return the words of each file in which two trees of git's differ, in the repository there. Raises as `listed`."""
    return {} if old == new else raw_changes(_asked(link, _MOVED, there, old, new) or "")


def _parted(rest: str) -> tuple[str, str]:
    """Return how git has the files, and their words. The first part may be empty."""
    if rest.startswith("\0"):
        return "", rest[1:]
    known, _, words = rest.partition("\0\0")
    return f"{known}\0", words


def _asked(link: BoxLink, script: str, there: str, *words: str) -> str | None:
    try:
        ended = link.run(["sh", "-c", script, "sh", there, *words], deadline=DEADLINE, most=_PRINTED)
    except TooMuch:
        return None
    if ended.status in _UNKNOWN:
        return None
    if ended.status:
        reason = (
            "there is no such folder"
            if ended.status == _NO_FOLDER
            else one_line(ended.err.decode(errors="replace"))
        )
        raise Unavailable(f"{link.address}: changes in {there} cannot be determined ({reason[-200:]!a})")
    return ended.out.decode(errors="surrogateescape")
