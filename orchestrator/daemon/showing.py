"""What others read of a task, written on a thread of its own: state.json, pm_state.json, and the scribe's progress.md.

What came while it wrote is one further writing, however much it was. A state never changes, so the thread works
on the one that it was handed, and the deciding thread waits for no disk but the journal's.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from orchestrator.daemon.hands import Hands
from orchestrator.daemon.project import projection, write_projections
from orchestrator.daemon.view import pm_view
from orchestrator.model.errors import OrchestratorError
from orchestrator.pm.state import PMState
from orchestrator.ports.clock import Clock
from orchestrator.ports.files import Files
from orchestrator.scribe.scribe import Scribe

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _News:
    """What is to be shown, since the last writing."""

    state: PMState | None = None
    names: set[str] = field(default_factory=set)
    rescan: bool = False


@dataclass(slots=True)
class Showing:
    """Shows one task. `home` is its own folder, `folder` the one in its project."""

    files: Files
    clock: Clock
    hands: Hands
    scribe: Scribe
    home: Path
    folder: Path
    _news: _News = field(default_factory=lambda: _News(rescan=True))
    _view: tuple[PMState, float] | None = None
    _taking: Lock = field(default_factory=Lock)
    _writing: Lock = field(default_factory=Lock)
    _queued: bool = False

    def tell(
        self,
        state: PMState,
        last_checkin: float,
        names: Iterable[str] = (),
        *,
        changed: bool = False,
        rescan: bool = False,
    ) -> None:
        """Take news in: `names` are new in the task's folder, `changed` says that the state is."""
        with self._taking:
            self._view = state, last_checkin
            if changed:
                self._news.state = state
            self._news.names.update(names)
            self._news.rescan |= rescan

    @property
    def behind(self) -> bool:
        """True while something is not shown yet: because it just came, or because it could not be written."""
        return self._news.state is not None or bool(self._news.names) or self._news.rescan

    def soon(self) -> None:
        """Have what was told written by the hands."""
        with self._taking:
            if self._queued:
                return
            self._queued = True
        self.hands.do(f"{self.home.name}/show", self.now)

    def now(self) -> None:
        """Write what was told, here and before this returns. What fails stays to be written the next time."""
        with self._writing:
            with self._taking:
                news, self._news, view, self._queued = self._news, _News(), self._view, False
            if view is None:
                return
            try:
                self._write(news, *view)
            except (OrchestratorError, OSError) as error:
                log.warning("what %s shows was not written just now: %s", self.home.name, error)
                with self._taking:
                    self._news.state = self._news.state or news.state
                    self._news.names |= news.names
                    self._news.rescan |= news.rescan

    def _write(self, news: _News, state: PMState, last_checkin: float) -> None:
        at = self.clock.now()
        if news.state is not None:
            shown = projection(news.state, last_checkin=last_checkin, at=at)
            write_projections(self.files, self.home, self.folder, shown)
        if news.rescan:
            self.scribe.rescan(pm_view(state, last_checkin), at)
        else:
            self.scribe.notice(sorted(news.names), pm_view(state, last_checkin), at)
