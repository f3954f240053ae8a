"""What agents leave behind: no life begins beside it, none of its work is taken, and it ends with its run."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.daemon.world import World, ended

WRITES = (
    "trap '' HUP; while :; do date >late.txt; date >\"$ORCHESTRATOR_WORKSPACE/late.txt\"; sleep 0.02; done"
)
"""A process that goes on writing where its agent worked, by name and by where it stands."""


SLOW_TO_END = pytest.mark.parametrize("world", [{"limits__exit_timeout": "20 s"}], indirect=True)
"""A run that has reported is left alone for as long as users have it."""


def left_pids(world: World, count: int = 1) -> list[int]:
    path = world.root / "left"
    world.until(lambda: path.exists() and len(path.read_text().split()) >= count)
    return [int(pid) for pid in path.read_text().split()]


def finished(world: World) -> None:
    """Check that the task came to its end with the work of its agents alone."""
    world.until_is("complete")
    world.check_once()
    world.check_nobody_is_left()
    assert world.git("diff", "--name-only", "main", "task/t1") == "pkg/greet.py"


def lives_overlap(world: World) -> list[tuple[str, str]]:
    """Return the runs that were opened while another one of the same step was not known to be gone."""
    live: dict[str, str] = {}
    found = []
    for line in world.story().lines:
        for change in line["changes"]:
            if change["kind"] == "run_opened":
                run = change["run"]
                if (other := live.get(run["step"])) is not None:
                    found.append((other, run["id"]))
                live[run["step"]] = run["id"]
        if line["fact"]["kind"] == "run_gone":
            live = {step: run for step, run in live.items() if run != line["fact"]["run"]}
    return found


@pytest.mark.thorough(
    reason="one that ignores TERM ends with its run below; unit/pm/test_orphan_processes.py"
)
@SLOW_TO_END
def test_a_server_that_is_left_behind_ends_with_its_run(world: World) -> None:
    world.begin({"dev:greet": [{"leave": True}]})
    (server,) = left_pids(world)
    finished(world)
    assert ended(server)
    (left,) = world.story().facts("run_left")
    assert left["left"] == [{"pid": server, "name": "sleep"}]
    assert left["exit"] == {"code": 0}
    assert any(f"{server} sleep" in notice for notice in world.state_shown()["notices"])
    assert len(world.lives) == 6, "it cost no attempt"


def exits(world: World) -> None:
    """It fails by itself."""


def loses_its_launcher(world: World) -> None:
    os.kill(world.agent("dev:greet")["pid"], signal.SIGKILL)


def loses_tmux(world: World) -> None:
    os.kill(world.tmux.server_pid(), signal.SIGKILL)


@SLOW_TO_END
@pytest.mark.parametrize(
    ("first", "happens"),
    [
        pytest.param({"report": False, "exit": 7}, exits, id="setsid child"),
        pytest.param({"hang": True, "ignore_hup": True}, loses_its_launcher, id="launcher killed"),
        pytest.param(
            {"hang": True, "early": True},
            loses_tmux,
            marks=pytest.mark.thorough(reason="chaos/test_killed.py kills the tmux server"),
            id="tmux killed",
        ),
    ],
)
def test_no_life_begins_beside_what_another_left(
    world: World, first: dict[str, Any], happens: Callable[[World], None]
) -> None:
    """The first life leaves something that goes on writing into its tree, and nothing of that is committed."""
    world.begin({"dev:greet": [{"first_of_all": WRITES, **first}]})
    (writer,) = left_pids(world)
    if happens is not exits:
        world.until_works("dev:greet")
        happens(world)
    finished(world)
    assert ended(writer)
    assert world.lives_of("dev:greet") == 2
    assert lives_overlap(world) == []
    assert {fact["run"] for fact in world.story().facts("run_left")} == {world.lives_at("dev:greet")[0]}


@SLOW_TO_END
def test_what_ignores_term_is_killed_and_exit_is_its_own(world: World) -> None:
    """What ignores term is killed and the exit is its programs own."""
    world.begin({"dev:greet": [{"leave": "trap '' TERM HUP; while :; do sleep 0.1; done"}]})
    (server,) = left_pids(world)
    finished(world)
    assert ended(server)
    left = world.story().facts("run_left")[0]
    gone = next(fact for fact in world.story().facts("run_gone") if fact["run"] == left["run"])
    assert gone["exit"] == {"code": 0}


@pytest.mark.thorough(reason="test_restarts.py has one that escaped while no daemon was up")
def test_leftovers_of_daemonless_time_are_ended_by_the_next(world: World) -> None:
    """What was left while no daemon was up is ended by the next."""
    world.begin({"dev:greet": [{"hold": "on", "leave": True}]})
    world.until_works("dev:greet")
    agent = world.agent("dev:greet")["pid"]
    world.stop_daemon()
    world.go("on")
    (server,) = left_pids(world)
    world.until(lambda: ended(agent))
    assert not ended(server)
    world.daemon()
    finished(world)
    assert ended(server)
