"""Daemons and tmux servers that die at bad moments, and state that was damaged or lost meanwhile."""

from __future__ import annotations

import os
import shutil
import signal
from functools import partial
from pathlib import Path

import pytest

from tests.integration.daemon.world import World, ended

HOLD = {"hold": "on"}


def finished(world: World) -> None:
    """Check that a run which was disturbed came out as one that was not."""
    world.until_is("complete")
    world.check_once()
    world.check_nobody_is_left()
    assert world.git("diff", "--name-only", "main", "task/t1") == "pkg/greet.py"
    assert world.git("rev-list", "--count", "main..task/t1") == "1"


# The daemon ---------------------------------------------------------------------------------------


def test_killed_while_an_agent_works_it_finds_the_agent_again(world: World) -> None:
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    agent = world.agent("dev:greet")["pid"]
    world.kill_daemon()
    assert "daemon down" in world.task("status", "t1").out
    world.daemon()
    world.until(lambda: world.agent("dev:greet").get("pid") == agent)
    world.go("on")
    finished(world)
    assert len(world.lives) == 6


def test_report_made_while_down_is_read_at_the_next_start(world: World) -> None:
    """What is reported while it is down is taken at the next start."""
    folder = world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    agent = world.agent("dev:greet")["pid"]
    world.stop_daemon()
    assert not ended(agent)
    world.go("on")
    world.until(lambda: list((folder / "handoffs").glob("dev-*.md")) and ended(agent))
    assert world.task("stop", "t1").code == 6
    requests = list((world.home() / "requests").glob("*.json"))
    assert len(requests) == 1
    requests[0].unlink()
    world.daemon()
    # Shown at once: the first beat is due after 5 s.
    world.until(lambda: world.steps()["dev:greet"] != "working", within=4)
    finished(world)
    assert len(world.lives) == 6


def test_request_to_a_daemon_that_is_down_is_handled_later(world: World) -> None:
    """A request made while it is down is heard when it is back."""
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    world.kill_daemon()
    world.ask("stop")
    world.daemon()
    world.until_is("stopped")
    world.check_nobody_is_left()


def test_a_first_term_ends_it_in_order_and_a_second_at_once(world: World) -> None:
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    pid = world.pid
    os.kill(pid, signal.SIGTERM)
    os.kill(pid, signal.SIGTERM)
    world.until(lambda: not world.pid)
    assert world.agent("dev:greet")
    world.daemon()
    world.stop_daemon()
    assert world.log.rstrip().endswith("agents in their panes work on")
    world.daemon()
    world.go("on")
    finished(world)
    assert len(world.lives) == 6


def test_a_second_daemon_refuses_and_names_the_first(world: World) -> None:
    first = world.daemon()
    second = world.launched()
    assert second.wait(timeout=20) == 1
    assert f"a daemon runs already, pid {first}" in world.log
    assert world.pid == first
    both = [world.launched(ORCHESTRATOR_HOME=str(world.root / "other")) for _ in range(2)]
    world.until(lambda: any(each.poll() is not None for each in both))
    world.until((world.root / "other" / "daemon.beat").exists)
    assert sorted(each.poll() is None for each in both) == [False, True]


def further(world: World, lives: int) -> bool:
    return len(world.lives) > lives or world.stands() == "complete"


@pytest.mark.thorough(reason="test_loops.py kills it five times; chaos/test_killed.py while it recovers")
def test_killed_again_and_again_it_still_gets_there(world: World) -> None:
    world.begin()
    for _ in range(6):
        world.until(partial(further, world, len(world.lives)))
        if world.pid:
            world.kill_daemon()
        world.daemon()
    finished(world)


# tmux ---------------------------------------------------------------------------------------------


def test_agents_of_a_dead_tmux_server_are_started_anew(world: World) -> None:
    """A tmux server that dies takes its agents along and they are started anew."""
    world.begin({"plan": [HOLD], "dev:greet": [HOLD]})
    world.until_works("plan")
    world.tmux.tmux("kill-server")
    world.until(lambda: world.lives_of("plan") == 2)
    world.go("on")
    world.until(lambda: world.lives_of("dev:greet") == 1)
    world.tmux.kill()
    finished(world)
    assert "its terminal" not in str(world.state_shown()["questions"])
    assert world.lives_of("plan") == 2


def test_after_a_reboot_the_work_goes_on(world: World) -> None:
    world.begin({"dev:greet": [{"hold": "never"}]})
    world.until_works("dev:greet")
    world.kill_daemon()
    world.tmux.kill()
    world.check_nobody_is_left()
    world.daemon()
    finished(world)
    assert world.lives_of("dev:greet") == 2


def test_a_frozen_tmux_server_stalls_no_answer(world: World) -> None:
    world.begin({"explore": [HOLD]})
    world.until_works("explore")
    with world.tmux.frozen():
        world.go("on")
        world.until(lambda: world.steps()["explore"] == "passed")
        assert world.task("checkin", "t1").code == 0
    finished(world)


# Damage -------------------------------------------------------------------------------------------


def segment(world: World) -> Path:
    (found,) = (world.home() / "journal").glob("*.jsonl")
    return found


def test_a_torn_tail_is_cut_off_and_kept(world: World) -> None:
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    world.kill_daemon()
    data = segment(world).read_bytes()
    segment(world).write_bytes(data[:-20])
    world.daemon()
    world.go("on")
    finished(world)
    assert not world.state_shown()["questions"]
    assert [path.read_bytes() for path in (world.home() / "journal").glob("*.torn-*")] == [data[:-20]]


def test_damaged_journal_middle_is_set_aside_and_asked_about(world: World) -> None:
    """Damage in the middle is set aside and asked about before anything starts."""
    world.begin({"dev:greet": [{**HOLD, "verdict": ""}]})
    world.until_works("dev:greet")
    world.kill_daemon()
    data = segment(world).read_bytes()
    lines = data.split(b"\n")
    number = next(n for n, line in enumerate(lines) if b'"report_landed"' in line and b"explore-" in line)
    lines[number] = lines[number].replace(b"COMPLETE", b"COMPLETF", 1)
    segment(world).write_bytes(b"\n".join(lines))
    world.daemon()
    world.until(lambda: world.state_shown()["questions"])
    (question,) = world.state_shown()["questions"]
    (kept,) = (world.home() / "journal").glob("*.damaged-*")
    assert kept.read_bytes() == b"\n".join(lines)
    assert kept.name in question["text"]
    assert f"after line {number - 1}" in question["text"]
    assert world.steps() == {"explore": "passed", "plan": "pending"}
    world.until_is("waiting")

    world.until(lambda: not world.agent("dev:greet"))
    world.check_nobody_is_left()
    said = world.task("answer", "t1", question["id"], "continue")
    assert said.code == 0, said
    finished(world)
    assert world.lives_of("explore") == 1


def test_unreadable_journal_is_reported_and_begun_anew(world: World) -> None:
    """A journal of which nothing reads is said and begun anew by the user."""
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    agent = world.agent("dev:greet")["pid"]
    world.kill_daemon()
    lines = segment(world).read_bytes().split(b"\n")
    lines[0] = lines[0].replace(b'"n"', b'"m"', 1)
    segment(world).write_bytes(b"\n".join(lines))
    world.daemon()
    world.until(lambda: "damaged" in world.task("status", "t1").out)
    assert list((world.home() / "journal").glob("*.damaged-*"))

    world.let({})
    assert world.task("start", "t1", "--project", str(world.project)).code == 0
    world.until_is("complete")
    assert ended(agent)
    assert world.lives_of("explore") == 2
    world.check_nobody_is_left()


@pytest.mark.thorough(reason="unit/daemon/test_orphans.py has it in recovery; a lost run ends below")
def test_run_unknown_to_the_journal_ends_before_the_next(world: World) -> None:
    """A run that the journal has forgotten is ended before another takes its place."""
    world.begin({"dev:greet": [{"hold": "never"}]})
    world.until_works("dev:greet")
    agent = world.agent("dev:greet")["pid"]
    world.kill_daemon()
    lines = segment(world).read_bytes().split(b"\n")
    number = next(n for n, line in enumerate(lines) if b'"run_opened"' in line and b'"dev:greet"' in line)
    segment(world).write_bytes(b"\n".join([*lines[:number], lines[number][:100]]))
    world.daemon()
    finished(world)
    assert ended(agent)
    assert world.lives_of("dev:greet") == 2


def test_lost_state_folder_makes_handoffs_history(world: World) -> None:
    """Without its state folder the handoffs are history and a start begins anew."""
    folder = world.begin()
    world.until_is("complete")
    world.stop_daemon()
    old = {path.name: path.read_bytes() for path in (folder / "handoffs").iterdir()}
    os.mkfifo(folder / "handoffs" / "explore-20250101-000000.md")
    (folder / "handoffs" / "plan-20250101-000000.md").mkdir()
    (folder / "handoffs" / "dev-20250101-000000.md").write_bytes(b"y" * 2_000_000)
    (folder / "handoffs" / os.fsdecode(b"test-\xff.md")).write_bytes(b"**Status:** COMPLETE\n")
    shutil.rmtree(world.state.rename(world.root / "removed"))
    world.daemon()
    assert world.task("status", "t1").code == 2
    assert len(world.lives) == 6

    said = world.task("start", "t1", "--project", str(world.project))
    assert said.code == 0, said
    world.until_is("complete")
    assert len(world.lives) == 12
    assert f"{len(old) + 4} handoffs existed before" in world.state_shown()["notices"][0]
    assert {name: (folder / "handoffs" / name).read_bytes() for name in old} == old
    assert not {fact["name"] for fact in world.story().facts("report_landed")} & set(old)
    world.check_nobody_is_left()


def test_daemon_without_its_state_folder_gives_way(world: World) -> None:
    """What worked for the task is known to nobody any more: a second agent worked beside it, and nobody was told."""
    world.begin({"explore": [HOLD]})
    world.until_works("explore")
    (run, _), agent, first = world.lives[0], world.agent("explore")["pid"], world.pid
    shutil.rmtree(world.state.rename(world.root / "removed"))
    world.let({})
    said = world.task("start", "t1", "--project", str(world.project))
    assert said.code == 0, said
    assert ended(agent)
    assert run in said.out
    world.until_is("complete")
    assert world.pid not in {0, first}
    world.until(lambda: ended(first))
    assert world.lives_of("plan") == 1


def test_what_escaped_from_a_lost_state_folder_is_ended(world: World) -> None:
    """Its launcher is gone, and so is all that told of it, but for its mark."""
    world.begin({"explore": [{"leave": True, "hold": "on"}]})
    world.until_works("explore")
    agent, left = world.agent("explore")["pid"], world.root / "left"
    world.kill_daemon()
    world.go("on")
    world.until(lambda: left.exists() and left.read_text().strip() and ended(agent))
    server = int(left.read_text())
    assert not ended(server)
    shutil.rmtree(world.state)
    world.let({})
    world.daemon()
    said = world.task("start", "t1", "--project", str(world.project))
    assert said.code == 0, said
    assert ended(server)


def test_a_task_at_work_under_another_state_folder_is_refused(world: World) -> None:
    world.begin({"explore": [HOLD]})
    world.until_works("explore")
    agent = world.agent("explore")["pid"]
    world.kill_daemon()
    other = {"ORCHESTRATOR_HOME": str(world.root / "other")}
    (world.root / "other").mkdir(mode=0o700)
    said = world.task("start", "t1", "--project", str(world.project), environ=other)
    world.task("daemon", "stop", environ=other)
    assert said.code != 0
    assert "under another state folder" in said.err
    assert not ended(agent)


@pytest.mark.parametrize("world", [{"daemon__rescan": "1 s"}], indirect=True, ids=[""])
def test_a_task_whose_own_folder_is_taken_away_goes_on_as_it_was(world: World) -> None:
    """`task start` said that nothing more was done, and no word how it ever would be."""
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    agent = world.agent("dev:greet")["pid"]
    shutil.rmtree((world.state / "tasks").rename(world.root / "away"))
    refused = []

    def starts() -> bool:
        said = world.task("start", "t1", "--project", str(world.project))
        refused.extend([said] if said.code else [])
        return said.code == 0

    world.until(starts)  # a rescan writes the folder anew, ahead of the first word or behind it
    assert all("is at work as t1-" in said.err for said in refused), refused
    assert not ended(agent)
    world.go("on")
    world.until_is("complete")
    assert world.lives_of("dev:greet") == 1
    assert world.lives_of("explore") == 1
    world.check_nobody_is_left()
