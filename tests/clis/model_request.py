"""A request of an agent CLI, as it came and as every dialect's common form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from tests.clis.answers import ToolCall

Json = dict[str, Any]

_SURROUNDINGS: Final = re.compile(
    r"\A\s*(?:<(system-reminder|environment_context|session_context|user_instructions|skills_instructions"
    r"|permissions instructions|collaboration_mode|INSTRUCTIONS)\b.*|# AGENTS\.md instructions.*)\Z",
    re.DOTALL,
)
"""Texts in the user's name that the user did not write: what CLIs tell the model about the place it works in."""

_FROM_A_HOOK: Final = re.compile(r"\A\s*(?:Stop hook|<hook_prompt\b)")
"""How CLIs tell the model why a hook did not let it stop."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of a tool that the model wanted used."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation: what was said, wanted and brought back."""

    role: str
    texts: tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()

    @property
    def said(self) -> tuple[str, ...]:
        """What the user wrote, and what a hook said in the user's stead; without what tells of the surroundings."""
        if self.role in {"system", "developer"}:
            return tuple(text for text in self.texts if _FROM_A_HOOK.match(text))
        if self.role != "user":
            return ()
        return tuple(text for text in self.texts if text.strip() and not _SURROUNDINGS.match(text))


@dataclass(frozen=True, slots=True)
class Conversation:
    """What every dialect's request can be read into."""

    model: str = ""
    messages: tuple[Message, ...] = ()
    tools: frozenset[str] = frozenset()
    free_form: frozenset[str] = frozenset()
    streams: bool = False


@dataclass(frozen=True)
class ModelRequest:
    """One request: `raw` is its body, byte for byte; `number` counts all of the server's requests from 1."""

    number: int
    at: float
    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    dialect: str = ""
    conversation: Conversation = Conversation()

    @cached_property
    def body(self) -> Json:
        """The body as JSON; empty if it is none."""
        try:
            read = json.loads(self.raw)
        except ValueError:
            return {}
        return read if isinstance(read, dict) else {}

    @property
    def offers_tools(self) -> bool:
        """Agents' turns offer tools; titles, summaries and probes don't."""
        return bool(self.conversation.tools)

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.conversation.messages

    @property
    def prompts(self) -> tuple[str, ...]:
        """All that the user wrote, message by message, in order."""
        return tuple("\n".join(each.said) for each in self.messages if each.said)

    @property
    def prompt(self) -> str:
        """What the user wrote last; empty if nothing."""
        return self.prompts[-1] if self.prompts else ""

    @property
    def since_prompt(self) -> tuple[Message, ...]:
        """The messages after the one that holds `prompt`: this turn so far."""
        last = max(
            (place for place, each in enumerate(self.messages) if each.said),
            default=-1,
        )
        return self.messages[last + 1 :]

    @property
    def steps(self) -> tuple[tuple[ToolResult, ...], ...]:
        """For each of the model's messages in this turn, what its tools brought back."""
        steps: list[tuple[ToolResult, ...]] = []
        for each in self.since_prompt:
            if each.role == "assistant":
                # A dialect that tells calls one by one has several such messages for one answer.
                if each.calls or not steps:
                    steps.append(())
            elif steps:
                steps[-1] += each.results
        return tuple(steps)
