"""What lasts is refused with what to do; what may pass is tried again."""

from __future__ import annotations

import pytest

from orchestrator.model.errors import Refused, Unavailable
from orchestrator.workspaces.git_errors import remedy_for


def _object(repo, name: str):
    sha = repo.git("rev-parse", name)
    path = repo.path / ".git" / "objects" / sha[:2] / sha[2:]
    path.chmod(0o644)
    return path


@pytest.mark.parametrize("how", ["garbled", "emptied", "gone"])
@pytest.mark.parametrize("name", ["main:readme.txt", "main^{tree}"])
def test_a_damaged_object_is_no_passing_trouble(repo, tree, workspaces, how, name) -> None:
    path = _object(repo, name)
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(b"garbage" if how == "garbled" else b"")
    with pytest.raises(Refused, match="git fsck"):
        workspaces.prepare(tree, 1)


def test_work_is_kept_from_a_repository_damaged_meanwhile(repo, tree, workspaces) -> None:
    """The commit is refused at once, and made when the damage was mended: nothing was cleaned."""
    workspaces.prepare(tree, 1)
    (tree.path / "new.txt").write_text("new")
    path = _object(repo, "main^{tree}")
    data = path.read_bytes()
    path.write_bytes(b"")
    with pytest.raises(Refused, match="git fsck"):
        workspaces.commit(tree, "x")
    path.write_bytes(data)
    assert workspaces.commit(tree, "x")[1] == 1


def test_a_configuration_that_does_not_read_is_named(repo, tree, workspaces) -> None:
    with (repo.path / ".git" / "config").open("a") as file:
        file.write("[core\n")
    with pytest.raises(Refused, match="bad config line"):
        workspaces.prepare(tree, 1)


def test_a_lock_that_somebody_holds_is_waited_for(repo, tree, workspaces) -> None:
    workspaces.prepare(tree, 1)
    (repo.path / ".git" / "refs" / "heads" / "task-work" / "demo" / "parser.lock").touch()
    (tree.path / "new.txt").write_text("new")
    with pytest.raises(Unavailable, match="lock"):
        workspaces.commit(tree, "x")


def test_a_line_break_in_the_path_is_refused(repo, workspaces) -> None:
    odd = repo.path.rename(repo.path.with_name("two\nlines"))
    with pytest.raises(Refused, match="rename it"):
        workspaces.head(odd)


@pytest.mark.parametrize(
    "said",
    [
        "fatal: Unable to create '/p/.git/index.lock': File exists.",
        "error: could not write config file: No space left on device",
        "fatal: write error: Read-only file system",
        "fatal: unable to access 'https://host/': Could not resolve host",
        "error: cannot lock ref 'refs/heads/x': is at 1 but expected 2",
        "",
    ],
)
def test_what_may_pass_has_no_remedy(said: str) -> None:
    assert remedy_for(said) == ""
