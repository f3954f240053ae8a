"""A task of five roles, with a real daemon, real panes and the document's handoffs (C1 to C3, C6)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.daemon.world import World, a_world

AGENT = f"{sys.executable} -I -S {Path(__file__).with_name('role_agent.py')} {{script}}"
ROLES = ("planner", "implementer", "auditor", "cleaner", "orchestrator")
STEPS = ("plan", "implement", "audit", "clean", "close")


@pytest.fixture
def world() -> Iterator[World]:
    """Yield a world of its own."""
    with a_world() as made:
        yield made


def begun(world: World, turns: dict[str, list[dict[str, Any]]], *config: str) -> Path:
    """Start a task of roles whose agents do as told."""
    commands = [f"{each}.command: {AGENT.format(script=world.script)}" for each in ROLES]
    world.daemon()
    return world.begin(turns, config=["family: roles", *commands, *config])


def ends_complete(world: World) -> None:
    """Wait until the task is complete: a dozen runs follow each other, which takes longer than one thing may."""
    world.until(lambda: world.stands() == "complete", within=120)


def archived(folder: Path, pattern: str) -> list[dict[str, Any]]:
    """Return the records of the archive whose names match, oldest first."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob(f"data/handoffs/*/{pattern}"))]


def issues(*descriptions: str) -> list[dict[str, str]]:
    """Return entries of `issues` of high severity."""
    return [{"severity": "high", "description": each} for each in descriptions]


@pytest.mark.parametrize(
    "killed_at",
    [
        each
        if each == "audit"
        else pytest.param(each, marks=pytest.mark.thorough(reason="other steps of the same pipeline"))
        for each in STEPS
    ],
)
def test_pipeline_goes_back_and_ends_complete(world: World, killed_at: str) -> None:
    """One incomplete handoff, one failed audit, one replanning; the daemon is killed while a role works."""
    turns: dict[str, list[dict[str, Any]]] = {
        "plan": [{"parts": {"nextSteps": {"instructions": ["Write it"]}}}],
        "audit": [{"parts": {"handoff": {"status": "rejected"}, "issues": issues("nobody is greeted")}}],
        "clean": [
            {
                "parts": {
                    "handoff": {"type": "requires_replanning"},
                    "deliverable": None,
                    "issues": issues("the greeting is in the wrong place"),
                }
            }
        ],
    }
    first = turns.setdefault(killed_at, [{}])[0]
    first["hold"] = "on"
    check = "sh -c 'test -f pkg/greet.py'"
    folder = begun(world, turns, f"auditor.check: {check}", f"orchestrator.check: {check}")
    world.until_works(killed_at)
    world.kill_daemon()
    world.go("on")
    world.daemon()
    ends_complete(world)

    story = world.story()
    assert "acceptanceCriteria` is empty" in story.orders("plan")[1]
    assert "nobody is greeted" in story.orders("implement")[1]
    assert "the greeting is in the wrong place" in story.orders("plan")[2]
    world.until(lambda: [each["outcome"] for each in archived(folder, "chain_*")] == ["success"])
    found = sorted(
        (each["handoff"]["from"], each["handoff"]["type"], each["handoff"]["status"])
        for each in archived(folder, "handoff_*")
    )
    assert found == sorted(
        [
            ("PLANNER", "ready_for_implementation", "rejected"),
            ("PLANNER", "ready_for_implementation", "completed"),
            ("IMPLEMENTER", "ready_for_audit", "rejected"),
            ("IMPLEMENTER", "ready_for_audit", "completed"),
            ("AUDITOR", "ready_for_cleanup", "completed"),
            ("CLEANER", "requires_replanning", "completed"),
            ("PLANNER", "ready_for_implementation", "completed"),
            ("IMPLEMENTER", "ready_for_audit", "completed"),
            ("AUDITOR", "ready_for_cleanup", "completed"),
            ("CLEANER", "complete", "completed"),
        ]
    )
    (chain,) = archived(folder, "chain_*")
    assert len(chain["handoffs"]) == len(found)
    assert sum(each["duration_minutes"] for each in chain["handoffs"]) == chain["duration_minutes"]
    index = json.loads((folder / "data/handoffs/index.json").read_text())
    assert (index["total_handoffs"], index["total_chains"]) == (10, 1)
    branch = world.git("show", "--stat", "--format=", "main..task/t1", "--", "pkg/greet.py")
    assert "pkg/greet.py" in branch
    world.check_once()
    world.check_report()


def test_command_of_a_receiver_sends_work_back(world: World) -> None:
    """What the auditor's own command refuses never reaches the auditor. What an agent says of its work is told."""
    said = [["findings", "Greets"], ["blockedBy", "No name to greet"], ["progress", "0.5"]]
    turns: dict[str, list[dict[str, Any]]] = {
        "implement": [{"write": {"pkg/debug.txt": "x\n"}, "status": said}, {"write": {"pkg/debug.txt": ""}}]
    }
    folder = begun(world, turns, "auditor.check: sh -c 'echo left over; test ! -s pkg/debug.txt'")
    ends_complete(world)
    assert world.lives_of("audit") == 1
    order = world.story().orders("implement")[1]
    assert "the check that the PM ran exited 1" in order
    assert "left over" in order
    world.until(lambda: archived(folder, "chain_*")[0]["outcome"] == "success")
    assert any(
        "implementer says that it is blocked: No name" in each for each in world.state_shown()["notices"]
    )
    statuses = {path.stem: json.loads(path.read_text()) for path in folder.glob("data/agent-status/*.json")}
    assert (sorted(statuses), {each["status"] for each in statuses.values()}) == (sorted(ROLES), {"idle"})
    (rejected,) = [each for each in archived(folder, "handoff_*") if each["handoff"]["status"] == "rejected"]
    assert "exited 1" in rejected["issues"][-1]["description"]


def test_edits_of_the_archive_are_heard_or_put_back(world: World) -> None:
    """An auditor rejects by an edit in place, and hands in nothing; a stranger's edit is put back and told."""
    folder = begun(world, {"audit": [{"hold": "on", "rejects": "nobody is greeted"}]})
    world.until_works("audit")
    world.until(
        lambda: [each["handoff"]["status"] for each in archived(folder, "handoff_*")][-1] == "accepted"
    )
    over = min(folder.glob("data/handoffs/*/handoff_*.json"))
    before = over.read_bytes()
    beside = over.with_suffix(".json.tmp")
    beside.write_bytes(before.replace(b'"completed"', b'"pending"'))
    beside.rename(over)
    world.until(lambda: any(over.name in each for each in world.state_shown()["notices"]))
    world.until(lambda: over.read_bytes() == before)
    world.go("on")
    ends_complete(world)
    assert "nobody is greeted" in world.story().orders("implement")[1]
    assert world.lives_of("audit") == 2
    statuses = [each["handoff"]["status"] for each in archived(folder, "handoff_*")]
    assert sorted(statuses) == [*["completed"] * 4, "rejected"]
    world.check_once()


def test_archive_is_made_again_by_a_new_daemon(world: World) -> None:
    """It is a view of the journal: lost while the daemon was down, it comes back whole."""
    folder = begun(world, {"clean": [{"hold": "on"}]})
    world.until_works("clean")
    world.until(lambda: len(archived(folder, "handoff_*")) == 3)
    before = archived(folder, "handoff_*")
    world.stop_daemon()
    subprocess.run(["rm", "-r", str(folder / "data")], check=True)
    world.daemon()
    world.until(lambda: archived(folder, "handoff_*") == before)
    world.go("on")
    ends_complete(world)
