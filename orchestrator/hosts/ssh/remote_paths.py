"""A task's folders on a box: their paths, and how they are made."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import Final

from orchestrator.formats.text import one_line
from orchestrator.hosts.ssh.marks import MARK
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.names import checked_name
from orchestrator.ports.box_link import BoxLink

_MADE: Final = "made"
_REFUSED: Final = {
    "missing": "is not a folder there",
    "other": "belongs to another task, perhaps of another PM: rename this task, or name another clone in cwd:. If "
    "nobody works there any more, remove it",
    "foreign": "belongs to another user of the box: rename this task, or name a clone of your own in cwd:",
    "home": "is a task's folder in which a PM keeps its own files. If that is this machine, leave the host out of "
    "cwd:, or name another clone; delete nothing in it",
    "history": "contains handoffs that this task does not know: remove them",
}

# Everything from outside is an argument. The mark is written last: a folder with the mark is complete.
_PREPARE: Final = r"""
umask 077
cwd=$1 name=$2 task=$3 own=$4 mark=$5
shift 5
shared=$cwd/tasks/$name
if [ ! -d "$cwd" ]; then echo missing; exit; fi
if [ -d "$shared" ] && [ "$(id -u)" != 0 ] && [ "$(ls -ldn -- "$shared" | awk '{print $3}')" != "$(id -u)" ]; then
    echo foreign
    exit
fi
for folder in "$shared" "$own"; do
    if [ -e "$folder/$mark" ]; then
        other=
        if [ -f "$folder/$mark" ]; then other=$(dd if="$folder/$mark" bs=256 count=1 2>/dev/null | sed -n 1p); fi
        if [ "$other" != "$task" ]; then echo other; exit; fi
    fi
done
if [ ! -e "$shared/$mark" ] && [ -n "$(ls -A -- "$shared/handoffs" 2>/dev/null)" ]; then
    if [ -e "$shared/progress.md" ] || [ -e "$shared/pm_state.json" ]; then echo home; else echo history; fi
    exit
fi
for folder; do mkdir -p -- "$shared/$folder" || exit; done
mkdir -p -- "$own/requests/events" "$own/runs" && chmod 700 "$shared" "$own" || exit
for folder in "$shared" "$own"; do
    if [ ! -e "$folder/$mark" ]; then
        printf '%s\n' "$task" >"$folder/$mark.new" && mv -f -- "$folder/$mark.new" "$folder/$mark" || exit
    fi
done
echo made
cd -- "$cwd" || exit 0
ours() { git -c core.fsmonitor=false "$@"; }  # no program of the repository's choice runs
{
    path=$(ours rev-parse --git-path info/exclude) && prefix=$(ours rev-parse --show-prefix) || exit 0
    if [ -e "$path" ] && [ ! -f "$path" ]; then exit 0; fi
    if [ -n "$(ours ls-files -- "tasks/$name")" ] || ours check-ignore -q -- "tasks/$name/"; then exit 0; fi
    mkdir -p -- "$(dirname -- "$path")"
    if [ -n "$(tail -c 1 -- "$path")" ]; then echo >>"$path"; fi
    printf '/%stasks/%s/\n' "$(printf '%s' "$prefix" | sed 's/[\\*?[]/\\&/g')" "$name" >>"$path"
} 2>/dev/null
exit 0
"""


@dataclass(frozen=True, slots=True)
class RemotePaths:
    """One task on one box. All paths are absolute ones of the box.

    Args:
        task: The task's id.
        name: Its name.
        cwd: Where its agents work there.
        root: Our own folder there.
        workflow: Whether agents there hand in by the files of a workflow.

    """

    task: str
    name: str
    cwd: str
    root: str
    workflow: bool = False

    def __post_init__(self) -> None:
        checked_name(self.task, "task id")
        checked_name(self.name, "task name")
        for path in (self.cwd, self.root):
            # `/./` would mark the beginning of a name for rsync.
            if posixpath.normpath(path) != path or not path.startswith("/") or "\0" in path:
                raise Refused(f"{path[:80]!a} is not an absolute path of a folder on a box")

    @property
    def shared(self) -> str:
        """The task's folder that is shared with the agents there."""
        return f"{self.cwd.rstrip('/')}/tasks/{self.name}"

    @property
    def own(self) -> str:
        """The task's folder below our own one there."""
        return f"{self.root.rstrip('/')}/tasks/{self.task}"

    def run(self, run: str) -> str:
        """Return the folder of a run."""
        return f"{self.own}/runs/{checked_name(run, 'run id')}"


def make_folders(link: BoxLink, there: RemotePaths, shared: list[str]) -> None:
    """Make a task's folders there, 0700, with our mark; `shared` are those in the shared one. Repeatable.

    In a git repository the shared folder is added to `info/exclude`, unless it is tracked or ignored already.

    Raises:
        Refused: the folder in which the agents work does not exist, or the task's folder belongs to another task.
        Unavailable: it cannot be done there now; the message has the box's error.
        Unreachable, Cut, NotLetIn: as `Link.run` does.

    """
    words = ["sh", "-c", _PREPARE, "sh", there.cwd, there.name, there.task, there.own, MARK, *shared]
    ended = link.run(words)
    answer = ended.out.decode(errors="replace").strip()
    if answer in _REFUSED:
        path = there.cwd if answer == "missing" else there.shared
        raise Refused(f"{link.address}: {path} {_REFUSED[answer]}")
    if ended.status or answer != _MADE:
        why = one_line(ended.err.decode(errors="replace")) or one_line(answer)
        raise Unavailable(f"{link.address}: the folders of {there.name} could not be made ({why[-200:]})")
