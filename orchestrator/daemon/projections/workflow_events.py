"""Appends to `records/events.jsonl` of a workflow what each decision meant for it.

The journal is the truth. What was not written when it was decided (the daemon was killed, the disk was full) is written
later, from the journal: each event once, in order. Where the journal cannot say it any more, a line `gap` does, with
the statuses as they were after it. Events of a journal that is lost are kept under another name.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from orchestrator import layout
from orchestrator.daemon.core.workflow_folder import WorkflowFolder
from orchestrator.daemon.journal.history import decided_since
from orchestrator.pm.policies.workflow_events import events_of, statuses
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from orchestrator.model.facts import Fact
    from orchestrator.pm.state.draft import Decision
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

log = logging.getLogger(__name__)

EVENTS: Final = "records/events.jsonl"
LOST: Final = "records/events_of_lost_journal.jsonl"
_TAIL: Final = 1 << 20
"""How many bytes of the end are read for the events of the last line: those of one decision are fewer."""


@dataclass(slots=True)
class WorkflowEvents:
    """The events of one task, whose own folder is `home`.

    `_last` is the last journal line that is recorded, None where only the file knows.
    """

    files: Files
    home: Path
    _last: int | None = None

    def note(self, folder: Path, before: PMState, fact: Fact, decision: Decision, seq: int) -> None:
        """Record a decision that is line `seq` of the journal. A failed write is named, and made up for later."""
        if decision.state.brief.workflow is None:
            return
        if self._last != seq - 1:
            self.catch_up(folder, decision.state, seq)
            return
        try:
            self._append(WorkflowFolder(self.files, folder), events_of(before, fact, decision, seq))
            self._last = seq
        except (OSError, Unreadable) as error:
            self._failed(decision.state, error)

    def catch_up(self, folder: Path, state: PMState, seq: int) -> None:
        """Record what is not recorded yet of a journal of `seq` lines."""
        if state.brief.workflow is None or self._last == seq:
            return
        root = WorkflowFolder(self.files, folder)
        try:
            last, there = self._recorded(root)
            if last > seq:  # they are of a journal that was lost, or lost its last lines
                root.move(EVENTS, LOST)
                last, there = 0, 0
            self._append(root, self._missing(last, there, seq))
            self._last = seq
        except (OSError, Unreadable) as error:
            self._failed(state, error)

    def _missing(self, last: int, there: int, seq: int) -> Iterable[dict[str, Any]]:
        """Yield the events that follow the first `there` of line `last`, up to line `seq`."""
        expected = max(last, 1)
        for number, before, fact, decision in decided_since(
            self.files, layout.task_journal(self.home), last - 1
        ):
            if number > seq:
                return
            events = [*events_of(before, fact, decision, number)]
            if number > expected and before.brief.workflow is not None:
                yield _gap(before, fact, expected, number)
            yield from events[there if number == last else 0 :]
            expected = number + 1

    def _failed(self, state: PMState, error: Exception) -> None:
        self._last = None
        log.warning("the events of %s were not recorded: %s", state.name, error)

    def _append(self, root: WorkflowFolder, events: Iterable[dict[str, Any]]) -> None:
        lines = [json.dumps(event, ensure_ascii=False, separators=(",", ":")) for event in events]
        if lines:
            root.append(EVENTS, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))

    def _recorded(self, root: WorkflowFolder) -> tuple[int, int]:
        """Return the journal line of the last event, 0 if there is none, and how many events of it are there.

        A torn last line is ended, and written again as a whole: a line that does not read counts for nothing.
        """
        tail = root.tail(EVENTS, _TAIL)
        if tail and not tail.endswith(b"\n"):
            root.append(EVENTS, b"\n")
        last, there = 0, 0
        for line in tail.splitlines():
            try:
                seq = int(json.loads(line)["seq"])
            except (ValueError, KeyError, TypeError):
                continue
            last, there = seq, there + 1 if seq == last else 1
        return last, there


def _gap(state: PMState, fact: Fact, first: int, seq: int) -> dict[str, Any]:
    return {
        "seq": seq,
        "at": int(fact.at),
        "event": "gap",
        "cause": f"the journal cannot say any more what lines {first} to {seq - 1} meant",
        "statuses": {agent: status.value for agent, status in statuses(state).items()},
    }
