"""What happens to a box while a whole task works on it: nothing is lost, and nothing done twice (H13, law 5)."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.hosts.processes import Process, row_of, send, start_of
from orchestrator.hosts.ssh.runs import ROOT
from tests.integration.daemon.world import World, a_world, environ_of
from tests.remote.boxes import Box, Boxes
from tests.remote.furnished import COMMIT, ONE_EACH, cwd, furnished

LONG = 90.0
"""Seconds: a box that was lost is called again after pauses that grow."""


@pytest.fixture
def settings() -> dict[str, str]:
    """Settings of the daemon beyond those of all tests."""
    return {}


@pytest.fixture
def world(boxes: Boxes, settings: dict[str, str]) -> Iterator[World]:
    with a_world(limits__max_concurrent_runs="30", **settings) as made:
        made.environ["PATH"] = f"{boxes.front(made.root / 'bin')}:{made.environ['PATH']}"
        yield made


def asked_for(world: World, name: str, *config: str) -> Path:
    """Ask for a task without a look at its box, which takes a connection of its own; return its folder."""
    folder = world.brief(name, *config)
    for each in ("handoffs", "scratchpad", "artifacts"):
        (folder / each).mkdir(exist_ok=True)
    with (world.project / ".git/info/exclude").open("a") as exclude:
        exclude.write(f"/tasks/{name}/\n")
    world.ask("start", name, project=str(world.project), name=name)
    return folder


def complete(world: World, name: str = "t1") -> None:
    world.until(lambda: world.stands(name) == "complete", within=LONG)
    world.check_once(name)


def on(box: Box) -> list[Process]:
    """Return what runs on a box in its tmux, and the tmux servers: children before their parents."""
    mark = f"TMUX_TMPDIR={box.folder}/tmux".encode()
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    found = [Process(pid, start_of(pid)) for pid in pids if mark in environ_of(pid)]
    return sorted(found, key=lambda process: _ancestors(process.pid), reverse=True)


def _ancestors(pid: int) -> int:
    row = row_of(pid)
    return 1 + _ancestors(row.parent) if row else 0


def power_cut(box: Box, lost: list[Process]) -> None:
    """Take a box away, and end what ran on it before any of it can write a word.

    Children first: the end of a tmux server hangs up its terminals, which wakes what was stopped there, and a launcher
    that is awake writes how its run ended.
    """
    box.stop()
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for process in lost:
            send(process, number)


def test_the_process_that_holds_the_connection_is_killed(boxes: Boxes, world: World) -> None:
    box = furnished(boxes, world, "alpha")
    world.let({"dev:greet": [{"hold": "d", **COMMIT}]})
    asked_for(world, "t1", cwd(box), "bring: branch")
    world.daemon()
    world.until_works("dev:greet")
    (owner,) = layout.box_links(world.state).glob("*.pid")
    pid, _, start = owner.read_text().partition("@")
    send(Process(int(pid), start), signal.SIGKILL)
    world.until(lambda: box.logins() == 2)
    world.go("d")
    complete(world)
    assert [step for _, step in world.lives] == ONE_EACH


@pytest.mark.thorough(reason="test_crowded.py has a box with one session at a time")
def test_box_with_one_session_is_slow_and_does_all(boxes: Boxes, world: World) -> None:
    """A box that grants one session at a time is slow and does all."""
    box = furnished(boxes, world, "alpha", server="MaxSessions 1")
    world.let({"dev:greet": [COMMIT]})
    asked_for(world, "t1", cwd(box), "bring: branch")
    world.daemon()
    complete(world)
    assert [step for _, step in world.lives] == ONE_EACH


@pytest.mark.parametrize(
    "minutes", [pytest.param(-7, marks=pytest.mark.thorough(reason="the other direction")), 7]
)
def test_clocks_of_files_there_that_are_minutes_off_lose_nothing(
    boxes: Boxes, world: World, minutes: int
) -> None:
    box = furnished(boxes, world, "alpha")
    script = (
        'cd "$ORCHESTRATOR_WORKSPACE" && git add -A && git commit -qm work;'
        'cd "$ORCHESTRATOR_TASK_DIR"; (for n in $(seq 500); do'
        f' touch -d "{minutes} minutes" artifacts/code/* handoffs/dev-* && exit; sleep 0.01; done) >/dev/null 2>&1 &'
    )
    world.let({"dev:greet": [{"hold": "d", "run": ["bash", "-c", script]}]})
    folder = asked_for(world, "t1", cwd(box), "bring: branch")
    world.daemon()
    world.until_works("dev:greet")
    there = box.home / "repo/tasks/t1"
    early = there / "artifacts/code/early.md"
    early.write_text("one\n")
    os.utime(early, (early.stat().st_mtime + minutes * 60,) * 2)
    here = folder / "artifacts/code/early.md"
    world.until(lambda: here.exists() and here.read_text() == "one\n")
    early.write_text("two\n")
    world.until(lambda: here.read_text() == "two\n")
    world.go("d")
    complete(world)
    assert [step for _, step in world.lives] == ONE_EACH
    assert not list(folder.glob("**/*.kept-*"))


def test_a_box_that_is_booted_again_begins_the_run_anew_and_once(boxes: Boxes, world: World) -> None:
    box = furnished(boxes, world, "alpha")
    world.let({"dev:greet": [{"hold": "never"}, COMMIT]})
    asked_for(world, "t1", cwd(box), "bring: branch")
    world.daemon()
    world.until_works("dev:greet")
    power_cut(box, on(box))
    box.start()
    complete(world)
    assert world.lives_of("dev:greet") == 2
    first, second = [run for run, step in world.lives if step == "dev:greet"]
    gone = [fact for fact in world.story().facts("run_gone") if fact["run"] == first]
    assert [fact["exit"] for fact in gone] == [{"lost": True}]
    assert second != first
    world.until(lambda: not [each for each in on(box) if b"ORCHESTRATOR_RUN=" in environ_of(each.pid)])


@pytest.mark.parametrize(
    "what",
    [
        *(
            pytest.param(each, marks=pytest.mark.thorough(reason="our own folder there goes away as well"))
            for each in ("tasks/t1", "tasks")
        ),
        ROOT,
    ],
)
def test_folder_away_for_a_while_loses_nothing(boxes: Boxes, world: World, what: str) -> None:
    """A folder that is away for a while is said and loses nothing."""
    box = furnished(boxes, world, "alpha")
    world.let({"dev:greet": [{"hold": "d", **COMMIT}]})
    folder = asked_for(world, "t1", cwd(box), "bring: branch")
    world.daemon()
    world.until_works("dev:greet")
    root, shared = box.home / ROOT, box.home / "repo/tasks/t1"
    (shared / "artifacts/code/early.md").write_text("early\n")
    world.until((folder / "artifacts/code/early.md").exists)
    path = root if what == ROOT else box.home / "repo" / what
    away = path.rename(box.home / "away")
    # A round is made when the daemon is back at the latest.
    world.kill_daemon()
    world.daemon()
    log = world.home() / "pm.log"
    world.until(lambda: "lacks the file" in log.read_text())
    assert (folder / "artifacts/code/early.md").read_text() == "early\n"
    world.until(lambda: world.believed("dev:greet") == "unreachable")
    shutil.rmtree(path, ignore_errors=True)
    away.rename(path)
    world.go("d")
    world.kill_daemon()
    world.daemon()
    complete(world)
    assert [step for _, step in world.lives] == ONE_EACH


SOON = {
    f"limits__{name}": bound
    for name, bound in {
        "inactivity_timeout": "10 s",
        "look_interval": "1 s",
        "max_looks": "1",
        "termination_timeout": "2 s",
    }.items()
}


@pytest.mark.thorough(reason="it waits out several bounds: unit/pm/test_boxes.py has what is decided")
@pytest.mark.parametrize("settings", [SOON], ids=["soon"])
def test_agent_on_an_emptied_box_is_asked_about_and_replaced(boxes: Boxes, world: World) -> None:
    """Nothing is said of it until the box is begun anew; then nothing tells whether it lives: the user looks there."""
    box = furnished(boxes, world, "alpha")
    world.let({"dev:greet": [{"hold": "never"}, COMMIT]})
    asked_for(world, "t1", cwd(box), "bring: branch")
    world.daemon()
    world.until_works("dev:greet")
    power_cut(box, on(box))
    shutil.rmtree(box.home / ROOT)
    box.start()
    (question,) = world.until(lambda: world.state_shown()["questions"], within=LONG)
    assert question["kind"] == "box"
    begin_anew = re.search(r"make it anew there: (.*)\. Fix it", question["text"])
    assert begin_anew
    assert world.believed("dev:greet") == "unreachable"
    subprocess.run(["sh", "-c", begin_anew[1]], check=True, env={**os.environ, "HOME": str(box.home)})
    world.until(
        lambda: [each["kind"] for each in world.state_shown()["questions"]] == ["termination"], within=LONG
    )
    (question,) = world.state_shown()["questions"]
    assert "Make sure on alpha that none of its processes is alive, then answer gone" in question["text"]
    assert world.lives_of("dev:greet") == 1
    assert world.task("answer", "t1", question["id"], "gone").code == 0
    complete(world)
    assert world.lives_of("dev:greet") == 2


@pytest.mark.thorough(reason="twelve agents launch on one box in test_stuck_box.py")
def test_ten_agents_of_ten_tasks_on_one_box_have_one_connection(boxes: Boxes, world: World) -> None:
    box = furnished(boxes, world, "alpha")
    world.let({"explore": [{"hang": True}] * 10, "dev-1": [{"hold": "d"}] * 10})
    names = [f"t{number}" for number in range(10)]
    world.daemon()
    for name in names:
        world.git("clone", "-q", str(world.project), str(box.home / name))
        asked_for(world, name, f"cwd: alpha:{box.home}/{name}", "workspace: worktree")
        world.until(lambda name=name: world.stands(name) == "running")  # type: ignore[misc]
        world.ask("spawn", name, agent="dev", instructions="Work.")
    world.until(lambda: all(world.agent("dev-1", name) for name in names), within=LONG)
    world.go("d")
    world.until(lambda: all(world.steps(name)["dev-1"] == "passed" for name in names), within=LONG)
    for name in names:
        world.check_once(name)
    assert world.lives_of("dev-1") == 10
    assert box.logins() == 1
