"""What every `Workspaces` must do with a tree and the work in it, in a git repository and in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.workspaces import LeftOut
from orchestrator.ports.worktree import AtOdds, TreeLost
from tests.contract.workspaces.worlds import KEPT


def test_a_tree_is_made_at_the_base(world, tree):
    assert world.workspaces.prepare(tree, 1) == tree.path
    assert world.files(tree) == {"readme.txt": "hello\n"}
    assert world.refs("task") == {"task/demo": tree.base, "task-work/demo/parser": tree.base}
    assert world.workspaces.where(tree) == tree.path


def test_git_folder_is_the_project_s(world):
    assert world.workspaces.folder(world.project) == world.project / ".git"


def test_the_work_becomes_one_commit_on_the_trees_branch(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    world.put(tree, "changed", "readme.txt")
    commit, files = world.workspaces.commit(tree, "Write a parser")
    assert files == 2
    assert world.at(commit) == {"new.txt": "new", "readme.txt": "changed"}
    assert world.message(commit) == "Write a parser"
    assert world.parent(commit) == tree.base
    assert world.refs("task") == {"task/demo": tree.base, "task-work/demo/parser": commit}


def test_a_commit_asked_for_again_is_the_same_one(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    first = world.workspaces.commit(tree, "Work")
    assert world.workspaces.commit(tree, "Work") == first


def test_more_work_makes_another_commit_in_its_place(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    world.workspaces.commit(tree, "Work")
    world.put(tree, "newer", "newer.txt")
    commit, files = world.workspaces.commit(tree, "Work")
    assert (world.parent(commit), files) == (tree.base, 2)


def test_without_a_change_there_is_no_commit(world, tree):
    world.workspaces.prepare(tree, 1)
    assert world.workspaces.commit(tree, "Nothing") == ("", 0)
    world.put(tree, "hello\n", "readme.txt")
    assert world.workspaces.commit(tree, "Nothing") == ("", 0)
    assert world.refs("task-work/demo/parser") == {"task-work/demo/parser": tree.base}


def test_plain_tree_leaves_nothing_out(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "work", "work.txt")
    assert world.workspaces.left_out(tree) == LeftOut()


def test_commits_of_an_agent_become_one_commit(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "one", "one.txt")
    world.commit_by_hand(tree)
    world.put(tree, "two", "two.txt")
    commit, files = world.workspaces.commit(tree, "Work")
    assert (world.parent(commit), files) == (tree.base, 2)
    assert set(world.at(commit)) == {"one.txt", "readme.txt", "two.txt"}


def test_a_commit_needs_its_tree_and_a_branch(world, tree):
    with pytest.raises(TreeLost, match="is gone"):
        world.workspaces.commit(tree, "Work")
    look = replace(tree, name="look", detached=True)
    world.workspaces.prepare(look, 1)
    with pytest.raises(Refused, match="no branch of its own"):
        world.workspaces.commit(look, "Work")


def test_the_tasks_branch_moves_forward_to_a_commit(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    commit, _ = world.workspaces.commit(tree, "Work")
    assert world.workspaces.merge(tree, commit) == ""
    assert world.refs("task/demo")["task/demo"] == commit
    assert world.workspaces.merge(tree, commit) == ""


def test_a_commit_already_merged_stays_merged(world, tree):
    world.workspaces.prepare(tree, 1)
    assert world.workspaces.merge(tree, tree.base) == ""
    assert world.workspaces.commit(tree, "Nothing") == ("", 0)


def test_the_tasks_branch_moves_in_no_other_way(world, tree):
    other = replace(tree, name="other")
    for each in (tree, other):
        world.workspaces.prepare(each, 1)
        world.put(each, each.name, f"{each.name}.txt")
    one, _ = world.workspaces.commit(tree, "One")
    two, _ = world.workspaces.commit(other, "Two")
    assert world.workspaces.merge(tree, one) == ""
    assert "does not build on" in world.workspaces.merge(other, two)
    assert world.refs("task/demo")["task/demo"] == one
    assert "there is no commit" in world.workspaces.merge(tree, "f" * 40)
    with pytest.raises(Refused, match="not a commit's full hash"):
        world.workspaces.merge(tree, "--all")


def test_work_done_beside_other_work_is_joined_with_it(world, tree):
    other = replace(tree, name="other")
    for each in (tree, other):
        world.workspaces.prepare(each, 1)
        world.put(each, each.name, f"{each.name}.txt")
    world.workspaces.merge(tree, world.workspaces.commit(tree, "One")[0])
    commit, files = world.workspaces.commit(other, "Two")
    assert files == 1
    assert set(world.at(commit)) == {"other.txt", "parser.txt", "readme.txt"}
    assert set(world.files(other)) == {"other.txt", "parser.txt", "readme.txt"}
    assert world.workspaces.commit(other, "Two") == (commit, files)
    assert world.workspaces.merge(other, commit) == ""


def test_conflicting_work_is_refused_and_unchanged(world, tree):
    other = replace(tree, name="other")
    for each in (tree, other):
        world.workspaces.prepare(each, 1)
        world.put(each, each.name, "readme.txt")
    world.workspaces.merge(tree, world.workspaces.commit(tree, "One")[0])
    for _ in range(2):
        with pytest.raises(AtOdds) as odds:
            world.workspaces.commit(other, "Two")
        assert odds.value.files == ("readme.txt",)
        assert [each.partition(" ")[2] for each in odds.value.others] == ["One"]
        assert world.parent(odds.value.commit) == tree.base
        assert world.at(odds.value.commit) == {"readme.txt": "other"}
        assert world.files(other) == {"readme.txt": "other"}
    assert world.refs(other.own_branch) == {other.own_branch: odds.value.commit}


def test_the_same_work_twice_is_no_work(world, tree):
    other = replace(tree, name="other")
    for each in (tree, other):
        world.workspaces.prepare(each, 1)
        world.put(each, "same", "same.txt")
    world.workspaces.merge(tree, world.workspaces.commit(tree, "One")[0])
    assert world.workspaces.commit(other, "Two") == ("", 0)


def test_next_attempt_begins_clean_with_the_last_one_kept(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "half", "half.txt")
    world.workspaces.prepare(tree, 2)
    assert world.files(tree) == {"readme.txt": "hello\n"}
    kept = world.refs(KEPT)
    assert list(kept) == [f"{KEPT}2-1"]
    assert world.at(kept[f"{KEPT}2-1"])["half.txt"] == "half"


def test_a_rejected_commit_is_kept(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "bad", "bad.txt")
    commit, _ = world.workspaces.commit(tree, "Bad")
    world.workspaces.prepare(tree, 2)
    assert world.refs(KEPT) == {f"{KEPT}2-1": commit}
    assert world.refs("task-work/demo/parser") == {"task-work/demo/parser": tree.base}


def test_a_merged_commit_needs_no_keeping(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "good", "good.txt")
    commit, _ = world.workspaces.commit(tree, "Good")
    world.workspaces.merge(tree, commit)
    world.workspaces.prepare(tree, 2)
    assert world.refs(KEPT) == {}
    assert set(world.files(tree)) == {"good.txt", "readme.txt"}


def test_a_clean_tree_needs_no_keeping_however_often(world, tree):
    for attempt in range(1, 5):
        world.workspaces.prepare(tree, attempt)
    assert world.refs(KEPT) == {}


def test_each_attempt_keeps_its_own(world, tree):
    for attempt in range(1, 4):
        world.workspaces.prepare(tree, attempt)
        world.put(tree, f"try {attempt}", "try.txt")
    world.workspaces.prepare(tree, 3)
    assert [world.at(commit)["try.txt"] for _, commit in sorted(world.refs(KEPT).items())] == [
        "try 1",
        "try 2",
        "try 3",
    ]
    assert sorted(world.refs(KEPT)) == [f"{KEPT}2-1", f"{KEPT}3-1", f"{KEPT}3-2"]


def test_a_look_shows_the_tip_of_the_tasks_branch(world, tree):
    look = replace(tree, name="look", detached=True)
    world.workspaces.prepare(look, 1)
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    world.workspaces.merge(tree, world.workspaces.commit(tree, "Work")[0])
    world.workspaces.prepare(look, 1)
    assert set(world.files(look)) == {"new.txt", "readme.txt"}
    assert set(world.refs("task")) == {"task/demo", "task-work/demo/parser"}


def test_what_is_found_in_a_look_is_kept_too(world, tree):
    look = replace(tree, name="look", detached=True)
    world.workspaces.prepare(look, 1)
    world.put(look, "notes", "notes.txt")
    world.workspaces.prepare(look, 1)
    assert list(world.refs("refs/tasks/")) == ["refs/tasks/task/demo/look/1-1"]


def test_a_branch_of_an_earlier_start_is_gone_on_with(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    commit, _ = world.workspaces.commit(tree, "Work")
    world.workspaces.merge(tree, commit)
    again = replace(tree, name="second")
    world.workspaces.prepare(again, 1)
    assert set(world.files(again)) == {"new.txt", "readme.txt"}


def test_a_base_that_is_not_there_is_refused(world, tree):
    with pytest.raises(Refused, match="has no commit ffff"):
        world.workspaces.prepare(replace(tree, base="f" * 40), 1)


def test_a_tree_lost_by_hand_is_made_again(world, tree):
    world.workspaces.prepare(tree, 1)
    world.lose(tree)
    with pytest.raises(Refused, match="is gone"):
        world.workspaces.where(tree)
    world.workspaces.prepare(tree, 1)
    assert world.files(tree) == {"readme.txt": "hello\n"}


def test_a_released_tree_is_gone_and_its_work_is_kept(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "half", "half.txt")
    world.workspaces.release(tree, 1)
    world.workspaces.release(tree, 1)
    with pytest.raises(Refused, match="is gone"):
        world.workspaces.where(tree)
    assert list(world.refs(KEPT)) == [f"{KEPT}1-1"]
    assert set(world.refs("task")) == {"task/demo"}


def test_a_release_keeps_nothing_that_was_merged(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    commit, _ = world.workspaces.commit(tree, "Work")
    world.workspaces.merge(tree, commit)
    world.workspaces.release(tree, 1)
    assert world.refs(KEPT) == {}
    assert world.refs("task") == {"task/demo": commit}


def test_a_release_keeps_a_commit_that_was_not(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    commit, _ = world.workspaces.commit(tree, "Work")
    world.workspaces.release(tree, 1)
    assert world.refs(KEPT) == {f"{KEPT}1-1": commit}
    assert world.refs("task") == {"task/demo": tree.base}


def test_release_of_a_tree_never_made_leaves_nothing(world, tree):
    before = world.refs("")
    world.workspaces.release(tree, 1)
    assert world.refs("") == before
    with pytest.raises(Refused, match="is gone"):
        world.workspaces.where(tree)


def test_a_branch_that_the_user_looks_at_is_not_moved(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    commit, _ = world.workspaces.commit(tree, "Work")
    world.look_at("task/demo")
    assert world.workspaces.merge(tree, commit).startswith("task/demo is checked out in ")
    assert world.refs("task/demo")["task/demo"] == tree.base
    world.look_at("")
    assert world.workspaces.merge(tree, commit) == ""


def test_nor_is_a_trees_own(world, tree):
    world.workspaces.prepare(tree, 1)
    world.workspaces.release(tree, 1)
    world.branch_off(tree.own_branch, tree.base)
    world.look_at("task-work/demo/parser")
    with pytest.raises(Unavailable, match="task-work/demo/parser is checked out in "):
        world.workspaces.prepare(tree, 2)
    world.look_at("")
    world.workspaces.prepare(tree, 2)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "/x", "a/b", "-x", "x\n", "x\0", ".git", "X", "x" * 129]
)
def test_a_tree_lies_beneath_its_root(world, tree, name):
    wrong = replace(tree, name=name)
    with pytest.raises(Refused, match="is not a place for a worktree"):
        world.workspaces.prepare(wrong, 1)
    with pytest.raises(Refused, match="is not a place for a worktree"):
        world.workspaces.where(wrong)
    with pytest.raises(Refused, match="is not a place for a worktree"):
        world.workspaces.commit(wrong, "x")
    with pytest.raises(Refused, match="is not a place for a worktree"):
        world.workspaces.merge(wrong, tree.base)
    with pytest.raises(Refused, match="is not a place for a worktree"):
        world.workspaces.release(wrong, 1)


@pytest.mark.parametrize(
    "branch", ["main", "task/", "task/x/y", "task/..", "task/-x", "-x", "refs/heads/main", "task/X"]
)
def test_only_branches_of_tasks_are_touched(world, tree, branch):
    with pytest.raises(Refused, match="is not the branch of a task"):
        world.workspaces.prepare(replace(tree, branch=branch), 1)


def test_a_root_is_absolute(world, tree):
    with pytest.raises(Refused, match="is not a place"):
        world.workspaces.prepare(replace(tree, root=Path("trees")), 1)


def test_trees_whose_names_begin_alike_are_kept_apart(world, tree):
    trees = [replace(tree, name=name) for name in ("a", "a-1", "a-10", "a1", "a--b", "a_")]
    for each in trees:
        world.workspaces.prepare(each, 1)
        world.put(each, each.name, "who.txt")
    for each in trees:
        assert world.files(each)["who.txt"] == each.name
        commit, files = world.workspaces.commit(each, each.name)
        assert (world.at(commit)["who.txt"], files) == (each.name, 1)


def test_what_git_ignores_in_a_tree_is_known(world, tree):
    """A file that is copied there must be no part of the work; one that is tracked is, whatever .gitignore says."""
    world.workspaces.prepare(tree, 1)
    world.put(tree, ".env\nreadme.txt\n", ".gitignore")
    named = (".env", "readme.txt", "local.toml", "-x")
    assert world.workspaces.ignored(tree, named) == (".env",)
    assert world.workspaces.ignored(tree, ()) == ()
