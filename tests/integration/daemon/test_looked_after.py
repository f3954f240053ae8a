"""A daemon that is looked after: by a service manager, by a watchdog, by whoever types `task` next."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.daemon.world import World, ended, environ_of

HOLD = {"hold": "on"}
HANGING = Path(__file__).with_name("hanging_daemon.py")
SYSTEMD = Path(__file__).with_name("small_systemd.py")


# A service manager that listens ------------------------------------------------------------------


class Manager:
    """The other end of `$NOTIFY_SOCKET`."""

    def __init__(self, ours: socket.socket, address: str) -> None:
        self.ours = ours
        self.address = address

    def hear(self, within: float = 20.0) -> list[str]:
        """Return the next thing said, word by word; nothing if there was nothing in time."""
        self.ours.settimeout(within)
        try:
            return self.ours.recv(4096).decode().split("\n")
        except TimeoutError:
            return []

    def hear_until(self, wanted: Callable[[list[str]], bool]) -> list[str]:
        """Hear until something is said, and return it."""
        while words := self.hear():
            if wanted(words):
                return words
        raise AssertionError("it was never said")


@pytest.fixture
def manager(world: World) -> Iterator[Manager]:
    address = str(world.root / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ours:
        ours.bind(address)
        yield Manager(ours, address)


@pytest.mark.thorough(reason="unit/daemon/test_sd_notify.py has each message; the loop feeds a manager below")
def test_service_manager_is_notified_of_life_and_end(world, manager) -> None:
    """A service manager hears when it is up that it lives and when it ends."""
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    world.stop_daemon()
    pid = world.daemon(NOTIFY_SOCKET=manager.address, WATCHDOG_USEC="600000")
    assert manager.hear() == ["WATCHDOG=1", "STATUS=1 tasks, 1 at work"], (
        "the first beat, with every task open"
    )
    assert manager.hear() == ["READY=1", "STATUS=1 tasks, 1 at work", "WATCHDOG=1"]
    for _ in range(5):
        assert manager.hear(within=0.6)[0] == "WATCHDOG=1"
    world.tmux.kill()
    world.until(lambda: world.lives_of("dev:greet") == 2 and world.agent("dev:greet"))
    started = [world.tmux.server_pid(), world.agent("dev:greet")["pid"]]
    assert [
        each for each in started if b"NOTIFY_SOCKET" in environ_of(each) or b"WATCHDOG" in environ_of(each)
    ] == []
    world.go("on")
    world.until_is("complete")
    manager.hear_until(lambda words: words == ["WATCHDOG=1", "STATUS=1 tasks, 0 at work"])
    os.kill(pid, signal.SIGTERM)
    manager.hear_until(lambda words: words[0] == "STOPPING=1")
    world.until(lambda: not world.pid)
    assert manager.hear(within=0.2) == []


def test_only_the_loop_feeds_the_watchdog(world, manager) -> None:
    """The watchdog is told by the loop alone and a loop that hangs leaves where."""
    hang = world.root / "go" / "hang"
    environ = {"NOTIFY_SOCKET": manager.address, "ORCHESTRATOR_DAEMON__HEARTBEAT_INTERVAL": "50 ms"}
    pid = world.daemon(sys.executable, "-P", str(HANGING), str(hang), **environ)
    manager.hear_until(lambda words: words[0] == "READY=1")
    manager.hear_until(lambda words: words[0] == "WATCHDOG=1")
    hang.touch()
    world.until(lambda: not manager.hear(within=1.0))
    assert not ended(pid), "its other threads live"
    os.kill(pid, signal.SIGABRT)
    world.until(lambda: not world.pid)
    assert "Fatal Python error: Aborted" in world.log
    assert "in turn_or_hang" in world.log


# A service manager that starts and ends ----------------------------------------------------------


@pytest.fixture
def systemd(world: World) -> Path:
    """Where a small systemd lies that this world's `systemctl` speaks to."""
    folder = world.root / "systemd"
    folder.mkdir()
    shutil.copy(SYSTEMD, folder)
    script = folder / "systemctl"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {folder / SYSTEMD.name} systemctl "$@"\n')
    script.chmod(0o755)
    world.environ["PATH"] = f"{folder}{os.pathsep}{world.environ['PATH']}"
    return folder


def test_systemd_restarts_after_a_crash_and_not_after_a_stop(world, systemd) -> None:
    """Under systemd it is started again after a crash and stays down when it was stopped."""
    said = world.task("daemon", "install")
    assert said.code == 0, said
    first = world.pid
    assert f"systemd runs the daemon, pid {first}" in said.out
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    agent = world.agent("dev:greet")["pid"]

    os.kill(first, signal.SIGKILL)
    world.until(lambda: world.pid not in {0, first} and world.beat.get("pid") == world.pid)
    assert not ended(agent)
    assert world.task("daemon", "stop").code == 0
    assert (world.state / "daemon.stopped").exists()
    shown = json.loads((systemd / "told").read_text())
    assert (shown["ActiveState"], shown["Result"]) == ("inactive", "success")
    assert not world.pid

    assert world.task("start", "t1", "--project", str(world.project)).code == 0
    assert world.pid == int(json.loads((systemd / "told").read_text())["MainPID"])
    world.go("on")
    world.until_is("complete")
    world.check_once()
    assert len(world.lives) == 6

    last = world.pid
    assert world.task("daemon", "install").code == 0
    assert world.pid == last, "what is as it should be is not disturbed"
    assert f"(pid {last})" in world.task("daemon", "uninstall").out
    assert not world.pid
    assert "Traceback" not in world.log


@pytest.mark.thorough(reason="unit/cli/test_install.py hands over; agents outlive a change of daemon above")
def test_a_daemon_with_agents_at_work_is_handed_over_to_systemd(world, systemd) -> None:
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    agent, first = world.agent("dev:greet")["pid"], world.pid
    said = world.task("daemon", "install")
    assert f"the running daemon (pid {first}) was stopped" in said.out
    assert world.pid not in {0, first}
    assert not ended(agent)
    world.go("on")
    world.until_is("complete")
    world.check_once()
    assert len(world.lives) == 6


# Whoever types `task` next -----------------------------------------------------------------------


RESTART = {"ORCHESTRATOR_DAEMON__RESTART": "true"}


def long_ago(world: World, seconds: float = 600.0) -> None:
    """Let the last beat be older than it is."""
    path = world.state / "daemon.beat"
    said = world.beat
    said |= {"beat_at": said["beat_at"] - seconds, "monotonic": said["monotonic"] - seconds}
    path.write_text(json.dumps(said))
    os.utime(path, (said["beat_at"], said["beat_at"]))


def test_next_command_restarts_a_dead_daemon(world: World) -> None:
    """A dead daemon is started again by the next command and its task goes on."""
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    agent, first = world.agent("dev:greet")["pid"], world.pid
    world.kill_daemon()
    assert world.task("status", "t1").err == "", "it is only said, and it was just there"
    said = world.task("status", "t1", environ=RESTART)
    assert said.err.startswith("task: the daemon is dead: ")
    assert said.err.endswith(f"t1 is at work; it was restarted, pid {world.pid}\n")
    assert world.pid not in {0, first}
    assert not ended(agent)
    world.go("on")
    world.until_is("complete")
    world.check_once()
    assert len(world.lives) == 6
    world.kill_daemon()
    long_ago(world)
    assert world.task("status", "t1", environ=RESTART).err == "", "nothing is at work any more"
    assert not world.pid


def test_two_commands_at_once_start_one_daemon(world: World) -> None:
    import threading

    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    world.kill_daemon()
    said = []
    threads = [
        threading.Thread(target=lambda: said.append(world.task("list", environ=RESTART))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.code for each in said] == [0] * 4
    assert world.log.count(" INFO up, pid ") == 2
    world.go("on")
    world.until_is("complete")
    world.check_once()


@pytest.mark.parametrize(
    "how",
    [
        "task daemon stop",
        pytest.param("Ctrl-C", marks=pytest.mark.thorough(reason="the other way to stop it")),
    ],
)
def test_daemon_stopped_on_purpose_stays_down(world: World, how: str) -> None:
    """One that was stopped on purpose is left alone until it is started."""
    world.daemon()
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    if how == "Ctrl-C":
        os.kill(world.pid, signal.SIGINT)
        world.until(lambda: not world.pid)
    else:
        assert world.task("daemon", "stop").code == 0
    world.reap()
    long_ago(world)
    assert world.task("status", "t1", environ=RESTART).err == ""
    assert world.task("daemon", "alarm", environ=RESTART).code == 0
    assert not world.pid
    assert world.task("daemon", "start").code == 0
    assert not (world.state / "daemon.stopped").exists()
    world.go("on")
    world.until_is("complete")
    world.check_once()


def test_an_agent_that_finds_the_daemon_dead_starts_nothing(world: World) -> None:
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    world.kill_daemon()
    long_ago(world)
    said = world.task("status", "t1", environ=RESTART | {"ORCHESTRATOR_RUN": "r-1"})
    assert "the daemon is dead" in said.err
    assert not world.pid


@pytest.mark.thorough(reason="unit/cli/test_alarm.py names it and touches nothing")
def test_one_that_stands_still_is_named_and_not_replaced(world: World) -> None:
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    pid = world.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        long_ago(world)
        said = world.task("daemon", "alarm")
        assert (said.code, f"the daemon (pid {pid}) hangs" in said.out) == (1, True)
    finally:
        os.kill(pid, signal.SIGCONT)
    world.until(lambda: world.task("daemon", "alarm").code == 0)
    assert world.pid == pid
