"""A played agent finds its way in the order that it is spawned with, and uses the tools that its CLI has."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from orchestrator.formats.preamble import AgentOrder, preamble
from orchestrator.formats.report import read_report
from orchestrator.model.agents import Role
from orchestrator.model.handoff import ReportStatus
from tests.clis.answers import Reply, Text, ToolCall
from tests.clis.hands import NoSuchHand, publish, run, write
from tests.clis.model_request import Conversation, ModelRequest
from tests.clis.spawned import NotAnOrder, Spawned, spawned

NAME = "dev-20261120-120000.md"


def offering(*tools: str) -> ModelRequest:
    return ModelRequest(1, 0.0, "POST", "/", {}, b"", "any", Conversation(tools=frozenset(tools)))


def only(reply: Reply) -> Text | ToolCall:
    (part,) = reply.parts
    return part


def a_prompt(folder: Path) -> str:
    return preamble(
        AgentOrder(
            agent="dev-2",
            role=Role.DEV,
            task="greet",
            at=0.0,
            cwd="/project",
            task_dir=str(folder),
            artifacts=str(folder / "artifacts" / "code"),
            scratchpad=str(folder / "scratchpad" / "dev-2"),
            run="r-12345678",
            order_name="pm-20261120-115900.md",
            order="Write a greeting.",
        )
    )


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Bash", {"command": "ls"}),
        ("exec_command", {"cmd": "ls"}),
        ("run_shell_command", {"command": "ls"}),
        ("bash", {"command": "ls", "description": "As ordered"}),
    ],
)
def test_a_command_is_run_with_the_clis_own_tool(tool: str, arguments: dict[str, str]) -> None:
    assert only(run(offering("other", tool), "ls")) == ToolCall(tool, arguments)


@pytest.mark.parametrize(
    ("tool", "field"), [("Write", "file_path"), ("write_file", "file_path"), ("write", "filePath")]
)
def test_a_file_is_written_with_the_clis_own_tool(tool: str, field: str) -> None:
    assert only(write(offering(tool), "/x", "y\n")) == ToolCall(tool, {field: "/x", "content": "y\n"})


def test_shell_writes_the_file_where_no_tool_can(tmp_path: Path) -> None:
    """A file is written by the shell where there is no tool for it."""
    wish = only(write(offering("exec_command"), str(tmp_path / "a b"), "it's %s \\n $x\n"))
    assert isinstance(wish, ToolCall)
    assert isinstance(wish.arguments, dict)
    subprocess.run(wish.arguments["cmd"], shell=True, check=True)
    assert (tmp_path / "a b").read_text() == "it's %s \\n $x\n"


def test_without_tools_a_file_is_printed_and_no_command_runs() -> None:
    """Without tools the file is said whole and a command cannot be run."""
    assert only(write(offering(), "x.py", "y\n")) == Text("x.py\n```\ny\n```\n")
    with pytest.raises(NoSuchHand):
        run(offering(), "ls")


def test_a_file_appears_in_a_folder_whole(tmp_path: Path) -> None:
    wish = only(publish(offering("Bash"), str(tmp_path), "$(echo named).md", "whole"))
    assert isinstance(wish, ToolCall)
    assert isinstance(wish.arguments, dict)
    subprocess.run(wish.arguments["command"], shell=True, check=True)
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"named.md": "whole"}


def test_agent_reads_its_role_and_answers_in_its_order(tmp_path: Path) -> None:
    """An agent reads in its order who it is and what it answers."""
    read = spawned(a_prompt(tmp_path))
    assert read == Spawned(
        "dev-2",
        "greet",
        "r-12345678",
        "pm-20261120-115900.md",
        f"{tmp_path}/handoffs",
        f"{tmp_path}/artifacts/code",
        f"{tmp_path}/scratchpad/dev-2",
        "Write a greeting.\n",
    )
    assert read.role == "dev"


def test_a_prompt_that_is_no_order_is_refused() -> None:
    with pytest.raises(NotAnOrder):
        spawned("Hello.")


def test_its_report_is_one_that_the_pm_reads(tmp_path: Path) -> None:
    text = spawned(a_prompt(tmp_path)).report("## Completed Work\nGreeted.", "## Artifacts Generated\nNone")
    read = read_report(text.encode(), NAME)
    assert (read.status, read.run, read.in_reply_to) == (
        ReportStatus.COMPLETE,
        "r-12345678",
        "pm-20261120-115900.md",
    )
