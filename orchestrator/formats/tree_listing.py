"""How a tree that is not the task's own stands: each file that differs from its commit, by content.

Two listings tell which files were changed between them. What was touched, staged or committed and has the same content
is no change; what programs leave for themselves is none either.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from hashlib import sha1, sha256
from typing import Final

CACHES: Final = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache")
"""Folders that running code, tests or linters leaves behind."""

PREPARED: Final = ".orchestrator-prepared"
"""The folder in a worktree that says for which content it was made ready."""

LITTER: Final = (
    f"{PREPARED}/",
    ".aider.tags.cache.v*/",
    ".aider.chat.history.md",
    ".aider.input.history",
    *(f"{name}/" for name in CACHES),
)
"""What programs leave in a tree for themselves, though nobody asked for it: it is nobody's work. As in .gitignore."""

LARGEST: Final = 16 * 1_048_576
"""Bytes of a file up to which it is told by its content; a larger one by its size, time and inode."""

MOST: Final = 20_000
"""How many files a listing may have. Of more nobody can tell whether they were changed."""

GONE: Final = "gone"
_FILE, _PROGRAM = "100644", "100755"
_NOTHING: Final = "000000"
_VERSION: Final = 2  # of the first one there were only hashes
_SHA256: Final = 64


@dataclass(frozen=True, slots=True)
class TreeListing:
    """A tree: git's name of the files of its commit (`head`, empty without git), and a word for each that differs.

    Of a file the word is its mode and git's name of its content. What lies in the folder `without` does not count.
    """

    head: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    without: str = ""

    def has_place_for(self, name: str) -> bool:
        """Return whether a file counts: it is no litter, and is not left out."""
        return not (is_litter(name) or (self.without and name.startswith(f"{self.without}/")))

    def __str__(self) -> str:
        """Return it as `read_listing` reads it."""
        document = {
            "version": _VERSION,
            "head": self.head,
            "files": dict(self.files),
            "without": self.without,
        }
        return json.dumps(document)


def read_listing(text: str) -> TreeListing | None:
    """Return the listing that a text holds; None if it holds none, or one of an earlier version."""
    try:
        read = json.loads(text)
        if read["version"] != _VERSION:
            return None
        files = {str(name): str(word) for name, word in read["files"].items()}
        return TreeListing(str(read["head"]), files, str(read["without"]))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def differing(before: TreeListing, now: TreeListing, moved: Mapping[str, tuple[str, str]]) -> tuple[str, ...]:
    """Return the files that differ between two listings, sorted.

    `moved` gives the words of each file in which the two commits differ. A file in neither is as both commits have it.
    """
    names = sorted({*before.files, *now.files, *moved})
    return tuple(
        name
        for name in names
        if now.has_place_for(name)
        and before.files.get(name, moved.get(name, ("", ""))[0])
        != now.files.get(name, moved.get(name, ("", ""))[1])
    )


def raw_changes(raw: str) -> dict[str, tuple[str, str]]:
    """Return the words of each file that `git diff-tree --raw -z` or `git diff-index --raw -z` lists, on both sides."""
    parts = raw.split("\0")[:-1]
    found = {}
    for entry, name in zip(parts[::2], parts[1::2], strict=False):
        old_mode, new_mode, old, new = entry.removeprefix(":").split(" ")[:4]
        found[name] = _word(old_mode, old), _word(new_mode, new)
    return found


def word_of(mode: int, content: bytes, name_length: int = 0) -> str:
    """Return the word of a file with this content, in a repository whose names of contents are so long."""
    kind = sha256 if name_length == _SHA256 else sha1
    content_name = kind(b"blob %d\0" % len(content) + content).hexdigest()
    return f"{_PROGRAM if mode & 0o100 else _FILE} {content_name}"


def link_word(target: bytes, name_length: int = 0) -> str:
    """Return the word of a symbolic link."""
    return f"120000 {word_of(0, target, name_length).partition(' ')[2]}"


def is_litter(name: str) -> bool:
    """Return whether a file is what programs leave for themselves, by its path; one of a folder ends in a slash."""
    *folders, last = name.split("/")
    for pattern in LITTER:
        if pattern.endswith("/"):
            if any(fnmatchcase(folder, pattern[:-1]) for folder in folders):
                return True
        elif fnmatchcase(last, pattern):
            return True
    return False


def _word(mode: str, content_name: str) -> str:
    return GONE if mode == _NOTHING else f"{mode} {content_name}"
