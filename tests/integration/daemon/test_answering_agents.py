"""Escalated notes that agents answer, with a real daemon, real tmux and real git: an architect, and a loop agent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.daemon.workflow_designs import (
    EPOCH,
    INSTRUCTIONS,
    begin,
    check_folder,
    note,
    status_of,
)
from tests.integration.daemon.world import World

AGENTS = {"one": "", "two": "", "three": "one"}
DECISION = "agents/architect/task_output/architect.md"
DECIDES: dict[str, Any] = {"raw": {DECISION: "Use psycopg.\n"}, "write": ["run.log"]}
AGAIN = ("Are table names singular?", "Should table names be singular?", "Shall table names be singular?")


@pytest.fixture(autouse=True)
def audited(world: World) -> Iterator[None]:
    """After each test an auditor looks at the folder."""
    yield
    check_folder(world)


def notes_of(folder: Path, agent: str) -> list[dict[str, Any]]:
    path = folder / "agents" / agent / "completion_drive" / "session_current.json"
    return list(json.loads(path.read_text())["notes"])


def events(folder: Path, *kinds: str) -> list[dict[str, Any]]:
    lines = (folder / "records" / "events.jsonl").read_text().splitlines()
    return [each for each in map(json.loads, lines) if each["event"] in kinds]


def resolution(agent: str, number: int, **item: Any) -> dict[str, Any]:
    """Return a turn in which an agent answers the note of this number of `one`, in the escalation of the same."""
    usual = {"agent": "one", "note_id": f"note_{number:03}", "route": "answer", "checked": ["three"]}
    said = {"task_id": f"{agent}_task_{EPOCH}", "timestamp": EPOCH, "items": [usual | item]}
    return {"raw": {f"agents/{agent}/task_output/resolution_{number}.json": json.dumps(said)}}


def test_architect_answers_once_its_decision_is_verified(world: World) -> None:
    """Others go on meanwhile; a decision that its verifier does not pass answers nothing."""
    asked = note("escalated", kind="technology", description="Which driver?")
    turns: dict[str, list[dict[str, Any]]] = {
        "do:one": [{"notes": [asked], "status": "blocked"}, {"hold": "one"}],
        "do:architect": [
            {"raw": {DECISION: "Perhaps.\n"}, "write": ["run.log"]},
            {**DECIDES, "hold": "again"},
        ],
        "verify:architect": [{"missing": ["a decision"]}, {}],
    }
    folder = begin(world, turns, AGENTS, answering=["architect"])
    world.until(lambda: world.lives_of("do:architect") == 2)
    world.until(lambda: status_of(folder)["two"] == "verified")
    assert notes_of(folder, "one")[0]["status"] == "escalated"
    assert status_of(folder) == {
        "one": "blocked", "two": "verified", "three": "pending", "architect": "working",
    }  # fmt: skip
    assert "Which driver?" in world.story().orders("do:architect")[0]
    world.go("again")
    world.until(lambda: world.lives_of("do:one") == 2)
    (answered,) = notes_of(folder, "one")
    assert (answered["status"], answered["resolved_by"]) == ("resolved", "workflow_executor")
    assert answered["resolution"].startswith("Use psycopg.")
    assert "Use psycopg." in world.story().orders("do:one")[-1]
    world.go("one")
    world.until_is("complete")
    assert [each["to"] for each in events(folder, "asked")] == ["architect"]
    assert [each["result"] for each in events(folder, "verdict") if each["agent"] == "architect"] == [
        "fail",
        "pass",
    ]
    world.check_once()
    world.check_nobody_is_left()


@pytest.mark.thorough(reason="unit/pm/test_escalations.py has each; simulation/test_workflow_worlds.py both")
def test_question_that_the_architect_passes_on_is_the_users(world: World) -> None:
    """What the architect escalates itself is asked of the user; its decision then goes the usual way."""
    asked = note("escalated", kind="architecture", description="One service or two?")
    turns: dict[str, list[dict[str, Any]]] = {
        "do:one": [{"notes": [asked], "status": "blocked"}, {}],
        "do:architect": [
            {"notes": [note("escalated", kind="requirements", description="How many users?")],
             "status": "blocked", "write": []},
            DECIDES,
        ],
    }  # fmt: skip
    folder = begin(world, turns, AGENTS, answering=["architect"])
    world.until_is("waiting")
    assert status_of(folder)["architect"] == "blocked"
    said = world.task("answer", "t1", "q1", "A thousand")
    assert said.code == 0, said
    world.until_is("complete")
    assert "A thousand" in world.story().orders("do:architect")[-1]
    answers = [
        each["resolved_by"] for agent in ("architect", "one") for each in archived(world, folder, agent)
    ]
    assert answers == ["user", "workflow_executor"]
    world.check_once()


def archived(world: World, folder: Path, agent: str) -> list[dict[str, Any]]:
    """Return the notes of the session of an agent that was put away at the end."""
    world.until((folder / "agents/archival_agent/archive_index.json").exists)
    (path,) = (folder / "agents" / agent / "completion_drive").glob("session_2*.json")
    return list(json.loads(path.read_text())["notes"])


def looping(*loops: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return turns in which `one` asks the same three times, is answered twice, and then its loop agent is asked."""
    asks = [
        {"asks": [note("escalated", note_id=f"note_{n:03}", description=text)], "status": "blocked"}
        for n, text in enumerate(AGAIN, 1)
    ]
    return {
        "do:one": [*asks, {}],
        "resolve:1": [resolution("resolver", 1, text="They are singular")],
        "resolve:2": [resolution("resolver", 2, text="Singular, as before")],
        "resolve:3": list(loops),
    }


def test_loop_agent_runs_again_until_its_answer_holds(world: World) -> None:
    """Its first file looked at nobody else; with the second the instructions change, and the work gets done."""
    text = INSTRUCTIONS.format(id="one") + "\nTable names are singular.\n"
    edit = {"edit": "reinstruct", "agent": "one", "instructions": text}
    why = {"route": "edit", "text": "Its task did not say so", "edits": [edit]}
    turns = looping(resolution("loop", 3, **why, checked=[]), resolution("loop", 3, **why))
    folder = begin(world, turns, AGENTS, answering=["resolver", "loop"])
    world.until_is("complete")
    assert [world.lives_of(f"resolve:{number}") for number in (1, 2, 3)] == [1, 1, 2]
    (first, again) = world.story().orders("resolve:3")
    assert all(each in first for each in ("They are singular", "Singular, as before", AGAIN[2]))
    assert "check the answer against three" in again
    record = json.loads((folder / "records" / "adaptations" / "1.json").read_text())
    assert record["by"] == "loop"
    assert [each["agent"] for each in record["effects"]] == ["one"]
    assert (folder / "agents" / "one" / "agent_instructions.md").read_text() == text
    world.check_once()
    world.check_nobody_is_left()


@pytest.mark.thorough(reason="unit/pm/test_escalations.py has its bound, and what the user then reads")
def test_loop_agent_that_gives_no_answer_leaves_it_to_the_user(world: World) -> None:
    """At the bound of its runs the user is asked, with all that was asked and answered before."""
    folder = begin(world, looping({}), AGENTS, answering=["resolver", "loop"])
    world.until_is("waiting")
    assert world.lives_of("resolve:3") == 2
    question = world.state_shown()["questions"][0]
    assert all(each in question["text"] for each in ("They are singular", "Singular, as before", AGAIN[2]))
    assert world.task("answer", "t1", question["id"], "Singular: do not ask again").code == 0
    world.until_is("complete")
    assert [each["resolved_by"] for each in archived(world, folder, "one")] == [
        "workflow_executor", "workflow_executor", "user",
    ]  # fmt: skip
    world.check_once()
