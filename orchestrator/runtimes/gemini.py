"""Runtime `gemini`: Gemini CLI, told and answered by its hooks (`tests/clis/README.md`).

Hooks can only be named in a settings file, and one for a single run that all others yield to would have to be root's.
So each run has a home of its own [laid/gemini_home.mjs]: the user's, linked entry by entry, with settings that are the
user's and ours over them. Its own rules allow every tool, and a hook ahead of each that does something asks the PM
[laid/gemini_gate.sh]: the policy of the task decides, and no answer is a denial.

What is said at its prompt it searches for `@`: files whose names, or parts of them, follow are brought in, and for one
that lies elsewhere it asks. What a command of the user's says goes to the model as it is. So an order with an `@` is a
command of this run's home, and all that is said at the prompt is its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from shlex import join
from typing import Any, Final

from orchestrator.formats.json_fields import text_of
from orchestrator.formats.transcript_records import gemini_records
from orchestrator.formats.usage import gemini_usage
from orchestrator.model.activity import Record
from orchestrator.model.agents import Agent
from orchestrator.model.event import Event, EventKind, Failure, Reply, Say
from orchestrator.model.hands import Hands
from orchestrator.model.permission import Act
from orchestrator.model.tool_request import ToolRequest
from orchestrator.model.usage import Read
from orchestrator.runtimes import Launching, Spawn
from orchestrator.runtimes.environment import passed
from orchestrator.runtimes.gemini_chat import events_of, said_once
from orchestrator.runtimes.hooks import CAUTION_FILES, caution, hook_event
from orchestrator.runtimes.screens import ScreenRule, shipped_rules

START: Final = "gemini-start.sh"
GATE: Final = "gemini-gate.sh"
SETTINGS: Final = "gemini-settings.json"
DEFAULTS: Final = "gemini-defaults.json"
POLICY: Final = "gemini-policy.toml"
TRUST: Final = "gemini-trust.json"
ORDER: Final = "gemini-order.toml"

FOREVER: Final = 86_400_000 * 7
"""Milliseconds that a hook may take: the answer may be a person's."""

NO_TEXT: Final = "[no response text]"

COMMAND: Final = "order-"
"""How the command that is the order begins [laid/gemini_home.mjs]; the run's id follows: it is nobody else's."""

NO_EDITOR: Final = "1"
"""The process of the editor that it would talk to. By itself it looks for one before it has commands; that took longer
than all else of its start, and then its prompt was said before there was a command (measured)."""

_LAID: Final = Path(__file__).parent / "laid"
_SCRIPTS: Final = {
    START: (_LAID / "gemini_start.sh").read_bytes(),
    GATE: (_LAID / "gemini_gate.sh").read_bytes(),
    "gemini-home.mjs": (_LAID / "gemini_home.mjs").read_bytes(),
}
"""Read at the start: a daemon whose package is replaced goes on with the ones that it was tested with."""

_TOLD: Final = ("SessionStart", "BeforeAgent", "Notification")
_UNASKED: Final = (
    "cli_help",
    "get_internal_docs",
    "glob",
    "grep_search",
    "list_background_processes",
    "list_directory",
    "read_background_output",
    "read_file",
    "read_many_files",
    "update_topic",
    "write_todos",
)
"""Tools that read what lies in the workspace, which Gemini itself sees to, or write down what only it reads."""

_ACTS: Final = {
    "glob": Act.READ,
    "grep_search": Act.READ,
    "list_directory": Act.READ,
    "read_file": Act.READ,
    "read_many_files": Act.READ,
    "replace": Act.WRITE,
    "write_file": Act.WRITE,
    "run_shell_command": Act.RUN,
    "google_web_search": Act.FETCH,
    "web_fetch": Act.FETCH,
    "ask_user": Act.ASK,
}
_NAMED: Final = {
    "replace": ("Edit", "MultiEdit"),
    "write_file": ("Write",),
    "run_shell_command": ("Bash",),
    "google_web_search": ("WebSearch",),
    "web_fetch": ("WebFetch",),
}
"""By which of a definition's names a tool is given. What is not here only reads."""

_DIALOGS: Final = ("ask_user", "enter_plan_mode", "exit_plan_mode")
_BROUGHT_IN: Final = re.compile(r"(?<!\\)@")
"""What its prompt takes for the name of something to be brought in, if a name follows."""
_READ_INTO: Final = re.compile(r"[!@{](?=\{)")
"""Where a command's text would run a program, bring in a file or name what follows the command: `!{`, `@{`, `{{`."""
_NOTHING: Final = "!{}"
"""In a command's text this is a program without a name: it comes to nothing, after the text was searched for others."""
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"'`]*[^\s<>\"'`.,;:!?)\]}]", re.IGNORECASE)
_RULE: Final = '[[rule]]\ntoolName = {}\ndecision = "{}"\nallowRedirection = true\npriority = {}\n\n'


class Gemini:
    """Two processes per run. They stay at their prompt when a turn is over; the PM ends both."""

    name: Final = "gemini"
    receipts: Final = True
    read_only: Final = True
    unruled: Final[frozenset[Act]] = frozenset()
    variables: Final = (
        "GEMINI_API_KEY",
        "GEMINI_CLI_HOME",
        "GEMINI_MODEL",
        "GOOGLE_*",
        "HTTPS_PROXY",
        "NO_PROXY",
    )
    screens: Final[tuple[ScreenRule, ...]] = shipped_rules("gemini")

    def listens(self, agent: Agent) -> bool:
        """Return False: Enter would answer a dialog, and its hooks take all that there is to say."""
        return False

    def launching(self, spawn: Spawn) -> Launching:
        """Return how it is launched with its order as argument or as a command, or goes on with a session."""
        argv = ["sh", str(spawn.folder / START), "--approval-mode", "default"]
        argv += ["--policy", str(spawn.folder / POLICY)]
        argv += [word for folder in spawn.granted for word in ("--include-directories", str(folder))]
        argv += ["--model", spawn.agent.model] if spawn.agent.model else []
        argv += ["--resume", spawn.resumes] if spawn.resumes else ["--session-id", spawn.session]
        environment = {
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_TRUSTED_FOLDERS_PATH": str(spawn.folder / TRUST),
            "GEMINI_CLI_IDE_PID": NO_EDITOR,
        }
        trusted = {str(folder): "TRUST_FOLDER" for folder in (spawn.workspace, *spawn.granted)}
        files = (
            _SCRIPTS
            | CAUTION_FILES
            | {
                SETTINGS: _json(self._settings(spawn)),
                DEFAULTS: _json(_defaults(spawn)),
                TRUST: _json(trusted),
                POLICY: _policy(spawn.agent).encode(),
            }
        )
        said = spawn.prompt
        if _BROUGHT_IN.search(said):
            files[ORDER] = _command(said).encode()
            said = f"/{COMMAND}{spawn.folder.name}"
        return Launching((*argv, f"--prompt-interactive={said}"), environment, files)

    def _settings(self, spawn: Spawn) -> dict[str, Any]:
        """Return the settings that hold whatever the user's say."""

        def hook(command: str, **more: str) -> list[dict[str, Any]]:
            return [
                more | {"hooks": [{"type": "command", "name": "pm", "command": command, "timeout": FOREVER}]}
            ]

        hooks = {name: hook(spawn.relay()) for name in _TOLD}
        hooks["AfterAgent"] = hook(spawn.relay(waits=True))
        asked = hook(join(["sh", str(spawn.folder / GATE)]), matcher=f"^(?!(?:{'|'.join(_UNASKED)})$)")
        hooks["BeforeTool"] = asked + hook(caution(spawn.folder))
        own = passed(spawn.environ, self.variables)
        redaction = {
            "enabled": True,
            "blocked": sorted(own),
            "allowed": sorted(spawn.environ.keys() - own.keys()),
        }
        return {
            "general": {
                "enableAutoUpdate": False,
                "enableAutoUpdateNotification": False,
                # It would delete the sessions that others have just begun, as nothing is said in them yet.
                "sessionRetention": {"enabled": False},
            },
            "billing": {"overageStrategy": "never"},
            # It would ask at its screen, where nobody answers; the PM sees to that itself.
            "model": {"disableLoopDetection": True},
            "hooks": hooks,
            "hooksConfig": {"enabled": True, "disabled": [], "notifications": False},
            "security": {"disableAlwaysAllow": True, "environmentVariableRedaction": redaction},
        }

    def event(self, payload: Mapping[str, Any]) -> Event | None:
        """Return what one of its hooks means."""
        event = partial(hook_event, payload)
        match text_of(payload, "hook_event_name"):
            case "SessionStart":
                # Where a session is gone on with this names a file that is not the one that it writes to (measured).
                return Event(EventKind.STARTED, text_of(payload, "session_id"))
            case "BeforeAgent" if text_of(payload, "prompt").startswith(f"/{COMMAND}"):
                return event(EventKind.FAILED, text="It did not find its order.", failure=Failure.OTHER)
            case "BeforeAgent":
                return event(EventKind.TAKEN, text=text_of(payload, "prompt"))
            case "BeforeTool":
                return event(EventKind.ASKED, tool_request=_tool_request(payload))
            case "Notification" if text_of(payload, "notification_type") == "ToolPermission":
                return event(EventKind.WAITING, text=text_of(payload, "message"))
            case "AfterAgent":
                said = said_once(text_of(payload, "prompt_response")).strip()
                # Nothing said: the turn failed, or somebody broke it off. Its chat tells which.
                return event(EventKind.ENDED, text=said) if said not in {"", NO_TEXT} else None
            case _:
                return None

    def answer(self, reply: Reply) -> str:
        """Return what the hook prints. An empty text is taken for a denial by the gate, for nothing at a turn's end."""
        match reply.say:
            case Say.ALLOW:
                return json.dumps({"decision": "allow"})
            case Say.DENY | Say.GO_ON | Say.CAUTION:
                return json.dumps({"decision": "deny", "reason": reply.reason})
            case Say.PASS:
                return ""

    def transcripts(self, environ: Mapping[str, str]) -> tuple[Path, ...]:
        """Return the folder of its chats; each run's home has a link to it."""
        own = environ.get("GEMINI_CLI_HOME") or environ.get("HOME", "/nonexistent")
        return (Path(own) / ".gemini" / "tmp",)

    def appended(self, lines: Sequence[bytes]) -> list[Event]:
        """Return the turns that failed or were broken off: its hook tells of their end as of any other."""
        return events_of(lines)

    def remembers(self, transcript: bytes) -> bool:
        """Return whether its first line stands there.

        Any other Gemini CLI of its user's, at its start, deletes a session in which nothing was said yet; what is said
        then comes into a file without one.
        """
        return b'"projectHash":' in transcript

    def records(self, line: bytes) -> list[Record]:
        """Return what a line of its chat tells of a turn."""
        return gemini_records(line)

    def usage(self, appended: bytes, before: Read) -> Read:
        """Return what its session tells of tokens."""
        return gemini_usage(appended, before)


def _tool_request(payload: Mapping[str, Any]) -> ToolRequest:
    tool, cwd = text_of(payload, "tool_name"), text_of(payload, "cwd")
    act = _ACTS.get(tool, Act.OTHER)
    match act:
        case Act.RUN:
            return ToolRequest(
                tool, act, command=text_of(payload, "tool_input", "command"), cwd=_below(cwd, payload)
            )
        case Act.FETCH:
            # Several addresses are none that a rule could speak of.
            found = set(_ADDRESS.findall(text_of(payload, "tool_input", "prompt")))
            return ToolRequest(tool, act, command=found.pop() if len(found) == 1 else "", cwd=cwd)
        case Act.READ | Act.WRITE:
            path = text_of(payload, "tool_input", "file_path") or text_of(payload, "tool_input", "dir_path")
            return ToolRequest(tool, act, (path,) if path else (), cwd=cwd)
        case Act.ASK | Act.OTHER:
            return ToolRequest(tool, act, cwd=cwd)


def _below(cwd: str, payload: Mapping[str, Any]) -> str:
    """Return where a command would run."""
    return str(Path(cwd) / text_of(payload, "tool_input", "dir_path"))


def _defaults(spawn: Spawn) -> dict[str, Any]:
    """Return how it logs in where the user has not settled that: by what there is in the environment."""
    environ = spawn.environ
    if environ.get("GOOGLE_GENAI_USE_GCA") == "true":
        kind = "oauth-personal"
    elif environ.get("GOOGLE_GENAI_USE_VERTEXAI") == "true":
        kind = "vertex-ai"
    elif environ.get("GEMINI_API_KEY"):
        kind = "gemini-api-key"
    else:
        return {}
    return {"security": {"auth": {"selectedType": kind}}}


def _policy(agent: Agent) -> str:
    """Return Gemini's own rules: every tool, for the gate stands ahead of them; none that the definition leaves out.

    They rank below the user's, which may still deny. An agent of `hands: operations` is given what only reads, whatever
    servers of tools the user has.
    """
    if agent.hands is Hands.OPERATIONS:
        return _RULE.format('"*"', "deny", 1) + _RULE.format(json.dumps(list(_UNASKED)), "allow", 2)
    withheld = [
        tool for tool, names in _NAMED.items() if agent.tools and not set(names).intersection(agent.tools)
    ]
    return _RULE.format('"*"', "allow", 1) + _RULE.format(json.dumps([*_DIALOGS, *withheld]), "deny", 2)


def _command(order: str) -> str:
    """Return the definition of a command that says the order, and nothing else, byte for byte."""
    said = _READ_INTO.sub(lambda found: found[0] + _NOTHING, order)
    # A string of JSON is one of TOML, but for this character.
    return f"prompt = {json.dumps(said, ensure_ascii=False)}\n".replace("\x7f", "\\u007f")


def _json(value: object) -> bytes:
    return json.dumps(value, indent=1).encode()
