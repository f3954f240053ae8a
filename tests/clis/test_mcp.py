"""Real agent CLIs ask about a task by `task mcp`, configured as its page says."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.clis.answers import Reply, call, say
from tests.clis.bench import Bench, a_bench
from tests.clis.model_request import ModelRequest, ToolResult
from tests.clis.selection import in_ci
from tests.unit.cli.conftest import House

NAMES = ("mcp__task__status", "mcp_task_status")
TASK = "tidy-0a1b2c3d"
WORDS = ["-P", "-m", "orchestrator.cli", "mcp"]


def a_state(root: Path) -> Path:
    """Lay down a state folder with one task, as its daemon leaves it."""
    house = House(root, root / "state", root / "work")
    house.state.mkdir(mode=0o700)
    house.task()
    return house.state


def claude(bench: Bench, state: Path) -> tuple[str, ...]:
    config = bench.place.write(bench.place.run / "mcp.json", {"mcpServers": {"task": served(state)}})
    return ("--mcp-config", str(config), "--allowedTools", NAMES[0])


def codex(bench: Bench, state: Path) -> tuple[str, ...]:
    path = bench.place.home / ".codex" / "config.toml"
    lines = [
        "[mcp_servers.task]",
        f"command = {json.dumps(sys.executable)}",
        f"args = {json.dumps(WORDS)}",
        f"env = {{ORCHESTRATOR_HOME = {json.dumps(str(state))}}}",
        "startup_timeout_sec = 120",
        "required = true",
    ]
    path.write_text(path.read_text("utf-8") + "\n".join(["", *lines, ""]), "utf-8")
    return ()


def gemini(bench: Bench, state: Path) -> tuple[str, ...]:
    path = bench.place.home / ".gemini" / "settings.json"
    servers = {"task": served(state) | {"trust": True}}
    bench.place.write(path, json.loads(path.read_text("utf-8")) | {"mcpServers": servers})
    return ()


def served(state: Path) -> dict[str, object]:
    return {"command": sys.executable, "args": WORDS, "env": {"ORCHESTRATOR_HOME": str(state)}}


CONFIGURING = {"claude": claude, "codex": codex, "gemini": gemini}


def asking(request: ModelRequest) -> Reply:
    """Call the tool by the name that this client gives it; Claude Code shows it only to who searches for it."""
    results = [each for message in request.messages for each in message.results]
    if about_the_task(results):
        return say("It runs.")
    name = next((name for name in NAMES if name in request.conversation.tools), NAMES[0])
    if "ToolSearch" in request.conversation.tools and not results:
        return call("ToolSearch", query=f"select:{name}", max_results=1)
    return call(name, task="tidy")


def about_the_task(results: Iterable[ToolResult]) -> list[str]:
    """Return the results that name the task."""
    return [each.text for each in results if TASK in each.text]


@pytest.mark.parametrize("installed", in_ci(CONFIGURING, "claude"), indirect=True)
def test_a_real_client_gets_the_state_of_a_task(installed: str) -> None:
    with a_bench(installed, asking) as bench:
        extra = CONFIGURING[installed](bench, a_state(bench.place.root))
        bench.start("How is tidy?", extra=extra, environ={"MCP_TIMEOUT": "120000"})
        bench.wait_for(bench.driver.ends)
        assert not bench.server.faults
        assert about_the_task(each for message in bench.server.turns[-1].messages for each in message.results)
