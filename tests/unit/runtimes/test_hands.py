"""Agent CLIs with `hands: operations` are launched with nothing that changes a file."""

from __future__ import annotations

import json
import tomllib

import pytest

from orchestrator.model.agents import Agent
from orchestrator.model.hands import Hands
from orchestrator.runtimes import ReadOnly
from orchestrator.runtimes.aider import NOTES, Aider
from orchestrator.runtimes.gemini import POLICY, Gemini
from orchestrator.runtimes.kiro import AGENT as KIRO_AGENT
from orchestrator.runtimes.kiro import Kiro
from orchestrator.runtimes.opencode import Opencode
from orchestrator.runtimes.registry import RUNTIMES
from tests.unit.runtimes.spawns import a_spawn

AGENT = Agent("dev", tools=("Bash", "Write", "Edit", "WebFetch"), hands=Hands.OPERATIONS)


def test_gemini_is_denied_all_but_its_reading_tools() -> None:
    """Also what servers of the user offer."""
    rules = tomllib.loads(Gemini().launching(a_spawn(agent=AGENT)).files[POLICY].decode())["rule"]
    assert [(each["decision"], each["priority"]) for each in rules] == [("deny", 1), ("allow", 2)]
    assert rules[0]["toolName"] == "*"
    assert "read_file" in rules[1]["toolName"]
    assert not {"write_file", "replace", "run_shell_command", "web_fetch"} & set(rules[1]["toolName"])


def test_opencode_is_denied_all_but_its_reading_tools() -> None:
    environment = Opencode().launching(a_spawn(agent=AGENT)).environment
    permission = json.loads(environment["OPENCODE_PERMISSION"])
    assert permission.pop("*") == "deny"
    assert set(permission) == {"read", "glob", "grep", "list"}


def test_aider_is_asked_and_edits_nothing() -> None:
    launching = Aider().launching(a_spawn(agent=AGENT))
    assert launching.argv[launching.argv.index("--chat-mode") + 1] == "ask"
    assert not any(NOTES in word for word in launching.argv)
    plain = Aider().launching(a_spawn(agent=Agent("dev")))
    assert "--chat-mode" not in plain.argv


def test_kiro_has_its_reading_tools_alone() -> None:
    """By its documents: what is not among `tools` is not offered, and the servers of the user are left out."""
    made = json.loads(Kiro().launching(a_spawn(agent=AGENT)).files[KIRO_AGENT])
    assert made["tools"] == made["allowedTools"] == ["read", "glob", "grep"]
    assert made["includeMcpJson"] is False
    assert [event for event in made["hooks"] if event == "stop"]


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "opencode", "aider", "kiro"])
def test_these_can_have_file_operations(name: str) -> None:
    assert isinstance(RUNTIMES[name], ReadOnly)
