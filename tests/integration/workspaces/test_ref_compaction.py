"""What was kept of a task's tries comes to lie on one ref when there is much of it, and none of it is lost."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from orchestrator.workspaces.ref_compaction import GATHERED
from orchestrator.workspaces.repository import Moved, Repository


def tries(workspaces, tree, *attempts: int) -> None:
    """Let an agent leave half a file in each attempt."""
    for attempt in attempts:
        workspaces.prepare(tree, attempt)
        (tree.path / "half.txt").write_text(f"half, attempt {attempt}")
    workspaces.release(tree, attempts[-1])


def test_one_ref_holds_all_kept_work(repo, tree, workspaces):
    """All that was kept is held by one ref that names the others."""
    tries(workspaces, tree, 1, 2, 3, 4)
    before = repo.refs("refs/tasks/")
    assert len(before) == 4
    assert workspaces.gather(repo.path, "task/demo", 3) == 4
    after = repo.refs("refs/tasks/")
    assert list(after) == [f"{GATHERED}demo"]
    output = repo.git("log", "-1", "--format=%B", f"{GATHERED}demo")
    for name, commit in before.items():
        assert f"{name} {commit}" in output
        assert repo.git("for-each-ref", "--contains", commit, "--format=%(refname)") == f"{GATHERED}demo"
        assert "half" in repo.at(commit, "half.txt")
    assert repo.git("status", "--porcelain") == ""


def test_few_stay_where_they_are(repo, tree, workspaces):
    tries(workspaces, tree, 1, 2)
    before = repo.refs("refs/")
    assert workspaces.gather(repo.path, "task/demo", 2) == 0
    assert repo.refs("refs/") == before


def test_what_is_kept_later_joins_what_was_gathered(repo, tree, workspaces):
    tries(workspaces, tree, 1, 2)
    first = list(repo.refs("refs/tasks/").values())
    workspaces.gather(repo.path, "task/demo", 0)
    tries(workspaces, tree, 3, 4)
    second = list(repo.refs("refs/tasks/task/").values())
    workspaces.gather(repo.path, "task/demo", 0)
    workspaces.gather(repo.path, "task/demo", 0)
    (ref,) = repo.refs("refs/tasks/")
    assert len(second) == 2
    for commit in first + second:
        assert repo.git("for-each-ref", "--contains", commit, "--format=%(refname)") == ref


def test_another_tasks_refs_are_not_touched(repo, tree, workspaces):
    other = replace(tree, branch="task/demo-2", name="parser-2")
    tries(workspaces, tree, 1, 2)
    tries(workspaces, other, 1, 2)
    kept = repo.refs("refs/tasks/task/demo-2/")
    workspaces.gather(repo.path, "task/demo", 0)
    assert repo.refs("refs/tasks/task/") == kept


@pytest.mark.parametrize("call", range(4))
def test_compaction_cut_off_anywhere_is_finished_later(repo, tree, workspaces, monkeypatch, call):
    """Cut off anywhere nothing is lost and it is finished the next time."""
    tries(workspaces, tree, 1, 2, 3)
    commits = set(repo.refs("refs/tasks/").values())
    alter, calls = Repository.alter, iter(range(100))

    def cut_off(self, *words, **named):
        if next(calls) == call:
            raise KeyboardInterrupt
        return alter(self, *words, **named)

    monkeypatch.setattr(Repository, "alter", cut_off)
    with pytest.raises(KeyboardInterrupt):
        workspaces.gather(repo.path, "task/demo", 0)
    contained = partial(repo.git, "for-each-ref", "refs/tasks", "--contains")
    assert all(contained(commit) for commit in commits)
    workspaces.gather(repo.path, "task/demo", 0)
    assert list(repo.refs("refs/tasks/")) == [f"{GATHERED}demo"]
    assert all(contained(commit) for commit in commits)


def test_a_ref_that_somebody_moves_meanwhile_stays(repo, tree, workspaces, monkeypatch):
    tries(workspaces, tree, 1, 2)

    def moved(self, ref, old):
        raise Moved(f"{ref} was moved by somebody else")

    monkeypatch.setattr(Repository, "drop", moved)
    workspaces.gather(repo.path, "task/demo", 0)
    assert len(repo.refs("refs/tasks/task/")) == 2
