"""Subtasks at the same time, with a real daemon and real git: the branch only ever has what was tested together."""

from __future__ import annotations

import subprocess

import pytest

from tests.integration.daemon.world import Turns, World


def subtasks(*ids: str, files: str = "") -> Turns:
    """Return the turn of the plan agent that lists these subtasks."""
    named = f"; files: {files}" if files else ""
    return {"plan": [{"subtasks": [f"- [{each}] Do {each} (agent: dev{named})" for each in ids]}]}


def held(*ids: str, **files: str) -> Turns:
    """Return turns of developers that wait for each other, and then write their files."""
    return {
        f"dev:{each}": [{"hold": each, "write": {files.get(each, f"pkg/{each}.py"): f"{each}\n"}}]
        for each in ids
    }


def each_holds(world: World, check: str) -> list[bool]:
    """Tell of each commit of the task's branch, the oldest first, whether a command exits 0 in its files."""
    commits = world.git("rev-list", "--reverse", "main..task/t1").splitlines()
    found = []
    for commit in commits:
        folder = world.root / "trees" / commit
        folder.mkdir(parents=True)
        world.git("--work-tree", str(folder), "checkout", "-q", commit, "--", ".")
        found.append(subprocess.run(["sh", "-c", check], cwd=folder, check=False).returncode == 0)
    return found


def test_independent_subtasks_are_worked_on_at_once(world: World) -> None:
    world.begin(subtasks("one", "two", "three") | held("one", "two", "three"))
    world.until(lambda: all(world.lives_of(f"dev:{each}") for each in ("one", "two", "three")))
    for each in ("two", "three", "one"):
        world.go(each)
    world.until_is("complete")
    names = world.git("diff", "--name-only", "main", "task/t1").split()
    assert names == ["pkg/one.py", "pkg/three.py", "pkg/two.py"]
    assert world.git("rev-list", "--count", "main..task/t1") == "3"
    assert world.git("rev-list", "--count", "--merges", "main..task/t1") == "0"
    assert [world.lives_of(f"dev:{each}") for each in ("one", "two", "three")] == [1, 1, 1]
    world.check_once()
    world.check_nobody_is_left()


@pytest.mark.thorough(reason="unit/pm/test_merging.py keeps them apart")
def test_subtasks_that_name_the_same_files_follow_each_other(world: World) -> None:
    world.begin(subtasks("one", "two", files="pkg/**") | held("one"))
    world.until_works("dev:one")
    assert not world.lives_of("dev:two")
    world.go("one")
    world.until_is("complete")
    world.check_once()


CHECK = "test $(ls pkg | grep -c '^bad') -lt 2"
"""Two of the bad files break each other, and each is well by itself."""


@pytest.mark.thorough(reason="three of the nine subtasks below do that; unit/pm/test_merging.py decides it")
def test_what_breaks_only_together_is_never_on_the_branch(world: World) -> None:
    """Both pass their check, tester and reviewer by themselves; the second to be merged is done again."""
    turns = subtasks("one", "two") | held("one", "two", one="pkg/bad1.py", two="pkg/bad2.py")
    for each in ("one", "two"):
        mended = {
            "shell": f"rm -f pkg/bad*{'1' if each == 'one' else '2'}.py",
            "write": {f"pkg/{each}.py": "well\n"},
        }
        turns[f"dev:{each}"].append(mended)
    world.begin(turns, config=[f'test.check: sh -c "{CHECK}"'])
    world.until(lambda: all(world.lives_of(f"dev:{each}") for each in ("one", "two")))
    world.go("one")
    world.go("two")
    world.until_is("complete")
    assert each_holds(world, CHECK) == [True, True]
    assert sorted(world.lives_of(f"dev:{each}") for each in ("one", "two")) == [1, 2]
    tallies = [change["tally"] for change in world.story().changes("step_tallied")]
    assert [each["conflicts"] for each in tallies if "conflicts" in each] == [1]
    rejected = [each["feedback"] for each in world.story().changes("step_fed") if "Rejected by" in str(each)]
    assert not rejected
    world.check_once()


def test_a_conflict_is_solved_by_its_developer(world: World) -> None:
    """It finds both sides in its tree; a marker that it leaves comes back to it."""
    turns = subtasks("one", "two") | held("one", "two", one="pkg/same.py", two="pkg/same.py")
    looks = "grep -q '^<<<<<<< ' pkg/same.py && grep -q one pkg/same.py && grep -q two pkg/same.py"
    for each in ("one", "two"):
        turns[f"dev:{each}"] += [
            {"shell": looks, "write": {"pkg/more.py": "more\n"}},
            {"write": {"pkg/same.py": "one\ntwo\n"}},
        ]
    world.begin(turns)
    world.until(lambda: all(world.lives_of(f"dev:{each}") for each in ("one", "two")))
    world.go("one")
    world.go("two")
    world.until_is("complete")
    assert world.git("show", "task/t1:pkg/same.py") == "one\ntwo"
    assert sorted(world.lives_of(f"dev:{each}") for each in ("one", "two")) == [1, 3]
    assert "conflicts" not in world.story().facts("work_committed")[-1]
    world.check_once()


@pytest.mark.thorough(reason="simulation/test_days.py kills queues; chaos/test_killed.py a real daemon")
@pytest.mark.parametrize("world", [{"limits__max_concurrent_runs": "8"}], indirect=True, ids=[""])
def test_an_order_that_a_kill_leaves_is_gone_on_with(world: World) -> None:
    """The daemon is killed while eight subtasks are at work, and as their work is merged."""
    ids = [f"s{number}" for number in range(8)]
    world.begin(subtasks(*ids) | held(*ids), config=["test.check: true"])
    world.until(lambda: all(world.lives_of(f"dev:{each}") for each in ids))
    world.kill_daemon()
    for each in ids:
        world.go(each)
    world.daemon()
    world.until(lambda: len(world.story().facts("work_merged")) > 3)
    world.kill_daemon()
    world.daemon()
    world.until_is("complete")
    names = world.git("diff", "--name-only", "main", "task/t1").split()
    assert names == sorted(f"pkg/{each}.py" for each in ids)
    assert world.git("rev-list", "--count", "main..task/t1") == "8"
    world.check_once()
    world.check_nobody_is_left()


BREAKS = """
import pathlib, sys
numbers = {int(path.stem[1:]) for path in pathlib.Path("pkg").glob("s*.py")}
pairs = [(n, n + 3) for n in numbers if n % 3 == 0 and n + 3 in numbers]
sys.exit(any(not pathlib.Path("pkg", f"both-{one}-{other}").exists() for one, other in pairs))
"""
"""Of every third subtask, two neighbours break each other, unless a file says that one of them knows the other."""

RACING = (0, 3)
"""Two subtasks that break each other. Both begin before either ends; the others begin when there is room."""


@pytest.mark.parametrize("world", [{"limits__max_concurrent_runs": "8"}], indirect=True, ids=[""])
@pytest.mark.parametrize(
    "number", [9, pytest.param(50, marks=pytest.mark.thorough(reason="the same queue, five times as long"))]
)
def test_nothing_wrong_gets_through_the_queue(world: World, number: int) -> None:
    """A third of the subtasks break each other, and only together. Each commit of the branch passes the check."""
    ids = [f"s{each}" for each in range(number)]
    turns = subtasks(*ids)
    for n in range(number):
        knows = "; ".join(
            f"test ! -e pkg/s{other}.py || touch pkg/both-{min(n, other)}-{max(n, other)}"
            for other in (n - 3, n + 3)
        )
        work = {"write": {f"pkg/s{n}.py": f"{n}\n"}, "shell": knows}
        turns[f"dev:s{n}"] = [{**work, "hold": f"s{n}"} if n in RACING else work, *[work] * 3]
    (world.project / "check.py").write_text(BREAKS)
    world.git("add", "--all")
    world.git("commit", "-q", "-m", "Check")
    world.begin(turns, config=["test.check: python3 check.py"])
    for n in RACING:
        world.until_works(f"dev:s{n}")
    for n in RACING:
        world.go(f"s{n}")
    world.until(lambda: world.stands() == "complete", within=20.0 * number)
    assert all(each_holds(world, "python3 check.py"))
    names = world.git("ls-tree", "--name-only", "task/t1", "pkg/").split()
    assert {f"pkg/{each}.py" for each in ids} <= set(names)
    tallies = [change["tally"] for change in world.story().changes("step_tallied")]
    assert any("conflicts" in each for each in tallies)
    rejected = [each["feedback"] for each in world.story().changes("step_fed") if "Rejected by" in str(each)]
    assert not rejected
    world.check_once()
