"""Real agent CLIs with `hands: operations`: launched with tools that only read; what they say becomes files."""

from __future__ import annotations

import json
import re
from collections.abc import Generator

import pytest

from tests.clis.answers import Reply, say
from tests.clis.hands import run
from tests.clis.house import PATIENCE, House, a_house
from tests.clis.model_request import ModelRequest, ToolResult
from tests.clis.pinned import pins
from tests.clis.playing import played
from tests.clis.selection import in_ci
from tests.integration.daemon.world import altered

Steps = Generator[Reply, tuple[ToolResult, ...], None]

CLIS = [name for name in pins() if not name.startswith("node")]
READING = {"Read", "Glob", "Grep"}
SHELLS = {"exec_command", "shell_command"}
"""The tools of Codex that its sandbox confines. Others are offered nothing that changes a file."""
CHANGES = {"Bash", "Write", "Edit", "MultiEdit", "bash", "write", "edit", "apply_patch", "patch"}
CHANGES |= {"write_file", "replace", "run_shell_command", "multiedit", "task"}
PLACEHOLDER = "DeferredToolPlaceholder"
"""Stands in Claude's list for tools that are offered later, if any are."""
NEWEST = [name for name in CLIS if name.startswith("codex")] + [
    max(name for name in CLIS if name.startswith("claude"))
]
KILLED = """
import os
import orchestrator.workspaces.operations.transaction as it
def end(*_):
    os.kill(os.getpid(), 9)
it._verify = end
"""

pytestmark = pytest.mark.parametrize("installed", in_ci(CLIS, *NEWEST), indirect=True)


def answer(request: ModelRequest, operation: str) -> Reply:
    """Say one file operation, in the folder that the order names."""
    (root,) = set(re.findall(r"lies below (\S+)/ or", request.prompt))
    said = {
        "operation": operation,
        "file_path": f"{root}/greet.py",
        "content": "NAME = 'hi'\n",
        "description": "the greeting that the goal asks for",
    }
    document = json.dumps({"file_operations": [said], "specialist_summary": "There is a greeting."}, indent=1)
    return say(f"Here it is.\n```json\n{document}\n```\n")


def begin(house: House, installed: str) -> None:
    """Start a task whose developer is the CLI, and hands in file operations."""
    runtime = installed.partition("-")[0]
    house.world.begin(config=[f"dev.runtime: {runtime}", "dev.hands: operations"])


def until_over(house: House) -> None:
    """Wait until the task is complete."""
    over = {"complete", "failed", "waiting"}
    house.world.until(lambda: house.server.faults or house.world.stands() in over, within=PATIENCE)
    assert not house.server.faults
    assert house.world.stands() == "complete", house.screens()


def test_what_a_cli_says_becomes_files(installed: str) -> None:
    """It has nothing to write with. What is wrong with its answer comes back to it, and then its files are made."""
    tried: list[str] = []

    def working(request: ModelRequest) -> Steps:
        offered = set(request.conversation.tools)
        if "Operation 0: " in request.prompt:
            yield answer(request, "create")
        elif not offered & SHELLS:
            assert offered <= READING | {PLACEHOLDER} or not offered & (CHANGES | READING), offered
            yield answer(request, "edit")
        else:
            (result,) = yield run(request, "touch escaped.py && echo written")
            tried.append(result.text)
            yield answer(request, "edit")

    with a_house(installed, played(working), limits__termination_grace="5 s") as house:
        house.daemon()
        begin(house, installed)
        world = house.world
        until_over(house)
        assert not [text for text in tried if "written" in text]
        assert world.git("diff", "--name-only", "main", "task/t1") == "greet.py"
        records = [fact["record"] for fact in world.story().facts("operations_settled")]
        assert [bool(record.get("done")) for record in records] == [False, True]
        (handoff,) = (world.project / "tasks" / "t1" / "handoffs").glob("dev-*.md")
        assert "There is a greeting." in handoff.read_text()
        world.check_nobody_is_left()


def test_a_daemon_killed_meanwhile_asks_nobody_again(installed: str) -> None:
    """It is killed between a file and its verification: the next one goes on by the event that still lies there."""
    with a_house(installed, played(_once), limits__termination_grace="5 s") as house:
        world = house.world
        world.launched(*house.inside, *altered(KILLED))
        world.until(lambda: world.pid, within=60)
        begin(house, installed)
        world.until(lambda: not world.pid, within=PATIENCE)
        house.daemon()
        until_over(house)
        assert [run["step"] for run in world.story().runs.values()].count("dev:greet") == 1
        assert world.git("show", "task/t1:greet.py") == "NAME = 'hi'"
        assert len(world.story().facts("operations_settled")) == 1


def _once(request: ModelRequest) -> Steps:
    yield answer(request, "create")
