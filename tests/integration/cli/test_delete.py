"""`task delete` and `task archive` with a real daemon, real git and real tmux."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.integration.daemon.world import World, names

HOLD = {"hold": "on"}


def sessions(world: World) -> list[str]:
    done = subprocess.run(
        ["tmux", "-L", "test", "list-sessions", "-F", "#{session_name}"],
        env=world.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.split()


def refs(world: World) -> list[str]:
    return world.git("for-each-ref", "--format=%(refname)").splitlines()


def test_a_merged_task_goes_with_all_that_belongs_to_it(world: World) -> None:
    folder = world.begin()
    world.until_is("complete")
    assert world.task("merge", "t1").code == 0
    said = world.task("delete", "t1", "--yes")
    assert said.code == 0, said
    assert refs(world) == ["refs/heads/main"]
    assert not folder.exists()
    assert not folder.parent.exists()
    assert names((world.state / "tasks").iterdir()) == []
    assert names((world.state / "worktrees").iterdir()) == []
    assert not [name for name in sessions(world) if name.startswith("t1-")]
    assert "tasks/t1" not in (world.project / ".git" / "info" / "exclude").read_text()
    assert world.git("worktree", "list").count("\n") == 0
    assert (world.project / "pkg" / "greet.py").exists()
    assert "Traceback" not in world.log


def test_after_a_delete_the_same_name_begins_anew(world: World) -> None:
    world.begin()
    world.until_is("complete")
    before = world.home().name
    assert world.task("delete", "t1", "--yes", "--unmerged").code == 0
    world.begin()
    world.until_is("complete")
    assert world.home().name != before
    assert world.git("rev-list", "--count", "main..task/t1") == "1"


@pytest.mark.thorough(reason="unit/cli/test_delete.py has what is named and what stays, with real git")
def test_unmerged_work_is_named_and_stays(world: World) -> None:
    world.begin(
        {"dev:greet": [{"write": {"pkg/greet.py": "first\n"}}], "test:greet": [{"verdict": "REJECTED"}]}
    )
    world.until_is("complete")
    before = refs(world)
    said = world.task("delete", "t1", "--yes")
    assert said.code == 1
    assert "task/t1: 1 commit in no other branch" in said.err
    assert "refs that keep tries (1): 1 commit in no branch" in said.err
    assert refs(world) == before
    assert world.task("status", "t1").code == 0
    world.task("merge", "t1")
    assert "task/t1:" not in world.task("delete", "t1", "--yes").err
    said = world.task("delete", "t1", "--yes", "--unmerged")
    assert (said.code, refs(world)) == (0, ["refs/heads/main"])


def test_a_task_at_work_is_not_deleted_before_it_is_stopped(world: World) -> None:
    world.begin({"dev:greet": [{"early": True, "write": {"pkg/half.py": "half\n"}, **HOLD}]})
    world.until_works("dev:greet")
    said = world.task("delete", "t1", "--yes", "--unmerged")
    assert (said.code, f"`task stop {world.home('t1').name}`" in said.err) == (1, True)
    assert world.task("stop", "t1").code == 0
    assert world.task("delete", "t1", "--yes", "--unmerged").code == 0
    assert refs(world) == ["refs/heads/main"]
    world.check_nobody_is_left()


def test_what_was_cut_off_is_adopted_by_no_daemon(world: World) -> None:
    """The mark is all that the next daemon needs to see."""
    world.begin()
    world.until_is("complete")
    home = world.home()
    assert world.task("daemon", "stop").code == 0
    (home / "leaving.json").write_text(json.dumps({"why": "delete", "at": 0}))
    (home / "leaving.json").chmod(0o600)
    before = [path.read_bytes() for path in sorted((home / "journal").iterdir())]
    world.daemon()
    asked = world.ask("start", project=str(world.project), name="t1")
    reply = asked.with_name(f"{asked.stem}.reply.json")
    world.until(reply.exists)
    assert json.loads(reply.read_text())["ok"] is False
    assert [path.read_bytes() for path in sorted((home / "journal").iterdir())] == before
    said = world.task("start", "t1", "--project", str(world.project))
    assert (said.code, "is being deleted or archived" in said.err) == (1, True)
    assert world.task("delete", "t1").code == 0
    assert refs(world) == ["refs/heads/main"]


def test_without_a_daemon_what_rests_is_deleted(world: World) -> None:
    world.begin({"explore": [HOLD]})
    world.until_works("explore")
    world.kill_daemon()
    quiet = {"ORCHESTRATOR_DAEMON__RESTART": "false"}
    said = world.task("delete", "t1", "--yes", environ=quiet)
    assert (said.code, "the daemon is down" in said.err) == (1, True)
    world.daemon()
    assert world.task("stop", "t1").code == 0
    assert world.task("daemon", "stop").code == 0
    assert world.task("delete", "t1", "--yes", environ=quiet).code == 0
    assert not world.pid
    assert refs(world) == ["refs/heads/main"]


# Archives -----------------------------------------------------------------------------------------


def test_an_archived_task_comes_back_and_goes_on(world: World) -> None:
    folder = world.begin(
        {
            "plan": [{"subtasks": ["- [one] First (agent: dev)", "- [two] Second (agent: dev; needs: one)"]}],
            "dev:two": [{"write": {"pkg/half.py": "half\n"}, "hold": "never", "early": True}],
        }
    )
    world.until_works("dev:two")
    tree = next((world.state / "worktrees").glob("*/two"))
    (tree / "pkg" / "half.py").write_text("half\n")
    assert world.task("stop", "t1").code == 0
    reported, before, handoffs = world.state_shown(), refs(world), names((folder / "handoffs").iterdir())
    identity = world.home().name

    said = world.task("archive", "t1", "--yes")
    assert said.code == 0, said
    assert not folder.exists()
    assert refs(world) == ["refs/heads/main", f"refs/tasks/archived/{identity}"]
    assert "task list --archived" in world.task("list").out
    (listed,) = json.loads(world.task("list", "--archived", "--json").out)["archived"]
    assert (listed["task"], listed["state"], listed["project"]) == ("t1", "stopped", str(world.project))
    world.git("gc", "--prune=now", "-q")

    assert world.task("archive", "t1", "--restore").code == 0
    assert world.state_shown()["steps"] == reported["steps"]
    assert names((folder / "handoffs").iterdir()) == handoffs
    kept = [ref for ref in refs(world) if ref not in before]
    assert [world.git("show", f"{ref}:pkg/half.py") for ref in kept] == ["half"]
    assert world.task("list", "--archived").out.startswith("no task is archived")

    world.let({})
    assert world.task("start", "t1", "--project", str(world.project)).code == 0
    world.until_is("complete")
    assert world.git("diff", "--name-only", "main", "task/t1").split() == ["pkg/one.py", "pkg/two.py"]


@pytest.mark.thorough(
    reason="unit/cli/test_delete.py has the new task, and what delete --archived takes away"
)
def test_a_task_in_the_place_of_an_archived_one_is_kept(world: World) -> None:
    world.begin()
    world.until_is("complete")
    assert world.task("archive", "t1", "--yes").code == 0
    world.begin()
    world.until_is("complete")
    said = world.task("archive", "t1", "--restore")
    assert (said.code, "has a new task t1" in said.err) == (1, True)
    assert world.task("delete", "t1", "--archived", "--yes").code == 0
    assert refs(world) == ["refs/heads/main", "refs/heads/task/t1"]
    assert world.stands() == "complete"
