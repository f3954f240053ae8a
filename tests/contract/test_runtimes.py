"""The runtimes that ship, by the suite that is published for those of other packages."""

from __future__ import annotations

from orchestrator.model.agents import Agent
from orchestrator.model.event import EventKind
from orchestrator.runtimes.registry import RUNTIMES
from orchestrator.testing.contracts.runtimes import RuntimeContract


class TestCommand(RuntimeContract):
    name = "command"
    agent = Agent("dev", command=("make", "it"))
    takes_order = False


class TestClaude(RuntimeContract):
    name = "claude"
    events = (
        ({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "Do it."}, EventKind.TAKEN),
        ({"hook_event_name": "Stop", "session_id": "s"}, EventKind.ENDED),
    )


class TestCodex(RuntimeContract):
    name = "codex"


class TestGemini(RuntimeContract):
    name = "gemini"


class TestOpencode(RuntimeContract):
    name = "opencode"


class TestKiro(RuntimeContract):
    name = "kiro"


class TestAider(RuntimeContract):
    name = "aider"
    events = (({"type": "started"}, EventKind.STARTED), ({"type": "ended", "status": 1}, EventKind.FAILED))


def test_each_runtime_that_ships_is_held_to_the_suite() -> None:
    suites = (TestCommand, TestClaude, TestCodex, TestGemini, TestOpencode, TestKiro, TestAider)
    assert {each.name for each in suites} == set(RUNTIMES) - set(RUNTIMES.added)
