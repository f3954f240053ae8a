"""Runtime `command`: anything executable. It finds its order in its environment and writes a report.

With `hands: operations` it needs to know nothing of all this: it gets its order on standard input, too, and writes text
to standard output, which `laid/hands.sh` keeps.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.model.errors import Refused
from orchestrator.model.hands import Hands
from orchestrator.model.permission import Act
from orchestrator.runtimes import Launching

if TYPE_CHECKING:  # a look at the agents makes this runtime: it needs no event, and no screen
    from collections.abc import Mapping, Sequence
    from typing import Any

    from orchestrator.model.agents import Agent
    from orchestrator.model.event import Event, Reply
    from orchestrator.runtimes import Spawn
    from orchestrator.runtimes.screens import ScreenRule

SCRIPT: Final = "hands.sh"
ANSWER: Final = "answer.txt"
"""The file in the run's folder that has what the program wrote to standard output."""

_SOURCE: Final = (Path(__file__).parent / "laid" / SCRIPT).read_bytes()


class Command:
    """Runs the definition's own `command` as it stands: no shell, nothing appended, nothing replaced."""

    name: Final = "command"
    receipts: Final = False
    unruled: Final = frozenset(Act)
    variables: Final[tuple[str, ...]] = ()
    screens: Final[tuple[ScreenRule, ...]] = ()

    def listens(self, agent: Agent) -> bool:
        """Return whether the program reads lines from its terminal: only whoever named it knows."""
        return agent.listens

    def launching(self, spawn: Spawn) -> Launching:
        """Return the agent's `command`; the variables of every run are enough for it.

        Raises:
            Refused: the definition has none.

        """
        agent = spawn.agent
        if not agent.command:
            raise Refused(
                f"agent {agent.name} has no command to run: write `{agent.name}.command: …` under Agent Config"
            )
        if agent.hands is Hands.OPERATIONS:
            from orchestrator.formats.operations.candidates import (
                TEXT_BYTES,
            )  # most agents have hands of their own

            argv = ("sh", str(spawn.folder / SCRIPT), str(spawn.order), str(TEXT_BYTES), *agent.command)
            return Launching(argv, files={SCRIPT: _SOURCE})
        return Launching(agent.command)

    def event(self, payload: Mapping[str, Any]) -> Event | None:
        """Return nothing: it tells of itself by its handoff and its exit."""
        return None

    def answer(self, reply: Reply) -> str:
        """Return nothing: it asks nothing."""
        return ""

    def transcripts(self, environ: Mapping[str, str]) -> tuple[Path, ...]:
        """Return nothing: it keeps none that we know of."""
        return ()

    def appended(self, lines: Sequence[bytes]) -> list[Event]:
        """Return nothing."""
        return []
