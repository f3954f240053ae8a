"""A daemon whose installation is replaced under it: it goes on, and goes over to what was installed."""

from __future__ import annotations

import shutil
import signal
import os
from pathlib import Path

import pytest

from tests.integration.daemon.world import World, ended

CHECKOUT = Path(__file__).parents[3]
HOLD = {"hold": "on"}
SOON = pytest.mark.parametrize("world", [{"daemon__rescan": "200 ms", "daemon__beat": "100 ms"}], indirect=True)


def installed(world: World) -> Path:
    """Install what is checked out into a folder of the world's own, which a daemon then finds first."""
    folder = world.root / "installed"
    for part in ("orchestrator", "agents", "tasks"):
        shutil.copytree(CHECKOUT / part, folder / part)
    return folder


def release(package: Path, version: str, *, also: str = "") -> None:
    """Put another version in place, as an installer does: whole files, one after the other."""
    path = package / "orchestrator" / "__init__.py"
    text = path.read_text()
    (package / "new").write_text(f'{text.partition("__version__")[0]}__version__ = "{version}"\n{also}')
    (package / "new").rename(path)


def version_of(world: World) -> str:
    return str(world.beat.get("version"))


def test_a_daemon_whose_package_is_taken_away_carries_a_task_from_start_to_end(world: World) -> None:
    package = installed(world)
    world.daemon(PYTHONPATH=str(package))
    shutil.rmtree(package / "orchestrator")
    world.begin({"dev:greet": [{"exit": 7, "report": False}]})
    world.until_is("complete")
    world.check_once()
    world.check_nobody_is_left()
    assert "Traceback" not in world.log
    assert world.tmux.tmux("show-options", "-gqv", "history-limit") == "5000"


@SOON
def test_it_goes_over_to_a_new_version_in_the_middle_of_a_run_and_nothing_is_lost(world: World) -> None:
    package = installed(world)
    pid = world.daemon(PYTHONPATH=str(package))
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    agent = world.agent("dev:greet")["pid"]
    release(package, "0.9.9")
    world.until(lambda: version_of(world) == "0.9.9")
    assert world.pid == pid
    assert not ended(agent)
    assert world.launched().wait(timeout=20) == 1, "the lock is held on"
    world.go("on")
    world.until_is("complete")
    world.check_once()
    world.check_nobody_is_left()
    assert len(world.lives) == 6
    by = [line["by"] for line in world.story().lines]
    assert set(by) == {"0.1.0", "0.9.9"}
    assert by == sorted(by)
