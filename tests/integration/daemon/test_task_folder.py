"""The task's folder, or `handoffs/` in it, is taken away or replaced while agents work."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.daemon.world import World

HOLD = {"hold": "on"}


def asked(world: World) -> str:
    """Return what is asked about the whole task, once it is."""
    return str(
        world.until(lambda: [each["text"] for each in world.state_shown()["questions"] if not each["step"]])[
            0
        ]
    )


def take_away(folder: Path) -> None:
    """Remove a folder at once: the daemon may be writing a file into it."""
    shutil.rmtree(folder.rename(folder.with_name(f"{folder.name}.removed")))


def look(world: World) -> None:
    """Have the daemon look at everything, as it does at each rescan."""
    world.ask("checkin")


def finished(world: World) -> None:
    world.until_is("complete")
    world.check_once()
    world.check_nobody_is_left()
    assert world.git("diff", "--name-only", "main", "task/t1") == "pkg/greet.py"


@pytest.mark.parametrize(
    "make",
    [
        os.mkfifo,
        pytest.param(Path.touch, marks=pytest.mark.thorough(reason="something else in the same place")),
    ],
    ids=["pipe", "file"],
)
def test_an_exit_is_noticed_whatever_replaces_handoffs(world: World, make: Callable[[Path], None]) -> None:
    """It was waited for with `alive` for an hour. What was in the place is kept, and the reports lie there again."""
    folder = world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    before = sorted(path.name for path in (folder / "handoffs").glob("[ep]*-*.md") if path.name[:2] != "pm")
    take_away(folder / "handoffs")
    make(folder / "handoffs")
    os.kill(world.agent("dev:greet")["pid"], signal.SIGKILL)
    world.until(lambda: world.lives_of("dev:greet") == 2)
    world.go("on")
    finished(world)
    names = {path.name for path in (folder / "handoffs").iterdir()}
    assert set(before) <= names
    assert (folder / "handoffs.set-aside-1").exists()
    assert any("set-aside-1" in notice for notice in world.state_shown()["notices"])


@pytest.mark.parametrize(
    "name",
    [
        "handoffs",
        *(
            pytest.param(name, marks=pytest.mark.thorough(reason="other folders of the same task"))
            for name in ("artifacts", "scratchpad")
        ),
    ],
)
def test_a_link_that_an_agent_lays_leads_no_order_elsewhere(world: World, name: str) -> None:
    """Orders and reports that were put back lay where it led. The link is kept, and the task goes on in a folder."""
    folder = world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    elsewhere = world.root / "elsewhere"
    elsewhere.mkdir()
    (folder / name).rename(world.root / "were")
    (folder / name).symlink_to(elsewhere)
    world.go("on")
    look(world)
    finished(world)
    assert not (folder / name).is_symlink()
    assert (folder / f"{name}.set-aside-1").readlink() == elsewhere
    assert list(elsewhere.glob("pm-*")) == []
    assert any("set-aside-1" in notice for notice in world.state_shown()["notices"])


@pytest.mark.thorough(reason="unit/daemon/test_task_folder.py follows it on a real disk")
def test_a_link_of_the_user_is_followed(world: World) -> None:
    kept = world.root / "kept"
    kept.mkdir()
    (world.project / "tasks" / "t1").mkdir(parents=True)
    (world.project / "tasks" / "t1" / "handoffs").symlink_to(kept)
    world.begin()
    finished(world)
    assert len(list(kept.glob("pm-*"))) > 0


def test_a_folder_that_was_deleted_is_asked_about_and_put_back(world: World) -> None:
    folder = world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    away = folder.with_name("away")
    folder.rename(away)
    look(world)
    assert f"{folder} is gone" in asked(world)
    assert "is gone" in world.task("questions", "t1").out
    away.rename(folder)
    world.go("on")
    look(world)
    finished(world)
    assert len(world.lives) == 6


def test_a_folder_that_was_renamed_is_asked_about_at_once(world: World) -> None:
    """Between two looks of the daemon it was made anew by the next launch, and nobody said so."""
    folder = world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    away = folder.with_name("away")
    folder.rename(away)
    os.kill(world.agent("dev:greet")["pid"], signal.SIGKILL)
    assert f"{folder} is gone" in asked(world)
    assert not folder.exists()
    assert (away / "task.md").exists()
    away.rename(folder)
    world.go("on")
    look(world)
    finished(world)


@pytest.mark.thorough(reason="unit/pm/test_folder.py has that answer; a deleted one is put back above")
def test_a_folder_that_is_not_to_be_had_again_is_made_anew(world: World) -> None:
    folder = world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    take_away(folder)
    look(world)
    assert "answer continue" in asked(world)
    said = world.task("answer", "t1", "q1", "continue")
    assert said.code == 0, said
    names = {path.name.partition("-")[0] for path in (folder / "handoffs").iterdir()}
    assert {"explore", "plan"} <= names
    world.brief()
    world.go("on")
    finished(world)
