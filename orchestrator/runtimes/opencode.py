"""Runtime `opencode`: told and answered by a plugin of ours (`laid/opencode_plugin.js`; `tests/clis/README.md`).

All comes by the environment: `OPENCODE_CONFIG_CONTENT` and `OPENCODE_PERMISSION` lie above every configuration file, so
that the user's stay as they are and in force. What lies in the project is not read, since it may name programs and
anybody, also an agent, may have written it; its AGENTS.md is. opencode asks leave for what changes or fetches
something; the plugin takes leave that a configuration gives away again, and asks about command lines itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from orchestrator.formats.json_fields import listed, number_of, text_of
from orchestrator.formats.provider_refusal import refusal
from orchestrator.formats.transcript_records import our_records
from orchestrator.formats.usage import script_usage
from orchestrator.model.activity import Record
from orchestrator.model.agents import Agent
from orchestrator.model.event import Event, EventKind, Failure, Reply, Say
from orchestrator.model.hands import Hands
from orchestrator.model.permission import Act
from orchestrator.model.tool_request import ToolRequest
from orchestrator.model.usage_limit import Reset
from orchestrator.runtimes import Launching, Spawn
from orchestrator.runtimes.screens import ScreenRule, shipped_rules

PLUGIN: Final = "opencode-plugin.js"
RUN: Final = "opencode-run.json"
RECORDS: Final = "opencode-records.jsonl"
AGENT: Final = "build"
OFFLINE: Final = "npm_config_offline"
"""With a plugin opencode first installs a package into the user's folder, over a minute without a network. The plugin
takes this away once it is loaded, so that nothing else knows of it."""

TRIES: Final = 8
"""How often opencode may ask a service that fails, after which the PM's own pauses hold: that is about 3 minutes."""
SOON: Final = 300.0
"""Seconds: what is tried again later than that is a limit."""
OVERFLOWS: Final = 2
"""How often a conversation may be too long in one turn: after the first time it is made shorter."""

_SOURCE: Final = (Path(__file__).parent / "laid" / "opencode_plugin.js").read_bytes()
_PERMISSION: Final[dict[str, Any]] = {
    "*": "ask",
    "read": {"*": "allow", "*.env": "ask", "*.env.*": "ask", "*.env.example": "allow"},
    **dict.fromkeys(("glob", "grep", "list", "lsp", "skill", "task", "todoread", "todowrite"), "allow"),
    **dict.fromkeys(("plan_enter", "plan_exit", "question"), "deny"),
}
"""Questions are put by handoffs, so its own dialog for them is off."""

_READING: Final[dict[str, Any]] = {
    "*": "deny",
    "read": _PERMISSION["read"],
    **dict.fromkeys(("glob", "grep", "list"), "allow"),
}
"""The permissions of an agent of `hands: operations`."""

_TOOLS: Final = {
    "read": ("Read",),
    "glob": ("Glob", "LS"),
    "list": ("Glob", "LS"),
    "grep": ("Grep",),
    "edit": ("Write", "Edit", "MultiEdit"),
    "bash": ("Bash",),
    "webfetch": ("WebFetch",),
    "websearch": ("WebSearch",),
    "task": ("Task", "Agent"),
    "skill": ("Skill",),
}
"""Its permissions, and the names of the tools in definitions that stand for them."""
_ACTS: Final = {
    "read": Act.READ,
    "external_directory": Act.READ,
    "edit": Act.WRITE,
    "bash": Act.RUN,
    "webfetch": Act.FETCH,
    "websearch": Act.FETCH,
    "codesearch": Act.FETCH,
}
_STATUSES: Final = {
    401: Failure.LOGIN,
    402: Failure.CREDIT,
    403: Failure.LOGIN,
    429: Failure.LIMIT,
    529: Failure.OVERLOAD,
}
_SERVER: Final = 500


class Opencode:
    """One process per run. It stays at its prompt when a turn is over; the PM ends it then."""

    name: Final = "opencode"
    receipts: Final = True
    read_only: Final = True
    unruled: Final[frozenset[Act]] = frozenset()
    variables: Final = (
        "OPENCODE_API_KEY",
        "OPENCODE_AUTH_CONTENT",
        "OPENCODE_CONFIG",
        "OPENCODE_CONFIG_DIR",
        "OPENCODE_CONSOLE_TOKEN",
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_MODELS_PATH",
        "OPENCODE_MODELS_URL",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "AWS_*",
        "GEMINI_API_KEY",
        "GOOGLE_GENERATIVE_AI_API_KEY",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENROUTER_API_KEY",
        "HTTPS_PROXY",
        "NO_PROXY",
    )
    screens: Final[tuple[ScreenRule, ...]] = shipped_rules("opencode")

    def listens(self, agent: Agent) -> bool:
        """Return False: what is to be said goes by its plugin."""
        return False

    def launching(self, spawn: Spawn) -> Launching:
        """Return how it is launched with its order as argument, or goes on with a session, which its plugin prompts."""
        agent, permission = spawn.agent, _permission(spawn)
        run = {
            "session": spawn.resumes,
            "order": str(spawn.order),
            "agent": AGENT,
            "permission": permission,
            "offline": OFFLINE,
        }
        config = {
            "autoupdate": False,
            "share": "disabled",
            "instructions": [str(spawn.workspace / "AGENTS.md")],
            "plugin": [(spawn.folder / PLUGIN).as_uri()],
            # Else a denial ends the turn.
            "experimental": {"continue_loop_on_deny": True},
        }
        argv = ["opencode", "--agent", AGENT]
        # A name without a provider is another program's.
        argv += ["--model", agent.model] if agent.model and "/" in agent.model else []
        argv += ["--session", spawn.resumes] if spawn.resumes else [f"--prompt={spawn.prompt}"]
        environment = {
            "OPENCODE_CONFIG_CONTENT": json.dumps(config),
            "OPENCODE_PERMISSION": json.dumps(permission),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
            OFFLINE: "true",
        }
        return Launching(tuple(argv), environment, {PLUGIN: _SOURCE, RUN: json.dumps(run, indent=1).encode()})

    def event(self, payload: Mapping[str, Any]) -> Event | None:
        """Return what its plugin told."""
        session, text = text_of(payload, "session"), text_of(payload, "text")
        match text_of(payload, "type"):
            case "started":
                return Event(EventKind.STARTED, session, text_of(payload, "records"))
            case "prompt":
                return Event(EventKind.TAKEN, session, text=text)
            case "asked":
                return Event(EventKind.ASKED, session, tool_request=_tool_request(payload))
            case "retry":
                return _retry(payload, session)
            case "overflow":
                said = text_of(payload, "error", "data", "message")
                if (number_of(payload, "count") or 0) < OVERFLOWS:
                    return Event(EventKind.RETRYING, session, text=said)
                return Event(EventKind.FAILED, session, text=said, failure=Failure.CONTEXT)
            case "used":
                return Event(EventKind.USED, session, usage=script_usage(payload))
            case "idle":
                return replace(_ended(payload, session, text), usage=script_usage(payload))
            case _:
                return None

    def answer(self, reply: Reply) -> str:
        """Return what its plugin does. An empty text lets a dialog stand for a person."""
        return "" if reply.say is Say.PASS else json.dumps({"say": reply.say.value, "reason": reply.reason})

    def transcripts(self, environ: Mapping[str, str]) -> tuple[Path, ...]:
        """Return nothing: it keeps them in a database. What its plugin records lies in the run's folder."""
        return ()

    @property
    def recorded(self) -> str:
        """The name of the file, in a run's folder, that its plugin records into."""
        return RECORDS

    def records(self, line: bytes) -> list[Record]:
        """Return what a line tells that its plugin recorded."""
        return our_records(line)

    def appended(self, lines: Sequence[bytes]) -> list[Event]:
        """Return nothing: its plugin tells all."""
        return []


def _permission(spawn: Spawn) -> dict[str, Any]:
    if spawn.agent.hands is Hands.OPERATIONS:
        return _READING
    permission = dict(_PERMISSION)
    permission["external_directory"] = {"*": "ask"} | {f"{folder}/*": "allow" for folder in spawn.granted}
    if tools := spawn.agent.tools:
        permission |= {
            each: "deny" for each, names in _TOOLS.items() if not any(name in tools for name in names)
        }
    return permission


def _tool_request(payload: Mapping[str, Any]) -> ToolRequest:
    tool, directory = text_of(payload, "permission"), text_of(payload, "directory")
    act = _ACTS.get(tool, Act.OTHER)
    patterns = [each for each in listed(payload, "patterns") if isinstance(each, str)]
    command, paths = "", list[str]()
    if act in {Act.READ, Act.WRITE}:
        # Patterns are relative to the repository, not to where it works.
        root = Path(text_of(payload, "worktree") or "/")
        named = text_of(payload, "metadata", "filepath")
        paths = [named] if named.startswith("/") else []
        if not (paths and tool == "external_directory"):  # whose pattern is the folder around it
            paths += [str(root / each.removesuffix("/*")) for each in patterns]
    elif act is Act.FETCH:
        command = text_of(payload, "metadata", "url") or " ".join(patterns)
    elif act is Act.RUN:
        command = text_of(payload, "command")
    return ToolRequest(tool, act, tuple(dict.fromkeys(paths)), command, cwd=directory)


def _retry(payload: Mapping[str, Any], session: str) -> Event:
    said, now = text_of(payload, "message"), number_of(payload, "now") or 0.0
    again = number_of(payload, "next") or now
    failure = refusal(said)
    if failure is Failure.CREDIT:
        return Event(EventKind.FAILED, session, text=said, failure=failure)
    if again - now > SOON * 1000:
        reset = Reset((again / 1000,), by_clock=False)
        return Event(EventKind.FAILED, session, text=said, failure=Failure.LIMIT, reset=reset)
    if (number_of(payload, "attempt") or 0) >= TRIES:
        return Event(EventKind.FAILED, session, text=said, failure=failure or Failure.OVERLOAD)
    return Event(EventKind.RETRYING, session, text=said)


def _ended(payload: Mapping[str, Any], session: str, text: str) -> Event:
    """Return how a turn ended: well, unless the last message has an error."""
    name, said = text_of(payload, "error", "name"), text_of(payload, "error", "data", "message")
    if not name:
        return Event(EventKind.ENDED, session, text=text)
    if name == "MessageAbortedError":
        return Event(EventKind.ABORTED, session, text=said)
    status = number_of(payload, "error", "data", "statusCode")
    if name == "ContextOverflowError":
        failure = Failure.CONTEXT
    elif name == "ProviderAuthError":
        failure = Failure.LOGIN
    else:
        by_status = _STATUSES.get(int(status or 0)) or (
            Failure.OVERLOAD if (status or 0) >= _SERVER else None
        )
        failure = refusal(said) or by_status or Failure.OTHER
    return Event(EventKind.FAILED, session, text=said or name, failure=failure)
