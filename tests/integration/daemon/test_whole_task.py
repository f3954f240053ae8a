"""A task from `task start` to COMPLETE, and the ways round when agents reject, block, fail or say too little."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.integration.daemon.world import World, names

REJECTED = {"verdict": "REJECTED", "say": "The greeting is rude."}
BLOCKED = {"status": "BLOCKED", "blockers": "There is no database."}
ONE_EACH = ["explore", "plan", "dev:greet", "test:greet", "review:greet", "accept"]


def test_a_task_becomes_a_branch_and_leaves_the_users_tree_alone(world: World) -> None:
    (world.project / "notes.txt").write_text("stashed\n")
    world.git("stash", "-q")
    (world.project / "notes.txt").write_text("being edited\n")
    (world.project / "new.txt").write_text("not added yet\n")
    before = [world.git("status", "--porcelain"), world.git("rev-parse", "HEAD"), world.git("stash", "list")]
    files = names(world.project.iterdir())

    folder = world.begin()
    world.until_is("complete")

    assert [step for _, step in world.lives] == ONE_EACH
    world.check_once()
    world.check_nobody_is_left()
    (criterion,) = world.state_shown()["criteria"]
    assert (criterion["text"], criterion["met"]) == ("There is a greeting.", True)
    assert criterion["evidence"][0] == "artifacts/reviews/accept.md"
    assert criterion["attested"] is False  # an artifact of another step stands beside it
    # What the user has.
    after = [world.git("status", "--porcelain"), world.git("rev-parse", "HEAD"), world.git("stash", "list")]
    assert after == before
    assert names(world.project.iterdir()) == sorted([*files, "tasks"])
    assert names((world.project / "tasks").iterdir()) == ["t1"]
    assert "/tasks/t1/" in (world.project / ".git" / "info" / "exclude").read_text().splitlines()
    # What the task made. Its pages may be being replaced just now.
    made = ["artifacts", "handoffs", "pm_state.json", "progress.md", "scratchpad", "task.md"]
    world.until(lambda: names(folder.iterdir()) == made)
    agents = [name.split("-")[0] for name in names((folder / "handoffs").iterdir())]
    assert sorted(set(agents)) == ["dev", "explore", "plan", "pm", "review", "test"]
    assert agents.count("pm") == len(ONE_EACH)
    assert json.loads((folder / "pm_state.json").read_text())["phase"] == "COMPLETE"
    world.until(lambda: "phase COMPLETE" in (folder / "progress.md").read_text())
    assert "| Add a greeting | done |" in (folder / "progress.md").read_text()
    assert (
        world.git("diff", "--stat", "main", "task/t1").splitlines()[0].split("|")[0].strip() == "pkg/greet.py"
    )
    assert world.git("merge-base", "main", "task/t1") == world.git("rev-parse", "main")
    world.git("merge", "-q", "--ff-only", "task/t1")
    assert (world.project / "pkg" / "greet.py").exists()


def test_start_returns_at_once_and_says_what_it_did(world: World) -> None:
    world.let({"explore": [{"hold": "on"}]})
    world.brief()
    said = world.task("start", "t1", "--project", str(world.project))
    assert said.code == 0
    assert "the daemon was started" in said.out
    assert "task attach t1" in said.out
    assert world.stands() == "running"


def test_rejected_work_is_done_again_with_the_feedback(world: World) -> None:
    world.begin(
        {"review:greet": [REJECTED], "dev:greet": [{}, {"write": {"pkg/greet.py": "NAME = 'kind'\n"}}]}
    )
    world.until_is("complete")
    assert (world.lives_of("dev:greet"), world.lives_of("test:greet"), world.lives_of("review:greet")) == (
        2,
        2,
        2,
    )
    first, second = world.story().orders("dev:greet")
    assert "rude" not in first
    assert "Rejected by review:greet: The greeting is rude." in second
    assert world.git("show", "task/t1:pkg/greet.py") == "NAME = 'kind'"
    assert world.git("rev-list", "--count", "main..task/t1") == "1"
    world.check_once()


@pytest.mark.thorough(reason="unit/pm/test_judging.py decides; one rejection is a whole task above")
def test_three_rejections_are_for_a_person_to_decide(world: World) -> None:
    world.let({"test:greet": [REJECTED] * 3})
    world.brief("t1", "rejections: ask")
    assert world.task("start", "t1", "--project", str(world.project)).code == 0
    world.until_is("waiting")
    (question,) = world.state_shown()["questions"]
    assert "rejected 3 times" in question["text"]
    assert world.lives_of("dev:greet") == 3
    said = world.task("answer", "t1", question["id"], "Be kind.")
    assert said.code == 0, said
    world.until_is("complete")
    assert "Be kind." in world.story().orders("dev:greet")[-1]
    world.check_once()
    world.check_report()


@pytest.mark.thorough(reason="unit/pm/test_judging.py decides; one rejection is a whole task above")
def test_three_rejections_set_a_subtask_aside_if_task_md_says_so(world: World) -> None:
    plan = {"subtasks": ["- [greet] Greet (agent: dev)", "- [part] Part (agent: dev)"]}
    world.let({"plan": [plan], "test:greet": [REJECTED] * 3})
    world.brief("t1", "rejections: set-aside")
    assert world.task("start", "t1", "--project", str(world.project)).code == 0
    world.until_is("partial")
    assert world.steps()["dev:greet"] == "set_aside"
    assert world.steps()["review:part"] == "passed"
    assert world.git("diff", "--name-only", "main", "task/t1") == "pkg/part.py"
    world.check_report()


def test_blocker_is_retried_then_asked_and_answered(
    world: World,
) -> None:
    """A blocker is tried differently then asked about and the answer reaches the agent."""
    world.begin({"dev:greet": [BLOCKED, BLOCKED]})
    world.until_is("waiting")
    assert world.state_shown()["phase"] == "BLOCKED"
    assert "Take a different approach." in world.story().orders("dev:greet")[1]
    said = world.task("answer", "t1", "q1", "Use a file instead.")
    assert said.code == 0, said
    assert world.task("answer", "t1", "q1", "Again.").code != 0
    world.until_is("complete")
    assert "Use a file instead." in world.story().orders("dev:greet")[2]
    assert world.lives_of("dev:greet") == 3
    world.check_once()
    world.check_report()


def test_skill_added_for_a_gap_is_named_after_the_answer(world: World) -> None:
    """A skill that the user adds for a gap is named when the question is answered."""
    gap = BLOCKED | {"blockers": "There is no way in.\n\n## Skill Gaps\nhow to log in with OAuth tokens"}
    folder = world.begin({"dev:greet": [gap, gap]}, config=("plan.skills: house-rules",))
    world.until_is("waiting")
    (question,) = world.state_shown()["questions"]
    assert "no such skill was found (put one into .claude/skills/NAME/SKILL.md" in question["text"]
    skill = world.project / ".claude" / "skills" / "identity" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: identity\ndescription: >\n  Log in with OAuth tokens\n---\n")
    assert world.task("answer", "t1", "q1", "retry").code == 0
    world.until_is("complete")
    orders = [path.read_text() for path in sorted((folder / "handoffs").glob("pm-*.md"))]
    named = [order for order in orders if "## Skills to Load\n- identity\n" in order]
    assert len(named) == 1
    assert f"- skill identity: {skill}" in named[0]
    assert len([order for order in orders if "## Skills to Load\n- house-rules\n" in order]) == 1
    world.check_once()


@pytest.mark.thorough(reason="unit/pm/test_retries.py and test_requests.py: others go on")
def test_a_blocked_subtask_does_not_hold_up_the_others(world: World) -> None:
    plan = {"subtasks": ["- [greet] Greet (agent: dev)", "- [part] Part (agent: dev)"]}
    world.begin({"plan": [plan], "dev:greet": [BLOCKED, BLOCKED]})
    world.until_is("waiting")
    assert world.steps()["review:part"] == "passed"
    assert world.task("answer", "t1", "q1", "set-aside").code == 0
    world.until_is("partial")
    assert world.git("diff", "--name-only", "main", "task/t1") == "pkg/part.py"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"claims": ["artifacts/code/not-there.md"]}, "not on disk: artifacts/code/not-there.md"),
        ({"bytes": "# Handoff: dev\nAll is well.\n"}, "has no status"),
    ],
    ids=["artifacts that are not there", "malformed"],
)
def test_a_handoff_that_is_not_one_is_asked_for_again_once(world: World, wrong, said) -> None:
    folder = world.begin({"dev:greet": [wrong, wrong]})
    world.until_is("waiting")
    assert world.lives_of("dev:greet") == 2
    assert said in world.story().orders("dev:greet")[1]
    assert said in world.state_shown()["questions"][0]["text"]
    assert world.task("answer", "t1", "q1", "retry").code == 0
    world.until_is("complete")
    assert world.git("diff", "--name-only", "main", "task/t1") == "pkg/greet.py"
    assert folder.is_dir()
    world.check_once()


@pytest.mark.thorough(reason="unit/pm/test_retries.py asks once; a crash is a whole task below")
def test_run_without_handoff_is_asked_then_counts_as_crash(
    world: World,
) -> None:
    """An agent that ends without a handoff is asked for one and then counts as crashed."""
    world.begin({"explore": [{"report": False}] * 2})
    world.until_is("complete")
    assert world.lives_of("explore") == 3
    assert "left no handoff" in world.story().orders("explore")[1]
    assert [each["tally"] for each in world.story().changes("step_tallied")] == [
        {"asks": 1},
        {"asks": 1, "crashes": 1},
    ]


def test_an_agent_that_crashes_is_started_again_up_to_its_bound(world: World) -> None:
    crash = {"report": False, "exit": 7}
    world.begin({"explore": [crash] * 2, "plan": [crash] * 4})
    world.until_is("waiting")
    assert (world.lives_of("explore"), world.lives_of("plan")) == (3, 4)
    assert "the last time it exited 7" in world.state_shown()["questions"][0]["text"]
    assert world.task("answer", "t1", "q1", "retry").code == 0
    world.until_is("complete")
    world.check_once()


@pytest.mark.parametrize(
    "world", [{"limits__inactivity_timeout": "500 ms", "limits__check_in_interval": "100 ms"}], indirect=True
)
def test_silent_agent_that_ignores_term_is_killed(world: World) -> None:
    """A silent agent that ignores term is killed and tried again."""
    world.begin({"explore": [{"ignore_term": True, "hang": True}]})
    world.until_is("complete")
    assert world.lives_of("explore") == 2
    assert "Give a sign of progress" in world.story().orders("explore")[1]
    how = world.story().facts("run_gone")[0]["exit"]
    # On a machine that stands still its launcher is killed too, and tells nothing (hosts/local.py: KILL_BOUND).
    assert how.get("signal") == 9 or how.get("lost")
    world.check_nobody_is_left()


@pytest.mark.thorough(reason="integration/hosts/test_launch_script.py bounds the log")
def test_a_flood_on_the_screen_stays_bounded(world: World) -> None:
    world.begin({"explore": [{"flood": 30_000_000}]})
    world.until_is("complete")
    run = world.lives[0][0]
    assert (world.home() / "runs" / run / "pane.log").stat().st_size <= 10_485_760


def test_work_is_judged_only_after_its_commit(world: World) -> None:
    """Nobody judges work before it is committed however long that takes."""
    slow = world.root / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(
        f'#!/bin/sh\ncase " $* " in *" write-tree "*) sleep 0.3 ;; esac\nexec {shutil.which("git")} "$@"\n'
    )
    slow.chmod(0o700)
    world.daemon(PATH=f"{slow.parent}:{world.environ['PATH']}")
    world.begin({"test:greet": [{"write": {"pkg/junk.py": "by the tester\n"}}]})
    world.until_is("complete")
    assert world.git("diff", "--name-only", "main", "task/t1") == "pkg/greet.py"
    assert world.steps()["dev:greet"] == "passed"
