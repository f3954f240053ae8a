"""The report of a task that has ended: written first, then the notification of the end names it.

The notification is in the outbox from the moment the end was journaled, so a daemon that is killed in between finds it
there, has the page written again and sends the notification, which the spool takes only once. The report fails or
delays nothing else: it is tried once, within a bound, and the notification goes without it if it cannot be written.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.actions.notify import notify
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.hints import OutcomeHint, SayHint
from orchestrator.model.errors import OrchestratorError
from orchestrator.model.notification import NotificationRule
from orchestrator.pm.plan.advance import ACTIVE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orchestrator.model.actions import Notify
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.reporter import Reporter

log = logging.getLogger(__name__)

LAST_RUNS: Final = 5.0
"""Seconds that a report waits for the last runs to end, so that it can say how they ended."""


@dataclass(slots=True)
class EndReport:
    """Has the report of one task written. Called by the deciding thread.

    `_waits` are the notifications of ends whose report was not begun yet, each with the moment of the monotonic clock
    until which it waits for runs; `_at_hand` those whose report was begun.
    """

    context: Context
    task: str
    _waits: dict[str, tuple[Notify, float]] = field(default_factory=dict)
    _at_hand: set[str] = field(default_factory=set)

    def takes(self, action: Notify) -> bool:
        """Return whether a notification tells of the task's end and so waits for its report."""
        daemon = self.context.adapters.settings.daemon
        if (
            action.rule is not NotificationRule.COMPLETE
            or not daemon.reports
            or not self.context.adapters.reporter
        ):
            return False
        if action.id not in self._at_hand:
            self._waits.setdefault(action.id, (action, self.context.clock.monotonic() + LAST_RUNS))
        return True

    def forget(self) -> None:
        """Forget what is being written: its outcome will be ignored, and the outbox brings it again."""
        self._at_hand.clear()

    @property
    def moments(self) -> list[float]:
        """Return when to look again, by the monotonic clock."""
        return [until for _, until in self._waits.values()]

    def go(self, state: PMState, folder: Path, show: Callable[[], None], again: Callable[[], None]) -> None:
        """Have the reports written that wait for no run any more. To be called when the end is about to be shown.

        Args:
            state: the task's.
            folder: the task's folder in its project.
            show: writes the projections before it returns; the report is made of them.
            again: has the task's folder read again, so that they name the report.

        """
        reporter, now = self.context.adapters.reporter, self.context.clock.monotonic()
        for action, until in list(self._waits.values()) if reporter else ():
            if not state.live_runs or now >= until or state.state in ACTIVE:
                del self._waits[action.id]
                self._at_hand.add(action.id)
                by = None if state.state in ACTIVE else reporter  # it was started again meanwhile
                work = partial(self._work, action, by, folder, show, again)
                self.context.executor.do(f"{self.task}/report", work)

    def _work(
        self,
        action: Notify,
        reporter: Reporter | None,
        folder: Path,
        show: Callable[[], None],
        again: Callable[[], None],
    ) -> None:
        """Write the report, then put the notification into the spool. If that fails, both are tried at a rescan."""
        said = ""
        try:
            if reporter is not None:
                show()
                try:
                    if not reporter.write(self.task):
                        return
                    said = f"\nreport: {layout.task_report(folder)}"
                except OrchestratorError as error:
                    self._say(
                        f"the report could not be written: {error}; `task report {self.task}` writes it"
                    )
                again()
            complete = replace(action, text=f"{action.text}{said}")
            outcome = notify(self.context.desk, self.task, complete, self.context.clock.now())
        except OSError as error:
            log.warning("task %s: %s waits for room on the disk: %s", self.task, action.id, error)
            self._at_hand.discard(action.id)
        else:
            self.context.post(OutcomeHint(self.task, outcome))

    def _say(self, text: str) -> None:
        log.warning("task %s: %s", self.task, text)
        self.context.post(SayHint(self.task, text))
