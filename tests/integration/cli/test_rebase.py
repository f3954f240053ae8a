"""`task rebase` with a real daemon and real git: what was tested before is tested and accepted again."""

from __future__ import annotations

import pytest

from tests.integration.daemon.world import World


def by_hand(world: World, name: str = "mine.txt", text: str = "by the user\n") -> str:
    (world.project / name).write_text(text)
    world.git("add", "--", name)
    world.git("commit", "-q", "-m", "By hand")
    return world.git("rev-parse", "HEAD")


def test_a_complete_task_is_brought_up_to_today_and_judged_again(world: World) -> None:
    world.begin(
        {"plan": [{"subtasks": ["- [one] First (agent: dev)", "- [two] Second (agent: dev; needs: one)"]}]}
    )
    world.until_is("complete")
    tip, onto = world.git("rev-parse", "task/t1"), by_hand(world)

    assert world.task("rebase", "t1", "--dry-run").code == 0
    assert (world.git("rev-parse", "task/t1"), world.stands()) == (tip, "complete")

    said = world.task("rebase", "t1")
    assert said.code == 0, said
    assert world.git("rev-parse", "task/t1~2") == onto
    assert world.git("rev-parse", f"refs/tasks/task/t1/rebased/at-{tip}") == tip
    reported = world.state_shown()
    assert (reported["state"], reported["base"], reported["criteria"]) == ("stopped", onto, [])
    assert world.task("merge", "t1").code == 1
    assert world.git("log", "--format=%s", "main..task/t1").splitlines() == ["t1: Second", "t1: First"]
    assert "pkg/two.py" in world.task("diff", "t1", "dev:two", "--stat").out

    assert world.task("start", "t1", "--project", str(world.project)).code == 0
    world.until_is("complete")
    assert {
        step: world.lives_of(step) for step in ("dev:two", "test:one", "test:two", "review:two", "accept")
    } == {
        "dev:two": 1,
        "test:one": 1,
        "test:two": 2,
        "review:two": 2,
        "accept": 2,
    }
    assert world.task("merge", "t1").code == 0
    assert world.git("rev-parse", "main") == world.git("rev-parse", "task/t1")
    world.check_once()


@pytest.mark.thorough(reason="unit/pm/test_rebasing.py; contract/workspaces/test_branches.py has the tree")
def test_a_check_that_fails_on_the_new_base_sends_dev_to_work(world: World) -> None:
    """The check of a test is run in a tree that holds all of it."""
    world.begin(config=["test.check: test ! -e mine.txt -o -e mended.txt"])
    world.until_is("complete")
    by_hand(world)
    world.let({"dev:greet": [{}, {"write": {"mended.txt": "so\n"}}]})
    assert world.task("rebase", "t1").code == 0
    assert world.task("start", "t1", "--project", str(world.project)).code == 0
    world.until_is("complete")
    assert world.git("show", "task/t1:mended.txt") == "so"
    assert world.lives_of("dev:greet") == 2


@pytest.mark.thorough(reason="unit/cli/test_rebase.py: all stays, the files are named, and nobody is asked")
def test_commits_at_odds_leave_all_as_it_was(world: World) -> None:
    world.begin({"dev:greet": [{"write": {"notes.txt": "by the task\n"}}]})
    world.until_is("complete")
    by_hand(world, "notes.txt", "by the user, later\n")
    before = world.git("for-each-ref")
    said = world.task("rebase", "t1")
    assert said.code == 1
    assert "  notes.txt\n" in said.err
    assert (world.git("for-each-ref"), world.stands()) == (before, "complete")
    assert not world.story().facts("rebase_asked")
    assert (
        "task archive" not in said.err
    )  # which takes its task.md away: then there is nothing to start again


def test_a_branch_that_the_user_looks_at_is_left_alone(world: World) -> None:
    world.begin()
    world.until_is("complete")
    by_hand(world)
    tree = world.root / "tree"
    world.git("worktree", "add", "-q", str(tree), "task/t1")
    said = world.task("rebase", "t1")
    assert (said.code, f"checked out in {tree}" in said.err) == (1, True)
    assert world.state_shown()["base"] == world.git("rev-parse", "main~1")


@pytest.mark.parametrize("world", [{"git__timeout": "30 s"}], indirect=True)
def test_a_rebase_that_a_killed_daemon_left_is_done_by_the_next(world: World) -> None:
    """The line in the journal comes first: the next daemon finds what is still to be done."""
    world.begin()
    world.until_is("complete")
    onto = by_hand(world)
    lock = world.project / ".git" / "refs" / "heads" / "task" / "t1.lock"
    lock.touch()
    tip = world.git("rev-parse", "task/t1")
    new = world.git("commit-tree", f"{tip}^{{tree}}", "-p", onto, "-m", "anew")
    world.ask("rebase", base=onto, old=tip, new=new, commits=f"{tip} {new}")
    world.until(lambda: world.state_shown()["base"] == onto)
    world.kill_daemon()
    assert world.stands() == "stopped"
    assert world.git("rev-parse", "task/t1") == tip
    lock.unlink()
    world.daemon()
    world.until(lambda: world.git("rev-parse", "task/t1") == new)
    world.until(lambda: [fact for fact in world.story().facts("rebased") if not fact.get("reason")])


@pytest.mark.thorough(reason="unit/pm/test_rebasing.py refuses it")
def test_a_task_at_work_is_not_rebased(world: World) -> None:
    world.begin({"dev:greet": [{"hold": "on"}]})
    world.until_works("dev:greet")
    by_hand(world)
    said = world.task("rebase", "t1")
    assert (said.code, "task stop t1" in said.err) == (1, True), said
    assert not world.story().facts("rebase_asked")
    world.go("on")
    world.until_is("complete")


@pytest.mark.thorough(reason="unit/cli/test_rebase.py, also of a task that was merged")
def test_what_stands_there_already_is_said(world: World) -> None:
    world.begin()
    world.until_is("complete")
    said = world.task("rebase", "t1")
    assert (said.code, "is based on" in said.out) == (0, True)
    assert world.task("merge", "t1").code == 0
    said = world.task("rebase", "t1")
    assert (said.code, world.stands()) == (0, "complete")
    assert world.state_shown()["base"] == world.git("rev-parse", "main")
