"""Agent definitions as static files: `.claude/agents/NAME.md` and `.kiro/agents/NAME.json` (H5).

In the model, tools and models have Claude's names; Kiro's names are translated when reading and writing, and unknown
names stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from orchestrator.formats.agent_config import argv, model_name
from orchestrator.formats.front_matter import Field, Value, read_front_matter, render_front_matter
from orchestrator.formats.lines import trimmed
from orchestrator.formats.strict_json import load_json
from orchestrator.formats.text import decoded, neutral, one_line, refused
from orchestrator.model.agents import Agent, Role
from orchestrator.model.errors import BadFile, Fault, Refused
from orchestrator.model.names import checked_name

COMMAND_RUNTIME: Final = "command"
PROGRAM_KEYS: Final = ("command", "check")

_TO_KIRO: Final = {
    "Read": "read",
    "Write": "write",
    "Edit": "edit",
    "Bash": "bash",
    "Grep": "grep",
    "Glob": "glob",
    "WebFetch": "web_fetch",
    "WebSearch": "web_search",
}
_FROM_KIRO: Final = {kiro: claude for claude, kiro in _TO_KIRO.items()} | {
    "fs_read": "Read",
    "fs_write": "Write",
    "execute_bash": "Bash",
    "shell": "Bash",
}
MODEL_TO_KIRO: Final = {
    "sonnet": "claude-sonnet-4",
    "opus": "claude-opus-4.5",
    "haiku": "claude-haiku-4.5",
}
_MODEL_FROM_KIRO: Final = {kiro: claude for claude, kiro in MODEL_TO_KIRO.items()}
_TOOL: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.@/-]*(?:\([A-Za-z0-9_.@/*:,= -]*\))?")
_PLACEHOLDER: Final = re.compile(r"\{(python|template)\}")


def read_agent(data: bytes, name: str, *, trusted: bool) -> Agent:
    """Return the agent defined by a file in Claude's format.

    Args:
        data: The file's bytes.
        name: Its name, for messages; it becomes the agent's `source`.
        trusted: Whether it may name programs (`command`, `check`, `runtime: command`); only definitions of a
            template, the settings or the user may.

    Raises:
        BadFile: with every fault and its line.

    """
    matter = read_front_matter(decoded(data, name))
    prompt = trimmed(matter.body.split("\n"))
    return _agent(dict(matter.fields), prompt, name, list(matter.faults), trusted=trusted)


def read_kiro_agent(data: bytes, name: str, *, trusted: bool) -> Agent:
    """Return the agent defined by a file in Kiro's format. Parameters and errors as for `read_agent`."""
    loaded = load_json(data, name)
    if not isinstance(loaded, dict):
        raise BadFile(name, [Fault(1, "is not a JSON object: begin with `{`")])
    fields, faults = dict[str, Field](), list[Fault]()
    for key in ("name", "description", "tools", "model", "role", "runtime", "prompt", *PROGRAM_KEYS):
        value = loaded.get(key)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            fields[key] = Field(0, tuple(value))
        elif isinstance(value, str):
            fields[key] = Field(0, value)
        elif value is not None:
            faults.append(Fault(0, f'"{key}" is neither a text nor a list of texts'))
    prompt = fields.pop("prompt", Field(0, "")).value
    if not isinstance(prompt, str):
        faults.append(Fault(0, '"prompt" is a list: write one text'))
        prompt = ""
    if "tools" in fields:
        tools = _listed(fields["tools"].value)
        fields["tools"] = Field(0, tuple(_FROM_KIRO.get(tool, tool) for tool in tools))
    if "model" in fields and isinstance(model := fields["model"].value, str):
        fields["model"] = Field(0, _MODEL_FROM_KIRO.get(model, model))
    return _agent(fields, trimmed(prompt.split("\n")), name, faults, trusted=trusted)


def render_claude_agent(agent: Agent) -> str:
    """Return an agent in Claude's format; `read_agent` reads it back."""
    fields: dict[str, Value] = {"name": agent.name, "description": one_line(agent.description)}
    if agent.tools:
        simple = all(_TOOL.fullmatch(tool) and "," not in tool for tool in agent.tools)
        fields["tools"] = ", ".join(agent.tools) if simple else agent.tools
    if agent.model:
        fields["model"] = agent.model
    return render_front_matter(fields | _extras(agent), trimmed(neutral(agent.prompt).split("\n")))


def render_kiro_agent(agent: Agent) -> str:
    """Return an agent in Kiro's format; `read_kiro_agent` reads it back."""
    fields: dict[str, Any] = {
        "name": agent.name,
        "description": one_line(agent.description),
        "tools": [_TO_KIRO.get(tool, tool) for tool in agent.tools],
        "prompt": trimmed(neutral(agent.prompt).split("\n")),
    }
    if agent.model:
        fields["model"] = MODEL_TO_KIRO.get(agent.model, agent.model)
    return json.dumps(fields | _extras(agent), indent=2, ensure_ascii=False) + "\n"


def filled(words: Sequence[str], *, python: str, template: str) -> tuple[str, ...]:
    """Return an argument vector with `{python}` and `{template}` replaced, once, in each element.

    Args:
        words: The `command` or `check` of an agent.
        python: The interpreter that runs this program.
        template: The folder of the template that the agent comes from.

    """
    values = {"python": python, "template": template}
    return tuple(_PLACEHOLDER.sub(lambda found: values[found[1]], word) for word in words)


def _extras(agent: Agent) -> dict[str, Value]:
    """Return our own fields, which the CLIs ignore."""
    fields: dict[str, Value] = {}
    if agent.role and agent.role.value != agent.name:
        fields["role"] = agent.role.value
    if agent.runtime != "auto":
        fields["runtime"] = agent.runtime
    if agent.command:
        fields["command"] = agent.command
    if agent.check:
        fields["check"] = agent.check
    return fields


def _agent(
    fields: Mapping[str, Field], prompt: str, name: str, faults: list[Fault], *, trusted: bool
) -> Agent:
    values: dict[str, Any] = {}
    for key, read in _READERS.items():
        if key not in fields:
            continue
        try:
            values[key] = read(_clean(fields[key].value))
        except Refused as problem:
            faults.append(Fault(fields[key].line, f"`{key}` {problem}"))
        if not trusted and (key in PROGRAM_KEYS or (key, values.get(key)) == ("runtime", COMMAND_RUNTIME)):
            reason = "names a program, which only a template, the settings or task.md may do: remove it"
            faults.append(Fault(fields[key].line, f"`{key}` {reason}"))
    if "name" not in fields:
        faults.append(Fault(0, "has no `name`"))
    if "\0" in prompt:
        faults.append(Fault(0, "holds a NUL in the prompt"))
    if faults:
        raise refused(name, faults)
    values = {key: value for key, value in values.items() if value}
    if values["name"] in list(Role):
        values.setdefault("role", Role(values["name"]))
    return Agent(**values, prompt=prompt, source=name)


def _clean(value: Value) -> Value:
    if any("\0" in text for text in ((value,) if isinstance(value, str) else value)):
        raise Refused("holds a NUL")
    return value


def _text(value: Value) -> str:
    if not isinstance(value, str):
        raise Refused("is a list: write one text")
    return one_line(value)


def _name(what: str, value: Value) -> str:
    return checked_name(_text(value), what)


def _role(value: Value) -> Role | None:
    text = _text(value)
    if text and text not in list(Role):
        raise Refused(f"is {text[:40]!a}: write one of {', '.join(Role)}")
    return Role(text) if text else None


def _model(value: Value) -> str | None:
    text = _text(value)
    return None if text in {"", "inherit"} else model_name(text)


def _words(value: Value) -> tuple[str, ...]:
    return argv(value) if isinstance(value, str) else value


def _listed(value: Value) -> tuple[str, ...]:
    """Return the names in a list, or in a text with commas; commas in parentheses do not separate."""
    if not isinstance(value, str):
        return tuple(one for each in value if (one := one_line(each)))
    parts, depth = [""], 0
    for sign in one_line(value):
        depth += (sign == "(") - (sign == ")" and depth > 0)
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return tuple(part.strip() for part in parts if part.strip())


_READERS: Final[dict[str, Callable[[Value], Any]]] = {
    "name": partial(_name, "agent name"),
    "role": _role,
    "description": _text,
    "tools": _listed,
    "model": _model,
    "runtime": partial(_name, "runtime name"),
    "command": _words,
    "check": _words,
}
