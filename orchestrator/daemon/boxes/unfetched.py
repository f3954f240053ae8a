"""Files that runs on boxes left there and that are not fetched yet: their boxes are monitored until all is here.

A run has ended when its exit is known, and its task goes on at once. Its artifacts and its terminal log may be large,
and come later: the box may be lost at that moment. So each run has a mark in its folder here, from its launch until the
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
"""Seconds after a run's end during which its files are waited for. Its task does not wait for them."""

SAID: Final = 10.0
"""Seconds after a run's end until its user is told that files are missing."""


@dataclass(slots=True)
class Awaited:
    """A run that has ended, when, and whether its user was told that files are missing."""

    run: Run
    since: float
    is_said: bool = False

    @property
    def due(self) -> float:
        """When the user must be told something about it next."""
        return self.since + (WAITED if self.is_said else SAID)


@dataclass(slots=True)
class Unfetched:
    """The runs of one task whose files are missing. `home` is the task's own folder."""

    files: Files
    home: Path
    _live: dict[str, Run] | None = None
    _awaited: dict[str, Awaited] = field(default_factory=dict)
    _texts: list[str] = field(default_factory=list)

    def look(self, state: PMState, at: float) -> list[Run]:
        """Return the runs that have ended and whose files are missing at this moment."""
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
                    f"what {each.run.instance} left on {each.run.host} is no longer waited for: the missing files are "
                    f"still there, as run {name}",
                )
        return [each.run for each in self._awaited.values()]

    def said(self, at: float, why: Callable[[str], str]) -> Iterator[str]:
        """Yield messages for the user: for each run once that files are missing, and once how that ended.

        `why` returns what prevents the files of a box from being fetched; empty if nothing does.
        """
        yield from self._texts
        self._texts.clear()
        for each in self._awaited.values():
            if each.is_said or at < each.due:
                continue
            each.is_said = True
            run = each.run
            hindrance = why(run.host) or "they are still being fetched"
            yield (
                f"{run.instance} ended on {run.host} at {moment_said(each.since)}, and not all of its artifacts "
                f"and its terminal log are here: {hindrance}. The daemon waits for them until "
                f"{moment_said(each.since + WAITED)}"
            )

    def missing(self) -> list[Awaited]:
        """Return the runs of which the user was told that files are missing."""
        return [each for each in self._awaited.values() if each.is_said]

    @property
    def moments(self) -> list[float]:
        """Return when to tell the user something or to give up, in seconds since the epoch."""
        return [each.due for each in self._awaited.values()]

    def __bool__(self) -> bool:
        """Return whether files of any run are missing."""
        return bool(self._awaited)

    # ----------------------------------------------------------------------------------------------

    def _take(self, run: Run, at: float) -> None:
        if not self._is_marked(run.id):
            return
        never_began = run.exit is not None and run.exit.lost and run.pid is None and bool(run.since)
        if never_began:  # it left no files
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
