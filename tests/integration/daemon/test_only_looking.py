"""What agents write that are only to look is said, and comes into nobody's commit: a real daemon, real trees."""

from __future__ import annotations

from tests.integration.daemon.world import World


def test_what_judges_write_is_said_and_in_no_commit(world: World) -> None:
    """A first reviewer spoils the work and rejects it, a tester adds to it; only the developer's work is merged."""
    world.daemon()
    world.begin(
        {
            "explore": [{"write": {"explored.txt": "mine"}}],
            "test:greet": [{"write": {"pkg/conftest.py": "pass"}}],
            "review:greet": [{"write": {"pkg/greet.py": "spoilt"}, "verdict": "REJECTED", "say": "No."}],
        }
    )
    world.until_is("complete")
    changed = world.git("diff", "--name-only", "main", "task/t1").splitlines()
    assert changed == ["pkg/greet.py"]
    assert "spoilt" not in world.git("show", "task/t1:pkg/greet.py")
    said = "\n".join(world.told()["notices"])
    for step, file in (("explore", "explored.txt"), ("test:greet", "pkg/conftest.py")):
        assert f"{step} was only to look, and changed '{file}'" in said
    assert "review:greet was only to look, and changed 'pkg/greet.py'" in said
    (kept,) = {line for line in said.split() if line.startswith("refs/tasks/task/t1/look/")}
    assert world.git("show", f"{kept}:explored.txt") == "mine"


def test_an_agent_that_moves_the_branch_back_leaves_no_complete_task(world: World) -> None:
    """The last reviewer took the branch back to where it began: the task was COMPLETE, and nothing was on it."""
    world.daemon()
    moved = 'cd "$ORCHESTRATOR_WORKSPACE" && git update-ref refs/heads/task/t1 main'
    world.begin({"accept": [{"shell": moved}]})
    world.until_is("waiting")
    (question,) = world.told()["questions"]
    commit = next(each["commit"] for each in world.story().changes("step_committed"))
    assert commit in question["text"]
    world.git("branch", "--force", "task/t1", commit)
    assert world.task("answer", "t1", question["id"], "retry").code == 0
    world.until_is("complete")
    assert world.git("rev-parse", "task/t1") == commit
