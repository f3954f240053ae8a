"""A box on which everything hangs: what is done on this machine goes on, however many tasks wait for that box."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.cli.exits import Exit
from orchestrator.daemon.service import BOX_WORKERS
from orchestrator.model.sections import DaemonSettings
from tests.integration.daemon.world import AGENT, World, a_world
from tests.remote.boxes import Boxes
from tests.remote.furnished import ONE_EACH, furnished

ANSWERED = 2.0
"""Seconds: much less than a connection may take (8 s), and much more than a machine with other work takes."""

MORE_THAN_HANDS = DaemonSettings().workers + BOX_WORKERS + 1


@pytest.fixture
def world(boxes: Boxes) -> Iterator[World]:
    with a_world() as made:
        made.environ["PATH"] = f"{boxes.front(made.root / 'bin')}:{made.environ['PATH']}"
        yield made


@pytest.fixture
def stuck(world: World) -> Iterator[Path]:
    """Put an rsync in place that hangs as long as this file is there, and notes that it does. It is not there yet."""
    flag = world.root / "stuck"
    rsync = shutil.which("rsync", path=os.environ["PATH"])
    stand_in = world.root / "bin/rsync"
    stand_in.write_text(
        f"""#!/bin/sh
if [ -e '{flag}' ]; then echo "$$" >>'{flag}.by'; fi
while [ -e '{flag}' ]; do sleep 0.1; done
exec {rsync} "$@"
"""
    )
    stand_in.chmod(0o755)
    yield flag
    flag.unlink(missing_ok=True)


def is_on_its_way(world: World, name: str) -> bool:
    """Tell whether a task's architect is to be launched on its box."""
    return any(run["step"] == "architect" for run in world.story(name).runs.values())


@pytest.mark.thorough(reason="requests are answered while a box hangs, above")
def test_stop_says_what_hangs_and_daemon_ends_at_once(boxes: Boxes, world: World, stuck: Path) -> None:
    """Each waits for a launch that nobody will ever hear of: the command tells so, and the daemon kills what hangs."""
    box = furnished(boxes, world, "alpha")
    there = [f"architect.command: {AGENT.format(script=world.script)}", f"cwd: alpha:{box.home}/repo"]
    world.begin({"explore": [{"hold": "e"}]}, config=["architect: yes", *there])
    stuck.touch()  # behind the look at the box, which would not let the task start
    world.go("e")
    hanging = stuck.with_name("stuck.by")
    world.until(lambda: hanging.exists() and hanging.read_text().split())
    said = world.task("stop", "t1")
    assert said.code == Exit.FAILED
    assert "architect on alpha" in said.err
    world.stop_daemon()
    assert stuck.exists()
    left = [int(pid) for pid in hanging.read_text().split()]
    assert not any(Path(f"/proc/{pid}/cwd").exists() for pid in left)
    assert "agents in their panes work on" in world.log


@pytest.mark.thorough(reason="a task for each worker, on a box each: above, one hangs")
def test_local_task_is_done_while_box_hangs_under_many(boxes: Boxes, world: World, stuck: Path) -> None:
    box = furnished(boxes, world, "alpha")
    names = [f"far-{number}" for number in range(MORE_THAN_HANDS)]
    for name in names:
        world.git("clone", "-q", str(world.project), str(box.home / name))
        there = [f"architect.command: {AGENT.format(script=world.script)}", f"cwd: alpha:{box.home}/{name}"]
        world.begin({"explore": [{"hold": "e"}] * len(names)}, name, ["architect: yes", *there])
    stuck.touch()  # behind the look at the box: with that, none of them would be started
    world.go("e")
    world.until(lambda: all(is_on_its_way(world, name) for name in names))
    hanging = stuck.with_name("stuck.by")
    world.until(lambda: hanging.exists() and len(set(hanging.read_text().split())) >= BOX_WORKERS)
    world.begin(name="near")
    world.until_is("complete", "near")
    assert stuck.exists()
    assert [step for run, step in world.lives if run in world.story("near").runs] == ONE_EACH
    stuck.unlink()
    for name in names:
        assert world.task("stop", name).code == 0
    world.until(lambda: all(world.stands(name) in {"stopped", "complete"} for name in names))


def test_requests_are_answered_while_a_box_is_connected_to(boxes: Boxes, world: World) -> None:
    """Each of them has the box called again, and its ssh hangs: that holds up neither them nor the local task."""
    box = furnished(boxes, world, "alpha")
    there = [f"architect.command: {AGENT.format(script=world.script)}", f"cwd: alpha:{box.home}/repo"]
    world.begin({"architect": [{"hold": "a"}]}, "far", ["architect: yes", *there])
    world.until(lambda: world.agent("architect", "far"))
    world.begin(name="near")
    flag = world.root / "slow"
    flag.touch()
    hangs = f"case \" $* \" in *' -N '*) touch {flag}.by; while [ -e {flag} ]; do sleep 0.05; done ;; esac"
    boxes.front(world.root / "bin", hangs)
    hanging = flag.with_name("slow.by")
    box.kill_sessions()
    for _ in range(3):
        hanging.unlink(missing_ok=True)
        world.until(hanging.exists, within=90)  # the pause between two tries grows
        assert max(answered(world, "near") for _ in range(5)) < ANSWERED
    flag.unlink()
    world.until_is("complete", "near")
    world.go("a")
    world.until_is("complete", "far")


def answered(world: World, name: str) -> float:
    """Return the seconds until a request for a task is answered."""
    began = time.monotonic()
    request = world.ask("checkin", name)
    world.until(lambda: not request.exists())
    return time.monotonic() - began
