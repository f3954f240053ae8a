"""What a run leaves on its box comes here though the run ends at once, and though nobody names it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.daemon.world import AGENT, Turns, World, a_world
from tests.remote.boxes import Boxes
from tests.remote.furnished import COMMIT, cwd, furnished, no_bulk_while

MANY = 20
LAST = f"""
for each in $(seq {MANY}); do echo "$each" >"$ORCHESTRATOR_ARTIFACTS/$ORCHESTRATOR_RUN-$each"; done
echo the last word
"""


@pytest.fixture
def world(boxes: Boxes) -> Iterator[World]:
    with a_world() as made:
        made.environ["PATH"] = f"{boxes.front(made.root / 'bin')}:{made.environ['PATH']}"
        yield made


def text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def is_here(world: World, name: str, run: str) -> bool:
    """Tell whether all is here that a run of a task has left."""
    made = list((world.project / "tasks" / name / "artifacts").glob(f"*/{run}-*"))
    folder = world.home(name) / "runs" / run
    is_let_go = not (folder / "outstanding").exists()
    return len(made) == MANY and "the last word" in text_of(folder / "pane.log") and is_let_go


def test_artifacts_and_log_of_a_run_that_ends_at_once_come(boxes: Boxes, world: World) -> None:
    """It writes artifacts behind its handoff, which does not name them, and exits, while other runs have news."""
    box = furnished(boxes, world, "alpha")
    names = ["t1", "t2", "t3"]
    turns: Turns = {step: [{"last_of_all": LAST}] * len(names) for step in ("architect", "dev:greet")}
    architect = f"architect.command: {AGENT.format(script=world.script)}"
    for name in names:
        world.git("clone", "-q", str(world.project), str(box.home / name))
        world.begin(turns, name, [f"cwd: alpha:{box.home}/{name}", "architect: yes", architect])
    for name in names:
        world.until_is("complete", name)
    far = [
        (name, run["id"])
        for name in names
        for run in world.story(name).runs.values()
        if run.get("host", "local") == "alpha"
    ]
    assert len(far) == 2 * len(names)
    world.until(lambda: all(is_here(world, *each) for each in far))


def test_files_that_do_not_come_hold_up_nobody_and_come_later(boxes: Boxes, world: World) -> None:
    """What is large cannot be listed while `stuck` is there; the task ends, and another daemon brings it."""
    box = furnished(boxes, world, "alpha")
    stuck = no_bulk_while(world)
    folder = world.begin({"dev:greet": [{"last_of_all": LAST, **COMMIT}]}, config=[cwd(box), "bring: branch"])
    world.until_is("complete")
    (life,) = world.lives_at("dev:greet")
    late, mark = folder / "artifacts/code" / f"{life}-1", world.home() / "runs" / life / "outstanding"
    assert (late.exists(), mark.exists()) == (False, True)
    world.until(lambda: "not all of its artifacts" in (world.home() / "pm.log").read_text())
    world.kill_daemon()
    stuck.unlink()
    world.daemon()
    world.until(late.exists)
    world.until(lambda: not mark.exists())
    assert (mark.parent / "pane.log").exists()
