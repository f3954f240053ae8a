"""Worktrees that are taken away while somebody works in them: said at once, done again, and nothing is deleted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.integration.daemon.world import World

HOLD = {"hold": "on"}


def tree_of(world: World, name: str = "greet") -> Path:
    (path,) = (world.state / "worktrees").glob(f"*/{name}")
    return path


def finished(world: World) -> None:
    """Check that the branch has the work, and that nothing else is missing or left."""
    world.until_is("complete")
    world.check_once()
    world.check_nobody_is_left()
    assert world.git("diff", "--name-status", "main", "task/t1") == "A\tpkg/greet.py"
    trees = world.state / "worktrees"
    world.until(lambda: not [path for path in trees.glob("*/*") if not path.name.startswith(".look")])
    assert world.git("for-each-ref", "--format=%(refname)", "refs/heads/task-work/") == ""


def test_a_tree_removed_under_its_agent_is_noticed_at_once(world: World) -> None:
    """No rescan comes within the time that this test gives it."""
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    gone = tree_of(world)
    shutil.rmtree(gone)
    world.until(lambda: world.lives_of("dev:greet") == 2)
    assert world.story().facts("tree_vanished")[0]["reason"] == f"{gone} is gone"
    assert any(f"{gone} is gone" in notice for notice in world.state_shown()["notices"])
    world.go("on")
    finished(world)
    assert len(world.lives) == 7, "nobody but the developer began again"


def test_a_folder_that_is_made_in_its_place_deletes_nothing(world: World) -> None:
    """The developer has another folder in the place of its tree, with one file, and hands in at once.

    The tree is missed at once, and its run told to end: the file is there as soon as the folder is, or the run could be
    ended before it wrote anything.
    """
    script = (
        "cd /; trap '' TERM; made=$ORCHESTRATOR_SCRATCHPAD/made; mkdir -p \"$made\"; "
        'echo "all that there is" >"$made/only.txt"; rm -rf "$ORCHESTRATOR_WORKSPACE"; '
        'mv "$made" "$ORCHESTRATOR_WORKSPACE"'
    )
    world.begin({"dev:greet": [{"shell": script}]})
    finished(world)
    assert world.lives_of("dev:greet") == 2
    refs = world.git("for-each-ref", "--format=%(objectname)", "refs/tasks/").split()
    assert any("only.txt" in world.git("ls-tree", "--name-only", each).split() for each in refs)


@pytest.mark.thorough(reason="contract/workspaces/test_tree_lives.py puts it back with real git")
def test_tree_that_git_forgot_is_committed(world: World) -> None:
    """A tree that git forgot is committed as if nothing had been."""
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    shutil.rmtree(world.project / ".git" / "worktrees" / "greet")
    world.go("on")
    finished(world)
    assert len(world.lives) == 6
    assert world.story().facts("tree_vanished") == []


@pytest.mark.thorough(reason="unit/pm/test_vanished_trees.py decides; contract/workspaces/test_tree_lives.py")
def test_a_tree_that_is_removed_under_its_judge_is_made_again(world: World) -> None:
    world.begin({"review:greet": [HOLD]})
    world.until_works("review:greet")
    shutil.rmtree(tree_of(world))
    world.until(lambda: world.lives_of("review:greet") == 2)
    world.go("on")
    finished(world)
    assert world.lives_of("dev:greet") == 1, "its commit is there"


@pytest.mark.thorough(reason="unit/pm/test_vanished_trees.py decides; contract/workspaces/test_tree_lives.py")
def test_the_next_life_begins_in_a_folder_of_its_own(world: World) -> None:
    world.begin({"dev:greet": [{"report": False, "exit": 3, "write": {"half.txt": "half\n"}}, HOLD]})
    world.until(lambda: world.lives_of("dev:greet") == 2)
    lives = [path.name for path in (world.state / "worktrees").glob("*/greet*")]
    assert lives == ["greet.2"]
    world.go("on")
    finished(world)
    refs = world.git("for-each-ref", "--format=%(objectname)", "refs/tasks/").split()
    assert any("half.txt" in world.git("ls-tree", "--name-only", each).split() for each in refs)
