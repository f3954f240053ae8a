"""A daemon whose installation is replaced under it: it goes on, and goes over to what was installed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import time
from collections import Counter
from contextlib import suppress
from functools import partial, reduce
from operator import and_
from pathlib import Path

import pytest

from tests.integration.daemon.world import World, ended

CHECKOUT = Path(__file__).parents[3]
HOLD = {"hold": "on"}
OFTEN = {"daemon__rescan": "200 ms", "daemon__heartbeat_interval": "100 ms"}

pytestmark = pytest.mark.parametrize("world", [OFTEN], indirect=True, ids=[""])


@pytest.fixture
def package(world: World) -> Path:
    """What is checked out, installed into a folder of the world's own, which a daemon then finds first."""
    folder = world.root / "installed"
    for part in ("orchestrator", "agents", "tasks"):
        shutil.copytree(CHECKOUT / part, folder / part)
    return folder


def release(package: Path, version: str, more: str = "") -> None:
    """Put another version in place, whole, as an installer does."""
    path = package / "orchestrator" / "__init__.py"
    (package / "new").write_text(f'"""Another version."""\n\n__version__ = "{version}"\n{more}')
    (package / "new").rename(path)


def runs(world: World, version: str) -> bool:
    return bool(world.beat.get("version") == version)


@pytest.mark.thorough(reason="test_imports.py: a started daemon imports nothing more, in a longer life")
def test_daemon_without_its_package_carries_a_task_to_its_end(world: World, package: Path) -> None:
    """One whose package is taken away carries a task from start to end."""
    world.daemon(PYTHONPATH=str(package))
    shutil.rmtree(package / "orchestrator")
    world.begin({"dev:greet": [{"exit": 7, "report": False}]})
    world.until_is("complete")
    world.check_once()
    world.check_nobody_is_left()
    assert "Traceback" not in world.log
    assert world.tmux.tmux("show-options", "-gqv", "history-limit") == "5000", (
        "its tmux server has our settings"
    )


class ServiceManager:
    """Hears what a daemon tells a service manager. Its socket takes few messages: `hears` is called again and again."""

    def __init__(self, address: Path) -> None:
        self.said = list[str]()
        self.address = str(address)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.address)
        self._socket.settimeout(0.0)

    def hears(self, line: str, times: int) -> bool:
        """Tell whether a line was said so many times by now."""
        with suppress(BlockingIOError):
            while True:
                self.said += self._socket.recv(4096).decode().split("\n")
        return self.said.count(line) >= times

    def close(self) -> None:
        self._socket.close()


def test_upgrade_in_the_middle_of_a_run_loses_nothing(world: World, package: Path) -> None:
    """In the middle of a run it goes over to a new version, nothing is lost, and only its lock is taken along.

    A service manager hears of the new one from the same process, and never that it stops.
    """
    manager = ServiceManager(world.root / "notify")
    world.daemon()
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    world.stop_daemon()
    pid = world.daemon(PYTHONPATH=str(package), NOTIFY_SOCKET=manager.address, WATCHDOG_USEC="60000000")
    agent = world.agent("dev:greet")["pid"]
    world.until(lambda: manager.hears("READY=1", 1))
    before = kept_open(pid)
    release(package, "0.9.9")
    world.until(lambda: manager.hears("READY=1", 2) and runs(world, "0.9.9"))
    between = manager.said[manager.said.index("READY=1") :]
    assert any(line.startswith("STATUS=") and "takes over" in line for line in between)
    assert "STOPPING=1" not in manager.said
    manager.close()
    assert world.pid == pid
    assert kept_open(pid) == before
    assert before[f"{world.state}/daemon.lock"] == 1 or not Path("/proc/self/fd").exists()
    assert not ended(agent)
    assert world.launched().wait(timeout=20) == 1, "its lock was held on"
    world.go("on")
    world.until_is("complete")
    world.check_once()
    world.check_nobody_is_left()
    assert len(world.lives) == 6
    by = [line["by"] for line in world.story().lines]
    assert (set(by), by) == ({"0.1.0", "0.9.9"}, sorted(by))


@pytest.mark.thorough(reason="one upgrade in the middle of a run stands beside it")
def test_repeated_upgrades_start_nothing_twice(world: World, package: Path) -> None:
    """Again and again while agents come and go nothing is started twice."""
    pid = world.daemon(PYTHONPATH=str(package))
    subtasks = [f"- [part-{number}] Add part {number} (agent: dev)" for number in range(3)]
    holds = {f"dev:part-{number}": [{"hold": f"on-{number}"}] for number in range(3)}
    world.begin({"plan": [{"subtasks": subtasks}], **holds})
    for number in range(3):
        world.until_works(f"dev:part-{number}")
        release(package, f"0.9.{number}")
        world.go(f"on-{number}")
        world.until(partial(runs, world, f"0.9.{number}"))
    world.until_is("complete")
    assert world.pid == pid
    world.check_once()
    world.check_nobody_is_left()
    assert len(world.lives) == 3 + 3 * 3


def kept_open(pid: int) -> Counter[str]:
    """Return what a process has open all the time, by kind; what comes and goes is in one look or another."""

    def look() -> Counter[str]:
        found: Counter[str] = Counter()
        for each in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                found[str(each.readlink()).partition(":")[0]] += 1
        return found

    looks = []
    if not Path("/proc/self/fd").exists():
        return Counter()
    deadline = time.monotonic() + 1.0
    while time.monotonic() < deadline:
        looks.append(look())
    return reduce(and_, looks)


def test_settings_are_taken_over_while_it_runs(world: World) -> None:
    """An edit of the settings file is in force within a moment, the same process going on; `task config` says so."""
    config = world.root / "settings.toml"
    config.write_text("[limits]\nmax_rejections = 3\n")
    world.daemon(ORCHESTRATOR_CONFIG=str(config))
    pid = world.beat["pid"]
    before = world.beat["settings"]["stamp"]
    config.write_text("[limits\n")
    world.until(lambda: bool(world.beat["settings"]["fault"]))
    assert world.beat["settings"]["stamp"] == before
    config.write_text("[limits]\nmax_rejections = 1\n")
    world.until(lambda: world.beat["settings"]["stamp"] not in {"", before})
    assert world.beat["pid"] == pid
    world.let({"test:greet": [{"verdict": "REJECTED"}]})
    world.brief("t1", "rejections: ask")
    assert world.task("start", "t1", "--project", str(world.project)).code == 0
    world.until_is("waiting")
    assert "rejected once" in world.state_shown()["questions"][0]["text"]


def test_version_that_cannot_be_imported_does_not_take_over(world: World, package: Path) -> None:
    """One that cannot be imported does not take over and the next one does."""
    pid = world.daemon(PYTHONPATH=str(package))
    world.begin({"explore": [HOLD]})
    world.until_works("explore")
    release(package, "0.9.8", "import no_such_library\n")
    world.until(lambda: "version 0.9.8 with no settings file is on disk but cannot be used" in world.log)
    assert "No module named 'no_such_library'" in world.log
    assert runs(world, "0.1.0")
    release(package, "0.9.9")
    world.until(lambda: runs(world, "0.9.9"))
    assert world.pid == pid
    world.go("on")
    world.until_is("complete")
    world.check_once()


def test_sigterm_during_an_upgrade_stops_it_in_order(world: World, package: Path) -> None:
    if not Path("/proc/self/cmdline").exists():
        pytest.skip("there is no /proc")
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    world.stop_daemon()
    made = world.launched(PYTHONPATH=str(package))
    world.until(lambda: world.beat.get("pid") == made.pid)
    release(package, "0.9.9")
    world.until(lambda: b"--lock-fd=" in Path(f"/proc/{made.pid}/cmdline").read_bytes())
    os.kill(made.pid, signal.SIGTERM)
    assert made.wait(timeout=20) == 0
    assert world.log.rstrip().endswith("agents in their panes work on")
    world.daemon()
    world.go("on")
    world.until_is("complete")
    world.check_once()
    assert len(world.lives) == 6
