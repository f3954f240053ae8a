"""`task undo` with a real daemon and real git: what a step changed is reversed, or nothing is changed."""

from __future__ import annotations

import pytest

from tests.integration.daemon.test_operations import ADD, GREET, answer, begin
from tests.integration.daemon.world import World, altered


def complete(world: World, *answers: str) -> None:
    begin(world, *(answers or (answer(GREET, ADD),)))
    world.until_is("complete")


def test_step_on_the_branch_is_reversed_and_done_again(world: World) -> None:
    complete(world, answer(GREET, ADD), answer({**GREET, "content": "NAME = 'hello'\n"}))
    before = world.git("for-each-ref")
    said = world.task("undo", "t1", "dev:greet", "--dry-run")
    assert said.code == 0, said
    assert (
        "would undo the file operations of dev:greet: 2 files as before, by a commit on task/t1" in said.out
    )
    assert (world.git("for-each-ref"), world.stands()) == (before, "complete")

    world.stop_daemon()
    said = world.task("undo", "t1", "greet")
    assert said.code == 0, "it starts the daemon"
    assert "to do it again, and what depends on it: task start t1" in said.out
    assert "to go on without it: task merge t1 --anyway" in said.out
    assert world.git("diff", "--name-only", "main", "task/t1") == ""
    assert world.git("log", "-1", "--format=%s", "task/t1") == "t1: undo dev:greet"
    world.until_is("stopped")
    reported = world.state_shown()
    assert reported["criteria"] == []
    assert "the next start does it again" in reported["why"]
    page = world.project / "tasks" / "t1" / "progress.md"
    world.until(lambda: "File Operations Undone" in page.read_text())
    assert "the file operations of dev:greet were undone" in world.task("why", "t1").out

    again = world.task("undo", "t1", "dev:greet")
    assert (again.code, "were undone already" in again.err) == (1, True), again
    assert world.task("start", "t1", "--project", str(world.project)).code == 0
    world.until_is("complete")
    assert world.lives_of("dev:greet") == 2
    assert world.git("show", "task/t1:pkg/greet.py") == "NAME = 'hello'"
    world.check_once()


def test_undo_that_a_kill_cut_off_goes_on(world: World) -> None:
    complete(world)
    world.stop_daemon()
    tip = world.git("rev-parse", "task/t1")
    world.git("branch", "back", world.git("commit-tree", "main^{tree}", "-p", tip, "-m", "Back"))
    world.ask("undo", step="dev:greet", old=tip, new=world.git("rev-parse", "back"))
    killed = "import os\nimport orchestrator.daemon.actions.finish as it\nit.undo = lambda *_: os.kill(os.getpid(), 9)"
    world.launched(*altered(killed))
    world.until(lambda: bool(world.story().facts("undo_asked")) and not world.pid)
    world.daemon()
    world.until(lambda: bool(world.story().facts("undone")))
    assert world.git("rev-parse", "task/t1") == world.git("rev-parse", "back")


@pytest.mark.thorough(reason="unit/cli/test_undo.py refuses it, names the file, and asks nobody")
def test_files_that_changed_since_are_left_alone(world: World) -> None:
    """Another step of the task has changed one of the files: both stay as they are, and it is named."""
    plan = {"plan": [{"subtasks": ["- [one] First (agent: dev)", "- [two] Second (agent: dev; needs: one)"]}]}
    texts = (answer(GREET), answer({**GREET, "operation": "edit", "content": "NAME = 'two'\n"}))
    begin(world, *texts, turns=plan)
    world.until_is("complete")
    before = world.git("for-each-ref")
    said = world.task("undo", "t1", "dev:one")
    assert said.code == 1, said
    assert "others changed\n  pkg/greet.py\nnothing was changed" in said.err
    assert (world.git("for-each-ref"), world.stands()) == (before, "complete")
    assert not world.story().facts("undo_asked")


@pytest.mark.thorough(reason="unit/pm/test_undoing.py refuses it; here it is what the command says")
@pytest.mark.parametrize(
    ("step", "code", "said"),
    [
        ("test:greet", 1, "the PM carried out no file operations for test:greet"),
        ("dev:none", 2, "t1 has no step or subtask 'dev:none'; steps that can be undone: dev:greet"),
    ],
)
def test_step_without_operations_is_an_error(world: World, step: str, code: int, said: str) -> None:
    complete(world)
    err = world.task("undo", "t1", step)
    assert (err.code, said in err.err) == (code, True), err


@pytest.mark.thorough(reason="unit/workspaces/operations/test_transaction.py; the user's own tree below")
def test_work_not_on_the_branch_is_put_back_where_it_lies(world: World) -> None:
    """Its judge is still at work: the files lie in a worktree."""
    begin(world, answer(GREET, ADD), turns={"test:greet": [{"hang": True}]})
    world.until_works("test:greet")
    busy = world.task("undo", "t1", "dev:greet")
    assert (busy.code, "task stop t1" in busy.err) == (1, True), busy
    assert world.task("stop", "t1").code == 0
    world.until(lambda: world.stands() == "stopped" and not world.agent("test:greet"))
    (greet,) = world.state.glob("worktrees/*/*/pkg/greet.py")
    notes = greet.parents[1] / "notes.txt"

    notes.write_text("by hand\n")
    said = world.task("undo", "t1", "dev:greet")
    assert said.code == 1, said
    assert "nothing was changed: changed since: " in said.err
    assert (greet.exists(), notes.read_text()) == (True, "by hand\n")

    notes.write_text("by the user\nand more\n")
    assert world.task("undo", "t1", "dev:greet", "--dry-run").code == 0
    assert greet.exists()
    said = world.task("undo", "t1", "dev:greet")
    assert said.code == 0, said
    assert "2 files as before, where they lie" in said.out
    assert (greet.exists(), notes.read_text()) == (False, "by the user\n")
    assert "the step counts as not done" in said.out
    world.until(lambda: world.steps()["dev:greet"] == "pending")


def test_files_in_the_users_own_tree_are_put_back_there(world: World) -> None:
    begin(world, answer(GREET, ADD), config=("workspace: shared",))
    world.until_is("complete")
    assert (world.project / "pkg" / "greet.py").exists()
    said = world.task("undo", "t1", "dev:greet")
    assert said.code == 0, said
    assert not (world.project / "pkg" / "greet.py").exists()
    assert (world.project / "notes.txt").read_text() == "by the user\n"
    assert "merge" not in said.out
