"""Runtime `kiro`: Kiro CLI. **Untested**: written to its documents, as it was not to be had.

https://kiro.dev/docs/cli/hooks, .../custom-agents/configuration-reference and .../reference/cli-commands, and the
documents of the program that it came from. An agent file of this run's own brings its hooks, and with them the trust
in its tools: where that file is not read, each tool would be asked for at the screen, which `--no-interactive` refuses.
The hook ahead of each tool asks the PM. No hook tells of a failed turn; the program ends then. What it said last is
taken from the hook at the end, as `assistant_response`, which its documents do not show.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import join
from typing import Any, Final

from orchestrator.formats.agent_file import MODEL_TO_KIRO
from orchestrator.formats.json_fields import listed, text_of
from orchestrator.model.agents import Agent
from orchestrator.model.event import Event, EventKind, Reply, Say
from orchestrator.model.hands import Hands
from orchestrator.model.permission import Act
from orchestrator.model.tool_request import ToolRequest
from orchestrator.runtimes import Launching, Spawn
from orchestrator.runtimes.hooks import CAUTION_FILES
from orchestrator.runtimes.screens import ScreenRule, shipped_rules

SCRIPT: Final = "kiro.sh"
HOOK: Final = "kiro-hook.sh"
AGENT: Final = "kiro-agent.json"
FOREVER: Final = 86_400_000 * 7
"""Milliseconds that a hook may take: the answer may be a person's, and after a timeout the tool would run."""

_LAID: Final = {name: (Path(__file__).parent / "laid" / name).read_bytes() for name in (SCRIPT, HOOK)}
_ACTS: Final = {
    **dict.fromkeys(("fs_read", "read", "glob", "grep", "code"), Act.READ),
    **dict.fromkeys(("fs_write", "write"), Act.WRITE),
    **dict.fromkeys(("execute_bash", "execute_cmd", "shell"), Act.RUN),
    **dict.fromkeys(("web_fetch", "web_search"), Act.FETCH),
}

_TOOLS: Final = {
    "Read": "read",
    "Glob": "glob",
    "Grep": "grep",
    "Write": "write",
    "Edit": "write",
    "MultiEdit": "write",
    "Bash": "shell",
    "WebFetch": "web_fetch",
    "WebSearch": "web_search",
}

_READING: Final = ("read", "glob", "grep")


class Kiro:
    """One process per order. It exits when its turn is over."""

    name: Final = "kiro"
    untested: Final = True
    read_only: Final = True
    receipts: Final = True
    unruled: Final[frozenset[Act]] = frozenset()
    variables: Final = ("KIRO_API_KEY", "AWS_*", "HTTPS_PROXY", "NO_PROXY")
    screens: Final[tuple[ScreenRule, ...]] = shipped_rules("kiro")

    def listens(self, agent: Agent) -> bool:
        """Return False: it reads nothing after its order."""
        return False

    def launching(self, spawn: Spawn) -> Launching:
        """Return how it is launched with its order as argument, or goes on with a session."""
        folder, agent = spawn.folder, spawn.agent
        argv = ["sh", str(folder / SCRIPT), "chat", "--no-interactive", "--agent", folder.name]
        argv += ["--resume-id", spawn.resumes] if spawn.resumes else []
        reads = agent.hands is Hands.OPERATIONS
        hook = {"command": spawn.relay(), "timeout_ms": FOREVER}
        made: dict[str, Any] = {
            "name": folder.name,
            "description": f"{agent.name}, for one run",
            "tools": list(_READING) if reads else _tools(agent),
            "allowedTools": list(_READING) if reads else ["@builtin"],
            "resources": ["file://AGENTS.md"],
            "includeMcpJson": False,
            "hooks": {
                "agentSpawn": [hook],
                "userPromptSubmit": [hook],
                "preToolUse": [
                    {"matcher": "*", "command": join(["sh", str(folder / HOOK)]), "timeout_ms": FOREVER}
                ],
                "stop": [hook],
            },
        }
        if agent.model:
            made["model"] = MODEL_TO_KIRO.get(agent.model, agent.model)
        laid = {**_LAID, **CAUTION_FILES, AGENT: json.dumps(made, indent=1).encode()}
        return Launching((*argv, spawn.prompt), {}, laid)

    def event(self, payload: Mapping[str, Any]) -> Event | None:
        """Return what one of its hooks means."""
        session = text_of(payload, "session_id")
        match text_of(payload, "hook_event_name"):
            case "agentSpawn":
                return Event(EventKind.STARTED, session)
            case "userPromptSubmit":
                return Event(EventKind.TAKEN, session, text=text_of(payload, "prompt"))
            case "preToolUse":
                return Event(EventKind.ASKED, session, tool_request=_tool_request(payload))
            case "stop":
                return Event(EventKind.ENDED, session, text=text_of(payload, "assistant_response"))
            case _:
                return None

    def answer(self, reply: Reply) -> str:
        """Return what the script ahead of its tools reads: all but `allow` is a denial."""
        return "allow" if reply.say is Say.ALLOW else f"deny {reply.reason}"

    def transcripts(self, environ: Mapping[str, str]) -> tuple[Path, ...]:
        """Return nothing: it keeps its conversations in a database."""
        return ()

    def appended(self, lines: Sequence[bytes]) -> list[Event]:
        """Return nothing."""
        return []


def _tools(agent: Agent) -> list[str]:
    """Return the tools that it is given: none at all where a definition's list were left out."""
    return list(dict.fromkeys(_TOOLS.get(tool, tool) for tool in agent.tools)) or ["@builtin"]


def _tool_request(payload: Mapping[str, Any]) -> ToolRequest:
    tool = text_of(payload, "tool_name")
    given = payload.get("tool_input")
    given = given if isinstance(given, dict) else {}
    act = _ACTS.get(tool, Act.OTHER)
    parts = [given, *(each for each in listed(given, "operations") if isinstance(each, dict))]
    paths = tuple(path for part in parts if (path := text_of(part, "path")))
    command = text_of(given, "command") if act is Act.RUN else ""
    if act is Act.FETCH:
        command = text_of(given, "url") or text_of(given, "query")
    return ToolRequest(tool, act, paths, command, cwd=text_of(payload, "cwd"))
