"""No program runs that the configuration of the user's own repository names: any agent can write there."""

import os
import time
from pathlib import Path

import pytest

from orchestrator.formats import git_config
from orchestrator.workspaces.git_process import Git, standing
from orchestrator.workspaces.repository import Repository


@pytest.fixture
def ran(tmp_path):
    """Make a program that passes on what it gets, and leaves word that it ran."""
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\ntouch "{tmp_path}/ran"\ncat\n')
    program.chmod(0o755)
    return tmp_path / "ran"


def evil(ran: Path) -> str:
    return str(ran.with_name("program"))


@pytest.mark.parametrize("what", ["clean", "smudge", "process"])
@pytest.mark.parametrize("where", ["config", "include", "worktree"])
def test_a_filter_of_the_repository_is_not_run(repo, tree, workspaces, ran, what, where, tmp_path):
    """An agent in a worktree of ours shares the configuration of the user's repository."""
    place = workspaces.prepare(tree, 1)
    words = {
        "config": ["config"],
        "include": ["config", "--file", str(tmp_path / "more")],
        "worktree": ["config", "--worktree"],
    }[where]
    if where == "include":
        repo.git("config", "include.path", str(tmp_path / "more"))
    if where == "worktree":
        repo.git("config", "extensions.worktreeConfig", "true")
    repo.git(*words, f"filter.a=b.{what}", evil(ran), cwd=place)
    repo.git(*words, "filter.a=b.required", "true", cwd=place)
    (place / ".gitattributes").write_text("* filter=a=b\n")
    (place / "work.txt").write_text("work")
    commit, files = workspaces.commit(tree, "Work")
    assert (files, repo.at(commit, "work.txt")) == (2, "work")
    (place / "work.txt").unlink()
    workspaces.prepare(tree, 2)
    assert not ran.exists()


def test_a_merge_driver_of_the_repository_is_not_run(repo, tree, workspaces, ran):
    """The text is merged as git does it by itself."""
    repo.save({".gitattributes": "*.txt merge=d\n", "a.txt": "1\n2\n3\n4\n5\n"}, "base")
    base = repo.git("rev-parse", "HEAD")
    repo.git("switch", "-qc", "one")
    ours = repo.save({"a.txt": "one\n2\n3\n4\n5\n"}, "one").git("rev-parse", "HEAD")
    repo.git("switch", "-q", "--detach", base)
    theirs = repo.save({"a.txt": "1\n2\n3\n4\nfive\n"}, "five").git("rev-parse", "HEAD")
    repo.git("config", "merge.d.driver", evil(ran))
    merged = Git(repo.path, 60.0, os.environ).ask("merge-tree", "--write-tree", ours, theirs)
    assert repo.at(merged, "a.txt") == "one\n2\n3\n4\nfive"
    assert not ran.exists()


def test_a_filter_of_the_user_s_own_is_run(repo, tree, workspaces, ran, git_config):
    """It is how git-lfs is installed; what the repository says of it instead is not heard."""
    repo.git("config", "--file", str(git_config), "filter.lfs.clean", evil(ran))
    repo.git("config", "filter.lfs.clean", "false")
    place = workspaces.prepare(tree, 1)
    (place / ".gitattributes").write_text("*.bin filter=lfs\n")
    (place / "large.bin").write_text("large")
    commit, _ = workspaces.commit(tree, "Work")
    assert repo.at(commit, "large.bin") == "large"
    assert ran.exists()


def counted(looks):
    def overriding(said, real=git_config.overriding):
        looks.append(said)
        return real(said)

    return overriding


def test_a_configuration_at_rest_is_not_looked_at_again(repo, monkeypatch):
    """One look is enough as long as nothing changes, and none that is too young to tell is kept."""
    looks: list[bytes] = []

    folder = str(repo.path / ".git")
    git = Git(repo.path, 60.0, os.environ, {"GIT_DIR": folder})
    monkeypatch.setattr(git_config, "overriding", counted(looks))
    git.ask("rev-parse", "HEAD")
    git.ask("rev-parse", "HEAD")
    assert len(looks) == 2
    later = time.time_ns() + 3_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: later)
    git.ask("rev-parse", "HEAD")
    git.ask("rev-parse", "HEAD")
    assert len(looks) == 3
    repo.git("config", "filter.x.clean", "evil")
    git.ask("rev-parse", "HEAD")
    assert len(looks) == 4


def test_one_git_that_runs_nothing_finds_the_repository(repo, ran, monkeypatch):
    """Each call of a workspace asks: for this one question, nothing is looked at ahead of it."""
    keys = ("alias.rev-parse", "core.fsmonitor", "core.pager", "core.sshCommand", "core.alternateRefsCommand")
    for key in keys:
        repo.git("config", key, ("!" if key.startswith("alias") else "") + evil(ran))
    for key in ("pager.rev-parse", "core.untrackedCache", "remote.origin.promisor"):
        repo.git("config", key, "true")
    looks: list[bytes] = []
    monkeypatch.setattr(git_config, "overriding", counted(looks))
    found = Repository.of(repo.path, 60.0, os.environ)
    assert (found.folder, found.prefix) == (repo.path.resolve() / ".git", "")
    assert looks == []
    assert not ran.exists()


def test_a_commondir_that_is_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "commondir")
    assert standing(str(tmp_path)) == ()
