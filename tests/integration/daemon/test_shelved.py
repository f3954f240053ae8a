"""A daemon that has seen tasks to their end holds nothing for them, and hears at once when one is to go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.daemon.world import World, a_world

QUICK = {
    "daemon__rescan": "1 h",
    "daemon__heartbeat_interval": "100 ms",
    "daemon__passivate_after": "100 ms",
    "logs__pack_after": "100 ms",
    "limits__check_in_interval": "200 ms",
}
"""Nobody looks at everything again within the hour: what is heard, is heard by its bell."""


@pytest.fixture
def quick():
    with a_world(**QUICK) as world:
        yield world


def threads(world: World) -> int:
    """Return how many threads the daemon has."""
    return sum(1 for _ in Path(f"/proc/{world.pid}/task").iterdir())


def held(world: World, home: Path) -> list[str]:
    """Return which of a task's files the daemon has open."""
    opened = []
    for path in Path(f"/proc/{world.pid}/fd").iterdir():
        try:
            opened.append(str(path.readlink()))
        except FileNotFoundError:  # it was closed just now
            continue
    return [name for name in opened if name.startswith(str(home))]


def test_passivated_task_holds_no_file_and_no_thread(quick):
    """What is shelved holds no file and no thread and is heard at once."""
    quick.daemon()
    before = threads(quick)
    quick.begin()
    quick.until_is("complete")
    home = next(quick.homes("t1"))
    quick.until(lambda: (home / "passivated.json").exists() and not held(quick, home))
    quick.until(lambda: not list(home.glob("runs/*/pane.log")))  # packed ahead of its being forgotten
    # The hands are as many as there was ever work for at once.
    quick.until(lambda: threads(quick) <= before + 12)
    assert quick.state_shown()["state"] == "complete"

    quick.brief(goal="A greeting, and a farewell.")
    said = quick.task("start", "t1", "--project", str(quick.project))
    assert said.code == 0, said
    quick.until(lambda: len([step for _, step in quick.lives if step == "plan"]) == 2)
    quick.until_is("complete")
    quick.check_once()


def test_it_is_heard_after_a_restart_too(quick):
    quick.daemon()
    quick.begin()
    quick.until_is("complete")
    home = next(quick.homes("t1"))
    quick.until((home / "passivated.json").exists)
    quick.kill_daemon()
    quick.daemon()
    quick.until(lambda: ", 0 tasks, 1 passive" in quick.log)
    assert not held(quick, home)
    said = quick.task("checkin", "t1")
    assert said.code == 0, said
    assert "complete" in said.out
