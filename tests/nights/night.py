"""What a night is: tasks, the agents' CLIs, what their model plays, what goes wrong, and what must come of it.

Each night is a file in `nights/` that says all of this beforehand: in its docstring in plain words, in `NIGHT` for the
bench. Durations are seconds *of the night*; `factor` of them pass in a second of real time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tests.nights.agents import Cast
from tests.nights.moments import Moment
from tests.nights.service import Weather

if TYPE_CHECKING:
    from tests.nights.directing import Scene
    from tests.nights.observation import Observation

MINUTE: Final = 60.0
HOUR: Final = 3600.0
BESIDES: Final = 120.0
"""Dead time beyond what the service forces that a night may have: two minutes of the night."""

ENDED: Final = frozenset({"complete", "complete_in_part", "in_part", "partial", "failed"})


@dataclass(frozen=True, slots=True)
class Job:
    """One task of the night: the parts of the shop that it is to add, and further lines of its task.md."""

    name: str = "shop"
    parts: tuple[str, ...] = ("greet", "total")
    config: tuple[str, ...] = ()
    after: float = 0.0


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that goes wrong beside the service: `act` is done when the service sees `at`, or `after` so long."""

    act: Callable[[Scene], None]
    at: Moment | None = None
    after: float = 0.0


@dataclass(frozen=True, slots=True)
class Planned:
    """A question that only a person can answer, by words in its text; they put it right, then answer, `after` a while.

    `answer` is a pattern for the option that they choose, or the text that they write.
    """

    about: str
    answer: str
    after: float = 10 * MINUTE
    puts_right: Callable[[Scene], None] | None = None


@dataclass(frozen=True, slots=True)
class Morning:
    """What must be so in the morning.

    `ends` are the states in which the tasks may have ended, `there` the parts that must be on each task's branch
    (None: all of them), `absent` those that must not. `dead` is the dead time allowed, in seconds of the night;
    `wasted` the requests. `shown` are patterns of which each must stand in the last `task status` or progress.md,
    `also` are further judgements: each returns what is wrong.
    """

    ends: frozenset[str] = frozenset({"complete"})
    there: tuple[str, ...] | None = None
    absent: tuple[str, ...] = ()
    dead: float = BESIDES
    wasted: int = 0
    loses_by_trouble: bool = False
    shown: tuple[str, ...] = ()
    also: tuple[Callable[[Observation], list[str]], ...] = ()


@dataclass(frozen=True, slots=True)
class Night:
    """One night. `runtimes` names the pinned CLI of each agent; `*` those of all others.

    `files` are laid into the project beside those of the shop. `person` says for what one is needed; empty if for
    nothing. `lasts` bounds the night in real seconds, and `morning` is when somebody would look, in seconds of the
    night: dead time is counted until then.
    """

    runtimes: Mapping[str, str]
    cast: Callable[[], Cast] = Cast
    weather: Callable[[], Weather] = Weather
    jobs: tuple[Job, ...] = (Job(),)
    troubles: tuple[Trouble, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    person: str = ""
    planned: tuple[Planned, ...] = ()
    expects: Morning = field(default_factory=Morning)
    factor: float = 60.0
    lasts: float = 240.0
    morning: float = 8 * HOUR
    settings: Mapping[str, str] = field(default_factory=dict)
    token: bool = True
    box: bool = False
    disk: str = ""
    in_ci: bool = False
    name: str = ""
    about: str = ""

    def pin_of(self, agent: str) -> str:
        """Return the pinned CLI of an agent, by its name or that of an instance (`dev-2`)."""
        role = agent.rstrip("0123456789").rstrip("-")
        return self.runtimes.get(role, self.runtimes["*"])

    @property
    def pins(self) -> tuple[str, ...]:
        """The CLIs that the night needs, that of most agents first."""
        return tuple(dict.fromkeys((self.runtimes["*"], *self.runtimes.values())))
