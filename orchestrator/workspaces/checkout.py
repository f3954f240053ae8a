"""One worktree of ours on the disk: found, made, brought to a commit, cleaned, removed.

Git is told where the tree's own git folder is (`GIT_DIR`) and never asked to find it: the file `.git` in the
tree may have been changed by whoever worked there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from orchestrator import plain_files
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.workspaces.git_process import Git, GitFailed
from orchestrator.workspaces.locks import Locked, look_at
from orchestrator.workspaces.repository import Repository
from orchestrator.workspaces.worktree_registration import is_forgotten, linked, registered, restore

_UNDER_WAY: Final = ("rebase-merge", "rebase-apply", "sequencer", "BISECT_LOG", "BISECT_START")
"""What git leaves in a tree's folder while it is in the middle of something that `reset` does not end."""

_INITIALIZING: Final = b"initializing"
_LOCKS: Final = ("index.lock", "HEAD.lock", "logs/HEAD.lock")


@dataclass(frozen=True, slots=True)
class Checkout:
    """A worktree of ours. `folder` is git's own folder for it, None while git knows of no tree at `path`."""

    repository: Repository
    path: Path
    folder: Path | None

    @classmethod
    def at(cls, repository: Repository, path: Path) -> Checkout:
        """Look what is at `path`. A symbolic link there is taken away, never followed.

        Raises:
            Refused: something else than a folder is there.

        """
        with contextlib.suppress(FileNotFoundError):
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                path.unlink()
            elif not stat.S_ISDIR(mode):
                raise Refused(f"{path} is not a folder: move it away")
        return cls(repository, path, registered(repository, path))

    @property
    def there(self) -> bool:
        """True if a folder lies at its path."""
        return self.path.is_dir()

    @property
    def unfinished(self) -> bool:
        """True if git was killed while it made this tree: nobody can have worked in it."""
        if self.folder is None:
            return False
        with contextlib.suppress(OSError):
            return plain_files.head(self.folder / "locked", len(_INITIALIZING)) == _INITIALIZING
        return False

    @property
    def sound(self) -> bool:
        """True if it can be brought to a commit as it stands, and need not be made anew."""
        if self.folder is None or self.unfinished or not (self.folder / "index").is_file():
            return False
        if any((self.folder / name).exists() for name in _UNDER_WAY):
            return False
        return self.linked

    @property
    def linked(self) -> bool:
        """True if the folder is the one that git made: it still names git's own folder for it."""
        return self.folder is not None and linked(self.path) == self.folder

    def git(self) -> Git:
        """Return git as seen from this tree.

        Raises:
            Unavailable: git knows of no tree here.

        """
        if self.folder is None:
            raise Unavailable(f"git knows of no worktree at {self.path}")
        return replace(
            self.repository.git,
            cwd=self.path,
            variables={"GIT_DIR": str(self.folder), "GIT_WORK_TREE": str(self.path)},
        )

    def remembered(self, branch: str, commit: str) -> Checkout:
        """Return the tree as git knows it, after what git has forgotten of it was put back.

        It then stands on `branch`, if that is given and there is such a branch, else on `commit`; its files stay.
        """
        folder = linked(self.path)
        if self.folder is not None or folder is None or not is_forgotten(self.repository, self.path):
            return self
        stands = self.repository.commit_of(f"refs/heads/{branch}") if branch else ""
        restore(self.path, folder, f"ref: refs/heads/{branch}" if stands else commit)
        found = replace(self, folder=folder)
        found.git().ask("read-tree", stands or commit)
        return found

    def head(self) -> str:
        """Return the commit that the tree stands on; empty if it stands on none."""
        return self.git().find("rev-parse", "--verify", "--quiet", "HEAD^{commit}")

    def stand(self, commit: str, branch: str) -> None:
        """Let the tree stand on `branch`, which is at `commit`; with no branch, on `commit` itself."""
        self.unlock()
        if branch:
            self.git().ask("symbolic-ref", "HEAD", f"refs/heads/{branch}")
        else:
            self.git().ask("update-ref", "--no-deref", "HEAD", commit)

    def clean(self, commit: str) -> None:
        """Make all files those of `commit`, and take away every other one, ignored or not."""
        self.unlock()
        self.git().ask("reset", "--quiet", "--hard", commit)
        self.git().ask("clean", "-ffdxq")
        sweep(self.path)

    def make(self, commit: str, branch: str) -> Checkout:
        """Make the tree anew in place of whatever is at its path, on `branch`, which is at `commit`; detached without.

        It is one call of git: a tree that is there stands where it is to stand.
        """
        with contextlib.suppress(GitFailed):
            self.remove()
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Twice --force: over a registration whose folder is gone, even if it is locked.
        where = ("--", str(self.path), branch) if branch else ("--detach", "--", str(self.path), commit)
        self.repository.alter("worktree", "add", "--quiet", "--force", "--force", *where)
        return Checkout.at(self.repository, self.path)

    def remove(self) -> None:
        """Remove the tree's folder, then what git knows of it. Links in it are removed, not followed."""
        if self.there:
            try:
                open_up(self.path)
                shutil.rmtree(self.path)
            except (OSError, RecursionError) as error:
                raise Unavailable(f"{self.path} cannot be removed: {error}") from error
        if self.folder is not None:
            self.repository.git.ask("worktree", "remove", "--force", "--force", "--", str(self.path))

    def unlock(self) -> None:
        """Clear away the locks that a killed git left in the tree's folder: nobody works here now.

        Raises:
            Unavailable: a git that was left behind here is at work.

        """
        for name in _LOCKS if self.folder else ():
            path = self.git_folder / name
            if (lock := look_at(path)) is None:
                continue
            if lock.holders:
                raise Locked(lock.story(self.repository.git.deadline))
            path.unlink(missing_ok=True)

    @property
    def git_folder(self) -> Path:
        """Git's own folder for this tree."""
        return Path(self.git().variables["GIT_DIR"])


def open_up(root: Path) -> None:
    """Give the owner back their rights on everything beneath `root`, so that it can be read and removed."""
    root.chmod(root.stat().st_mode | 0o700)
    for folder, folders, files, handle in os.fwalk(root, follow_symlinks=False):
        del folder
        for name in (*folders, *files):
            found = os.stat(name, dir_fd=handle, follow_symlinks=False)
            wanted = 0o700 if stat.S_ISDIR(found.st_mode) else 0o600
            if not stat.S_ISLNK(found.st_mode) and found.st_mode & wanted != wanted:
                os.chmod(name, stat.S_IMODE(found.st_mode) | wanted, dir_fd=handle)


def sweep(root: Path) -> None:
    """Remove pipes, sockets and devices beneath `root`: git neither keeps nor cleans them, and they hold nothing."""
    folders = [str(root)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif not (entry.is_symlink() or entry.is_file(follow_symlinks=False)):
                    Path(entry.path).unlink()
