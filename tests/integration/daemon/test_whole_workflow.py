"""One workflow with all that can happen to it, on real tmux with `command` agents; an auditor looks at what it left.

That each of the auditor's rules fails on a run that breaks it is shown by `tests/auditor`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.daemon.workflow_designs import check_folder, design, note, status_of
from tests.integration.daemon.world import World

AGENTS = {"try": "", "one": "", "two": "", "three": "", "four": "try, one", "five": "two, four"}


def asked(description: str, **more: Any) -> dict[str, Any]:
    """Return an escalated note."""
    return note("escalated", description=description, **more)


def resolver_of(folder: Path, agent: str) -> str:
    """Return who answered the one note of an agent; nobody until its session is put away."""
    kept = [*(folder / "agents" / agent / "completion_drive").glob("session_2*.json")]
    notes = [note for path in kept for note in json.loads(path.read_text())["notes"]]
    return ", ".join(str(each["resolved_by"]) for each in notes)


def turns_of() -> dict[str, list[dict[str, Any]]]:
    """Return what each agent does, turn by turn."""
    adapts = {
        "evidence": "partial",
        "decision": "adapt",
        "edits": [
            {"edit": "reinstruct", "agent": "four", "instructions": "# Make four\n\nIn another way.\n"},
        ],
    }
    return {
        "verify:try": [{"decision": adapts, "status": ""}],
        "do:one": [{"hold": "three"}],
        "do:two": [{"hold": "three", "notes": [asked("Are emails unique?")], "status": "blocked"}, {}],
        "do:three": [
            {"hold": "three", "notes": [asked("Which hash?", kind="security")], "status": "blocked"},
            {},
        ],
        "do:architect": [{"work": {}}],
        "verify:one": [{"missing": ["the log is empty"]}, {"missing": ["it still is"]}, {}],
        "do:four": [{"exit": 3, "status": ""}, {}],
        "do:five": [{"hold": "late"}],
    }


def designed(world: World) -> Path:
    """Write the design: six agents of which one tries an assumption, an architect, and two verifiers."""
    folder = design(
        world, turns_of(), AGENTS, poc="try", answering=["architect"], most=3, bounds="{verifications: 5}"
    )
    page = folder / "workflow_coordination_plan.md"
    head, *blocks = page.read_text().split("  - id: ")
    for at, block in enumerate(blocks):
        if block.startswith(("four", "five")):
            blocks[at] = block.replace("verifier: judge", "verifier: umpire")
        if block.startswith("judge"):
            verifier, _, rest = block.partition("escalation:")
            umpire = verifier.replace("judge", "umpire").replace("Judge", "Umpire")
            blocks[at] = f"{verifier}  - id: {umpire}escalation:{rest}"
    page.write_text("  - id: ".join([head, *blocks]))
    own = folder / "agents" / "umpire" / "agent_instructions.md"
    own.parent.mkdir()
    own.write_text((folder / "agents" / "judge" / "agent_instructions.md").read_text())
    return folder


@pytest.mark.thorough(reason="about a minute: unit/pm and the simulation decide each part of it")
def test_whole_workflow_survives_all_and_is_audited(world: World) -> None:
    """Three at once, questions to the user and the architect, a PoC that adapts, failures, a crash, three kills."""
    folder = designed(world)
    for words in (("workflow", "approve", "t1"), ("start", "t1")):
        said = world.task(*words, "--project", str(world.project))
        assert said.code == 0, said
    world.until(lambda: all(world.lives_of(f"do:{each}") for each in ("one", "two", "three")))
    world.kill_daemon()
    world.go("three")
    world.daemon()
    world.until(lambda: world.task("answer", "t1", "q1", "Yes, they are").code == 0)
    world.kill_daemon()
    world.daemon()
    world.until_works("do:five")
    world.kill_daemon()
    world.go("late")
    world.daemon()
    world.until(lambda: world.stands() == "complete", within=120)
    world.until(lambda: set(status_of(folder).values()) <= {"session_complete", "verified"})
    events = [json.loads(line) for line in (folder / "records" / "events.jsonl").read_text().splitlines()]
    kinds = [each["event"] for each in events]
    assert kinds.count("adaptation") == 1
    assert world.lives_of("do:one") == 3
    assert world.lives_of("do:four") == 2
    assert world.lives_of("do:architect") == 1
    wanted = {"two": "user", "three": "workflow_executor"}
    world.until(lambda: {each: resolver_of(folder, each) for each in wanted} == wanted)
    verdicts = [json.loads((folder / f"records/verifications/one-{n}.json").read_text()) for n in (1, 2, 3)]
    assert [each["result"] for each in verdicts] == ["fail", "fail", "pass"]
    check_folder(world)
    world.check_once()
    world.check_nobody_is_left()
