"""What a fake agent does, turn by turn: written as JSON for the fake CLI, read as it stands by fake hosts."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Report:
    """A file that the agent writes, whole, at the end of a turn."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: what happens from a prompt being taken until the agent rests. Times are seconds.

    `busy` is how long it works; `dialog` is a question asked before that, which `1` or `y` approves and anything
    else refuses; `say` is printed; then `report` is written. `code` or `signal` ends the process after that.
    """

    busy: float = 0.0
    dialog: str = ""
    say: str = ""
    report: Report | None = None
    code: int | None = None
    signal: int | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """A whole life. Turn n answers prompt n; after the last one, prompts are answered by an empty turn.

    `ready_after` is how many seconds pass before the agent reads what is typed; `dialog` is a question asked at
    the start, whose refusal ends the process with status 1; `flood` is how many lines it prints first; `child`
    leaves a process behind that has a session of its own and ignores HUP. `ignore_term` and `ignore_hup` are of the
    agent itself.
    """

    turns: tuple[Turn, ...] = ()
    ready_after: float = 0.0
    dialog: str = ""
    flood: int = 0
    child: bool = False
    ignore_term: bool = False
    ignore_hup: bool = False
    session: str = field(default="00000000-0000-4000-8000-000000000000")

    def turn(self, number: int) -> Turn:
        """Return the turn that answers prompt `number`, counted from 0."""
        return self.turns[number] if number < len(self.turns) else Turn()


def write_script(path: Path, script: Script) -> None:
    """Put a script where the fake CLI will read it."""
    path.write_text(json.dumps(asdict(script)))


def read_script(path: Path) -> Script:
    """Return the script that `write_script` wrote; an empty one if there is none."""
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        return Script()
    turns = tuple(
        Turn(**{**turn, "report": Report(**turn["report"]) if turn.get("report") else None})
        for turn in document.pop("turns", [])
    )
    return Script(turns=turns, **document)
