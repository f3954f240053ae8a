"""Daemons that come in crowds, are told to end at bad moments, miss what happens, or err in one task."""

from __future__ import annotations

import os
import shutil
import signal

from tests.integration.daemon.world import World, altered

HOLD = {"hold": "on"}
EVENTS = 40_000
"""More than the kernel keeps for one watcher (16,384 by default): the rest is dropped, and one overflow told."""


def many_at_once(world: World, crowd: int) -> None:
    """As many daemons are started at once: one works, and each other ends and names it."""
    world.begin({"plan": [HOLD]})
    world.until_works("plan")
    world.kill_daemon()
    started = [world.launched() for _ in range(crowd)]
    world.until(lambda: sum(each.poll() is not None for each in started) == crowd - 1)
    (first,) = [each.pid for each in started if each.poll() is None]
    world.until(lambda: world.beat.get("pid") == first)
    assert [each.returncode for each in started if each.pid != first] == [1] * (crowd - 1)
    assert world.log.count("a daemon runs already") == crowd - 1
    world.go("on")
    world.until_is("complete")
    assert world.pid == first
    assert len(world.lives) == 6


def term_while_it_spawns(world: World, pause: float) -> None:
    """TERM while tmux is being asked for a window, then a second: it ends fast, and the spawn is there or is not."""
    wrapped = world.root / "bin" / "tmux"
    wrapped.parent.mkdir()
    opened = world.root / "opening"
    wrapped.write_text(
        f'#!/bin/sh\ncase " $* " in *" new-window "*) : >{opened}; sleep {pause} ;; esac\n'
        f'exec {shutil.which("tmux")} "$@"\n'
    )
    wrapped.chmod(0o700)
    world.daemon(PATH=f"{wrapped.parent}:{world.environ['PATH']}")
    world.begin({"explore": [HOLD]})
    world.until(opened.exists)
    pid = world.pid
    os.kill(pid, signal.SIGTERM)
    os.kill(pid, signal.SIGTERM)
    world.until(lambda: not world.pid, within=5)
    world.reap()
    world.daemon()
    world.until_works("explore")
    world.go("on")
    world.until_is("complete")
    assert len(world.lives) == 6


def watch_overflows(world: World) -> None:
    """More happens than the kernel keeps for a watcher, and a report lands in the midst of it: a rescan finds it."""
    folder = world.begin({"explore": [HOLD]})
    world.until_works("explore")
    pid = world.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        junk = folder / "scratchpad" / "explore" / "junk"
        for number in range(EVENTS // 2):  # made and closed: at least two events each
            junk.write_bytes(b"")
            if number == EVENTS // 3:
                world.go("on")
                world.until(lambda: list((folder / "handoffs").glob("explore-*.md")))
    finally:
        os.kill(pid, signal.SIGCONT)
    world.until_is("complete")
    assert world.pid == pid
    assert len(world.lives) == 6


def one_task_raises(world: World) -> None:
    """What should not happen happens in one task: the other goes on, and that one says so and rests."""
    broken = world.root / "broken"
    broken.touch()
    world.daemon(
        *altered(
            "from orchestrator.daemon.ingest.task_inputs import TaskInputs\n"
            "from orchestrator.daemon import task\n"
            "import os\n"
            "task.REST = 0.2\n"
            "seen = TaskInputs.see_reports\n"
            "def see_reports(self, *words, **named):\n"
            f"    if self._home.name.startswith('t2-') and os.path.exists({str(broken)!r}):\n"
            "        raise ZeroDivisionError\n"
            "    seen(self, *words, **named)\n"
            "TaskInputs.see_reports = see_reports"
        )
    )
    world.let({})
    for name in ("t1", "t2"):
        world.brief(name)
        assert world.task("start", name, "--project", str(world.project)).code == 0
    world.until_is("complete", "t1")
    world.until(lambda: "unexpected error" in (world.home("t2") / "pm.log").read_text())
    assert world.stands("t2") == "running"
    broken.unlink()
    world.until_is("complete", "t2")
