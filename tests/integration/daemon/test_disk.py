"""Disks that are full, folders that are taken away, descriptors that run out: the daemon rests and goes on."""

from __future__ import annotations

import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.cli.beat import has_room
from tests.integration.daemon.world import World, altered
from tests.polling import wait_until

HOLD = {"hold": "on"}
IMPATIENT = altered("from orchestrator.daemon import task; task.REST = 0.2")
"""A daemon whose rests are short."""


@pytest.fixture
def small_disk(world: World) -> Iterator[Path]:
    """The state folder on a disk of its own of 1 MB."""
    world.state.mkdir(mode=0o700)
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", str(world.state)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    yield world.state
    world.end_processes()
    # What was killed lets go of its files a moment later.
    umount = ["umount", str(world.state)]
    wait_until(lambda: not subprocess.run(umount, capture_output=True, check=False).returncode)


def fill(disk: Path) -> Path:
    """Use up all room and return the file to remove."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65536, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return filler


@pytest.mark.parametrize("world", [{"daemon__rescan": "500 ms"}], indirect=True)
def test_without_room_the_daemon_rests_and_goes_on_when_there_is(world: World, small_disk: Path) -> None:
    """What finds no room first, the journal or a launch, is for the last page of each file to say."""
    log = world.root / "elsewhere.log"
    pid = world.daemon(*IMPATIENT, log=log, ORCHESTRATOR_DAEMON__HEARTBEAT_INTERVAL="100 ms")
    world.begin({"plan": [HOLD]})
    world.until_works("plan")
    filler = fill(small_disk)
    world.go("on")
    world.until(
        lambda: any(reported in log.read_text() for reported in ("rests: [Errno 28]", "No space left"))
    )
    world.until(lambda: "the PM's own folder: [Errno 28]" in log.read_text())
    beat = world.beat["beat_at"]
    assert not has_room(str(world.state))
    filler.unlink()
    assert has_room(str(world.state))
    world.until_is("complete")
    assert world.pid == pid
    world.until(lambda: world.beat["beat_at"] > beat)
    world.check_once()


@pytest.mark.thorough(reason="chaos/test_killed.py: EMFILE; test_few_processes.py: forty open files")
def test_daemon_rests_while_descriptors_are_missing(world: World) -> None:
    """Without descriptors the daemon rests and goes on when there are."""
    pid = world.daemon(*IMPATIENT)
    world.begin({"plan": [HOLD]})
    world.until_works("plan")
    usual = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (8, usual[1]))
    world.go("on")
    world.until(lambda: "Too many open files" in world.log)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, usual)
    world.until_is("complete")
    assert world.pid == pid
    world.check_once()


@pytest.mark.parametrize("world", [{"daemon__rescan": "500 ms"}], indirect=True)
def test_a_watched_folder_that_is_made_anew_is_found(world: World) -> None:
    folder = world.begin({"explore": [HOLD]})
    world.until_works("explore")
    world.until(lambda: taken_away(folder))
    world.brief()
    for name in ("handoffs", "artifacts/analysis", "scratchpad/explore"):
        (folder / name).mkdir(parents=True)
    world.go("on")
    world.until_is("complete")
    assert len(world.lives) == 6


@pytest.mark.thorough(reason="unit/daemon/test_projection_writer.py writes it the next time")
@pytest.mark.parametrize("world", [{"daemon__rescan": "500 ms"}], indirect=True)
def test_what_could_not_be_shown_is_shown_when_it_can_be(world: World) -> None:
    broken = world.root / "broken"
    fail = f"""
import errno, os, pathlib
real = pathlib.Path.rename
def rename(path, new):
    if os.path.exists({str(broken)!r}) and new.name == "state.json":
        raise OSError(errno.EIO, "Input/output error")
    return real(path, new)
pathlib.Path.rename = rename
"""
    world.daemon(*altered(fail))
    world.begin({"explore": [HOLD]})
    world.until_works("explore")
    broken.touch()
    world.go("on")
    world.until(lambda: world.story().changes("task_moved"))
    assert world.stands() == "running"
    broken.unlink()
    world.until_is("complete")


def test_a_log_that_takes_nothing_stops_nothing(world: World) -> None:
    world.daemon(log=Path("/dev/full"))
    world.begin()
    world.until_is("complete")
    assert len(world.lives) == 6


def test_failed_fsync_of_the_journal_ends_all_deciding(world: World) -> None:
    """After a failed fsync of the journal nothing more is decided."""
    broken = world.root / "broken"
    fail = f"""
import errno, os
real = os.fsync
def fsync(descriptor):
    if os.path.exists({str(broken)!r}) and os.readlink(f"/proc/self/fd/{{descriptor}}").endswith(".jsonl"):
        raise OSError(errno.EIO, "Input/output error")
    real(descriptor)
os.fsync = fsync
"""
    world.daemon(*altered(fail))
    world.begin({"plan": [HOLD]})
    world.until_works("plan")
    broken.touch()
    lines = len(world.story().lines)
    world.go("on")
    world.until(lambda: not world.pid)
    assert "could not be written" in world.log
    assert len(world.story().lines) == lines
    assert len(world.lives) == 2
    broken.unlink()
    world.daemon()
    world.until_is("complete")
    assert len(world.lives) == 6
    world.check_once()


def taken_away(folder: Path) -> bool:
    """Remove a folder that somebody may still be writing to; return whether it is gone."""
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()
