"""All that a task has in the user's repository: its branches, the refs that keep its tries, its worktrees."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.model.errors import Refused, Unavailable
from orchestrator.workspaces.checkout import Checkout, open_up
from orchestrator.workspaces.ref_compaction import GATHERED

if TYPE_CHECKING:
    from orchestrator.workspaces.repository import Repository

_HEADS: Final = "refs/heads/"


@dataclass(frozen=True, slots=True)
class TaskRefs:
    """What a task has in a repository.

    `refs` gives the commit of each ref by its full name; `trees` are the folders of its worktrees, each with the commit
    that it stands on, `unsaved` those of them in which something lies that no commit has.
    """

    refs: Mapping[str, str]
    trees: Mapping[Path, str] = field(default_factory=dict)
    unsaved: tuple[Path, ...] = ()

    @property
    def branches(self) -> dict[str, str]:
        """The branches, by their short names."""
        return {ref.removeprefix(_HEADS): at for ref, at in self.refs.items() if ref.startswith(_HEADS)}

    @property
    def kept(self) -> dict[str, str]:
        """The refs that keep tries which were not taken."""
        return {ref: at for ref, at in self.refs.items() if not ref.startswith(_HEADS)}


def refs_of(repository: Repository, branch: str) -> dict[str, str]:
    """Return every ref of the task with this branch (`task/NAME`), with its commit. Raises Unavailable."""
    name = branch.removeprefix("task/")
    patterns = (
        f"{_HEADS}{branch}",
        f"{_HEADS}task-work/{name}/",
        f"refs/tasks/{branch}/",
        f"{GATHERED}{name}",
    )
    said = repository.git.ask("for-each-ref", "--format=%(refname) %(objectname)", *patterns)
    return {ref: commit for ref, _, commit in (line.partition(" ") for line in said.splitlines())}


def held(repository: Repository, code: Path, branch: str, base: str, root: Path) -> TaskRefs:
    """Return what a task has: `root` is the folder of its worktrees, `base` the commit that it began from.

    Raises:
        Unavailable: git cannot tell now.

    """
    trees, unsaved = dict[Path, str](), list[Path]()
    for path in sorted(root.iterdir()) if root.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            trees[path], saved = _looked_at(repository, code, path, branch, base)
            unsaved += [] if saved else [path]
    return TaskRefs(refs_of(repository, branch), trees, tuple(unsaved))


def only_there(
    repository: Repository, branch: str, commits: Collection[str], besides: Collection[str] = ()
) -> int:
    """Return how many commits are reachable from these alone: from no branch, tag or remote of the user's.

    Nor from those `besides`.

    Raises:
        Unavailable: git cannot tell now.

    """
    if not commits:
        return 0
    name = branch.removeprefix("task/")
    ours = (f"{_HEADS}{branch}", f"{_HEADS}task-work/{name}/*", "refs/tasks/*")
    own = (f"--exclude={each}" for each in ours)
    # Of one worktree only: what other worktrees stand on is part of `--all` otherwise, and the task has some.
    words = ["--single-worktree", *sorted(set(commits)), "--not", *besides, *own, "--all"]
    return int(repository.git.ask("rev-list", "--count", *words))


def drop_refs(repository: Repository, refs: Mapping[str, str]) -> None:
    """Remove refs, all of them or, where one is not where it was seen, none. Raises Unavailable."""
    order = "".join(f"delete {ref}\0{commit}\0" for ref, commit in refs.items())
    if order:
        repository.alter("update-ref", "--stdin", "-z", stdin=order.encode(errors="surrogateescape"))


def drop_trees(repository: Repository | None, root: Path) -> None:
    """Remove the worktrees in a folder, what git knows of them, and the folder; what is gone already is fine.

    Without a repository, which may be gone, only the folders.

    Raises:
        Unavailable: git, or the disk, cannot do it now.

    """
    for path in sorted(root.iterdir()) if root.is_dir() else ():
        if repository is not None and path.is_dir() and not path.is_symlink():
            Checkout.at(repository, path).remove()
    drop_folder(root)


def drop_folder(folder: Path) -> None:
    """Remove a folder and all in it, also what agents made read-only; links are removed, not followed.

    Raises:
        Unavailable: the disk cannot do it now.

    """
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
        return
    try:
        open_up(folder)
        shutil.rmtree(folder)
    except (OSError, RecursionError) as error:
        raise Unavailable(f"{folder} cannot be removed: {error}") from error


def _looked_at(repository: Repository, code: Path, path: Path, branch: str, base: str) -> tuple[str, bool]:
    """Return the commit on which a worktree stands, and whether all that lies there is committed.

    What git cannot look at may hold what is not.
    """
    import tempfile  # only where there is a worktree: what follows imports more than all else here

    from orchestrator.ports.worktree import Tree
    from orchestrator.workspaces.commit_work import base_of
    from orchestrator.workspaces.snapshot import seen

    tree = Tree(code, path.parent, path.name, branch, base)
    head = ""
    with suppress(Refused, Unavailable), tempfile.TemporaryDirectory() as folder:
        checkout = Checkout.at(repository, tree.path)
        head = checkout.head()
        start = head or base_of(repository, tree, tree.base)
        return head, seen(checkout, Path(folder) / "index", start) == repository.tree_of(start)
    return head, not any(tree.path.iterdir())
