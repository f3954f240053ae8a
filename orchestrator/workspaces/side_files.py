"""The files that lie beside a tree of ours, in the PM's own folder and so out of its agent's reach."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from orchestrator.hosts.disk import DiskFiles
from orchestrator.ports.worktree import Tree

NOTE_BYTES: Final = 256
"""The most that is read of the file that notes a commit."""

_OURS: Final = re.compile(r"\.?([a-z0-9][a-z0-9_-]*)(\.[0-9]+|\.base|\.(index|look)(\.lock)?)?")


def base_file(tree: Tree) -> Path:
    """Return where it is noted which commit the tree was last brought to."""
    return tree.root / f".{tree.name}.base"


def note_base(tree: Tree, commit: str) -> None:
    """Note to which commit the tree was brought. Raises OSError."""
    DiskFiles().write(base_file(tree), commit.encode(), durable=False)


def index_file(tree: Tree) -> Path:
    """Return the index of our own that snapshots of the tree are made with."""
    return tree.root / f".{tree.name}.index"


def look_file(tree: Tree) -> Path:
    """Return the index that a look at the tree is made with, beside which it may be committed."""
    return tree.root / f".{tree.name}.look"


def notes_of(tree: Tree) -> tuple[Path, ...]:
    """Return all files that may lie beside a tree, in the order in which they are removed.

    That which tells to what the tree was brought is the last: as long as it is there, something may remain of the tree.
    """
    made = (index_file(tree), look_file(tree))
    return (*(each.with_name(f"{each.name}.lock") for each in made), *made, base_file(tree))


def name_in(root_entry: str) -> str:
    """Return the name of the tree that something in the folder of all trees belongs to, or nothing."""
    found = _OURS.fullmatch(root_entry)
    return found[1] if found else ""
