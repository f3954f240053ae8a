"""Agents of `hands: operations`: a program writes text, and the daemon carries out the file operations in it."""

from __future__ import annotations

import json
import os
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.integration.daemon.world import Turns, World, altered

PROGRAM = Path(__file__).with_name("text_agent.py")
READER = Path(__file__).with_name("reading_agent.py")
WHY = "what the goal asks for"
GREET = {
    "operation": "create",
    "file_path": "{root}/pkg/greet.py",
    "content": "NAME = 'hi'\n",
    "description": WHY,
}
ADD = {"operation": "append", "file_path": "{root}/notes.txt", "content": "and more\n", "description": WHY}
DELETE = {"operation": "delete", "file_path": "{root}/notes.txt", "description": WHY}


def answer(*operations: dict[str, Any]) -> str:
    said = json.dumps(
        {"file_operations": operations, "specialist_summary": "There is a greeting now."}, indent=1
    )
    return f"Sure! Here is what I would do.\n```json\n{said}\n```\nAnything else?\n"


def begin(world: World, *answers: str, config: tuple[str, ...] = (), turns: Turns | None = None) -> Path:
    """Start a task whose dev writes these texts, one in each life."""
    texts = world.root / "answers.json"
    texts.write_text(json.dumps(answers))
    command = f"{sys.executable} -I -S {PROGRAM} {texts}"
    return world.begin(turns, dev=command, config=["dev.hands: operations", *config])


def orders(world: World) -> list[str]:
    return (world.root / "orders").read_text().split("\n==== ")[1:]


def lived(world: World, lives: int) -> bool:
    return world.lives_of("dev:greet") >= lives


def work(world: World, lives: int = 1) -> str:
    """Wait until dev had so many lives and its work is through its gates; return its commit."""
    for number in range(1, lives + 1):
        world.until(partial(lived, world, number))
    world.until(lambda: world.steps().get("dev:greet") == "passed" if world.state_shown() else False)
    commits = [change for change in world.story().changes("step_committed") if change["step"] == "dev:greet"]
    return str(commits[-1]["commit"])


def changed(world: World, commit: str) -> list[str]:
    return world.git("diff", "--name-only", f"{commit}^", commit).splitlines()


def settled(world: World) -> list[dict[str, Any]]:
    return [fact["record"] for fact in world.story().facts("operations_settled")]


def test_text_becomes_files_a_handoff_a_commit_and_a_record(world: World) -> None:
    folder = begin(world, answer(GREET, ADD))
    work(world)
    world.until_is("complete")
    world.check_once()
    assert world.lives_of("dev:greet") == 1
    assert changed(world, "task/t1") == ["notes.txt", "pkg/greet.py"]
    assert world.git("show", "task/t1:notes.txt") == "by the user\nand more"
    (order,) = orders(world)
    assert '"file_operations"' in order
    assert "by the user\n" in order  # it sees the files that it cannot read
    (handoff,) = (folder / "handoffs").glob("dev-*.md")
    assert "There is a greeting now." in handoff.read_text()
    world.until(lambda: "## File Operations" in (folder / "progress.md").read_text())
    page = (folder / "progress.md").read_text()
    assert "File Operations Executed" in page
    assert "/pkg/greet.py (12 bytes)" in page
    assert "**Summary**: 2/2 operations successful, 0 failed" in page


@pytest.mark.thorough(reason="unit/pm/test_operations.py counts; a refused try comes back below")
def test_two_bad_tries_come_back_with_their_faults(world: World) -> None:
    """Each try is answered with the faults and their operations' indices; the third one is carried out."""
    edit = {**GREET, "operation": "edit"}
    begin(world, "I cannot do that.", answer(ADD, edit, {"operation": "move"}), answer(GREET))
    commit = work(world, lives=3)
    assert world.lives_of("dev:greet") == 3
    assert changed(world, commit) == ["pkg/greet.py"]
    first, second, third = orders(world)
    assert "No JSON object with 'file_operations'" not in first
    assert "No JSON object with 'file_operations' was found" in second
    assert "Operation 2: Invalid operation 'move'" in third
    assert [bool(each.get("done")) for each in settled(world)] == [False, False, True]


@pytest.mark.thorough(reason="unit/pm/test_operations.py asks after three")
def test_three_bad_tries_lead_to_a_question(world: World) -> None:
    begin(world, answer({**GREET, "operation": "edit"}))
    world.until(partial(lived, world, 3))
    world.until_is("waiting")
    assert world.lives_of("dev:greet") == 3
    (question,) = world.state_shown()["questions"]
    assert "3 times, and none could be carried out" in question["text"]
    assert "Operation 0:" in question["text"]
    assert "does not exist: use create" in question["text"]
    world.check_nobody_is_left()


def test_hostile_paths_are_refused_with_all_the_rest(world: World) -> None:
    (world.root / "outside").mkdir()
    (world.project / "out").symlink_to(world.root / "outside")
    world.git("add", "out")
    world.git("commit", "-q", "-m", "A link out of the project")
    reasons = {
        "{root}/../../escaped.py": "none of its parts is empty, '.' or '..'",
        "{root}/.git/hooks/escaped": "it controls git",
        "{root}/out/escaped.py": "is a link or no folder",
        "/etc/escaped": "lies in none of the allowed folders",
    }
    begin(world, answer(GREET, *({**GREET, "file_path": path} for path in reasons)), answer(GREET))
    commit = work(world, lives=2)
    for index, reason in enumerate(reasons.values(), 1):
        (instructions,) = [line for line in orders(world)[1].splitlines() if f"Operation {index}: " in line]
        assert reason in instructions
    assert changed(world, commit) == ["pkg/greet.py"]
    assert not settled(world)[0].get("done")
    assert not list((world.root / "outside").iterdir())
    assert not list(world.root.rglob("*escaped*"))


@pytest.mark.parametrize(
    "where",
    [
        pytest.param(
            # Behind the first write, ahead of the second.
            "import orchestrator.workspaces.operations.transaction as it\nit._verify = end",
            id="half",
        ),
        pytest.param(
            # Behind all writes, ahead of the handoff.
            "import orchestrator.workspaces.operations.settle as it\nit._ready = end",
            marks=pytest.mark.thorough(
                reason="unit/workspaces/operations/test_transaction.py sweeps each call"
            ),
            id="whole",
        ),
    ],
)
def test_daemon_killed_while_it_writes_goes_on_by_itself(world: World, where: str) -> None:
    """Half of the operations are rolled back and done anew, all of them are kept: the program is not asked again."""
    killed = altered(f"import os\ndef end(*_):\n    os.kill(os.getpid(), 9)\n{where}")
    world.daemon(*killed)
    begin(world, answer(ADD, GREET))
    world.until(lambda: not world.pid)
    world.daemon()
    commit = work(world)
    world.check_once()
    assert world.lives_of("dev:greet") == 1
    assert world.git("show", f"{commit}:notes.txt") == "by the user\nand more"
    assert changed(world, commit) == ["notes.txt", "pkg/greet.py"]
    assert len(settled(world)) == 1


def test_deletes_wait_for_a_person_and_are_then_done(world: World) -> None:
    """Nothing is written before the answer; then the same text counts, and its program is not run again."""
    folder = begin(world, answer(DELETE, GREET))
    world.until_is("waiting")
    (question,) = world.state_shown()["questions"]
    assert "wants to delete 1 file" in question["text"]
    assert "by the user" in question["text"]
    world.until(lambda: "DELETE REQUESTED" in (folder / "progress.md").read_text())
    assert world.task("answer", "t1", question["id"], "approve").code == 0
    commit = work(world)
    assert world.lives_of("dev:greet") == 1
    assert changed(world, commit) == ["notes.txt", "pkg/greet.py"]
    assert "notes.txt" not in world.git("ls-tree", "-r", "--name-only", commit)


def put_on_path(world: World, name: str, program: Path, *answered: str) -> None:
    """Put a program on the PATH as an agent CLI, with what it is to say."""
    (world.root / "answer.txt").write_text("".join(answered))
    place = world.root / "bin" / name
    place.parent.mkdir()
    place.write_text(f"#!{sys.executable} -IS\n{program.read_text()}")
    place.chmod(0o755)
    world.environ["PATH"] = f"{place.parent}:{world.environ['PATH']}"
    world.daemon(*altered(""))  # `task start` reads the PATH that its process was started with


def begin_to_read(world: World, *answered: str) -> None:
    """Start a task whose dev is an agent CLI that only reads, and says this when its turn ends."""
    put_on_path(world, "claude", READER, *answered)
    world.begin(config=["dev.runtime: claude", "dev.hands: operations"])
    world.until_works("dev:greet")


@pytest.mark.thorough(
    reason="unit/runtimes/test_hands.py has its tools, and the CLI below the way of its answer"
)
def test_answer_of_kiro_comes_by_its_last_hook(world: World) -> None:
    """It is not to be had: a program that speaks its hooks by its documents, and ends when its turn is over."""
    put_on_path(world, "kiro-cli", READER.with_name("reading_kiro.py"), answer(GREET, ADD))
    world.begin(config=["dev.runtime: kiro", "dev.hands: operations"])
    commit = work(world)
    assert changed(world, commit) == ["notes.txt", "pkg/greet.py"]
    assert world.lives_of("dev:greet") == 1


def test_last_message_of_an_agent_cli_is_its_answer(world: World) -> None:
    begin_to_read(world, answer(GREET, ADD))
    world.go("stop")
    commit = work(world)
    assert changed(world, commit) == ["notes.txt", "pkg/greet.py"]
    world.until_is("complete")
    assert world.lives_of("dev:greet") == 1
    world.check_nobody_is_left()


def test_cli_that_died_behind_its_last_message_is_not_asked_again(world: World) -> None:
    """The daemon was down when the turn ended; the next one finds the process gone, and the message."""
    begin_to_read(world, answer(GREET, ADD))
    world.kill_daemon()
    world.go("stop")
    events = world.home() / "requests" / "events"
    world.until(lambda: any("Stop" in path.read_text() for path in events.glob("*.waits.json")))
    os.kill(int((world.root / "pids").read_text()), signal.SIGKILL)
    world.daemon()
    commit = work(world)
    assert changed(world, commit) == ["notes.txt", "pkg/greet.py"]
    assert world.lives_of("dev:greet") == 1
    assert len(settled(world)) == 1


@pytest.mark.thorough(reason="unit/pm/test_operations.py hands it in again; a text agent waits for it above")
def test_deletes_of_an_agent_cli_are_done_when_confirmed(world: World) -> None:
    """What it said is handed in again; the CLI itself is not started once more."""
    begin_to_read(world, answer(DELETE, GREET))
    world.go("stop")
    world.until_is("waiting")
    (question,) = world.state_shown()["questions"]
    assert world.task("answer", "t1", question["id"], "approve").code == 0
    commit = work(world)
    assert world.lives_of("dev:greet") == 1
    assert changed(world, commit) == ["notes.txt", "pkg/greet.py"]
