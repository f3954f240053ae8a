"""Leave: what an agent wants to do, what the user's rules say of it, and how it is judged."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Act(StrEnum):
    """What a tool call does."""

    READ = "read"
    WRITE = "write"
    RUN = "run"
    FETCH = "fetch"
    ASK = "ask"  # the agent wants to ask a person
    OTHER = "other"  # tools of MCP servers, and unknown ones


class Ruling(StrEnum):
    """What is answered to an agent that asks leave."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"  # a person decides


@dataclass(frozen=True, slots=True)
class Wish:
    """One tool call that an agent asks leave for.

    `paths` are absolute, links followed; `inside` says that each lies in a folder that the run was granted. `command`
    is the shell text of a RUN, or the address of a FETCH; `cwd` is where a RUN would begin.
    """

    tool: str
    act: Act
    paths: tuple[str, ...] = ()
    command: str = ""
    inside: bool = False
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the user's. `act` None: `pattern` is the name of a tool. An empty pattern speaks of every such act.

    `source` says where it stands, in words.
    """

    ruling: Ruling
    act: Act | None
    pattern: str
    source: str = ""

    def __str__(self) -> str:
        """The rule as it is written."""
        return " ".join(filter(None, (self.ruling, self.act or "tool", self.pattern)))


@dataclass(frozen=True, slots=True)
class Permissions:
    """What task.md says in one `permissions:` line; `otherwise` None leaves that to what is more general."""

    rules: tuple[Rule, ...] = ()
    otherwise: Ruling | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """All that a wish is held against. A question about leave that is unanswered for `wait` seconds is a denial."""

    rules: tuple[Rule, ...] = ()
    otherwise: Ruling = Ruling.ASK
    wait: float = 1800.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a wish was judged, and why in words that its user understands.

    Where a person is to be asked, no answer for `wait` seconds is a denial.
    """

    ruling: Ruling
    why: str
    wait: float = 1800.0
