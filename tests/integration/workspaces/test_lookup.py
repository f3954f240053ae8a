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


@pytest.mark.parametrize("standing", [("switch", "-q"), ("checkout", "-q", "--detach")])
def test_who_looks_at_the_branch_has_not_merged_it(repo, tree, workspaces, standing) -> None:
    """ "All of it in your tree's HEAD … it is merged already", to somebody who had only switched to the branch."""
    workspaces.prepare(tree, 1)
    (tree.path / "greet.py").write_text("HELLO = 1\n")
    commit, _ = workspaces.commit(tree, "Greet")
    workspaces.merge(tree, commit)
    mine = repo.git("symbolic-ref", "--short", "HEAD")
    repo.git(*standing, tree.branch)
    assert not workspaces.survey(repo.path, tree.branch, tree.base).merged
    repo.git("switch", "-q", mine)
    repo.git("merge", "-q", tree.branch)
    assert workspaces.survey(repo.path, tree.branch, tree.base).merged


def test_path_through_a_link_is_not_ignored(tree, workspaces):
    """An agent's link in the tree led git to an error, as if it could not tell for now."""
    workspaces.prepare(tree, 1)
    (tree.path / ".gitignore").write_text("config\nconfig/local.toml\n")
    assert workspaces.ignored(tree, ("config/local.toml",)) == ("config/local.toml",)
    (tree.path / "config").symlink_to(tree.path.parent)
    assert workspaces.ignored(tree, ("config/local.toml",)) == ()
