"""Worktrees made ready by real commands: what they leave is there for checks and agents, and in no commit."""

from __future__ import annotations

from tests.integration.daemon.world import World

SECRET = "hunter2-of-the-database"


def ignoring(world: World) -> None:
    """Give the project a file that git ignores and one by which commands run again."""
    (world.project / ".gitignore").write_text(".env\nmodules/\n")
    (world.project / "lock").write_text("1\n")
    world.git("add", ".gitignore", "lock")
    world.git("commit", "-q", "-m", "Ignore")
    (world.project / ".env").write_text(f"DB_PASSWORD={SECRET}\n")


def test_agents_and_checks_find_a_tree_that_is_ready(world: World) -> None:
    ignoring(world)
    holds = "test -s modules/made && grep -q DB_PASSWORD .env && test -d $CACHE && test $PORT -ge 20000"
    world.begin(
        {"dev:greet": [{"shell": f"{holds} && cp modules/made $ORCHESTRATOR_SCRATCHPAD/seen"}]},
        config=[
            "prepare: mkdir modules && sh -c 'echo $PORT >modules/made; echo once >>$CACHE/times'",
            "prepare.copy: .env",
            "prepare.inputs: lock",
            "prepare.caches: CACHE",
            "prepare.ports: PORT",
            f"test.check: sh -c '{holds}'",
        ],
    )
    world.until_is("complete")
    world.check_once()
    world.check_nobody_is_left()
    story = world.story()
    assert {change["exit"] for change in story.changes("step_checked")} == {0}
    assert (world.project / "tasks/t1/scratchpad/dev/seen").read_text().strip().isdecimal()
    assert world.git("diff", "--name-only", "main", "task/t1") == "pkg/greet.py"
    (times,) = (world.state / "caches").glob("*/CACHE/times")
    kinds = [run["purpose"] for run in story.runs.values() if run["step"] in {"dev:greet", "test:greet"}]
    assert kinds == ["prepare", "work", "prepare", "check", "work"]
    assert len(times.read_text().split()) < [run["purpose"] for run in story.runs.values()].count("prepare")
    said = world.task("logs", "t1", "test:greet", "--prepare")
    assert "ready, as nothing has changed" in said.out
    assert world.task("delete", "t1", "--unmerged", "--yes").code == 0
    assert not list((world.state / "caches").iterdir())


def test_failed_preparation_is_a_question_without_secrets(world: World) -> None:
    ignoring(world)
    world.begin(
        {},
        config=["prepare: sh -c 'cat .env; echo no such package; exit 4'", "prepare.copy: .env"],
    )
    world.until_is("waiting")
    text = world.state_shown()["questions"][0]["text"]
    assert "could not be made ready, tried 2 times in a row: exited 4" in text
    assert "no such package" in text
    assert "exited 4" in text
    run = next(iter(world.story().runs.values()))
    logs = world.task("logs", "t1", run["id"])
    assert "no such package" in logs.out
    for shown in (text, logs.out, world.task("status", "t1").out, str(world.story().lines)):
        assert SECRET not in shown
    assert not list(world.home().glob("runs/*/copied-*"))
    assert world.lives == []
