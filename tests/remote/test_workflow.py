"""A workflow whose agent lives on a box: its files are sent there, and what it hands in is merged into those here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.daemon.workflow_designs import check_folder, design, note, status_of
from tests.integration.daemon.world import World, a_world
from tests.remote.boxes import Boxes
from tests.remote.furnished import furnished


@pytest.fixture
def world(boxes: Boxes) -> Iterator[World]:
    with a_world() as made:
        made.environ["PATH"] = f"{boxes.front(made.root / 'bin')}:{made.environ['PATH']}"
        yield made
        check_folder(made)


def test_agent_on_a_box_hands_in_by_its_files(boxes: Boxes, world: World) -> None:
    """It asks, fails once, and passes; its notes, outputs and commits are here, and one here builds on them."""
    box = furnished(boxes, world, "alpha")
    commit = {"run": ["sh", "-c", "git add -A && git commit -qm work"]}
    turns: dict[str, list[dict[str, Any]]] = {
        "do:one": [
            {"notes": [note("escalated")], "status": "blocked", "work": {}},
            {"work": {"one.txt": "one\n"}, **commit},
            {"work": {}, "write": ["one.md", "run.log"]},
        ],
        "verify:one": [{"missing": ["the log is empty"]}, {}],
    }
    folder = design(world, turns, {"one": "", "two": "one"})
    page = folder.parent / "task.md"
    text = page.read_text()
    command = next(line for line in text.splitlines() if line.startswith("worker.command:"))
    page.write_text(
        f"{text}bring: branch\none.cwd: alpha:{box.home}/repo\n{command.replace('worker', 'one', 1)}\n"
    )
    for words in (("workflow", "approve", "t1"), ("start", "t1")):
        said = world.task(*words, "--project", str(world.project))
        assert said.code == 0, said
    world.until_is("waiting")
    said = world.task("answer", "t1", "q1", "Yes, they are")
    assert said.code == 0, said
    world.until(lambda: world.stands() == "complete", within=90)
    world.until(lambda: set(status_of(folder).values()) == {"session_complete"})
    runs = list(world.story().runs.values())
    assert {run["step"] for run in runs if run.get("host") == "alpha"} == {"do:one"}
    assert [world.lives_of(step) for step in ("do:one", "verify:one", "do:two")] == [3, 2, 1]
    assert world.git("diff", "--name-only", "main", "task/t1").split() == ["one.txt", "two.txt"]
    assert (folder / "agents/one/task_output/one.md").read_text() == "one made one.md\n"
    (kept,) = (folder / "agents/one/completion_drive").glob("session_*.json")
    (answered,) = json.loads(kept.read_text())["notes"]
    assert (answered["status"], answered["resolved_by"]) == ("resolved", "user")
    world.check_once()
