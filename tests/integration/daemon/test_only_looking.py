"""What agents write that are only to look is said, and comes into nobody's commit: a real daemon, real trees."""

from __future__ import annotations

import pytest

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
    said = "\n".join(world.state_shown()["notices"])
    for step, file in (("explore", "explored.txt"), ("test:greet", "pkg/conftest.py")):
        assert f"{step} was only to look, and changed '{file}'" in said
    assert "review:greet was only to look, and changed 'pkg/greet.py'" in said
    (kept,) = {line for line in said.split() if line.startswith("refs/tasks/task/t1/look/")}
    assert world.git("show", f"{kept}:explored.txt") == "mine"
    assert world.lives_of("test:greet") == 3, "it judged once more, and then the next attempt"


@pytest.mark.parametrize(
    ("moved", "stray"),
    [
        ("git update-ref refs/heads/task/t1 main", False),
        pytest.param(
            "git update-ref -d refs/heads/task/t1",
            False,
            marks=pytest.mark.thorough(reason="the same ref is also moved"),
        ),
        pytest.param(
            "git update-ref refs/heads/task/t1 $(git commit-tree -p task/t1 -m stray $(git write-tree))",
            True,
            marks=pytest.mark.thorough(reason="the same ref is also moved"),
        ),
    ],
)
def test_branch_moved_by_a_judge_is_put_back_and_judged_again(
    world: World, moved: str, *, stray: bool
) -> None:
    """The last reviewer moved it: the task was COMPLETE over no work, or over commits that nobody had reviewed."""
    world.daemon()
    script = (
        f'cd "$ORCHESTRATOR_WORKSPACE" && echo x > stray.txt && git add stray.txt && {moved} '
        "&& git rm -qf --cached stray.txt && rm stray.txt"
    )
    world.begin({"accept": [{"shell": script}]})
    world.until_is("complete")
    commit = next(each["commit"] for each in world.story().changes("step_committed"))
    assert world.git("rev-parse", "task/t1") == commit
    assert world.lives_of("accept") == 2
    kept = world.git("for-each-ref", "--format=%(refname)", "refs/tasks/task/t1/strays/").splitlines()
    assert bool(kept) is stray
    if stray:
        assert world.git("show", f"{kept[0]}:stray.txt") == "x"
        assert any(kept[0] in notice for notice in world.state_shown()["notices"])
    assert world.state_shown()["questions"] == []


@pytest.mark.thorough(reason="contract/test_tree_listings.py compares; unit/pm/test_judging.py decides")
def test_in_the_users_own_tree_nothing_counts_but_work(world: World) -> None:
    """A developer that touched a file and left a log of itself had worked; a tester that wrote a file had not."""
    world.daemon()
    idle = (
        'cd "$ORCHESTRATOR_WORKSPACE" && echo x > .aider.chat.history.md && touch $(git ls-files) '
        "&& git commit -q --allow-empty -m x"
    )
    world.begin(
        {
            "dev:greet": [{"shell": idle, "write": {}}],
            "test:greet": [{"write": {"pkg/conftest.py": "pass"}}],
        },
        config=["workspace: shared"],
    )
    world.until_is("complete")
    assert world.lives_of("dev:greet") == 2
    assert world.lives_of("test:greet") == 2
    said = "\n".join(world.state_shown()["notices"])
    assert "pkg/conftest.py" in said
    assert (world.project / "pkg/conftest.py").exists(), "nothing is taken out of the user's own tree"
