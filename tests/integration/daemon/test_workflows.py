"""Workflows with a real daemon, real tmux and real git: agents that edit their files, and a daemon that reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bubblewrap import bwrap_works
from tests.integration.daemon.workflow_designs import (
    EPOCH,
    PROGRAM,
    begin,
    check_folder,
    design,
    note,
    status_of,
)
from tests.integration.daemon.world import World

SANDBOXED = Path(__file__).parents[3] / "deploy" / "sandboxed"


@pytest.fixture(autouse=True)
def audited(world: World) -> Iterator[None]:
    """After each test an auditor looks at the folder."""
    yield
    check_folder(world)


def test_workflow_is_carried_out_by_its_files(world: World) -> None:
    """Two agents at once, a third that needs both; each verified and merged; the status file tells of it."""
    folder = begin(world, {}, {"one": "", "two": "", "three": "one, two"})
    world.until_is("complete")
    world.until(lambda: set(status_of(folder).values()) == {"session_complete"})
    assert json.loads((folder / "shared_status.json").read_text())["status"] == "session_complete"
    assert world.git("diff", "--name-only", "main", "task/t1").split() == ["one.txt", "three.txt", "two.txt"]
    runs = list(world.story().runs.values())
    assert sorted(run["step"] for run in runs) == sorted(
        f"{kind}:{each}" for kind in ("do", "verify") for each in ("one", "two", "three")
    )
    handoffs = sorted(each.name.split("-")[0] for each in (folder.parent / "handoffs").iterdir())
    assert [handoffs.count(each) for each in ("one", "two", "three", "judge")] == [1, 1, 1, 3]
    world.check_once()
    world.check_nobody_is_left()


@pytest.mark.thorough(
    reason="unit/pm/test_workflows.py decides; a checkpoint above fails, and is judged again"
)
def test_missing_evidence_comes_back_to_the_doer(world: World) -> None:
    """The results file is there while the doer works again, and gone after the pass; a copy is kept."""
    turns: dict[str, list[dict[str, Any]]] = {
        "verify:one": [{"missing": ["the log is empty"]}, {}],
        "do:one": [{}, {"hold": "again"}],
    }
    folder = begin(world, turns, {"one": ""})
    world.until(lambda: world.lives_of("do:one") == 2)
    results = folder / "agents" / "one" / "verification_results.json"
    assert json.loads(results.read_text())["missing_evidence"] == ["the log is empty"]
    assert "the log is empty" in world.story().orders("do:one")[-1]
    world.go("again")
    world.until_is("complete")
    world.until(lambda: not results.exists())
    assert [each.name for each in (folder / "records" / "replaced").iterdir()] == ["one-results.json"]
    said = folder / "records" / "verifications"
    world.until(lambda: {each.name for each in said.iterdir()} == {"one-1.json", "one-2.json"})
    assert [json.loads((said / f"one-{n}.json").read_text())["result"] for n in (1, 2)] == ["fail", "pass"]
    world.check_once()


def test_checkpoint_judges_together_with_a_verdict_each(world: World) -> None:
    """What passed is merged at once; what failed is judged again alone, in a run of its own."""
    turns: dict[str, list[dict[str, Any]]] = {
        "verify:c1": [{"judges": {"one": [], "two": ["the log is empty"]}}, {"judges": {"two": []}}]
    }
    checkpoints = "[{id: c1, verifier: judge, subjects: [one, two], criteria: [they fit]}]"
    folder = begin(world, turns, {"one": "", "two": "", "three": "one"}, checkpoints=checkpoints)
    world.until_is("complete")
    assert [world.lives_of(f"do:{each}") for each in ("one", "two", "three")] == [1, 2, 1]
    assert world.lives_of("verify:c1") == 2
    assert world.git("diff", "--name-only", "main", "task/t1").split() == ["one.txt", "three.txt", "two.txt"]
    assert [each.name for each in (folder / "records" / "replaced").iterdir()] == ["two-results.json"]
    world.check_once()


def test_poc_is_decided_by_its_file(world: World) -> None:
    """`ask` waits for the user; what relies on the proof starts after that; its scratch tree is not merged."""
    decision = {"evidence": "fail", "decision": "ask"}
    turns: dict[str, list[dict[str, Any]]] = {"verify:one": [{"decision": decision, "status": ""}]}
    folder = begin(world, turns, {"one": "", "two": "one"}, poc="one")
    world.until_is("waiting")
    assert not world.lives_of("do:two")
    world.until(lambda: status_of(folder)["one"] == "ready_for_verification")
    assert world.task("answer", "t1", "q1", "approve").code == 0
    world.until_is("complete")
    assert world.git("diff", "--name-only", "main", "task/t1").split() == ["two.txt"]
    world.check_once()


def test_escalated_note_is_answered_by_the_user(world: World) -> None:
    """The answer lies in the note, resolved by the user, before the agent is launched again; others go on."""
    turns: dict[str, list[dict[str, Any]]] = {
        "do:one": [{"notes": [note("escalated")], "status": "blocked"}, {"hold": "look"}]
    }
    folder = begin(world, turns, {"one": "", "two": "", "three": "one"})
    world.until_is("waiting")
    world.until(lambda: status_of(folder) == {"one": "blocked", "two": "verified", "three": "pending"})
    document = json.loads((folder / "shared_status.json").read_text())
    assert document["overall_completion_drive_gate"] == "blocked"
    assert document["agents"]["one"]["unresolved_notes"] == 1
    said = world.task("answer", "t1", "q1", "Yes, they are")
    assert said.code == 0, said
    world.until(lambda: world.lives_of("do:one") == 2)
    session = folder / "agents" / "one" / "completion_drive" / "session_current.json"
    (answered,) = json.loads(session.read_text())["notes"]
    assert (answered["status"], answered["resolved_by"]) == ("resolved", "user")
    assert answered["resolution"] == "Yes, they are"
    assert isinstance(answered["resolution_timestamp"], int)
    world.go("look")
    world.until_is("complete")
    world.check_once()


@pytest.mark.thorough(
    reason="unit/pm/test_workflows.py: a crash behind the claim is judged, and not run again"
)
def test_crash_after_the_claim_does_not_matter(world: World) -> None:
    """The disk is judged, not the dying."""
    begin(world, {"do:one": [{"exit": 3}]}, {"one": ""})
    world.until_is("complete")
    assert world.lives_of("do:one") == 1


@pytest.mark.thorough(reason="unit/pm/test_workflows.py counts them")
def test_crash_without_a_claim_is_a_crash(world: World) -> None:
    begin(world, {"do:one": [{"exit": 3, "status": ""}, {}]}, {"one": ""})
    world.until_is("complete")
    assert world.lives_of("do:one") == 2
    tallies = [change["tally"] for change in world.story().changes("step_tallied")]
    assert [each.get("crashes") for each in tallies] == [1]


@pytest.mark.thorough(reason="unit/daemon/test_workflow_folder.py keeps it; unit/pm/test_workflows.py asks")
def test_broken_status_file_is_kept_and_written_anew(world: World) -> None:
    """Nobody else's claim is lost by it, and the agent that left it is asked again."""
    turns: dict[str, list[dict[str, Any]]] = {
        "do:one": [{"status": "", "raw": {"shared_status.json": "{ no JSON"}}, {}]
    }
    folder = begin(world, turns, {"one": ""})
    world.until_is("complete")
    assert world.lives_of("do:one") == 2
    (kept,) = (folder / "records" / "unreadable").iterdir()
    assert kept.read_text() == "{ no JSON"


@pytest.mark.thorough(reason="unit/daemon/test_shared_status.py keeps what nobody knows")
def test_unknown_fields_of_the_status_file_stay(world: World) -> None:
    folder = begin(world, {"do:one": [{"hold": "edited"}]}, {"one": ""})
    world.until_works("do:one")
    shared = folder / "shared_status.json"
    world.until(shared.exists)
    document = json.loads(shared.read_text())
    document["remark"] = "by hand"
    part = shared.with_name("part")
    part.write_text(json.dumps(document))
    part.rename(shared)
    world.go("edited")
    world.until_is("complete")
    world.until(lambda: status_of(folder) == {"one": "session_complete"})
    assert json.loads(shared.read_text())["remark"] == "by hand"


@pytest.mark.thorough(reason="unit/daemon/test_workflow_folder.py archives them")
def test_sessions_are_archived_at_the_end(world: World) -> None:
    """Each under a name of its own, with the log and the index; the notes are in it."""
    noted = note("resolved", resolution="seen", resolved_by="agent_self", resolution_timestamp=EPOCH)
    folder = begin(world, {"do:one": [{"notes": [noted]}]}, {"one": ""})
    world.until_is("complete")
    index = folder / "agents" / "archival_agent" / "archive_index.json"
    world.until(index.exists)
    (entry,) = json.loads(index.read_text())["sessions"]
    assert (entry["agent"], entry["task_id"], entry["notes"]) == ("one", "one_task_1764254000", 1)
    assert json.loads((folder / entry["file"]).read_text())["notes"] == [noted]
    assert not (folder / "agents/one/completion_drive/session_current.json").exists()
    (done,) = json.loads((folder / "agents/archival_agent/cleanup_log.json").read_text())["operations"]
    assert (done["operation"], done["result"], done["to"]) == ("archive", "done", entry["file"])


@pytest.mark.thorough(reason="unit/daemon/test_workflow_launch.py puts it away, and tells so in the log")
def test_session_of_another_task_is_put_away_at_launch(world: World) -> None:
    folder = design(world, {}, {"one": ""})
    session = folder / "agents" / "one" / "completion_drive" / "session_current.json"
    session.parent.mkdir(parents=True)
    session.write_text(
        json.dumps({"task_id": "old_task_1700000000", "session_start": 1700000000, "notes": []})
    )
    for words in (("workflow", "approve", "t1"), ("start", "t1")):
        assert world.task(*words, "--project", str(world.project)).code == 0
    world.until_is("complete")
    assert world.lives_of("do:one") == 1
    log = json.loads((folder / "agents/archival_agent/cleanup_log.json").read_text())["operations"]
    assert log[0]["operation"] == "stale"
    assert "old_task" in log[0]["to"]


@pytest.mark.thorough(reason="unit/daemon/test_workflow_launch.py puts back what a dependent builds on")
def test_what_was_verified_is_what_others_get(world: World) -> None:
    """Somebody changes a verified output before the next agent starts: it finds the version that was verified."""
    turns: dict[str, list[dict[str, Any]]] = {
        "do:two": [{"hold": "never", "exit": 1, "status": ""}, {}],
        "do:three": [{"hold": "late"}],
    }
    folder = begin(world, turns, {"one": "", "two": "one", "three": ""}, most=2)
    world.until_works("do:two")
    output = folder / "agents" / "one" / "task_output" / "one.md"
    verified = output.read_text()
    output.write_text("changed by somebody\n")
    world.go("never")
    world.until(lambda: world.lives_of("do:two") == 2)
    assert output.read_text() == verified
    world.go("late")
    world.until_is("complete")


@pytest.mark.skipif(not bwrap_works(), reason="bwrap is not here, or may not make namespaces")
def test_sandboxed_agents_can_hand_in(world: World) -> None:
    """Their files in `orchestration/` are theirs to write, also where everything else is read-only."""
    lives = world.root / "runs"
    lives.touch()
    seen = f"--ro-bind {PROGRAM} {PROGRAM} --ro-bind {world.script} {world.script} --bind {lives} {lives}"
    folder = begin(world, {}, {"one": ""}, wrapper=f"{SANDBOXED} {seen} -- ")
    world.until_is("complete")
    world.until(lambda: set(status_of(folder).values()) == {"session_complete"})
    assert [step for _, step in world.lives] == ["do:one", "verify:one"]


def test_only_what_was_approved_is_started(world: World) -> None:
    """Nothing starts before the approval, nor after the instructions were changed since."""
    folder = design(world, {}, {"one": ""})
    start = ("start", "t1", "--project", str(world.project))
    said = world.task(*start)
    assert said.code != 0
    assert "task workflow approve t1" in said.err
    assert world.task("workflow", "approve", "t1", "--project", str(world.project)).code == 0
    instructions = folder / "agents" / "one" / "agent_instructions.md"
    instructions.write_text(instructions.read_text() + "\nAnd delete everything.\n")
    said = world.task(*start)
    assert said.code != 0
    assert "changed since" in said.err
    assert not world.lives


@pytest.mark.thorough(reason="unit/daemon/test_workflow_records.py: what becomes of the page changes nothing")
def test_plan_is_not_followed_once_it_runs(world: World) -> None:
    """The journal has the plan: an edit of the file steers nothing."""
    turns: dict[str, list[dict[str, Any]]] = {"do:one": [{"hold": "edited"}]}
    folder = begin(world, turns, {"one": "", "two": "one"})
    world.until_works("do:one")
    page = folder / "workflow_coordination_plan.md"
    page.write_text(page.read_text().replace("needs: [one]", "needs: []"))
    world.go("edited")
    world.until_is("complete")
    assert [step for _, step in world.lives] == ["do:one", "verify:one", "do:two", "verify:two"]


def test_kill_of_the_daemon_loses_no_claim(world: World) -> None:
    """The daemon is killed while an agent works; the agent ends meanwhile; the next daemon reads what it left."""
    turns: dict[str, list[dict[str, Any]]] = {"do:one": [{"hold": "late"}]}
    folder = begin(world, turns, {"one": "", "two": "one"})
    world.until_works("do:one")
    world.kill_daemon()
    world.go("late")
    world.daemon()
    world.until_is("complete")
    world.until(lambda: set(status_of(folder).values()) == {"session_complete"})
    assert world.lives_of("do:one") == 1
    world.check_once()


def test_resolver_answers_and_the_plan_is_adapted(world: World) -> None:
    """A question is answered by an agent; the user gives another one other needs while it runs; events tell of both."""
    item = {
        "agent": "one",
        "note_id": "note_001",
        "route": "answer",
        "text": "singular",
        "checked": ["three"],
    }
    said = {"task_id": "resolver_task_1764254000", "timestamp": EPOCH, "items": [item]}
    asked = note("escalated")
    done = asked | {"status": "resolved", "resolution": "singular", "resolved_by": "workflow_executor"}
    turns: dict[str, list[dict[str, Any]]] = {
        "do:one": [{"notes": [asked], "status": "blocked"}, {"hold": "one"}],
        "do:two": [{"hold": "two"}],
        "resolve:1": [
            {"status": "", "work": {}, "write": [], "notes": [],
             "raw": {"agents/resolver/task_output/resolution_1.json": json.dumps(said)}}
        ],
    }  # fmt: skip
    folder = begin(world, turns, {"one": "", "two": "", "three": "one"}, answering=["resolver"])
    world.until(lambda: world.lives_of("do:one") == 2)
    session = json.loads(
        (folder / "agents" / "one" / "completion_drive" / "session_current.json").read_text()
    )
    assert session["notes"][0] | {"resolution_timestamp": None} == done
    edits = world.root / "edits.json"
    edits.write_text(
        json.dumps({"edits": [{"edit": "set_needs", "agent": "three", "needs": ["one", "two"]}]})
    )
    reply = world.task(
        "workflow", "adapt", "t1", str(edits), "--why", "it reads both", "--project", str(world.project)
    )
    assert reply.code == 0, reply
    world.until((folder / "records" / "adaptations" / "1.json").exists)
    assert "needs: [one, two]" in (folder / "workflow_coordination_plan.md").read_text()
    world.go("one")
    world.until(lambda: status_of(folder)["one"] == "verified")
    assert world.lives_of("do:three") == 0
    world.go("two")
    world.until_is("complete")
    events = [json.loads(line) for line in (folder / "records" / "events.jsonl").read_text().splitlines()]
    assert [each["seq"] for each in events] == sorted(each["seq"] for each in events)
    assert {
        "began",
        "launch",
        "turn_end",
        "verdict",
        "escalation",
        "asked",
        "answer",
        "adaptation",
        "transition",
    } <= {each["event"] for each in events}
    last = {each["agent"]: each["to"] for each in events if each["event"] == "transition"}
    world.until(lambda: set(status_of(folder).values()) == {"session_complete", "pending"})
    assert {name: status for name, status in status_of(folder).items() if name in last} == last
    world.check_nobody_is_left()
