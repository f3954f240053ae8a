"""What the terminals of runs showed is packed when nobody needs it at hand, and the daemon's log begins anew."""

from __future__ import annotations

import pytest

from tests.integration.daemon.world import World, altered

QUICK = {"daemon__rescan": "300 ms", "daemon__heartbeat_interval": "100 ms", "logs__pack_after": "300 ms"}


@pytest.mark.parametrize("world", [QUICK], indirect=True)
def test_logs_of_settled_steps_are_packed_and_still_shown(world: World) -> None:
    world.begin({"dev:greet": [{"hold": "on"}]})
    world.until_works("dev:greet")
    explore, plan, dev = (world.home() / "runs" / run for run, _ in world.lives)
    world.until(lambda: all((run / "pane.log.gz").exists() for run in (explore, plan)))
    world.until(lambda: not (plan / "launch.sh").exists())
    assert not (plan / "pane.log").exists()
    assert (dev / "pane.log").exists()
    assert (dev / "launch.sh").exists()
    assert "explore works on explore" in world.task("logs", "t1", "explore").out
    world.kill_daemon()
    world.daemon()
    world.go("on")
    world.until_is("complete")
    world.check_once()
    assert len(world.lives) == 6


@pytest.mark.thorough(reason="unit/daemon/test_rolling_log.py has the bound, and what a process prints")
@pytest.mark.parametrize("world", [QUICK | {"logs__size": "65536"}], indirect=True)
def test_a_daemon_that_has_much_to_say_fills_no_disk(world: World) -> None:
    talkative = (
        "import logging\n"
        "from orchestrator.daemon.service import Service\n"
        "beat = Service._beat\n"
        "def beat_loudly(self):\n"
        "    logging.getLogger('loud').warning('x' * 30_000)\n"
        "    beat(self)\n"
        "Service._beat = beat_loudly\n"
    )
    pid = world.daemon(*altered(talkative))
    world.begin()
    world.until((world.state / "daemon.log.1").exists)
    world.until_is("complete")
    assert world.pid == pid
    world.stop_daemon()
    logs = sorted(world.state.glob("daemon.log*"))
    assert [path.name for path in logs] == ["daemon.log", "daemon.log.1"]
    assert sum(path.stat().st_size for path in logs) < 200_000
    assert logs[0].stat().st_mode & 0o777 == 0o600
    assert "agents in their panes work on" in world.log
