"""Runtime `codex`: OpenAI's Codex, told and answered by its hooks (`tests/clis/README.md`).

All that holds for one run goes by `-c`, on top of the user's `config.toml`, which is left alone; login and sessions
are the user's own. Codex's sandbox lets commands write where the run may and in the folders for temporary files, with
no network; what needs more it asks leave for, and the policy of the task decides. A hook ahead of every tool
[laid/denial_gate.sh] keeps from it what that policy denies inside the sandbox, too. A turn that failed or was broken
off raises no hook: the rollout, the file that it keeps of a session, tells of it [codex_rollout.py].
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from orchestrator.formats.json_fields import text_of
from orchestrator.formats.transcript_records import codex_records
from orchestrator.formats.usage import codex_usage
from orchestrator.model.activity import Record
from orchestrator.model.agents import Agent
from orchestrator.model.event import Event, EventKind, Reply
from orchestrator.model.hands import Hands
from orchestrator.model.permission import Act
from orchestrator.model.tool_request import ToolRequest
from orchestrator.model.usage import Read
from orchestrator.runtimes import Launching, Spawn
from orchestrator.runtimes.codex_rollout import events_of
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

OVERRIDES: Final = "codex-overrides.toml"
"""What is set for a run, in its folder: for whoever looks. Codex itself takes it from its command line."""

KEY: Final = "CODEX_API_KEY"
"""With this variable of the user it works by that key; Codex alone would still ask to sign in (measured)."""

ADDRESS: Final = "OPENAI_BASE_URL"
VENDOR: Final = "https://api.openai.com/v1"

_TOLD: Final = ("SessionStart", "UserPromptSubmit")
_ASKED: Final = ("PermissionRequest", "Stop")
_HANDS: Final = frozenset({"Bash", "Write", "Edit", "MultiEdit", "NotebookEdit"})
_PATCHED: Final = re.compile(r"^\s*\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)


class Codex:
    """One process per run. It stays at its prompt when a turn is over; the PM ends it then."""

    name: Final = "codex"
    receipts: Final = True
    read_only: Final = True
    unruled: Final[frozenset[Act]] = frozenset()
    variables: Final = (
        KEY,
        "CODEX_ACCESS_TOKEN",
        "CODEX_CA_CERTIFICATE",
        "CODEX_HOME",
        "HTTPS_PROXY",
        "NO_PROXY",
        "OPENAI_*",
    )
    screens: Final[tuple[ScreenRule, ...]] = shipped_rules("codex")

    def listens(self, agent: Agent) -> bool:
        """Return False: its first letters would answer a dialog, and its hooks take all that there is to say."""
        return False

    def launching(self, spawn: Spawn) -> Launching:
        """Return how it is launched with its order as argument, or goes on with a session."""
        agent, settings = spawn.agent, self._settings(spawn)
        argv = ["codex", "resume"] if spawn.resumes else ["codex"]
        argv += ["--no-daemon", "--no-alt-screen", "--dangerously-bypass-hook-trust"]
        operates = agent.hands is Hands.OPERATIONS  # it is not to ask for what its sandbox forbids
        argv += ["--ask-for-approval", "never" if operates else "on-request", "--cd", str(spawn.workspace)]
        if operates or (agent.tools and not _HANDS.intersection(agent.tools)):
            argv += ["--sandbox", "read-only"]
        else:
            argv += ["--sandbox", "workspace-write"]
            argv += [word for folder in spawn.granted for word in ("--add-dir", str(folder))]
        argv += ["--model", agent.model] if agent.model else []
        argv += [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        argv += [spawn.resumes] if spawn.resumes else []
        laid = "".join(f"{key} = {value}\n" for key, value in settings.items()).encode("utf-8", "replace")
        return Launching(
            (*argv, "--", spawn.prompt), files={OVERRIDES: laid, **CAUTION_FILES, **DENIAL_FILES}
        )

    def _settings(self, spawn: Spawn) -> dict[str, str]:
        """Return what is set for a run, by key, as TOML."""
        searches = "WebSearch" in spawn.agent.tools
        settings = {
            # A folder that is not trusted raises a dialog, even where the user has settled that it is not.
            "projects": f'{{{_toml(str(spawn.workspace))}={{trust_level="trusted"}}}}',
            "approvals_reviewer": '"user"',
            # A search runs at the vendor's, and no leave is asked for it.
            "web_search": '"cached"' if searches else '"disabled"',
            "shell_environment_policy.exclude": f'["{KEY}", "CODEX_ACCESS_TOKEN", "OPENAI_API_KEY"]',
            # With this it tries for ever where nothing is reached, and says nothing of that.
            "features.unbounded_connection_retries": "false",
            "check_for_update_on_startup": "false",
            "notice.hide_rate_limit_model_nudge": "true",
            "tui.show_tooltips": "false",
        }
        for name in (*_TOLD, *_ASKED):
            settings[f"hooks.{name}"] = self._hook(spawn, name)
        settings["hooks.PreToolUse"] = _hooked(caution(spawn.folder), denial(spawn.folder))
        if spawn.environ.get(KEY):
            address = _toml(spawn.environ.get(ADDRESS) or VENDOR)
            provider = f'{{name="OpenAI", base_url={address}, env_key="{KEY}", wire_api="responses"}}'
            settings |= {"model_providers.by-key": provider, "model_provider": '"by-key"'}
        return settings

    def _hook(self, spawn: Spawn, name: str) -> str:
        fallback = self.answer(CANNOT_ASK) if name == "PermissionRequest" else ""
        return _hooked(spawn.relay(waits=name in _ASKED, fallback=fallback))

    def event(self, payload: Mapping[str, Any]) -> Event | None:
        """Return what one of its hooks means. What an agent of the agent's does is told only where it asks leave."""
        event = partial(hook_event, payload)
        name = text_of(payload, "hook_event_name")
        if text_of(payload, "agent_id") and name not in {"PermissionRequest", "PreToolUse"}:
            return None
        match name:
            case "SessionStart":
                return event(EventKind.STARTED)
            case "UserPromptSubmit":
                return event(EventKind.TAKEN, text=text_of(payload, "prompt"))
            case "PermissionRequest":
                return event(EventKind.ASKED, tool_request=_tool_request(payload))
            case "PreToolUse":
                return event(EventKind.ASKED, tool_request=_held(payload))
            case "Stop":
                return event(EventKind.ENDED, text=text_of(payload, "last_assistant_message"))
            case _:
                return None

    def answer(self, reply: Reply) -> str:
        """Return what the hook prints. After an empty text Codex asks at its screen."""
        return hook_answer(reply)

    def transcripts(self, environ: Mapping[str, str]) -> tuple[Path, ...]:
        """Return the folder of its rollouts."""
        own = environ.get("CODEX_HOME") or f"{environ.get('HOME', '/nonexistent')}/.codex"
        return (Path(own) / "sessions",)

    def appended(self, lines: Sequence[bytes]) -> list[Event]:
        """Return the turns that failed or were broken off: no hook tells of these."""
        return events_of(lines)

    def records(self, line: bytes) -> list[Record]:
        """Return what a line of its rollout tells of a turn."""
        return codex_records(line)

    def usage(self, appended: bytes, before: Read) -> Read:
        """Return what its transcript tells of tokens."""
        return codex_usage(appended, before)


def _tool_request(payload: Mapping[str, Any]) -> ToolRequest:
    """Return what it asks leave for: a command outside of its sandbox, a patch elsewhere, a tool of an MCP server."""
    tool, command, cwd = (
        text_of(payload, "tool_name"),
        text_of(payload, "tool_input", "command"),
        text_of(payload, "cwd"),
    )
    match tool:
        case "Bash":
            return ToolRequest(tool, Act.RUN, command=command, cwd=cwd)
        case "apply_patch":
            paths = tuple(_PATCHED.findall(command))
            # Where a path begins that is not whole is not told: `cd /etc && apply_patch` has the same `cwd` (measured).
            if paths and all(path.startswith("/") for path in paths):
                return ToolRequest(tool, Act.WRITE, paths, cwd=cwd)
            return ToolRequest(tool, Act.RUN, command=command, cwd=cwd)
        case _:
            return ToolRequest(tool, Act.OTHER, cwd=cwd)


def _held(payload: Mapping[str, Any]) -> ToolRequest:
    """Return what it is about to do in its sandbox. A patch is held to its paths: a rule may speak of their names."""
    request = _tool_request(payload)
    if request.tool == "apply_patch":
        paths = tuple(_PATCHED.findall(text_of(payload, "tool_input", "command")))
        request = ToolRequest(request.tool, Act.WRITE, paths, cwd=request.cwd)
    return replace(request, held=True)


def _hooked(*commands: str) -> str:
    """Return the TOML of a hook that runs shell commands."""
    each = (f'{{type="command", command={_toml(command)}, timeout={FOREVER}}}' for command in commands)
    return f"[{{hooks=[{', '.join(each)}]}}]"


def _toml(text: str) -> str:
    """Return a text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
