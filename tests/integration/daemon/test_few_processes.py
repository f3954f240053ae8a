"""A daemon that may have few processes or few open files: what it lacks is named, and it goes on when it has it."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.chaos.machine import cgroup
from tests.chaos.trial import Skipped
from tests.integration.daemon.world import World

FEW_FILES = 40
FEW_PROCESSES = 30
"""All that a small machine lets one user have: threads count as well."""

REFUSED = 1
DAEMON = f"exec {sys.executable} -P -m orchestrator.daemon"


@pytest.fixture
def group(world: World) -> Iterator[Path]:
    """A control group for the daemon and all that it starts, without a bound so far."""
    with ExitStack() as stack:
        try:
            made = stack.enter_context(cgroup("pids", "pids.max", "max"))
        except Skipped as skipped:
            pytest.skip(str(skipped))
        yield made
        world.end_processes()


def in_group(world: World, group: Path) -> int:
    return world.daemon("sh", "-c", f"echo $$ >{group}/cgroup.procs; {DAEMON}")


def test_thirty_processes_are_enough_for_a_task(world: World, group: Path) -> None:
    (group / "pids.max").write_text(str(FEW_PROCESSES))
    in_group(world, group)
    world.begin()
    world.until_is("complete")
    world.check_once()


@pytest.mark.parametrize("world", [{"daemon__rescan": "1 s"}], indirect=True)
def test_forty_open_files_are_enough_for_a_task(world: World) -> None:
    """What finds no file to open for a moment is tried again at the next rescan."""
    pid = world.daemon("sh", "-c", f"ulimit -n {FEW_FILES}; {DAEMON}")
    assert resource.prlimit(pid, resource.RLIMIT_NOFILE) == (FEW_FILES, FEW_FILES)
    world.begin()
    said = world.task("doctor").out
    assert f"{FEW_FILES} open files" in said, "the daemon's own limit counts, not that of who asks"
    world.until_is("complete")
    world.check_once()


@pytest.mark.thorough(
    reason="unit/daemon/test_worker_pool.py; chaos/test_faults.py refuses a real daemon its forks"
)
@pytest.mark.parametrize("world", [{"daemon__rescan": "1 s"}], indirect=True)
@pytest.mark.parametrize("left", [0, 1, 3])
def test_without_processes_it_says_so_and_goes_on_once_there_are(
    world: World, group: Path, left: int
) -> None:
    pid = in_group(world, group)
    most = len(os.listdir(f"/proc/{pid}/task")) + left  # noqa: PTH208 (names, not paths)
    (group / "pids.max").write_text(str(most))
    world.let({})
    world.brief()
    said = world.task("start", "t1", "--project", str(world.project))
    world.until(lambda: "Resource temporarily unavailable" in logged(world) + said.err)
    assert "this should not happen" not in world.log
    assert f"{most} processes in its control group" in " ".join(world.task("doctor").out.split())
    (group / "pids.max").write_text("max")
    if said.code == REFUSED:
        assert "pids.max" in said.err
        assert world.task("start", "t1", "--project", str(world.project)).code == 0
    world.until(lambda: world.stands() in {"complete", "waiting"}, within=60)
    if world.stands() == "waiting":
        for question in world.state_shown()["questions"]:
            assert world.task("answer", "t1", question["id"], "retry").code == 0
        world.until_is("complete")
    assert world.pid == pid
    world.check_once()


def logged(world: World) -> str:
    """Return what the daemon and the task's log say."""
    logs = (world.state / "tasks").glob("*/pm.log")
    return "\n".join([world.log, *(log.read_text(errors="replace") for log in logs)])
