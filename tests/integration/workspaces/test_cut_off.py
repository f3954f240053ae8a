"""Calls cut off between any two git commands, or in the middle of one, and made again (law 4)."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.model.errors import Unavailable
from orchestrator.workspaces.git import GitWorkspaces
from orchestrator.workspaces.git_process import Git
from tests.polling import wait_until

from .conftest import KEPT


class Killed(BaseException):
    """The daemon dies here."""


@pytest.fixture(
    params=[
        3,
        pytest.param(
            1, marks=pytest.mark.thorough(reason="each command costs a whole call: a minute of git")
        ),
    ]
)
def sweep(monkeypatch, request):
    """Kill a call behind each git command, or each third, and call again to its end; yield what that returned.

    `ready` is called ahead of each, and not killed. Both get the number of the command.
    """
    run = Git.run

    def killing(n: int) -> Any:
        count = 0

        def counted(self: Git, *arguments: str, **more: Any) -> tuple[int, bytes]:
            nonlocal count
            count += 1
            answer = run(self, *arguments, **more)
            if count == n:
                raise Killed
            return answer

        return counted

    def swept(
        call: Callable[[int], Any], ready: Callable[[int], Any] = lambda n: n
    ) -> Iterator[tuple[int, Any]]:
        for n in range(1, 60, request.param):
            ready(n)
            with monkeypatch.context() as armed:
                armed.setattr(Git, "run", killing(n))
                with suppress(Killed):
                    call(n)
                    assert n > 3  # it came to its end: all of its commands were swept
                    return
            yield n, call(n)
        pytest.fail("it never came to an end")

    return swept


def test_prepare(repo, tree, workspaces, sweep):
    for _, path in sweep(lambda n: workspaces.prepare(replace(tree, name=f"t{n}"), 1)):
        assert repo.git("status", "--porcelain", "--ignored", cwd=path) == ""
        assert repo.git("rev-parse", "HEAD", cwd=path) == tree.base
    assert repo.refs("refs/tasks/") == {}


def test_prepare_of_a_tree_with_work_in_it(repo, tree, workspaces, sweep):
    def ready(n):
        each = replace(tree, name=f"t{n}")
        workspaces.prepare(each, 1)
        (each.path / "committed.txt").write_text("committed")
        workspaces.commit(each, "x")
        (each.path / "half.txt").write_text("half")

    for n, path in sweep(lambda n: workspaces.prepare(replace(tree, name=f"t{n}"), 2), ready):
        assert repo.git("status", "--porcelain", "--ignored", cwd=path) == ""
        assert repo.git("rev-parse", "HEAD", cwd=path) == tree.base
        kept = repo.refs(f"refs/tasks/task/demo/t{n}/").values()
        assert any({"committed.txt", "half.txt"} <= repo.names(commit) for commit in kept)


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside other work"])
def test_commit(repo, tree, workspaces, sweep, beside):
    def ready(n):
        workspaces.prepare(replace(tree, name="mine"), n)
        if beside:  # the task's branch moves on while this tree is worked in
            repo.git("checkout", "-q", "task/demo")
            repo.save({f"other{n}.txt": "other"}, "other work")
            repo.git("checkout", "-q", "main")
        (tree.root / "mine" / "new.txt").write_text("new")

    for n, (commit, files) in sweep(lambda _: workspaces.commit(replace(tree, name="mine"), "x"), ready):
        tip = repo.refs("refs/heads/task/demo")["refs/heads/task/demo"]
        assert repo.git("rev-parse", f"{commit}^") == tip
        assert repo.git("status", "--porcelain", cwd=tree.root / "mine") == ""
        assert "new.txt" in repo.names(commit)
        assert (f"other{n}.txt" in repo.names(commit)) == beside
        assert files == 1


def test_merge(repo, tree, workspaces, sweep):
    workspaces.prepare(tree, 1)
    (tree.path / "new.txt").write_text("new")
    commit, _ = workspaces.commit(tree, "x")

    def back(_):
        repo.git("update-ref", "refs/heads/task/demo", tree.base)

    for _, reason in sweep(lambda _: workspaces.merge(tree, commit), back):
        assert reason == ""
        assert repo.refs("refs/heads/task/demo")["refs/heads/task/demo"] == commit


def test_release(repo, tree, workspaces, sweep):
    def ready(n):
        workspaces.prepare(tree, n)
        (tree.path / "half.txt").write_text(f"half {n}")

    for n, _ in sweep(lambda n: workspaces.release(tree, n), ready):
        assert not tree.path.exists()
        assert list((repo.path / ".git" / "worktrees").glob("*")) == []
        assert any(repo.at(commit, "half.txt") == f"half {n}" for commit in repo.refs(KEPT).values())


def test_a_git_that_hangs_is_killed_with_what_it_started(repo, tmp_path):
    shim = tmp_path / "bin"
    shim.mkdir()
    (shim / "git").write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {tmp_path}/pid\nwait\n")
    (shim / "git").chmod(0o755)
    slow = GitWorkspaces(0.3, environ={"PATH": f"{shim}:{os.environ['PATH']}"})
    began = time.monotonic()
    with pytest.raises(
        Unavailable, match=r"`git rev-parse` in .* did not end within 0.3 seconds \(git.timeout\)"
    ):
        slow.head(repo.path)
    assert time.monotonic() - began < 5
    wait_until(lambda: not alive(int((tmp_path / "pid").read_text())))


def alive(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def test_git_killed_in_the_middle_of_making_a_tree(repo, tree, tmp_path, git_config):
    """The shim kills git once it has begun to write files, as the kernel would for want of memory."""
    repo.save({f"dir{n}/file{m}.txt": "x" * 100 for n in range(20) for m in range(20)}, "many")
    tree = replace(tree, base=repo.git("rev-parse", "HEAD"))
    shim = tmp_path / "bin"
    shim.mkdir()
    (shim / "git").write_text(
        '#!/bin/sh\ncase " $* " in *" worktree add "*) ;; *) exec /usr/bin/env PATH="$REAL" git "$@";; esac\n'
        f'[ -e {tmp_path}/done ] && exec /usr/bin/env PATH="$REAL" git "$@"\ntouch {tmp_path}/done\n'
        'PATH="$REAL" git "$@" & pid=$!\n'
        f"while [ ! -e {tree.path}/dir3 ] && kill -0 $pid; do :; done\nkill -9 $pid\nwait $pid\n"
    )
    (shim / "git").chmod(0o755)
    path = os.environ["PATH"]
    environ = {"PATH": f"{shim}:{path}", "REAL": path, "GIT_CONFIG_GLOBAL": str(git_config)}
    workspaces = GitWorkspaces(environ=environ)
    with pytest.raises(Unavailable, match=r"`git worktree` in .* failed"):
        workspaces.prepare(tree, 1)
    workspaces.prepare(tree, 1)
    assert repo.git("status", "--porcelain", "--ignored", cwd=tree.path) == ""
    assert repo.refs("refs/tasks/") == {}
    assert len(list(tree.path.glob("dir*/*"))) == 400


def test_worktree_in_the_making_elsewhere_stops_nothing(repo, tree, tmp_path, git_config):
    """A worktree that another git is just making does not stop this one."""
    shim = tmp_path / "bin"
    shim.mkdir()
    (shim / "git").write_text(
        f'#!/bin/sh\ncase " $* " in *" worktree add "*) if [ ! -e {tmp_path}/done ]; then touch {tmp_path}/done\n'
        "echo 'fatal: failed to read /x/.git/worktrees/t2/commondir: Success' >&2; exit 128; fi;; esac\n"
        'PATH="$REAL" exec git "$@"\n'
    )
    (shim / "git").chmod(0o755)
    path = os.environ["PATH"]
    environ = {"PATH": f"{shim}:{path}", "REAL": path, "GIT_CONFIG_GLOBAL": str(git_config)}
    assert (GitWorkspaces(environ=environ).prepare(tree, 1) / "readme.txt").exists()
    assert (tmp_path / "done").exists()
