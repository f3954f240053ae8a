"""What a branch has at a path, of kinds that only a real repository knows."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("goal", ["/etc/passwd", "nowhere", "readme.txt"])
def test_a_link_on_a_branch_is_no_file_of_lines(repo, tree, workspaces, goal) -> None:
    """`link:1` to /etc/passwd was evidence: "1 line on the branch". Its one line was the path."""
    workspaces.prepare(tree, 1)
    (tree.path / "link").symlink_to(goal)
    commit, _ = workspaces.commit(tree, "a link")
    workspaces.merge(tree, commit)
    seen = workspaces.file_on(repo.path, tree.branch, "link")
    assert seen is not None
    assert seen.is_link
    assert not seen.lines
    assert not workspaces.file_on(repo.path, tree.branch, "readme.txt").is_link
