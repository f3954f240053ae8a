"""Kiro CLI, by its documents' examples: it was not to be had. Its two scripts are run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from orchestrator.model.agents import Agent
from orchestrator.model.event import Event, EventKind, Reply, Say
from orchestrator.model.permission import Act
from orchestrator.model.tool_request import ToolRequest
from orchestrator.runtimes import kiro
from orchestrator.runtimes.kiro import AGENT, FOREVER, HOOK, SCRIPT, Kiro
from orchestrator.runtimes.screens import dialog_on
from tests.unit.runtimes.spawns import SPAWN, a_spawn

HERE = "/current/working/directory"


def laid(**changed: Any) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(Kiro().launching(a_spawn(**changed)).files[AGENT])
    return read


def test_it_says_that_it_is_untested():
    assert Kiro().untested
    assert "**Untested**" in str(kiro.__doc__)


def test_it_is_launched_as_an_agent_of_this_run():
    argv = Kiro().launching(SPAWN).argv
    start = ("sh", str(SPAWN.folder / SCRIPT), "chat", "--no-interactive", "--agent", "r-1")
    assert argv == (*start, SPAWN.prompt)
    assert Kiro().launching(a_spawn(resumes="abc")).argv == (*start, "--resume-id", "abc", SPAWN.prompt)


def test_tools_are_trusted_by_the_file_with_the_hook():
    made = laid()
    assert made["allowedTools"] == ["@builtin"]
    (gate,) = made["hooks"]["preToolUse"]
    assert gate == {"matcher": "*", "command": f"sh {SPAWN.folder / HOOK}", "timeout_ms": FOREVER}
    assert not any("trust" in word for word in Kiro().launching(SPAWN).argv[:-1])
    assert {name: len(hooks) for name, hooks in made["hooks"].items()} == dict.fromkeys(
        ("agentSpawn", "userPromptSubmit", "preToolUse", "stop"), 1
    )


def test_tools_and_models_bear_its_names():
    agent = Agent("review", tools=("Read", "Grep", "Bash", "Write", "Edit"), model="sonnet")
    made = laid(agent=agent)
    assert made["tools"] == ["read", "grep", "shell", "write"]
    assert made["model"] == "claude-sonnet-4"
    assert laid()["tools"] == ["@builtin"]


EXAMPLES: dict[str, tuple[dict[str, Any], Event | None]] = {
    "agentSpawn": ({}, Event(EventKind.STARTED)),
    "userPromptSubmit": (
        {"prompt": "user's input prompt"},
        Event(EventKind.TAKEN, text="user's input prompt"),
    ),
    "preToolUse": (
        {
            "tool_name": "fs_read",
            "tool_input": {"operations": [{"mode": "Line", "path": f"{HERE}/docs/hooks.md"}]},
        },
        Event(
            EventKind.ASKED,
            tool_request=ToolRequest("fs_read", Act.READ, (f"{HERE}/docs/hooks.md",), cwd=HERE),
        ),
    ),
    "postToolUse": ({"tool_name": "fs_read", "tool_input": {}, "tool_response": {"success": True}}, None),
    "stop": ({}, Event(EventKind.ENDED)),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_documents_examples(name):
    more, event = EXAMPLES[name]
    assert Kiro().event({"hook_event_name": name, "cwd": HERE, **more}) == event


@pytest.mark.parametrize(
    ("tool", "given", "wish"),
    [
        (
            "fs_write",
            {"command": "create", "path": "/p/a.rs"},
            ToolRequest("fs_write", Act.WRITE, ("/p/a.rs",)),
        ),
        ("execute_bash", {"command": "ls; id"}, ToolRequest("execute_bash", Act.RUN, command="ls; id")),
        ("@postgres/query", {"sql": "SELECT 1"}, ToolRequest("@postgres/query", Act.OTHER)),
        ("web_fetch", {"url": "https://x.org"}, ToolRequest("web_fetch", Act.FETCH, command="https://x.org")),
    ],
)
def test_what_a_tool_asks_for(tool, given, wish):
    event = Kiro().event({"hook_event_name": "preToolUse", "tool_name": tool, "tool_input": given})
    assert event
    assert event.tool_request == wish


@pytest.mark.parametrize(
    "odd", [{}, {"hook_event_name": "preToolUse", "tool_input": [1]}, {"hook_event_name": 3}]
)
def test_odd_objects_raise_nothing(odd):
    event = Kiro().event(odd)
    assert event is None or event.tool_request == ToolRequest("", Act.OTHER)


@pytest.mark.parametrize(
    ("reply", "status", "said"),
    [
        (Reply(Say.ALLOW), 0, ""),
        (Reply(Say.DENY, "Not\nthat."), 2, "Not\nthat.\n"),
        (Reply(Say.DENY, "allow"), 2, "allow\n"),
        (Reply(Say.PASS), 2, "The PM gives no leave for this.\n"),
        (None, 2, "The PM gives no leave for this.\n"),
    ],
)
def test_the_hook_lets_a_tool_run_only_when_it_is_allowed(tmp_path, reply, status, said):
    """At any other status but 2 Kiro would let it run."""
    (tmp_path / "answer").write_text(Kiro().answer(reply) if reply else "")
    (tmp_path / "relay.sh").write_text('cat >"${0%/*}/heard"; cat "${0%/*}/answer"\n')
    done = hooked(tmp_path)
    assert (done.returncode, done.stderr, done.stdout) == (status, said, "")
    assert (tmp_path / "heard").read_text() == '{"x": 1}'


def test_without_a_relay_nothing_is_allowed(tmp_path):
    assert hooked(tmp_path).returncode == 2


def hooked(folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / HOOK).write_bytes(Kiro().launching(SPAWN).files[HOOK])
    command = ["sh", str(folder / HOOK)]
    return subprocess.run(command, input='{"x": 1}', capture_output=True, text=True, timeout=20, check=False)


def test_its_configuration_is_the_tasks_own(tmp_path):
    """So that the user's stays as it is, and a later run of the task finds the conversation."""
    folder = tmp_path / "task" / "runs" / "r-1"
    folder.mkdir(parents=True)
    for name, content in Kiro().launching(SPAWN).files.items():
        (folder / name).write_bytes(content)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "kiro-cli").write_text('#!/bin/sh\nprintf "%s|" "$KIRO_HOME" "$@"\n')
    (programs / "kiro-cli").chmod(0o755)
    command = ["sh", str(folder / SCRIPT), "chat", "--agent", "r-1", "# Agent: `x`\n"]
    environ = {"PATH": f"{programs}:/usr/bin:/bin"}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout == f"{tmp_path}/task/kiro|chat|--agent|r-1|# Agent: `x`\n|"
    assert (tmp_path / "task" / "kiro" / "agents" / "r-1.json").read_bytes() == (folder / AGENT).read_bytes()


def test_its_question_is_a_dialog():
    shown = "Allow this action? Use 't' to trust (always allow) this tool for the session. [y/n/t]:\n\n> "
    assert dialog_on(shown, Kiro().screens) == "permission for a tool"
