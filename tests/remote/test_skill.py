"""A composite skill whose phase lives on a box: memory files are sent there, and its own one is brought here (S4)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.daemon.test_composite_skills import Skill
from tests.integration.daemon.world import Turns, World, a_world
from tests.remote.boxes import Boxes
from tests.remote.furnished import furnished


@pytest.fixture
def world(boxes: Boxes) -> Iterator[World]:
    with a_world() as made:
        made.environ["PATH"] = f"{boxes.front(made.root / 'bin')}:{made.environ['PATH']}"
        yield made


def test_phase_on_a_box_ends_by_its_memory_file(boxes: Boxes, world: World) -> None:
    """It is asked again for an incomplete memory file; what it reads lies there; its commit is here."""
    box = furnished(boxes, world, "alpha")
    skill = Skill(world)
    commit = ["sh", "-c", 'cd "$ORCHESTRATOR_WORKSPACE" && git add -A && git commit -qm work']
    turns: Turns = {
        "phase:ask": [
            {"memory": "**Status:** COMPLETE\n"},
            {"work": {"asked.txt": "asked\n"}, "run": commit, "reads": 0},
        ],
        "phase:work": [{"work": {"made.txt": "made\n"}, "reads": 2}],
    }
    skill.hand_over(turns, "bring: branch", f"asker.cwd: alpha:{box.home}/repo")
    world.until(lambda: world.stands(skill.task) == "complete", within=90)
    world.until(lambda: skill.session["fsm"]["state"] == "COMPLETE")
    runs = list(world.story(skill.task).runs.values())
    assert {run["step"] for run in runs if run.get("host") == "alpha"} == {"phase:ask"}
    assert [world.lives_of(f"phase:{each}") for each in ("look", "ask", "work")] == [1, 2, 1]
    assert "**Agent:** asker" in skill.memory("asker").read_text()
    branch = world.git("diff", "--name-only", "main", f"task/{skill.task}").split()
    assert branch == ["asked.txt", "made.txt"]
    world.check_once(skill.task)
