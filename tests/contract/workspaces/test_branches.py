"""A task's branch that others move, that work goes on from, and that is put anew, in a git repository and in memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.model.errors import Refused
from orchestrator.ports.workspaces import BranchFound, Upon
from orchestrator.ports.worktree import AtOdds, Tree, Unresolved
from tests.contract.workspaces.worlds import merged

# A branch that others moved --------------------------------------------------------------------------


def strayed(world, tree, upon):
    """Move the task's branch to a commit that no step made; return that."""
    stray = world.commit_elsewhere(upon, "never reviewed\n", "stray.py")
    world.workspaces.rebase(world.project, tree.branch, upon, stray)
    return stray


def test_a_branch_with_more_than_was_accepted_is_put_back(world, tree):
    commit = merged(world, tree, "a\n", "shop.py")
    stray = strayed(world, tree, commit)
    found = world.workspaces.restore(world.project, tree.branch, tree.base, (commit,))
    assert (found.tip, found.wanted, found.reason) == (stray, commit, "")
    assert world.refs("task/")[tree.branch] == commit
    assert world.refs("refs/tasks/")[found.kept] == stray
    again = world.workspaces.restore(world.project, tree.branch, tree.base, (commit,))
    assert again == BranchFound(commit, commit)


def test_work_begins_with_all_that_was_accepted(world, tree):
    """The branch was set back meanwhile: agents worked without accepted work until the next merge or the end."""
    first = merged(world, tree, "a\n", "shop.py")
    second = merged(world, replace(tree, name="two"), "b\n", "cart.py")
    next_tree = replace(tree, name="three", base=second)
    for behind in (first, tree.base):
        world.workspaces.rebase(world.project, tree.branch, world.refs("task/")[tree.branch], behind)
        world.workspaces.prepare(next_tree, 1)
        assert set(world.files(next_tree)) == {"readme.txt", "shop.py", "cart.py"}
        assert world.refs("task/")[tree.branch] == second
    third = merged(world, replace(tree, name="four", base=first), "c\n", "till.py")
    world.workspaces.prepare(replace(tree, name="five", base=first), 1)
    assert world.refs("task/")[tree.branch] == third, "it is ahead"


def test_a_branch_that_lacks_what_was_accepted_is_put_back(world, tree):
    first = merged(world, tree, "a\n", "shop.py")
    second = merged(world, replace(tree, name="two"), "b\n", "cart.py")
    world.workspaces.rebase(world.project, tree.branch, second, tree.base)
    found = world.workspaces.restore(world.project, tree.branch, tree.base, (second, first))
    assert found == BranchFound(tree.base, second)
    assert world.refs("task/")[tree.branch] == second


def test_a_branch_of_which_nothing_was_accepted_is_at_its_base(world, tree):
    missing = world.workspaces.restore(world.project, tree.branch, tree.base, ())
    assert missing == BranchFound("", "")
    world.workspaces.prepare(tree, 1)
    strayed(world, tree, tree.base)
    world.workspaces.restore(world.project, tree.branch, tree.base, ())
    assert world.refs("task/")[tree.branch] == tree.base


def test_a_branch_that_is_just_being_merged_is_left_alone(world, tree):
    commit = merged(world, tree, "a\n", "shop.py")
    stray = strayed(world, tree, commit)
    found = world.workspaces.restore(world.project, tree.branch, tree.base, (commit,), {stray})
    assert found == BranchFound(stray, stray)
    assert world.refs("task/")[tree.branch] == stray


def test_a_branch_that_cannot_be_put_back_says_why(world, tree):
    commit = merged(world, tree, "a\n", "shop.py")
    gone = world.workspaces.restore(world.project, tree.branch, tree.base, ("f" * 40,))
    assert gone.reason
    stray = strayed(world, tree, commit)
    world.look_at(tree.branch)
    assert world.workspaces.restore(world.project, tree.branch, tree.base, (commit,)).reason
    assert world.refs("task/")[tree.branch] == stray


def test_a_commit_upon_a_stray_is_not_merged_alone(world, tree):
    world.workspaces.prepare(tree, 1)
    strayed(world, tree, tree.base)
    two = replace(tree, name="two")
    world.workspaces.prepare(two, 1)
    world.put(two, "b\n", "cart.py")
    upon, _ = world.workspaces.commit(two, "Add cart.py")
    world.workspaces.restore(world.project, tree.branch, tree.base, ())
    assert world.workspaces.merge(two, upon, alone=True)
    assert world.refs("task/")[tree.branch] == tree.base
    assert world.workspaces.merge(two, upon) == ""


def test_a_branch_that_is_not_there_has_nothing(world, tree):
    for look in (world.workspaces.file_on, world.workspaces.commit_on, world.workspaces.holds_named):
        with pytest.raises(Refused, match="no branch"):
            look(world.project, tree.branch, "readme.txt")
    survey = world.workspaces.survey
    assert survey(world.project, tree.branch, tree.base) is None
    assert survey(world.project, tree.branch, tree.base, "f" * 40) is None
    seen = survey(world.project, tree.branch, tree.base, tree.base)  # the user's tree has it
    assert (seen.tip, seen.merged, seen.gone) == (tree.base, True, True)


def test_a_survey_says_what_the_branch_has_gained(world, tree):
    first = merged(world, tree, "a\nb\n", "shop.py")
    second = merged(world, replace(tree, name="two"), "c\n", "cart.py")
    seen = world.workspaces.survey(world.project, tree.branch, tree.base)
    assert (seen.tip, seen.count, seen.files, seen.merged) == (second, 2, 2, False)
    assert [(each.commit, each.subject) for each in seen.commits] == [
        (first, "Add shop.py"),
        (second, "Add cart.py"),
    ]


def test_a_branch_that_gained_nothing_is_said_to(world, tree):
    world.workspaces.prepare(tree, 1)
    seen = world.workspaces.survey(world.project, tree.branch, tree.base)
    assert (seen.tip, seen.count, seen.commits, seen.files) == (tree.base, 0, (), 0)
    assert seen.merged


# Going on with work -----------------------------------------------------------------------------------


def test_an_attempt_can_begin_with_the_work_of_the_last_one(world, tree):
    """It lies in a clean tree, uncommitted: what judges left there is gone, and the work is not."""
    world.workspaces.prepare(tree, 1)
    world.put(tree, "rejected\n", "shop.py")
    commit, _ = world.workspaces.commit(tree, "Add shop.py")
    world.put(tree, "left by a judge\n", "junk.txt")
    world.workspaces.prepare(tree, 2, commit)
    assert world.files(tree) == {"readme.txt": "hello\n", "shop.py": "rejected\n"}
    world.put(tree, "mended\n", "shop.py")
    again, files = world.workspaces.commit(tree, "Add shop.py")
    assert world.at(again)["shop.py"] == "mended"
    assert (world.parent(again), files) == (tree.base, 1)


def test_work_that_was_deleted_stays_deleted(world, tree):
    first = merged(world, tree, "a\n", "shop.py")
    world.workspaces.prepare(tree, 2)
    world.put(tree, "b\n", "cart.py")
    commit, _ = world.workspaces.commit(tree, "Add cart.py")
    world.workspaces.prepare(tree, 3, commit)
    assert world.files(tree) == {"readme.txt": "hello\n", "shop.py": "a\n", "cart.py": "b\n"}
    assert world.parent(commit) == first


def test_next_attempt_is_shown_both_sides_of_a_conflict(world, tree):
    """Another subtask changed the same meanwhile. Markers that are left are found, and are in no commit."""
    world.workspaces.prepare(tree, 1)
    world.put(tree, "mine\n", "shop.py")
    commit, _ = world.workspaces.commit(tree, "Mine")
    tip = merged(world, replace(tree, name="two"), "theirs\n", "shop.py")
    world.workspaces.prepare(tree, 2, commit)
    shown = world.files(tree)["shop.py"]
    assert {"mine", "theirs"} <= set(shown.split())
    assert shown.startswith("<<<<<<< ")
    assert [kept.ref for kept in world.workspaces.kept(tree)]
    with pytest.raises(Unresolved) as left:
        world.workspaces.commit(tree, "Both")
    assert left.value.files == ("shop.py",)
    world.put(tree, "theirs\nmine\n", "shop.py")
    both, files = world.workspaces.commit(tree, "Both")
    assert (world.parent(both), files) == (tip, 1)


# Beside other work ------------------------------------------------------------------------------------


def both_at_work(world, tree, one: str, two: str) -> tuple[Tree, str]:
    """Return a second tree and its commit. Both began at the same commit; the first one's is merged already."""
    other = replace(tree, name="other")
    for each, name in ((tree, one), (other, two)):
        world.workspaces.prepare(each, 1)
        world.put(each, f"{each.name}\n", name)
    commit, _ = world.workspaces.commit(other, "Two")
    first, _ = world.workspaces.commit(tree, "One")
    assert world.workspaces.merge(tree, first) == ""
    return other, commit


def test_a_commit_is_put_upon_what_the_branch_gained(world, tree):
    other, commit = both_at_work(world, tree, "one.txt", "two.txt")
    tip = world.refs("task/demo")["task/demo"]
    assert (world.workspaces.gained(other, commit), world.workspaces.gained(tree, tip)) == (tip, "")
    made = world.workspaces.put_upon(other, 1, commit)
    assert (made.onto, made.both, made.same) == (tip, (), True)
    assert [each.partition(" ")[2] for each in made.others] == ["One"]
    assert set(world.at(made.commit)) == set(world.files(other)) == {"one.txt", "readme.txt", "two.txt"}
    assert world.parent(made.commit) == tip
    assert world.refs("task/demo")["task/demo"] == tip
    assert world.workspaces.put_upon(other, 1, made.commit) == Upon(made.commit)
    assert world.workspaces.merge(other, made.commit) == ""


def test_a_commit_that_builds_on_the_branch_stays(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    commit, _ = world.workspaces.commit(tree, "Work")
    assert world.workspaces.put_upon(tree, 1, commit) == Upon(commit)
    assert world.files(tree)["new.txt"] == "new"


def test_a_commit_at_odds_with_the_branch_stays(world, tree):
    other, commit = both_at_work(world, tree, "same.txt", "same.txt")
    with pytest.raises(AtOdds) as odds:
        world.workspaces.put_upon(other, 1, commit)
    assert (odds.value.files, odds.value.commit) == (("same.txt",), commit)
    assert world.files(other)["same.txt"].strip() == "other"


def test_what_a_judge_left_is_not_put_upon_the_branch(world, tree):
    other, commit = both_at_work(world, tree, "one.txt", "two.txt")
    world.put(other, "left by a judge\n", "junk.txt")
    made = world.workspaces.put_upon(other, 1, commit)
    assert "junk.txt" not in world.files(other)
    kept = world.refs("refs/tasks/task/demo/other/").values()
    assert any("junk.txt" in world.at(each) for each in kept)
    assert world.workspaces.merge(other, made.commit) == ""


def test_what_was_kept_is_named_the_newest_first(world, tree):
    assert world.workspaces.kept(tree) == []
    for attempt in (1, 2):
        world.workspaces.prepare(tree, attempt)
        world.put(tree, f"try {attempt}\n", "shop.py")
    world.workspaces.prepare(tree, 3)
    refs = [kept.ref for kept in world.workspaces.kept(tree)]
    assert refs == [f"{tree.keep_prefix}3-1", f"{tree.keep_prefix}2-1"]


# Rebased ------------------------------------------------------------------------------------------


@pytest.fixture
def work(world, tree):
    """Return the one commit of a task's branch."""
    return merged(world, tree, "new", "new.txt")


def test_the_branch_is_known_to_hold_what_led_to_it(world, tree, work):
    assert world.workspaces.holds(tree, work)
    assert world.workspaces.holds(tree, tree.base)
    assert not world.workspaces.holds(tree, world.commit_elsewhere(tree.base, "other", "other.txt"))
    assert not world.workspaces.holds(tree, "f" * 40)
    with pytest.raises(Refused, match="not a commit's full hash"):
        world.workspaces.holds(tree, "--all")


def test_a_rebased_branch_keeps_what_was_there_on_a_ref(world, tree, work):
    anew = world.commit_elsewhere(tree.base, "anew", "new.txt")
    assert world.workspaces.rebase(tree.project, tree.branch, work, anew) == ""
    assert world.refs("task/demo") == {"task/demo": anew}
    assert world.refs("refs/tasks/task/demo/rebased/") == {f"refs/tasks/task/demo/rebased/at-{work}": work}
    assert world.workspaces.rebase(tree.project, tree.branch, work, anew) == ""
    assert not world.workspaces.holds(tree, work)


def test_a_branch_that_is_elsewhere_by_now_is_not_rebased(world, tree, work):
    anew = world.commit_elsewhere(tree.base, "anew", "new.txt")
    assert "is at" in world.workspaces.rebase(tree.project, tree.branch, tree.base, anew)
    assert "there is no commit" in world.workspaces.rebase(tree.project, tree.branch, work, "f" * 40)
    with pytest.raises(Refused, match="is not the branch of a task"):
        world.workspaces.rebase(tree.project, "main", work, anew)
    assert world.refs("task/demo") == {"task/demo": work}


def test_a_branch_that_somebody_looks_at_is_not_rebased(world, tree, work):
    anew = world.commit_elsewhere(tree.base, "anew", "new.txt")
    world.look_at(tree.branch)
    assert "checked out in" in world.workspaces.rebase(tree.project, tree.branch, work, anew)
    world.look_at("")
    assert world.workspaces.rebase(tree.project, tree.branch, work, anew) == ""


def test_a_tree_made_ready_after_a_rebase_stands_on_the_new_work(world, tree, work):
    world.workspaces.release(tree, 1)
    anew = world.commit_elsewhere(tree.base, "anew", "new.txt")
    world.workspaces.rebase(tree.project, tree.branch, work, anew)
    world.workspaces.prepare(replace(tree, base=tree.base), 2)
    assert world.files(tree)["new.txt"] == "anew"
