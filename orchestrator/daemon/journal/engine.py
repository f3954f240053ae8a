"""The engine of one task: a fact goes in, is decided, journaled and folded; actions come out."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.journal.rolling_log import RollingLog
from orchestrator.daemon.journal.store import Journal
from orchestrator.formats.handoff import neutral
from orchestrator.formats.redact import redacted
from orchestrator.formats.text import cut
from orchestrator.formats.timestamps import day_said
from orchestrator.model.facts import JournalDamaged, ZoneChanged
from orchestrator.model.sections import LogSettings
from orchestrator.pm.decide import decide
from orchestrator.pm.explain.sentences import explain

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orchestrator.model.actions import Action
    from orchestrator.model.facts import Fact
    from orchestrator.model.limits import Limits
    from orchestrator.pm.state.draft import Decision
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files


log = logging.getLogger(__name__)

LINE_LENGTH: Final = 4000
"""The maximum number of characters of a line of the PM's log, which is followed in a pane."""

LOG_SIZE: Final = LogSettings().size


class Engine:
    """One task: its state, its journal, and the path from a fact to both.

    Every journaled fact sets `dirty`; whoever writes the projections clears it. `last_checkin` is kept here and not
    journaled: a check-in without news appends nothing (law 9).
    """

    def __init__(
        self,
        files: Files,
        home: Path,
        limits: Limits,
        act: Callable[[Engine, Action], None],
        log_size: int = LOG_SIZE,
        utc_offset: Callable[[float], int] = lambda _: 0,
        noted: Callable[[PMState, Fact, Decision, int], None] = lambda *_: None,
    ) -> None:
        """Open the task whose own folder is `home`; `act` gets every action once it is journaled.

        The PM's log begins anew at `log_size` bytes. `utc_offset` returns by how many seconds local time is ahead of
        UTC at a moment: decided names and sentences are in local time, and `decide` reads no time zone (law 2).
        `noted` is called with the state before, the fact, the decision and its line once a decision is journaled.
        """
        self.home = home
        self.id = home.name
        self.dirty = True
        self.last_checkin = 0.0
        self._files = files
        self._limits = limits
        self._act = act
        self._utc_offset = utc_offset
        self._noted = noted
        self._journal = Journal(files, layout.task_journal(home))
        self._log = RollingLog(files, layout.task_log(home), log_size)
        self._day = day_said(self.journaled_at) if self.lines else ""

    @property
    def state(self) -> PMState:
        """The state as of the last journaled fact."""
        return self._journal.state

    @property
    def lines(self) -> int:
        """Return how many facts this task has journaled in its life."""
        return self._journal.lines

    @property
    def journaled_at(self) -> float:
        """Return when this task last journaled a fact, or was first opened, in seconds since the epoch."""
        return self._journal.written_at

    @property
    def task_folder(self) -> Path:
        """The task's folder in its project."""
        from pathlib import Path

        return layout.task_folder(Path(self.state.project), self.state.name)

    def own_damage(self, at: float, nonce: str) -> None:
        """Feed a fact that the journal was found damaged, if it was."""
        damage = self._journal.damage
        if damage is not None and self.state.id:
            self._journal.damage = None
            self.feed(JournalDamaged(at, nonce, damage.kept, damage.where))

    def lost(self) -> str:
        """Return, once, the name under which a wholly unreadable journal is kept; otherwise nothing."""
        damage = self._journal.damage
        if damage is None or self.state.id:
            return ""
        self._journal.damage = None
        return damage.where

    def keep_journal(self) -> None:
        """Make sure that the journal being written is the one on disk. Raises OSError: no room just now."""
        self._journal.keep()
        self._report_replaced()

    def _report_replaced(self) -> None:
        if name := self._journal.replaced:
            self._journal.replaced = ""
            why = (
                "has what a failed write left"
                if self._journal.failed
                else "was changed or deleted by somebody"
            )
            self.say(f"the journal's {name} {why}: the known state was written anew")

    def feed(self, fact: Fact) -> Decision:
        """Decide on a fact: first the journal, then the log, then the actions.

        Raises:
            OSError: the journal could not be written; nothing was done and nothing has changed.
            IllegalMove: a rule has a bug; nothing was done and nothing has changed.

        """
        offset = self._utc_offset(fact.at)
        if self.state.id and offset != self.state.utc_offset:
            self._take(ZoneChanged(fact.at, offset))
        return self._take(fact)

    def _take(self, fact: Fact) -> Decision:
        was = self.state
        decision = decide(was, fact, self._limits)
        if decision.empty:
            return decision
        line = self._journal.append(fact, decision)
        self._report_replaced()
        self.dirty = True
        day, before = day_said(fact.at), self._day
        self._day = day
        self.say(*([day] if before not in {"", day} else []), *explain(json.loads(line)))
        self._noted(was, fact, decision, self.lines)
        for action in decision.actions:
            self._act(self, action)
        return decision

    def say(self, *texts: str) -> None:
        """Write lines into the PM's log. It only informs: a failed write changes nothing."""
        clean = "".join(cut(redacted(neutral(text)).replace("\n", " "), LINE_LENGTH) + "\n" for text in texts)
        try:
            self._log.append(clean.encode("utf-8", "replace"))
        except OSError as error:
            log.warning("the log of %s was not written: %s", self.id, error)

    def close(self) -> None:
        """Close the task's files."""
        self._journal.close()
        self._log.close()
