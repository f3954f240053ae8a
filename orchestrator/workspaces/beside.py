"""The files that lie beside a tree of ours, in the PM's own folder and so out of its agent's reach."""

from __future__ import annotations

from pathlib import Path

from orchestrator.ports.workspaces import Tree


def base_file(tree: Tree) -> Path:
    """Return where it is noted which commit the tree was last brought to."""
    return tree.root / f".{tree.name}.base"


def index_file(tree: Tree) -> Path:
    """Return the index of our own that snapshots of the tree are made with."""
    return tree.root / f".{tree.name}.index"
