"""A real agent CLI on a box: its hooks are heard here, its question is answered here, and a cut costs it nothing."""

from __future__ import annotations

import pytest

from tests.clis.box_of_house import a_box
from tests.clis.house import a_house
from tests.clis.pinned import NODE, pins
from tests.clis.players import Cast
from tests.clis.playing import played
from tests.clis.test_whole_task import WISHES
from tests.remote.boxes import MISSING

TELLS_USE = {"claude", "codex"}
"""Of which the transcript tells what they use, and lies where they say: it is copied from the box."""

CLIS = [
    pytest.param(
        name, marks=[] if name == "claude" else [pytest.mark.thorough(reason="another CLI on the same way")]
    )
    for name in pins()
    if name != NODE
]
"""What one of them shows holds for the way to a box; the others show that nothing of theirs is in the way."""

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"boxes need {', '.join(MISSING)}")


@pytest.mark.parametrize("installed", CLIS, indirect=True)
@pytest.mark.thorough(
    reason="remote/test_task.py has whole tasks on boxes, clis/test_runtime_claude.py the same CLI"
)
def test_task_with_a_real_cli_on_a_box_completes(installed: str) -> None:
    """A task whose developer is a real cli on a box is complete."""
    with (
        a_house(installed, played(Cast().turn), limits__termination_grace="5 s") as house,
        a_box(house, installed) as box,
    ):
        world = house.world
        house.daemon()
        config = [f"dev.cwd: alpha:{box.home}/repo", *WISHES.get(installed, ())]
        house.begin("t1", installed.partition("-")[0], *config)
        world.until(lambda: world.agent("dev:one", "t1"), within=240)
        world.kill_daemon()
        house.daemon()
        world.until(lambda: world.stands("t1") in {"complete", "failed", "waiting"}, within=240)
        assert world.stands("t1") == "complete", house.screens()
        story = world.story("t1")
        opened = [run for run in story.runs.values() if run["step"] == "dev:one"]
        assert {run["host"] for run in opened} == {"alpha"}
        assert len(opened) == 3, opened  # blocked, rejected, accepted
        assert {change["delivery"] for change in story.changes("run_delivered")} <= {"delivered"}
        assert (box.home / "repo/greet.py").read_text().strip() == "def greet():\n    return 'greet'"
        if installed.partition("-")[0] in TELLS_USE:
            used = {change["run"] for change in story.changes("run_metered")}
            assert {run["id"] for run in opened} <= used
        assert not house.server.faults
        world.check_nobody_is_left()
