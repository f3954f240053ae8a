"""Trees that have earlier lives, vanish, or are only looked at, in a git repository and in memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.model.errors import Refused
from orchestrator.ports.worktree import TreeLost
from tests.contract.workspaces.worlds import KEPT

# Lives of a tree -------------------------------------------------------------------------------------


def test_each_life_lies_in_a_folder_of_its_own(world, tree):
    later = replace(tree, life=2)
    world.workspaces.prepare(tree, 1)
    world.put(tree, "half", "half.txt")
    assert world.workspaces.prepare(later, 2) == later.path != tree.path
    assert world.files(later) == {"readme.txt": "hello\n"}
    kept = world.refs(KEPT)
    assert [world.at(commit)["half.txt"] for commit in kept.values()] == ["half"]
    with pytest.raises(Refused, match="is gone"):
        world.workspaces.where(tree)


def test_what_writes_late_into_an_earlier_life_is_in_no_commit(world, tree):
    """It finds its folder gone, or makes it again: it cannot reach the one in which another works by now."""
    later = replace(tree, life=2)
    world.workspaces.prepare(tree, 1)
    world.workspaces.prepare(later, 1)
    world.put(later, "new", "new.txt")
    world.make_in_its_place(tree, "late", "late.txt")
    commit, _ = world.workspaces.commit(later, "Work")
    assert set(world.at(commit)) == {"new.txt", "readme.txt"}
    world.workspaces.release(later, 1)
    assert world.workspaces.remains(tree.project, tree.root, tree.branch) == set()


def test_the_branch_of_a_tree_goes_with_its_life(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "bad", "bad.txt")
    rejected, _ = world.workspaces.commit(tree, "Bad")
    later = replace(tree, life=2)
    world.workspaces.prepare(later, 2)
    assert rejected in world.refs(KEPT).values()
    assert world.refs("task-work/demo/parser") == {"task-work/demo/parser": tree.base}
    world.put(later, "good", "good.txt")
    commit, files = world.workspaces.commit(later, "Good")
    assert files == 1
    assert world.workspaces.merge(later, commit) == ""


def test_a_life_that_was_prepared_again_is_the_same(world, tree):
    later = replace(tree, life=3)
    for _ in range(2):
        assert world.workspaces.prepare(later, 1) == later.path
    assert world.refs(KEPT) == {}
    assert world.workspaces.remains(tree.project, tree.root, tree.branch) == {"parser"}


def test_a_release_takes_every_life_and_every_note(world, tree):
    other = replace(tree, name="parser-2")
    world.workspaces.prepare(tree, 1)
    world.workspaces.prepare(other, 1)
    world.workspaces.prepare(replace(tree, life=12), 1)
    world.make_in_its_place(tree, "late", "late.txt")
    assert world.workspaces.remains(tree.project, tree.root, tree.branch) == {"parser", "parser-2"}
    world.workspaces.release(tree, 1)
    assert world.workspaces.remains(tree.project, tree.root, tree.branch) == {"parser-2"}
    assert world.files(other) == {"readme.txt": "hello\n"}


# Trees that vanish -----------------------------------------------------------------------------------


def test_a_tree_in_which_all_is_well_is_left_alone(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    world.commit_by_hand(tree)
    assert world.workspaces.tend(tree) == ""


def test_a_vanished_tree_is_no_work(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    world.lose(tree)
    assert "is gone" in world.workspaces.tend(tree)
    with pytest.raises(TreeLost, match="is gone") as lost:
        world.workspaces.commit(tree, "Work")
    assert lost.value.kept == ""
    assert world.refs("task") == {"task/demo": tree.base, "task-work/demo/parser": tree.base}


def test_a_folder_in_the_place_of_a_tree_deletes_nothing(world, tree):
    """Whoever worked there made a folder, and a file in it: that is kept, and no commit lacks the rest."""
    world.workspaces.prepare(tree, 1)
    world.lose(tree)
    world.make_in_its_place(tree, "new", "new.txt")
    assert "another folder is in the place of" in world.workspaces.tend(tree)
    with pytest.raises(TreeLost, match="lacks") as lost:
        world.workspaces.commit(tree, "Work", attempt=3)
    assert lost.value.kept == f"{KEPT}3-1"
    assert world.at(world.refs(KEPT)[lost.value.kept])["new.txt"] == "new"
    assert world.refs("task") == {"task/demo": tree.base, "task-work/demo/parser": tree.base}
    world.workspaces.prepare(replace(tree, life=2), 1)
    assert list(world.refs(KEPT)) == [lost.value.kept], "it is kept once"


def test_whole_folder_counts_as_work(world, tree):
    world.workspaces.prepare(tree, 1)
    world.lose(tree)
    world.make_in_its_place(tree, "hello again\n", "readme.txt")
    world.put(tree, "new", "new.txt")
    assert world.workspaces.tend(tree) == ""
    commit, files = world.workspaces.commit(tree, "Work")
    assert (world.at(commit)["new.txt"], files) == ("new", 2)


def test_a_commit_that_was_made_outlives_its_tree(world, tree):
    """The call was cut off before anybody heard of the commit, and the tree vanished before it was made again."""
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    made = world.workspaces.commit(tree, "Work")
    world.lose(tree)
    assert world.workspaces.commit(tree, "Work") == made
    world.make_in_its_place(tree, "x", "x.txt")
    assert world.workspaces.commit(tree, "Work") == made


def test_who_judges_a_commit_finds_its_tree_again(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    commit, _ = world.workspaces.commit(tree, "Work")
    world.lose(tree)
    assert world.workspaces.where(tree) == tree.path
    assert world.files(tree) == {"new.txt": "new", "readme.txt": "hello\n"}
    assert world.workspaces.merge(tree, commit) == ""


def test_uncommitted_work_that_vanished_is_not_made_up(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    world.lose(tree)
    with pytest.raises(TreeLost, match="is gone"):
        world.workspaces.where(tree)


def test_a_look_that_vanished_is_made_again(world, tree):
    look = replace(tree, name="look", detached=True)
    world.workspaces.prepare(look, 1)
    world.lose(look)
    assert world.workspaces.where(look) == look.path
    assert world.files(look) == {"readme.txt": "hello\n"}


@pytest.mark.parametrize("call", ["tend", "commit", "where", "prepare"])
def test_what_only_git_has_forgotten_is_put_back(world, tree, call):
    """The work lies there: nothing of it is lost, and nobody waits for what never comes."""
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    world.prune(tree)
    if call == "tend":
        assert world.workspaces.tend(tree) == ""
    elif call == "commit":
        commit, files = world.workspaces.commit(tree, "Work")
        assert (world.at(commit)["new.txt"], files) == ("new", 1)
    elif call == "where":
        assert world.workspaces.where(tree) == tree.path
        assert "new.txt" in world.files(tree)
    else:
        world.workspaces.prepare(tree, 2)
        assert len(world.refs(KEPT)) == 1
    assert world.is_known(tree)


# Who is only to look ---------------------------------------------------------------------------------


@pytest.mark.parametrize("detached", [False, True])
def test_what_a_look_left_is_taken_out_and_kept(world, tree, detached):
    tree = replace(tree, detached=detached)
    world.workspaces.prepare(tree, 1)
    world.put(tree, "work in hand", "ours.txt")
    before = world.workspaces.look(tree)
    assert world.workspaces.look(tree) == before
    assert world.workspaces.tidy(tree, 1, before) == ((), "")
    world.put(tree, "by a judge", "strewn.txt")
    world.put(tree, "spoilt", "readme.txt")
    files, kept = world.workspaces.tidy(tree, 1, before)
    assert files == ("readme.txt", "strewn.txt")
    assert kept.startswith(tree.keep_prefix)
    assert world.at(world.refs(tree.keep_prefix)[kept])["strewn.txt"] == "by a judge"
    lies = world.files(tree)
    assert lies["ours.txt"] == "work in hand"
    assert lies["readme.txt"] != "spoilt"
    assert "strewn.txt" not in lies
    assert world.workspaces.look(tree) == before
    assert world.workspaces.tidy(tree, 1, before) == ((), "")


def test_unfinished_work_is_listed(world, tree):
    """What a stopped step left in its tree was named nowhere."""
    assert world.workspaces.unfinished(tree) == ()
    world.workspaces.prepare(tree, 1)
    assert world.workspaces.unfinished(tree) == ()
    world.put(tree, "work in hand", "ours.txt")
    world.put(tree, "other words", "readme.txt")
    assert world.workspaces.unfinished(tree) == ("ours.txt", "readme.txt")
    commit, _ = world.workspaces.commit(tree, "Work")
    assert world.workspaces.unfinished(tree) == ("ours.txt", "readme.txt")  # it is in no accepted commit
    world.workspaces.merge(tree, commit)
    world.lose(tree)
    assert world.workspaces.unfinished(tree) == ()


def test_a_tree_that_is_gone_is_not_looked_at(world, tree):
    world.workspaces.prepare(tree, 1)
    before = world.workspaces.look(tree)
    world.lose(tree)
    assert not world.workspaces.look(tree)
    assert world.workspaces.tidy(tree, 1, before) == ((), "")
