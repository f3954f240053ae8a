"""Leave to do something: what an agent wishes to do, and the rules by which it may (U3)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Act(StrEnum):
    """What kind of thing a tool does."""

    READ = "read"
    WRITE = "write"
    RUN = "run"
    FETCH = "fetch"
    ASK = "ask"  # it wants to ask a person
    OTHER = "other"  # a tool that nobody knows, as those of MCP servers


@dataclass(frozen=True, slots=True)
class Wish:
    """A tool call that an agent program asks leave for.

    `paths` are absolute, with links followed; `inside` says that each lies in a folder that the run was granted.
    `command` is the shell text of a RUN, `cwd` where it would run.
    """

    tool: str
    act: Act
    paths: tuple[str, ...] = ()
    command: str = ""
    inside: bool = False
    cwd: str = ""


class Ruling(StrEnum):
    """What a rule says."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Without `act` the pattern is of a tool's name. `source` tells where it stands."""

    ruling: Ruling
    act: Act | None
    pattern: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules, what holds where none applies, and after how many seconds an unanswered question is a denial."""

    rules: tuple[Rule, ...] = ()
    otherwise: Ruling = Ruling.ASK
    wait: float = 1800.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the rules say of a wish, and which of them said it. `wait` is the policy's, where they say to ask."""

    ruling: Ruling
    why: str
    wait: float = 1800.0
