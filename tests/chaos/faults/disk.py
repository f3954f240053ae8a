"""Disks that are full, read-only or broken, and what was written on them cut off or garbled."""

from __future__ import annotations

import os
import random
import resource
import shutil
import sys
from pathlib import Path

from tests.chaos.kills import begin, end
from tests.chaos.machine import fill_up, no_forks, read_only, small_disk, use_up_inodes
from tests.chaos.trial import Skipped, check
from tests.integration.daemon import test_restarts
from tests.integration.daemon.test_disk import IMPATIENT
from tests.integration.daemon.world import World, ended

HOLD = {"hold": "on"}
QUICK = {"daemon__rescan": "500 ms", "daemon__heartbeat_interval": "100 ms"}
"""What was put off is tried again at the next rescan: here that is soon."""


def works(world: World, step: str) -> None:
    """Start a task and wait until an agent works at a step."""
    world.begin({step: [HOLD]})
    world.until_works(step)


def no_room(world: World, step: str, *, inodes: bool) -> None:
    """The disk of the PM's own folder is full while an agent works, until there is room again."""
    log = world.root / "elsewhere.log"
    with small_disk(world, world.state, "size=4m,nr_inodes=400" if inodes else "size=1m"):
        pid = world.daemon(*IMPATIENT, log=log)
        works(world, step)
        fillers = use_up_inodes(world.state) if inodes else [fill_up(world.state)]
        world.go("on")
        world.until(lambda: "[Errno 28]" in log.read_text())
        for filler in fillers:
            filler.unlink()
        world.until_is("complete")
        assert world.pid == pid
        check(world)


def project_without_room(world: World, step: str) -> None:
    """The disk of the task's folder is full: its agents and its orders find no room, until there is."""
    folder = world.project / "tasks"
    with small_disk(world, folder, "size=256k"):
        pid = world.daemon(*IMPATIENT)
        works(world, step)
        filler = fill_up(folder)
        world.go("on")
        world.until(lambda: "No space left" in world.log or world.state_shown()["questions"])
        filler.unlink()
        world.until(lambda: world.stands() == "complete" or world.state_shown()["questions"])
        for question in world.state_shown()["questions"]:
            assert world.task("answer", "t1", question["id"], "retry").code == 0
        world.until_is("complete")
        assert world.pid == pid
        check(world)


def project_read_only(world: World, step: str) -> None:
    """The disk of the task's folder takes nothing for a while."""
    folder = world.project / "tasks"
    with small_disk(world, folder, "size=8m"):
        pid = world.daemon(*IMPATIENT)
        works(world, step)
        with read_only(folder):
            world.go("on")
            world.until(lambda: "Read-only file system" in world.log or world.state_shown()["questions"])
        world.until(lambda: world.stands() == "complete" or world.state_shown()["questions"])
        for question in world.state_shown()["questions"]:
            assert world.task("answer", "t1", question["id"], "retry").code == 0
        world.until_is("complete")
        assert world.pid == pid
        check(world)


def started_on_read_only(world: World) -> None:
    """A daemon that starts where it may not write ends, says why, and has changed nothing."""
    log = world.root / "elsewhere.log"
    with small_disk(world, world.state, "size=8m"):
        world.daemon(log=log)
        world.begin({"dev:greet": [{"status": "BLOCKED"}] * 2})  # nothing is at work, and nothing is written
        world.until_is("waiting")
        world.kill_daemon()
        world.tmux.kill()  # which writes the logs of its panes
        with read_only(world.state):
            second = world.launched(log=log)
            world.until(lambda: second.poll() is not None)
            assert second.returncode == 1
            assert "Read-only file system" in log.read_text()
        world.daemon(log=log)
        assert world.task("answer", "t1", "q1", "retry").code == 0
        world.until_is("complete")
        assert world.lives_of("dev:greet") == 3
        check(world)


def fsync_fails(world: World, number: int) -> None:
    """The Nth fsync of each of the daemon's threads fails: it ends and says so, or it was not the journal's."""
    if not shutil.which("strace"):
        raise Skipped("there is no strace here")
    trace = ["strace", "-f", "-b", "execve", "-o", "/dev/null", "-e", "trace=fsync"]
    trace += [
        "-e",
        f"inject=fsync:error=EIO:when={number}",
        sys.executable,
        "-P",
        "-m",
        "orchestrator.daemon",
    ]
    tracer = world.launched(*trace)
    world.until(lambda: world.pid or tracer.poll() is not None)
    begin(world)
    world.until(lambda: tracer.poll() is not None or world.stands() == "complete")
    if tracer.poll() is not None:
        assert tracer.returncode == 1, tracer.returncode
        assert "Input/output error" in world.log
        if not world.pid:
            world.daemon()
    end(world)


def no_descriptors(world: World, step: str) -> None:
    """The daemon may open no more files for a while: it backs off, and leaks none."""
    pid = world.daemon(*IMPATIENT)
    works(world, step)
    usual = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (8, usual[1]))
    world.go("on")
    world.until(lambda: "Too many open files" in world.log)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, usual)
    world.until_is("complete")
    assert world.pid == pid
    assert len(os.listdir(f"/proc/{pid}/fd")) < 60  # noqa: PTH208


def no_processes(world: World, step: str) -> None:
    """The daemon may start no process and no thread for a while."""
    pid = world.daemon(*IMPATIENT)
    works(world, step)
    with no_forks(pid):
        world.go("on")
        world.until(lambda: "temporarily unavailable" in world.log or "can't start new thread" in world.log)
    world.until(lambda: world.stands() == "complete" or world.state_shown()["questions"])
    for question in world.state_shown()["questions"]:
        assert world.task("answer", "t1", question["id"], "retry").code == 0
    world.until_is("complete")
    assert world.pid == pid


# What was written ---------------------------------------------------------------------------------


def _segment(world: World) -> Path:
    (found,) = (world.home() / "journal").glob("*.jsonl")
    return found


def journal_cut(world: World, cut: int) -> None:
    """The journal ends `cut` bytes early: the torn line is cut off and kept, and its fact is found again."""
    works(world, "dev:greet")
    world.kill_daemon()
    data = _segment(world).read_bytes()
    _segment(world).write_bytes(data[:-cut])
    world.daemon()
    world.go("on")
    world.until_is("complete")
    kept = [path.read_bytes() for path in (world.home() / "journal").glob("*.torn-*")]
    whole = data[-cut - 1 : -cut] == b"\n" or data[-cut:].startswith(b"\n")
    assert kept == ([] if whole else [data[:-cut]])


def journal_garbled(world: World, seed: int) -> None:
    """Bytes of the journal are others: it is set aside and said, and nothing starts before somebody answers.

    Not of its beginning: of a task whose beginning does not read there is nothing left to ask about.
    """
    works(world, "dev:greet")
    agent = world.agent("dev:greet")["pid"]
    world.kill_daemon()
    chance = random.Random(seed)
    data = bytearray(_segment(world).read_bytes())
    first = data.index(b"\n", data.index(b"\n") + 1) + 1
    lives = len(world.lives)
    for _ in range(chance.choice((1, 3, 200))):
        place = chance.randrange(first, data.rindex(b"\n", 0, -1))
        data[place] ^= chance.randrange(1, 256)
    _segment(world).write_bytes(data)
    world.daemon()
    world.until(lambda: world.state_shown()["questions"])
    (question,) = world.state_shown()["questions"]
    assert [path.read_bytes() for path in (world.home() / "journal").glob("*.damaged-*")] == [bytes(data)]
    assert len(world.lives) == lives
    world.until(lambda: ended(agent) or world.agent("dev:greet"))
    assert world.task("answer", "t1", question["id"], "continue").code == 0
    world.go("on")
    world.until_is("complete")


def state_taken_away(world: World) -> None:
    """All that the PM knows is removed under a daemon and its agent: another begins anew, and the agent is nobody's."""
    test_restarts.test_daemon_without_its_state_folder_gives_way(world)
    world.go("on")


def projections_garbled(world: World, junk: bytes) -> None:
    """What others read is garbled while the daemon is down: it is written anew from the journal."""
    folder = world.project / "tasks" / "t1"
    works(world, "dev:greet")
    world.kill_daemon()
    for path in (world.home() / "state.json", folder / "pm_state.json", folder / "progress.md"):
        path.write_bytes(path.read_bytes()[:10] + junk)
    beat = world.state / "daemon.beat"
    beat.write_bytes(junk)
    said = world.task("status", "t1")
    assert "Traceback" not in said.err, said
    if not world.pid:
        beat.unlink()
        world.daemon()
    world.until(lambda: not (world.home() / "state.json").read_bytes().endswith(junk or b"e"))
    world.until_works("dev:greet")
    world.until(lambda: b'"state"' in (folder / "pm_state.json").read_bytes())
    world.go("on")
    world.until_is("complete")
    world.until(lambda: "phase COMPLETE" in (folder / "progress.md").read_text())
    assert len(world.lives) == 6
