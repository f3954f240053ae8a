"""A repository on a box: how its HEAD stands to a commit, and letting it stand on that, without losing anything.

Nothing there is overwritten: git itself refuses where a file is in the way, and a HEAD that is left is kept on a ref.
Cut off between files and HEAD, the same is done again: files that are the commit's already do not count as changed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from orchestrator.formats.text import one_line
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.boxes import CloneState, Relation

if TYPE_CHECKING:
    from orchestrator.ports.box_link import BoxLink

DEADLINE: Final = 120.0
"""Seconds that git may take there to look through the tree, or to lay its files."""

# No hook runs, and no monitor of files; submodules are not looked into. New files do not count as changed: they stay
# where they are, or git refuses because of them. `sent` is only a ref once all of its objects are there.
_ASK: Final = r"""
place=$1 commit=$2 ref=$3
LC_ALL=C GIT_TERMINAL_PROMPT=0 GIT_NO_LAZY_FETCH=1
export LC_ALL GIT_TERMINAL_PROMPT GIT_NO_LAZY_FETCH
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY
cd -- "$place" || exit 3
ours() {
    git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c submodule.recurse=false -c gc.auto=0 \
        -c maintenance.auto=false "$@"
}
at() { ours rev-parse --verify --quiet --end-of-options "$1^{commit}"; }
leads() { [ -n "$2" ] && ours merge-base --is-ancestor "$1" "$2" 2>/dev/null; }
file() { [ -e "$(ours rev-parse --git-path "$1")" ]; }
ours rev-parse --git-dir >/dev/null || exit 4
head=$(at HEAD)
sent=$(at "$ref")
if leads "$commit" "$head"; then relation=has
elif ! leads "$commit" "$sent"; then relation=lacks
elif [ -z "$head" ] || leads "$head" "$commit"; then relation=behind
else relation=apart
fi
mixed=pure
if [ -n "$head" ]; then
    for other in $(ours for-each-ref --merged "$head" --format='%(refname)' 'refs/orchestrator/task/*/tip'); do
        if [ "$other" != "$ref" ] && ! leads "$other" "$commit"; then mixed=mixed; fi
    done
fi
lies=clean
if file index.lock; then lies=locked
elif file MERGE_HEAD || file CHERRY_PICK_HEAD || file REVERT_HEAD || file rebase-merge || file rebase-apply; then
    lies=changed
elif left=$(GIT_OPTIONAL_LOCKS=0 ours status --porcelain --untracked-files=no --ignore-submodules=all) || exit 5
    [ -n "$left" ]
then
    lies=changed
    if [ "$relation" != lacks ] && ours diff-index --cached --quiet --ignore-submodules=all "$commit" -- &&
        ours diff-files --quiet --ignore-submodules=all; then lies=clean; fi
fi
"""

_LOOK: Final = (
    _ASK
    + r"""
if [ "$relation" = has ] && [ "$sent" != "$commit" ]; then
    ours update-ref "$ref" "$commit" || exit 6
fi
echo "$relation ${head:--} $lies $mixed"
"""
)

_MOVE: Final = (
    _ASK
    + r"""
kept=$4 before=$5
if [ "$head" = "$commit" ]; then echo moved; exit 0; fi
if [ "${head:--}" != "$before" ] || [ "$lies" != clean ]; then echo meanwhile; exit 0; fi
case $relation in
    behind) ;;
    has|apart) ours update-ref "$kept/$head" "$head" || exit 6 ;;
    *) echo meanwhile; exit 0 ;;
esac
# Files first, then the ref. Of what is in the way, ignored files count like others.
branch=$(ours symbolic-ref --quiet HEAD)
case $branch in
    refs/heads/*)
        ours checkout --quiet --no-overwrite-ignore --no-track -B "${branch#refs/heads/}" "$commit" -- || exit 7 ;;
    '') ours checkout --quiet --no-overwrite-ignore --detach "$commit" -- || exit 7 ;;
    *) echo "HEAD is $branch" >&2; exit 6 ;;
esac
echo moved
"""
)

_ANSWER: Final = re.compile(
    r"(has|lacks|behind|apart) (-|[0-9a-f]{40}|[0-9a-f]{64}) (clean|changed|locked) (pure|mixed)"
)
_NO_REPOSITORY: Final = 4
_NOT_LAID: Final = 7
_IN_THE_WAY: Final = "would be overwritten"


def clone_state(link: BoxLink, there: str, commit: str, ref: str) -> CloneState:
    """Return how HEAD of the repository `there` stands to a commit, which `ref` has if it was sent.

    If HEAD has that commit already, `ref` is set to it.

    Raises:
        Refused: there is no repository.
        Unavailable: git cannot tell there, or somebody's git is at work.
        Unreachable, Cut, NotLetIn: as `Link.run`.

    """
    answer = _asked(link, _LOOK, there, commit, ref)
    found = _ANSWER.fullmatch(answer)
    if not found:
        raise Unavailable(f"{link.address}: git says nothing of {there} that can be read ({answer[-200:]!a})")
    if found[3] == "locked":
        raise Unavailable(
            f"{link.address}: git is at work in {there}, or was cut off there: see its index.lock"
        )
    changed, mixed = found[3] == "changed", found[4] == "mixed"
    return CloneState(Relation(found[1]), found[2].strip("-"), changed=changed, mixed=mixed)


def advance_head(link: BoxLink, there: str, seen: CloneState, commit: str, ref: str, kept: str) -> None:
    """Let HEAD and the files of the repository `there` stand on a commit that was sent, if it still is as it was seen.

    Where HEAD has commits that `commit` has not, it is kept first, on a ref beneath `kept`. It may be repeated.

    Raises:
        Refused: a file is in the way that git does not know.
        Unavailable: it changed meanwhile, or git cannot do it there.
        Unreachable, Cut, NotLetIn: as `Link.run`.

    """
    answer = _asked(link, _MOVE, there, commit, ref, kept, seen.head or "-")
    if answer != "moved":
        raise Unavailable(
            f"{link.address}: somebody is at work in {there}: it changed while it was looked at"
        )


def _asked(link: BoxLink, script: str, there: str, *words: str) -> str:
    ended = link.run(["sh", "-c", script, "sh", there, *words], deadline=DEADLINE)
    said = ended.err.decode(errors="replace")
    reason = one_line(said)[-300:]
    if not ended.status:
        return ended.out.decode(errors="replace").strip()
    if ended.status == _NO_REPOSITORY:
        raise Refused(f"{link.address}: {there} is not a git repository that can be used ({reason!a})")
    if ended.status == _NOT_LAID and _IN_THE_WAY in said:
        raise Refused(
            f"{link.address}: {there} was not brought to the task's branch, as files are in the way there "
            f"({reason!a}): move them away"
        )
    raise Unavailable(f"{link.address}: git failed in {there} ({reason!a})")
