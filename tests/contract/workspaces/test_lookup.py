"""Work that was done elsewhere, and what can be looked up, in a git repository and in memory."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from orchestrator.model.errors import Refused
from orchestrator.ports.workspaces import FileChange, Holder
from tests.contract.workspaces.worlds import merged

# Work that was done elsewhere ------------------------------------------------------------------------


def test_adopted_work_lies_in_the_tree_as_if_done_here(world, tree):
    made = world.commit_elsewhere(tree.base, "far", "far.txt")
    assert world.workspaces.adopt(tree, 1, made) == (made, 1)
    assert world.files(tree) == {"readme.txt": "hello\n", "far.txt": "far"}
    assert world.workspaces.where(tree) == tree.path
    assert world.workspaces.merge(tree, made) == ""
    assert world.refs("task/demo") == {"task/demo": made}


def test_a_second_try_of_elsewhere_stands_on_the_first(world, tree):
    first = world.commit_elsewhere(tree.base, "far", "far.txt")
    world.workspaces.adopt(tree, 1, first)
    world.put(tree, "notes", "judged.txt")
    second = world.commit_elsewhere(first, "farther", "far.txt")
    assert world.workspaces.adopt(tree, 2, second) == (second, 1)
    assert world.files(tree) == {"readme.txt": "hello\n", "far.txt": "farther"}
    (kept,) = world.refs("refs/tasks/task/demo/parser/").values()
    assert world.at(kept)["judged.txt"] == "notes"


def test_adopted_again_is_the_same(world, tree):
    made = world.commit_elsewhere(tree.base, "far", "far.txt")
    once = world.workspaces.adopt(tree, 1, made)
    assert world.workspaces.adopt(tree, 1, made) == once
    assert world.refs("refs/tasks/task/") == {}


def test_tree_without_new_work_can_still_be_judged(world, tree):
    assert world.workspaces.adopt(tree, 1, tree.base) == ("", 0)
    assert world.workspaces.where(tree) == tree.path
    assert world.files(tree) == {"readme.txt": "hello\n"}


def test_work_from_before_the_branch_moved_is_put_upon_it(world, tree):
    """It is judged as it was made, and lies upon what others had merged meanwhile when it is merged itself."""
    mine = world.commit_elsewhere(tree.base, "mine", "mine.txt")
    world.workspaces.adopt(tree, 1, mine)
    world.workspaces.merge(tree, mine)
    theirs = world.commit_elsewhere(tree.base, "theirs", "theirs.txt")
    assert world.workspaces.adopt(tree, 2, theirs) == (theirs, 1)
    assert world.files(tree) == {"readme.txt": "hello\n", "theirs.txt": "theirs"}
    assert world.refs("task/demo") == {"task/demo": mine}
    assert world.workspaces.gained(tree, theirs) == mine
    made = world.workspaces.put_upon(tree, 2, theirs)
    assert world.workspaces.merge(tree, made.commit) == ""
    assert set(world.at(made.commit)) == {"readme.txt", "mine.txt", "theirs.txt"}


def test_who_has_a_commit_is_seen_from_the_task(world, tree):
    """What only another task has must not come along with work from a box."""
    holder = partial(world.workspaces.holder, world.project)
    made = world.commit_elsewhere(tree.base, "mine", "mine.txt")
    world.workspaces.adopt(tree, 1, made)
    assert holder("task/demo", tree.base) is Holder.TASK
    assert holder("task/other", tree.base) is Holder.USER
    assert holder("task/demo", made) is Holder.TASK
    assert holder("task/dem", made) is holder("task/other", made) is Holder.OTHERS
    assert holder("task/demo", "f" * 40) is Holder.NOBODY


def test_a_commit_that_was_never_brought_is_refused(world, tree):
    with pytest.raises(Refused, match="no such commit"):
        world.workspaces.adopt(tree, 1, "f" * 40)


# Looking things up ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("shop.py", 3),
        ("readme.txt", 1),
        ("never.py", None),
        ("./shop.py", 3),
        ("../shop.py", None),
        ("/etc/passwd", None),
        ("", None),
    ],
)
def test_a_file_is_looked_up_on_the_branch(world, tree, path, lines):
    """Not in the tree, where anybody may have put it: what lies there uncommitted is not on the branch."""
    merged(world, tree, "a\nb\nc\n", "shop.py")
    world.put(tree, "never committed\n", "never.py")
    seen = world.workspaces.file_on(world.project, tree.branch, path)
    assert (seen and seen.lines) == lines


def test_files_are_found_on_the_branch_by_a_part_of_their_path(world, tree):
    merged(world, tree, "a\n", "shop/Greet.py")
    world.put(tree, "never committed\n", "never.py")
    names = ("greet.py", "shop/greet.py", "other/greet.py", "never.py", "readme.txt", "-rf")
    found = world.workspaces.holds_named(world.project, tree.branch, names)
    assert found == ("greet.py", "shop/greet.py", "readme.txt")


def test_a_commit_is_looked_up_on_the_branch(world, tree):
    commit = merged(world, tree, "a\n", "shop.py")
    stranger = world.commit_elsewhere(tree.base, "b\n", "other.py")
    look = world.workspaces.commit_on
    assert look(world.project, tree.branch, commit) == commit
    assert look(world.project, tree.branch, tree.base[:12] if set(tree.base[:12]) != {"0"} else tree.base)
    assert look(world.project, tree.branch, stranger) == ""
    assert look(world.project, tree.branch, "f" * 40) == ""
    assert look(world.project, tree.branch, "-rf") == ""


def test_a_commit_that_another_has_is_not_beyond_it(world, tree):
    """The commit from which a task began is on its branch, and was evidence of what the task did."""
    first = merged(world, tree, "a\n", "shop.py")
    second = merged(world, replace(tree, name="two"), "b\n", "cart.py")
    look = world.workspaces.commit_on
    assert look(world.project, tree.branch, tree.base, beyond=tree.base) == ""
    assert look(world.project, tree.branch, first, beyond=tree.base) == first
    assert look(world.project, tree.branch, first, beyond=first) == ""
    assert look(world.project, tree.branch, second, beyond=first) == second


def test_what_is_empty_on_a_branch_is_said_to_be(world, tree):
    world.workspaces.prepare(tree, 1)
    for name, text in {"void.py": "", "hollow/void.py": "", "full/void.py": "", "full/it.py": "x\n"}.items():
        world.put(tree, text, name)
    commit, _ = world.workspaces.commit(tree, "Files")
    world.workspaces.merge(tree, commit)
    found = {
        name: world.workspaces.file_on(world.project, tree.branch, name).is_empty
        for name in ("void.py", "hollow", "full", "full/it.py")
    }
    assert found == {"void.py": True, "hollow": True, "full": False, "full/it.py": False}


def test_what_was_altered_at_a_path_is_counted(world, tree):
    merged(world, tree, "a\nb\n", "check.sh")
    last = merged(world, replace(tree, name="two"), "a\nc\nd\n", "check.sh")

    def altered(*paths):
        return world.workspaces.altered(world.project, tree.base, last, paths)

    assert altered("check.sh", "absent.sh") == (FileChange("check.sh", 3, 0, is_new=True),)
    assert altered("*.sh") == altered() == ()
    with pytest.raises(Refused):
        world.workspaces.altered(world.project, tree.base, "0" * 40, ("check.sh",))


def test_lines_altered_in_a_file_of_before_are_counted(world, tree):
    first = merged(world, tree, "a\nb\n", "check.sh")
    last = merged(world, replace(tree, name="two"), "a\nc\nd\n", "check.sh")
    seen = world.workspaces.altered(world.project, first, last, ("check.sh",))
    assert seen == (FileChange("check.sh", 2, 1),)
