"""Runtime `aider`: one order, then it exits. It has no hooks and no tools but its edits (`tests/clis/README.md`).

A script in the run's folder (`laid/aider.sh`) runs it and tells what it kept of its conversation, from which is read
here what it said last or what failed. Its questions are answered with yes by itself, so **nothing is asked of the
policy**: it writes whatever file of the repository a model names, and nothing outside of it (measured), so it makes no
artifacts. It has no shell; files that it is to see must be tracked and named.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from orchestrator.formats.json_fields import number_of, text_of
from orchestrator.formats.provider_refusal import refusal
from orchestrator.formats.usage import aider_usage
from orchestrator.model.agents import Agent
from orchestrator.model.event import Event, EventKind, Failure, Reply, Say
from orchestrator.model.hands import Hands
from orchestrator.model.permission import Act
from orchestrator.runtimes import Launching, Spawn
from orchestrator.runtimes.screens import ScreenRule, shipped_rules

SCRIPT: Final = "aider.sh"
NOTES: Final = "aider-notes.md"
HISTORY: Final = "aider-history.md"

_SOURCE: Final = (Path(__file__).parent / "laid" / SCRIPT).read_bytes()
_NOTES: Final = b"""\
# What you cannot do here

You have no shell: you cannot run, commit or look anything up. Of the project you see the files that are in this chat;
a tracked file whose path you name is added. Edit files below your working directory only, by their relative paths: one
edit elsewhere (handoffs, artifacts, scratchpad) undoes all of your answer's. So there are no artifacts, and your
handoff is your last message, as text beginning with the line `# Handoff: ...`, after your edits. If the work needs more
than edits, say so under Blockers with the status BLOCKED.
"""
_ANSWERED: Final = (
    *("--yes-always", "--no-auto-commits", "--no-dirty-commits", "--no-gitignore", "--no-auto-lint"),
    *("--no-auto-test", "--no-suggest-shell-commands", "--no-detect-urls", "--disable-playwright"),
    *("--no-check-update", "--no-show-release-notes", "--no-show-model-warnings", "--no-analytics"),
    *("--no-notifications", "--no-watch-files", "--no-pretty"),
    # Else a file of the project could name commands.
    *("--load", "/dev/null"),
)
_ENVIRONMENT: Final = {
    # With yes to everything it would open a browser to log in, and for each address in an error.
    "BROWSER": "true",
    # Without a name it writes one into the repository's configuration; it commits nothing.
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "user.name",
    "GIT_CONFIG_VALUE_0": "aider",
    "GIT_CONFIG_KEY_1": "user.email",
    "GIT_CONFIG_VALUE_1": "aider@localhost",
}
_ALIASES: Final = ("sonnet", "opus", "haiku")
"""Models that definitions name by Claude Code's words. They are aider's too, where it has that vendor's key."""
_ALIASES_KEY: Final = "ANTHROPIC_API_KEY"

_ERROR: Final = re.compile(r"^litellm\.(?:exceptions\.)?(\w+):? ?(.*)$")
_FAILURES: Final = {
    "RateLimitError": Failure.LIMIT,
    "AuthenticationError": Failure.LOGIN,
    "PermissionDeniedError": Failure.LOGIN,
    "BudgetExceededError": Failure.CREDIT,
    "ContextWindowExceededError": Failure.CONTEXT,
    "InternalServerError": Failure.OVERLOAD,
    "ServiceUnavailableError": Failure.OVERLOAD,
    "BadGatewayError": Failure.OVERLOAD,
    "APIConnectionError": Failure.OVERLOAD,
    "APIError": Failure.OVERLOAD,
    "Timeout": Failure.OVERLOAD,
}
_RESPONSE: Final = re.compile(r"^LLM RESPONSE \d{4}-\d\d-\d\dT[\d:]+$")
_REQUEST: Final = re.compile(r"^TO LLM \d{4}-\d\d-\d\dT[\d:]+$")
_SAID: Final = "ASSISTANT "


class Aider:
    """One process per order. It exits when its turn is over."""

    name: Final = "aider"
    receipts: Final = False
    read_only: Final = True
    unruled: Final = frozenset({Act.READ, Act.WRITE})
    variables: Final = (
        "AIDER_*",
        "ANTHROPIC_API_KEY",
        "AWS_*",
        "AZURE_API_*",
        "DEEPSEEK_API_KEY",
        "GEMINI_API_KEY",
        "GROQ_API_KEY",
        "LITELLM_*",
        "OLLAMA_API_BASE",
        "OPENAI_API_BASE",
        "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
        "XAI_API_KEY",
        "HTTPS_PROXY",
        "NO_PROXY",
    )
    screens: Final[tuple[ScreenRule, ...]] = shipped_rules("aider")

    def listens(self, agent: Agent) -> bool:
        """Return False: it reads nothing after its order."""
        return False

    def launching(self, spawn: Spawn) -> Launching:
        """Return how it is launched by its script. A conversation goes on from the history of its run."""
        folder, model = spawn.folder, spawn.agent.model or ""
        named = bool(model) and (model not in _ALIASES or _ALIASES_KEY in spawn.environ)
        earlier = spawn.resumes if is_history(spawn.resumes, folder.parent) else ""
        argv = ["sh", str(folder / SCRIPT), earlier, spawn.prompt, "aider", *_ANSWERED]
        argv += ["--input-history-file", str(folder / "aider-input")]
        # Asked, it answers, and takes nothing of its answer for an edit.
        operates = spawn.agent.hands is Hands.OPERATIONS
        argv += ["--chat-mode", "ask"] if operates else ["--read", str(folder / NOTES)]
        argv += ["--model", model] if named else []
        return Launching(tuple(argv), _ENVIRONMENT, {SCRIPT: _SOURCE, NOTES: _NOTES})

    def event(self, payload: Mapping[str, Any]) -> Event | None:
        """Return what its script told."""
        session = _unpacked(payload, "history")
        match text_of(payload, "type"):
            case "started":
                return Event(EventKind.STARTED, session)
            case "ended":
                chat, model = _unpacked(payload, "chat"), _unpacked(payload, "model")
                ended = _ended(session, chat, model, int(number_of(payload, "status") or 0))
                return replace(ended, usage=aider_usage(_unpacked(payload, "used")))
            case _:
                return None

    def answer(self, reply: Reply) -> str:
        """Return its next order; empty lets it exit."""
        return reply.reason if reply.say is Say.GO_ON else ""

    def transcripts(self, environ: Mapping[str, str]) -> tuple[Path, ...]:
        """Return nothing: what it keeps lies in the run's folder, and comes with its end."""
        return ()

    def appended(self, lines: Sequence[bytes]) -> list[Event]:
        """Return nothing."""
        return []


def is_history(session: str, runs: Path) -> bool:
    """Return whether a session is the history of a run beneath this folder: it came from outside (law 7)."""
    path = Path(session)
    return path.name == HISTORY and path.parent.parent == runs and ".." not in path.parts


def _unpacked(payload: Mapping[str, Any], key: str) -> str:
    try:
        return b64decode(text_of(payload, key)).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def _ended(session: str, chat: str, model: str, status: int) -> Event:
    said, troubles = _last_said(model), _troubles(chat)
    name, trouble = _last_error(troubles)
    if said and not name:
        return Event(EventKind.ENDED, session, text=said)
    # What follows an error is aider's own advice, which speaks of keys and quotas.
    text = trouble or "\n".join(troubles[-3:]) or f"aider ended with status {status} and said nothing"
    failure = refusal(text) or _FAILURES.get(name, Failure.OTHER)
    return Event(EventKind.FAILED, session, text=text, failure=failure)


def _last_said(model: str) -> str:
    """Return the model's last response: each line of it stands in the log after `ASSISTANT `."""
    said: list[str] = []
    inside = False
    for line in model.split("\n"):
        if _RESPONSE.match(line) or _REQUEST.match(line):
            said, inside = [], bool(_RESPONSE.match(line))
        elif inside and line.startswith(_SAID):
            said.append(line.removeprefix(_SAID))
    return "\n".join(said).strip()


def _troubles(chat: str) -> list[str]:
    """Return what aider itself said at the end, after all that a model said; these lines are quotations."""
    lines = [line.rstrip() for line in chat.split("\n") if line.strip()]
    own: list[str] = []
    for line in reversed(lines):
        if not line.startswith(">"):
            break
        own.append(line.removeprefix(">").strip())
    return [line for line in reversed(own) if line]


def _last_error(troubles: Sequence[str]) -> tuple[str, str]:
    for line in reversed(troubles):
        if found := _ERROR.match(line):
            return found[1], found[2]
    return "", ""
