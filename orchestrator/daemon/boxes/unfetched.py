"""What runs on boxes have left there and nobody has brought yet: their boxes are kept in sight until all is here.

A run is over when its exit is known, and its task goes on at once. Its artifacts and its terminal log may be large, and
come later: a box may be lost at that very moment. So each run has a mark in its folder here, from its launch until the
end of a whole pull that began after its exit [daemon/boxes/transfers.py]. The mark outlives the daemon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.formats.timestamps import moment_said

if TYPE_CHECKING:
    from orchestrator.model.run import Run
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

WAITED: Final = 86_400.0
"""Seconds after a run's end for which its files are waited for. Its task waits for none of that."""

SAID: Final = 10.0
"""Seconds after a run's end from which its user is told that not all of its files are here."""


@dataclass(slots=True)
class Awaited:
    """A run that is over, since when, and whether its user was told that not all of its files are here."""

    run: Run
    since: float
    is_said: bool = False

    @property
    def due(self) -> float:
        """When something is to be said of it next."""
        return self.since + (WAITED if self.is_said else SAID)


@dataclass(slots=True)
class Unfetched:
    """The runs of one task whose files are awaited. `home` is the task's own folder."""

    files: Files
    home: Path
    _live: dict[str, Run] | None = None
    _awaited: dict[str, Awaited] = field(default_factory=dict)
    _texts: list[str] = field(default_factory=list)

    def look(self, state: PMState, at: float) -> list[Run]:
        """Return the runs that are over and whose files are awaited at this moment."""
        live = {run.id: run for run in state.live_runs if run.on_box}
        if self._live is None:
            ended = [run for run in state.runs.values() if run.on_box and not run.live]
        else:
            ended = [state.runs[name] for name in self._live.keys() - live.keys()]
        for run in ended:
            self._take(run, at)
        self._live = live
        for name, each in list(self._awaited.items()):
            if not self._is_marked(name):
                self._let_go(each, f"all that {each.run.instance} left on {each.run.host} is here now")
            elif at - each.since >= WAITED:
                self.files.remove(self._mark(name))
                self._let_go(
                    each,
                    f"what {each.run.instance} left on {each.run.host} is waited for no longer: what did not come lies "
                    f"there, as run {name}",
                )
        return [each.run for each in self._awaited.values()]

    def said(self, at: float, why: Callable[[str], str]) -> Iterator[str]:
        """Yield what the user is to be told: once of each run what is not here, and once what became of that.

        `why` tells of a box what hinders that its files come; empty: nothing does.
        """
        yield from self._texts
        self._texts.clear()
        for each in self._awaited.values():
            if each.is_said or at < each.due:
                continue
            each.is_said = True
            run = each.run
            hindrance = why(run.host) or "they are still being brought"
            yield (
                f"{run.instance} ended on {run.host} at {moment_said(each.since, at)}, and not all of its artifacts "
                f"and its terminal log are here: {hindrance}. They are waited for until "
                f"{moment_said(each.since + WAITED, at)}"
            )

    def missing(self) -> list[Awaited]:
        """Return the runs of which the user was told that not all of their files are here."""
        return [each for each in self._awaited.values() if each.is_said]

    @property
    def moments(self) -> list[float]:
        """When something is to be said or given up, in seconds since the epoch."""
        return [each.due for each in self._awaited.values()]

    def __bool__(self) -> bool:
        """Return whether the files of any run are awaited."""
        return bool(self._awaited)

    # ----------------------------------------------------------------------------------------------

    def _take(self, run: Run, at: float) -> None:
        if not self._is_marked(run.id):
            return
        never_began = run.exit is not None and run.exit.lost and run.pid is None and bool(run.since)
        if never_began:  # it left nothing
            self.files.remove(self._mark(run.id))
            return
        self._awaited[run.id] = Awaited(run, run.since or at)

    def _let_go(self, each: Awaited, text: str) -> None:
        del self._awaited[each.run.id]
        if each.is_said:
            self._texts.append(text)

    def _is_marked(self, run: str) -> bool:
        return self.files.entry(self._mark(run)) is not None

    def _mark(self, run: str) -> Path:
        return layout.run_outstanding(layout.run_home(self.home, run))
