"""Reads the section `## Agent Config` of task.md strictly: `key: value` lines and comments (H3)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import partial
from typing import Any, Final, NamedTuple

from orchestrator.formats.budget import read_budget
from orchestrator.formats.durations import read_duration
from orchestrator.formats.lines import Kind, Line
from orchestrator.formats.lists import bulleted
from orchestrator.formats.location import read_host, read_location, split_placed
from orchestrator.formats.permission_rules import from_source, read_permissions
from orchestrator.formats.preparation import read_commands, read_files, read_variables
from orchestrator.formats.text import neutral
from orchestrator.model import task as families
from orchestrator.model.agents import REMOTE_ROLES
from orchestrator.model.errors import Fault, Refused
from orchestrator.model.hands import Deletes, Hands
from orchestrator.model.names import checked_name
from orchestrator.model.permission import Permissions
from orchestrator.model.task import (
    AcceptedEvidence,
    AfterRejections,
    AgentOverrides,
    Approval,
    Bring,
    Config,
    Location,
    Recheck,
    Unanswered,
    WorkspaceKind,
)

LINES: Final = 2000
SKILLS: Final = 20
DIGITS: Final = 4
PATH_LENGTH: Final = 1000

DEFAULTS: Final = ("retry", "replan", "set-aside", "abandon", "approve", "continue")
"""Allowed default answers to an unanswered question; never `accept`: only a person may accept criteria."""

_ENTRY: Final = re.compile(r"([^\s:#]{1,140})[ \t]*:[ \t]*(.*)")
_QUOTED: Final = frozenset({"command", "check", "permissions", "prepare"})
"""Keys whose values may hold a `#` in quotes."""

_RULE: Final = re.compile(r"[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*")
_MODEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+\[\]-]{0,127}")


class Entry(NamedTuple):
    """One `key: value`."""

    line: int
    key: str
    value: str


def read_config(lines: Iterable[Line]) -> tuple[Config, list[Fault]]:
    """Return the configuration in the lines of the section, and all faults."""
    found, faults = _entries(lines)
    entries = [part for entry in found for part in _placed(entry)]
    top: dict[str, Any] = {}
    overrides: dict[str, dict[str, Any]] = {}
    seen: dict[str, int] = {}
    for entry in entries:
        if entry.key in seen:
            twice = f"`{entry.key}:` is in line {seen[entry.key]} and in line {entry.line}"
            faults.append(Fault(entry.line, f"{twice}: keep one of them"))
            continue
        seen[entry.key] = entry.line
        agent, dot, key = ("", "", entry.key) if entry.key in _OF_TASK else entry.key.rpartition(".")
        try:
            field, value = _value(agent, key, entry) if dot else _value("", entry.key, entry)
        except Refused as problem:
            faults.append(Fault(entry.line, f"`{entry.key}:` {problem}"))
            continue
        (overrides.setdefault(agent, {}) if dot else top)[field] = value
        place = overrides.get(agent, {}).get("cwd") if dot else None
        if place is not None and place.host and "host" in overrides[agent]:
            faults.append(
                Fault(entry.line, f"`{agent}.cwd:` is on a box, and `{agent}.host:` is here: keep one")
            )
    agents = {agent: AgentOverrides(**fields) for agent, fields in overrides.items()}
    config = Config(**top, agents=agents, written={entry.key: entry.value for entry in entries})
    return config, [*faults, *_far_agents(config, seen), *_prepares_nothing(config, seen)]


def _far_agents(config: Config, lines: dict[str, int]) -> Iterator[Fault]:
    """Yield the faults of agents that may not work on another machine. A workflow, or a skill, says which may."""
    for agent, own in config.agents.items():
        far = own.cwd is not None and own.cwd.host and agent not in REMOTE_ROLES
        if far and config.family not in {families.WORKFLOW, families.SKILLS}:
            key = f"{agent}.cwd"
            why = "is on another machine: only dev and architect may work remotely, give a local path"
            yield Fault(lines[key], f"`{key}:` {why}")


def _prepares_nothing(config: Config, lines: dict[str, int]) -> list[Fault]:
    """Return the faults of keys that prepare worktrees in a task that has none."""
    found = [key for key in lines if key.split(".")[0] == "prepare" and key in _OF_TASK]
    if config.workspace is WorkspaceKind.WORKTREE:
        twice = set(config.prepare_caches) & set(config.prepare_ports)
        why = f"names {', '.join(sorted(twice))}, which `prepare.caches:` names too"
        return [Fault(lines["prepare.ports"], f"`prepare.ports:` {why}")] if twice else []
    why = f"is for worktrees, and `workspace: {config.workspace}` makes none: your own tree is used as it is"
    return [Fault(lines[key], f"`{key}:` {why}") for key in found]


def model_name(text: str) -> str:
    """Return `text` if it is a valid model name and safe as one argument of a program. Raises Refused."""
    if not _MODEL.fullmatch(text):
        raise Refused(f"{text[:40]!a} is no model's name: use letters, digits and `._:/@+-`")
    return text


def argv(text: str) -> tuple[str, ...]:
    """Split a text into an argument vector as a shell would, without running one. Raises Refused."""
    try:
        return tuple(shlex.split(text))
    except ValueError as problem:
        raise Refused(f"does not read as a command: {problem}") from None


def _entries(lines: Iterable[Line]) -> tuple[list[Entry], list[Fault]]:
    entries, faults = list[Entry](), list[Fault]()
    for line in lines:
        text = line.text.strip()
        if line.kind in {Kind.FENCE, Kind.COMMENT} or not text or text[0] == "#" or _RULE.fullmatch(text):
            continue
        if len(entries) == LINES:
            faults.append(Fault(line.number, f"is one of more than {LINES} lines"))
            break
        found = _ENTRY.fullmatch(bulleted(text) or text)
        if not found:
            faults.append(Fault(line.number, f"{text[:40]!a} is not a setting: write `key: value`"))
            continue
        value = _without_comment(found[2], quoted=found[1].rpartition(".")[2] in _QUOTED)
        if neutral(value) != value:
            faults.append(Fault(line.number, f"`{found[1]}:` holds a control character"))
        elif not value:
            faults.append(
                Fault(line.number, f"`{ascii(found[1])[1:-1]}:` has no value: write one or remove the line")
            )
        else:
            entries.append(Entry(line.number, found[1], value))
    return entries, faults


def _placed(entry: Entry) -> list[Entry]:
    """Return `cwd: KIND:NAME:/path` as what it says in one word: `host: KIND:NAME` and `cwd: /path`."""
    agent, dot, key = entry.key.rpartition(".")
    parted = split_placed(entry.value) if key == "cwd" else None
    if parted is None:
        return [entry]
    host, path = parted
    return [entry._replace(value=path), Entry(entry.line, f"{agent}{dot}host", host)]


def _without_comment(text: str, *, quoted: bool) -> str:
    """Return a value without its comment: a `#` after white space; not one in quotes if `quoted`."""
    quote, skip, before = "", False, " "
    for place, sign in enumerate(text):
        if skip:
            skip = False
        elif quoted and sign == "\\" and quote != "'":
            skip = True
        elif quoted and sign in "'\"" and quote in {"", sign}:
            quote = "" if quote else sign
        elif sign == "#" and not quote and before in " \t":
            return text[:place].strip()
        before = sign
    return text.strip()


def _value(agent: str, key: str, entry: Entry) -> tuple[str, Any]:
    """Return the model's field that an entry sets, and its value. Raises Refused."""
    known = _OF_AGENT if agent else _OF_TASK
    if key not in known:
        raise Refused(_unknown(agent, entry.key))
    if agent:
        checked_name(agent, "agent name")
    field, read = known[key]
    value = read(entry.value)
    if agent and isinstance(value, Permissions):
        value = from_source(value, f"task.md, {entry.key}")
    return field, value


def _unknown(agent: str, key: str) -> str:
    from difflib import get_close_matches

    allowed = [*_OF_TASK, *(f"{agent or 'AGENT'}.{each}" for each in _OF_AGENT)]
    near = get_close_matches(key, allowed, n=1, cutoff=0.5)
    meant = f"did you mean `{near[0]}:`?" if near else f"the settings are {', '.join(allowed)}"
    return f"is not a setting: {meant}"


def _word(kind: type[StrEnum], text: str) -> StrEnum:
    if text not in list(kind):
        raise Refused(f"is {text[:40]!a}: write one of {', '.join(kind)}")
    return kind(text)


def _yes(text: str) -> bool:
    if text not in {"yes", "no"}:
        raise Refused(f"is {text[:40]!a}: write yes or no")
    return text == "yes"


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text) <= DIGITS and int(text)):
        raise Refused(f"is {text[:40]!a}: write a whole number from 1 on")
    return int(text)


def _approvals(text: str) -> tuple[Approval, ...]:
    words = [word.strip() for word in text.split(",")]
    return tuple(Approval(str(_word(Approval, word))) for word in dict.fromkeys(words))


def _skills(text: str) -> tuple[str, ...]:
    names = [word.strip() for word in text.split(",")]
    if len(names) > SKILLS:
        raise Refused(f"names {len(names)} skills: name {SKILLS} at most")
    return tuple(dict.fromkeys(checked_name(name, "skill name") for name in names))


def _session(text: str) -> str:
    """Return the path of a state file. It is a name of a file of the project, or an absolute path."""
    if len(text) > PATH_LENGTH or ".." in text.split("/"):
        raise Refused(f"is {text[:40]!a}: write the path of the session's state file, without `..`")
    return text


def _unanswered(text: str) -> Unanswered:
    answer, after, span = text.partition(" after ")
    if not after or answer.strip() not in DEFAULTS:
        raise Refused(
            f"is {text[:40]!a}: write one of {', '.join(DEFAULTS)}, and when: `set-aside after 4 h`"
        )
    try:
        return Unanswered(answer.strip(), read_duration(span.strip()))
    except ValueError as problem:
        raise Refused(f"{problem}") from None


def _place(text: str) -> Location:
    return read_location(text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`" else text)


_OF_TASK: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "cwd": ("cwd", _place),
    "host": ("host", read_host),
    "family": ("family", partial(checked_name, what="plan family name")),
    "handoffs": ("handoffs", partial(checked_name, what="handoff format name")),
    "template": ("template", partial(checked_name, what="template name")),
    "runtime": ("runtime", partial(checked_name, what="runtime name")),
    "workspace": ("workspace", partial(_word, WorkspaceKind)),
    "architect": ("architect", _yes),
    "outboxes": ("outboxes", _yes),
    "rejections": ("after_rejections", partial(_word, AfterRejections)),
    "evidence": ("evidence", partial(_word, AcceptedEvidence)),
    "parallel": ("parallel", _number),
    "recheck": ("recheck", partial(_word, Recheck)),
    "unanswered": ("unanswered", _unanswered),
    "approve": ("approve", _approvals),
    "skills": ("skills", _skills),
    "limits": ("limits", read_budget),
    "permissions": ("permissions", read_permissions),
    "pm": ("pm", partial(checked_name, what="runtime name")),
    "bring": ("bring", partial(_word, Bring)),
    "session": ("session", _session),
    "prepare": ("prepare", read_commands),
    "prepare.inputs": ("prepare_inputs", read_files),
    "prepare.copy": ("prepare_copy", read_files),
    "prepare.caches": ("prepare_caches", read_variables),
    "prepare.ports": ("prepare_ports", read_variables),
}
_OF_AGENT: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "command": ("command", argv),
    "check": ("check", argv),
    "runtime": ("runtime", partial(checked_name, what="runtime name")),
    "model": ("model", model_name),
    "cwd": ("cwd", _place),
    "host": ("host", read_host),
    "listens": ("listens", _yes),
    "hands": ("hands", partial(_word, Hands)),
    "deletes": ("deletes", partial(_word, Deletes)),
    "skills": ("skills", _skills),
    "permissions": ("permissions", read_permissions),
}

KEYS_OF_TASK: Final = {key: field for key, (field, _) in _OF_TASK.items()}
"""Each key of a task, with the field of `Config` that it sets."""

KEYS_OF_AGENT: Final = {key: field for key, (field, _) in _OF_AGENT.items()}
"""Each key of one agent, with the field of `AgentOverrides` that it sets."""
