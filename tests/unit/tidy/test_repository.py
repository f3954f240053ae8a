import os
from pathlib import Path

import pytest
from errors import GitError
from repository import Repository, stays_inside


@pytest.fixture
def repository(project):
    return Repository(
        project({"a.py": "x = 1\n", "-b c.py": "y = 1\n", "new\nline.py": "", "data.bin": b"\0\1"})
    )


def test_python_files_have_any_name(repository):
    assert sorted(repository.python_files()) == ["-b c.py", "a.py", "new\nline.py"]


def test_links_and_names_that_are_no_text_are_no_python_files(project):
    folder = project({"a.py": ""})
    (folder / "link.py").symlink_to("/etc/hostname")
    (folder / os.fsdecode(b"caf\xe9.py")).touch()
    repository = Repository(folder)
    repository.git("add", "--all")
    repository.git("-c", "user.name=x", "-c", "user.email=x@y", "commit", "--quiet", "--message=more")
    assert repository.python_files() == ["a.py"]


def test_changes_have_their_lines(repository):
    first = repository.commit()
    (repository.folder / "a.py").write_text("x = 2\ny = 3\n", encoding="utf-8")
    (repository.folder / "new\tfile").touch()
    changes = {
        change.path: (change.added, change.removed, change.untracked) for change in repository.changes(first)
    }
    assert changes == {"a.py": (2, 1, False), "new\tfile": (None, None, True)}


def test_files_are_put_back(repository):
    for name in ("a.py", "-b c.py", "new\nline.py"):
        (repository.folder / name).write_text("z\n", encoding="utf-8")
    repository.restore(["a.py", "-b c.py", "new\nline.py"])
    assert repository.changes("HEAD") == []


def test_a_commit_is_laid_out_and_the_index_left_alone(repository, tmp_path):
    (repository.folder / "a.py").write_text("x = 2\n", encoding="utf-8")
    (tmp_path / "out").mkdir()
    repository.export("HEAD", tmp_path / "out", tmp_path / "index")
    assert (tmp_path / "out" / "a.py").read_text(encoding="utf-8") == "x = 1\n"
    assert [change.path for change in repository.changes("HEAD")] == ["a.py"]


def test_copy_has_current_files_and_no_escaping_links(repository, tmp_path):
    folder = repository.folder
    (folder / "inside").symlink_to("a.py")
    (folder / "outside").symlink_to(tmp_path)
    repository.git("add", "--all")
    repository.git("-c", "user.name=x", "-c", "user.email=x@y", "commit", "--quiet", "--message=links")
    (folder / "a.py").write_text("x = 2\n", encoding="utf-8")
    (folder / "untracked.py").touch()
    (tmp_path / "out").mkdir()
    repository.copy(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "-b c.py",
        "a.py",
        "data.bin",
        "inside",
        "new\nline.py",
    ]
    assert (tmp_path / "out" / "inside").read_text(encoding="utf-8") == "x = 2\n"


@pytest.mark.parametrize(
    ("link", "target", "inside"),
    [
        ("a", "b", True),
        ("d/a", "../b", True),
        ("a", "../b", False),
        ("d/a", "../../b", False),
        ("a", "d/../../d/b", False),
        ("a", "/etc", False),
    ],
)
def test_where_a_link_leads(link, target, inside):

    assert stays_inside(link, Path(target)) is inside


def test_a_linked_tree_is_known_and_the_users_one_found(repository, tmp_path):
    repository.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"))
    linked = Repository(tmp_path / "tree")
    assert (linked.is_linked(), repository.is_linked()) == (True, False)
    assert linked.users_tree(repository.folder) == repository.folder
    assert linked.users_tree(tmp_path) == repository.folder


def test_git_says_what_is_wrong(tmp_path):
    with pytest.raises(GitError, match="not a git repository"):
        Repository(tmp_path).commits("HEAD")


def test_hooks_of_the_repository_are_not_run(repository):
    hook = repository.folder / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ran\n", encoding="utf-8")
    hook.chmod(0o755)
    (repository.folder / "a.py").write_text("", encoding="utf-8")
    repository.restore(["a.py"])
    assert not (repository.folder / "ran").exists()
