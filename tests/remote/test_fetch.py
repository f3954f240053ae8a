"""Commits are brought from a repository on a real box by git itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.hosts.ssh.link import Link
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.box_link import Unreachable
from orchestrator.workspaces.fetching import fetch_head
from tests.remote.boxes import Box, Boxes

REFS_WITHOUT_END = """\
#!{python}
import sys

def line(text):
    data = text.encode()
    sys.stdout.buffer.write(b"%04x" % (len(data) + 4) + data)

if {version}:
    for each in ("version 2", "agent=git/2", "ls-refs", "fetch=shallow", "object-format=sha1"):
        line(each + "\\n")
    sys.stdout.buffer.write(b"0000")
    sys.stdout.buffer.flush()
    while sys.stdin.buffer.read(4) != b"0000":
        pass
number = 0
while True:
    number += 1
    line("1" * 40 + " refs/heads/%d-" % number + "x" * 3000 + "\\n")
"""
"""A git that names refs as long as somebody listens, by an old protocol or by today's."""

REF = "refs/tasks/task/demo/one/brought"


def git(where: Path, *words: str) -> str:
    who = ["-c", "user.name=A User", "-c", "user.email=user@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", "-C", where, *who, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    git(made, "init", "-q")
    (made / "readme").write_text("hello\n")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "first")
    return made


def cloned(project: Path, there: Path) -> str:
    """Make a clone with a commit more; return that."""
    git(project, "clone", "-q", str(project), str(there))
    (there / "far").write_text("far\n")
    git(there, "add", "-A")
    git(there, "commit", "-qm", "far")
    return git(there, "rev-parse", "HEAD")


def fetched(link: Link, there: str, project: Path, **bounds: int) -> str:
    quarantine = project.with_name("quarantine")
    try:
        return fetch_head(link, there, project, REF, os.environ, quarantine, **bounds)
    finally:
        assert not any(quarantine.iterdir())
        assert not list((project / ".git/objects/pack").glob("tmp_*"))


@pytest.mark.parametrize(
    "name", ["repo", "a repo", "50%20 'so' $(id)", "-repo", "ü", "\\'; touch x; echo \\'!"]
)
def test_head_is_brought_into_the_ref_and_nothing_else_changes(
    link: Link, box: Box, project: Path, name: str
) -> None:
    made = cloned(project, box.home / name)
    refs = git(project, "for-each-ref")
    assert fetched(link, str(box.home / name), project) == made
    assert git(project, "show", f"{REF}:far") == "far"
    new = set(git(project, "for-each-ref").splitlines()) - set(refs.splitlines())
    assert [line.split()[-1] for line in new] == [REF]
    assert not (project / "far").exists()


def test_a_box_whose_git_talks_without_end_is_left(link: Link, box: Box, project: Path) -> None:
    """What git there writes to its standard error comes to ours by the sideband, with the commits."""
    cloned(project, box.home / "repo")
    hook = box.home / "hook"
    hook.write_text("#!/bin/sh\nexec yes 'hello, hello, hello, hello' >&2\n")
    hook.chmod(0o700)
    (box.home / ".gitconfig").write_text(f"[uploadpack]\n\tpackObjectsHook = {hook}\n")
    with pytest.raises(Unavailable, match="printed more than 1,048,576 bytes"):
        fetched(link, str(box.home / "repo"), project)


@pytest.mark.parametrize("version", [0, 2])
def test_refs_without_end_are_refused(link: Link, box: Box, project: Path, version: int) -> None:
    """A program in the place of git there names refs as long as somebody listens: git here remembers them all."""
    made = cloned(project, box.home / "repo")
    bin_ = box.home / "bin"
    bin_.mkdir()
    (bin_ / "git-upload-pack").write_text(REFS_WITHOUT_END.format(python=sys.executable, version=version))
    (bin_ / "git-upload-pack").chmod(0o700)
    (box.home / ".bashrc").write_text(f"PATH={bin_}:$PATH\n")
    with pytest.raises(Refused, match="67,108,864 bytes of memory"):
        fetched(link, str(box.home / "repo"), project, memory=67_108_864)
    (bin_ / "git-upload-pack").unlink()
    assert fetched(link, str(box.home / "repo"), project, memory=67_108_864) == made


def test_brought_again_it_is_where_head_is_now(link: Link, box: Box, project: Path) -> None:
    cloned(project, box.home / "repo")
    fetched(link, str(box.home / "repo"), project)
    git(box.home / "repo", "reset", "-q", "--hard", "HEAD~1")
    expected = git(project, "rev-parse", "HEAD")
    assert fetched(link, str(box.home / "repo"), project) == expected


def test_a_folder_without_a_repository_or_a_commit_is_refused(link: Link, box: Box, project: Path) -> None:
    (box.home / "empty").mkdir()
    git(box.home / "empty", "init", "-q")
    for name in ("empty", "nowhere"):
        with pytest.raises(Refused, match="no commit that could be brought"):
            fetched(link, str(box.home / name), project)


def test_while_the_box_is_lost_nothing_is_said_of_its_repository(link: Link, box: Box, project: Path) -> None:
    cloned(project, box.home / "repo")
    box.stop()
    with pytest.raises(Unreachable):
        fetched(link, str(box.home / "repo"), project)


@pytest.fixture(params=["fish", "tcsh", "zsh", "dash"])
def account(request: pytest.FixtureRequest, boxes: Boxes) -> Box:
    """A box whose account has another login shell: what sshd is asked to run goes through that."""
    shell = shutil.which(str(request.param))
    if shell is None:
        pytest.skip(f"{request.param} is not installed")
    return boxes.add("beta", server=boxes.login_shell(shell))


@pytest.mark.parametrize(
    "name",
    [
        "\\'; touch pwned; echo \\'",
        "'; touch pwned; echo '",
        "!!",
        "x!y",
        "a\\",
        "$(touch pwned)",
        "two\nlines",
    ],
)
def test_place_is_no_command_of_any_login_shell(boxes: Boxes, account: Box, project: Path, name: str) -> None:
    """git quotes a path for a POSIX shell, which an account need not have."""
    link = Link(Address(account.name), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    made = cloned(project, account.home / name)
    assert fetched(link, str(account.home / name), project) == made
    assert not list(account.home.rglob("pwned"))
    link.close()


def test_commits_that_are_too_much_are_refused_and_leave_nothing(link: Link, box: Box, project: Path) -> None:
    cloned(project, box.home / "repo")
    (box.home / "repo/large").write_bytes(os.urandom(4_000_000))
    git(box.home / "repo", "add", "-A")
    git(box.home / "repo", "commit", "-qm", "large")
    before = sorted((project / ".git").rglob("*"))
    with pytest.raises(Refused, match="too much"):
        fetched(link, str(box.home / "repo"), project, largest=1_500_000)
    assert sorted((project / ".git").rglob("*")) == before
    assert fetched(link, str(box.home / "repo"), project, largest=6_000_000)


def test_commit_of_nothing_that_becomes_much_is_refused(link: Link, box: Box, project: Path) -> None:
    """A thousand folders that are one, with one file of zeros in it."""
    repo = box.home / "repo"
    cloned(project, repo)
    with (repo / "zeros").open("wb") as file:
        file.truncate(1_000_000)
    blob = git(repo, "hash-object", "-w", "zeros")
    tree = made_tree(repo, f"100644 blob {blob}\tzeros\n")
    for _ in range(3):
        tree = made_tree(repo, "".join(f"040000 tree {tree}\t{number}\n" for number in range(10)))
    commit = git(repo, "commit-tree", tree, "-p", "HEAD", "-m", "bomb")
    git(repo, "update-ref", "HEAD", commit)
    with pytest.raises(Refused, match="too much"):
        fetched(link, str(repo), project, tree=500_000_000)


def made_tree(repo: Path, entries: str) -> str:
    argv = ["git", "-C", str(repo), "mktree"]
    done = subprocess.run(argv, input=entries, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_shallow_project_takes_commits(link: Link, box: Box, project: Path, tmp_path: Path) -> None:
    cloned(project, box.home / "repo")
    (project / "more").write_text("more\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "more")
    git(box.home / "repo", "pull", "-q", "--rebase")
    made = git(box.home / "repo", "rev-parse", "HEAD")
    shallow = tmp_path / "shallow/project"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{project}", str(shallow))
    assert fetched(link, str(box.home / "repo"), shallow) == made
    assert git(shallow, "fsck", "--connectivity-only") == ""
