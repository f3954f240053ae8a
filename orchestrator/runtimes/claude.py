"""Runtime `claude`: Claude Code, told and answered by its hooks (`tests/clis/README.md`).

Its settings for one run lie in the run's folder and come on top of the user's own, which are left alone. Trust in the
folder, a key in the environment and new MCP servers would each raise a dialog: they are pre-empted by the environment,
by a helper that prints the key, and by an empty list of servers. In mode `default` it asks leave for all that changes
something, so that the policy of the task decides; `acceptEdits` runs more than edits unasked (measured).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from orchestrator.formats.json_fields import listed, text_of
from orchestrator.formats.transcript_records import claude_records
from orchestrator.formats.usage import claude_usage
from orchestrator.model.activity import Record
from orchestrator.model.agents import Agent
from orchestrator.model.event import Event, EventKind, Failure, Reply
from orchestrator.model.hands import Hands
from orchestrator.model.permission import Act
from orchestrator.model.tool_request import ToolRequest
from orchestrator.model.usage import Read
from orchestrator.runtimes import Launching, Spawn
from orchestrator.runtimes.hooks import (
    CANNOT_ASK,
    CAUTION_FILES,
    DENIAL_FILES,
    FOREVER,
    caution,
    denial,
    hook_answer,
    hook_event,
)
from orchestrator.runtimes.screens import ScreenRule, shipped_rules

SETTINGS: Final = "claude-settings.json"
KEY: Final = "ANTHROPIC_API_KEY"
KEPT_KEY: Final = "AGENT_ANTHROPIC_API_KEY"
"""Under this name the key reaches the helper: under its own it would have to be approved in a dialog first."""

_TOLD: Final = ("SessionStart", "UserPromptSubmit", "StopFailure", "Notification")
_FAILURES: Final = {
    "rate_limit": Failure.LIMIT,
    "overloaded": Failure.OVERLOAD,
    "server_error": Failure.OVERLOAD,
    "authentication_failed": Failure.LOGIN,
    "oauth_org_not_allowed": Failure.LOGIN,
    "billing_error": Failure.CREDIT,
}
_TOO_LONG: Final = ("prompt is too long", "context limit", "context_length")
_ACTS: Final = {
    "Read": Act.READ,
    "Glob": Act.READ,
    "Grep": Act.READ,
    "LS": Act.READ,
    "Write": Act.WRITE,
    "Edit": Act.WRITE,
    "MultiEdit": Act.WRITE,
    "NotebookEdit": Act.WRITE,
    "Bash": Act.RUN,
    "WebFetch": Act.FETCH,
    "WebSearch": Act.FETCH,
    "AskUserQuestion": Act.ASK,
    "ExitPlanMode": Act.ASK,
}
_READING: Final = ("Read", "Glob", "Grep")
"""The tools of an agent of `hands: operations`."""
_UNASKED: Final = "Bash|Glob|Grep|LS|Read"
"""Tools of which it lets some calls pass unasked: what reads, in its workspace."""
_SAID: Final = (b'"type":"user"', b'"type":"assistant"')
"""Of what begins so in a text the quotation marks are escaped."""
_PATHS: Final = ("file_path", "notebook_path", "path")


class Claude:
    """One process per run. It stays at its prompt when a turn is over; the PM ends it then."""

    name: Final = "claude"
    receipts: Final = True
    read_only: Final = True
    unruled: Final[frozenset[Act]] = frozenset()
    variables: Final = (
        KEY,
        "ANTHROPIC_*",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CONFIG_DIR",
        "HTTPS_PROXY",
        "NO_PROXY",
    )
    screens: Final[tuple[ScreenRule, ...]] = shipped_rules("claude")

    def listens(self, agent: Agent) -> bool:
        """Return False: a message of more than a line is demoted, and its hooks take all that there is to say."""
        return False

    def launching(self, spawn: Spawn) -> Launching:
        """Return how it is launched with its order as argument, or goes on with a session."""
        agent, settings = spawn.agent, spawn.folder / SETTINGS
        argv = ["claude"]
        if spawn.granted:
            argv += ["--add-dir", *map(str, spawn.granted)]
        argv += ["--settings", str(settings), "--strict-mcp-config", "--permission-mode", "default"]
        argv += ["--model", agent.model] if agent.model else []
        tools = _READING if agent.hands is Hands.OPERATIONS else agent.tools
        argv += ["--tools", ",".join(tools)] if tools else []
        argv += ["--resume", spawn.resumes] if spawn.resumes else ["--session-id", spawn.session]
        environment = {
            "CLAUDE_CODE_SANDBOXED": "1",
            "IS_DEMO": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        wanted: dict[str, Any] = {"hooks": self._hooks(spawn)}
        if key := spawn.environ.get(KEY):
            environment |= {KEY: "", KEPT_KEY: key}
            wanted["apiKeyHelper"] = f"printenv {KEPT_KEY}"
        laid = {SETTINGS: json.dumps(wanted, indent=1).encode(), **CAUTION_FILES, **DENIAL_FILES}
        return Launching((*argv, spawn.prompt), environment, laid)

    def _hooks(self, spawn: Spawn) -> dict[str, Any]:
        def hook(command: str) -> list[dict[str, Any]]:
            return [{"hooks": [{"type": "command", "command": command, "timeout": FOREVER}]}]

        denied = self.answer(CANNOT_ASK)
        return {
            **{name: hook(spawn.relay()) for name in _TOLD},
            "PreToolUse": [
                *hook(caution(spawn.folder)),
                {"matcher": _UNASKED, **hook(denial(spawn.folder))[0]},
            ],
            "PermissionRequest": hook(spawn.relay(waits=True, fallback=denied)),
            "Stop": hook(spawn.relay(waits=True)),
        }

    def event(self, payload: Mapping[str, Any]) -> Event | None:
        """Return what one of its hooks means."""
        event = partial(hook_event, payload)
        match text_of(payload, "hook_event_name"):
            case "SessionStart":
                return event(EventKind.STARTED)
            case "UserPromptSubmit":
                return event(EventKind.TAKEN, text=text_of(payload, "prompt"))
            case "PermissionRequest":
                return event(EventKind.ASKED, tool_request=_tool_request(payload))
            case "PreToolUse":
                return event(
                    EventKind.ASKED, tool_request=replace(_tool_request(payload), held=True, again=True)
                )
            case "Notification" if text_of(payload, "notification_type") == "permission_prompt":
                return event(EventKind.WAITING, text=text_of(payload, "message"))
            case "Stop":
                said, going = text_of(payload, "last_assistant_message"), listed(payload, "background_tasks")
                return event(EventKind.ENDED, text=said, background=len(going))
            case "StopFailure":
                said = text_of(payload, "last_assistant_message")
                return event(EventKind.FAILED, text=said, failure=_failure(text_of(payload, "error"), said))
            case _:
                return None

    def answer(self, reply: Reply) -> str:
        """Return what the hook prints. An empty text lets Claude go its own way."""
        return hook_answer(reply)

    def transcripts(self, environ: Mapping[str, str]) -> tuple[Path, ...]:
        """Return the folder of its conversations."""
        own = environ.get("CLAUDE_CONFIG_DIR") or f"{environ.get('HOME', '/nonexistent')}/.claude"
        return (Path(own) / "projects",)

    def appended(self, lines: Sequence[bytes]) -> list[Event]:
        """Return nothing: its hooks tell all that there is to know of a turn."""
        return []

    def remembers(self, transcript: bytes) -> bool:
        """Return whether anything that was said stands there.

        What is said is written after a tenth of a second, and what is not written when it is ended (2.1.197) is lost;
        a few lines about the session are always written then.
        """
        return any(said in transcript for said in _SAID)

    def records(self, line: bytes) -> list[Record]:
        """Return what a line of its transcript tells of a turn."""
        return claude_records(line)

    def usage(self, appended: bytes, before: Read) -> Read:
        """Return what its transcript tells of tokens and cost."""
        return claude_usage(appended, before)


def _tool_request(payload: Mapping[str, Any]) -> ToolRequest:
    tool = text_of(payload, "tool_name")
    given = payload.get("tool_input")
    given = given if isinstance(given, dict) else {}
    paths = tuple(path for key in _PATHS if (path := text_of(given, key)))
    act = _ACTS.get(tool, Act.OTHER)
    command = text_of(given, "url") if act is Act.FETCH else text_of(given, "command")
    return ToolRequest(tool, act, paths, command, cwd=text_of(payload, "cwd"))


def _failure(error: str, said: str) -> Failure:
    if any(phrase in said.lower() for phrase in _TOO_LONG):
        return Failure.CONTEXT
    return _FAILURES.get(error, Failure.OTHER)
