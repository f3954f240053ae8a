"""Appends to `records/events.jsonl` of a workflow what each decision meant for it.

The journal is the truth. Killed between journal and event, the daemon writes a line `gap` at its next start, with the
statuses as they are then, rather than events that it can only guess.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from orchestrator.daemon.core.workflow_folder import WorkflowFolder
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
_TAIL: Final = 65_536
"""How many bytes of the end are read for the last line."""


@dataclass(slots=True)
class WorkflowEvents:
    """The events of one task. `_last` is the last journal line that is recorded, None before the file was looked at."""

    files: Files
    _last: int | None = field(default=None)

    def note(self, folder: Path, before: PMState, fact: Fact, decision: Decision, seq: int) -> None:
        """Record a decision that is line `seq` of the journal. A failed write is named, and changes nothing."""
        if decision.state.brief.workflow is None:
            return
        root = WorkflowFolder(self.files, folder)
        try:
            if self._last is None:
                self._last = self._recorded(root)
                if self._last < seq - 1 and before.brief.workflow is not None:
                    self._append(root, [_gap(before, fact, self._last, seq)])
            self._append(root, events_of(before, fact, decision, seq))
            self._last = seq
        except (OSError, Unreadable) as error:
            log.warning("the events of %s were not recorded: %s", decision.state.name, error)

    def _append(self, root: WorkflowFolder, events: Iterable[dict[str, Any]]) -> None:
        lines = [json.dumps(event, ensure_ascii=False, separators=(",", ":")) for event in events]
        if lines:
            root.append(EVENTS, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))

    def _recorded(self, root: WorkflowFolder) -> int:
        """Return the journal line of the last event; 0 if there is none. A torn last line is ended."""
        tail = root.tail(EVENTS, _TAIL)
        if tail and not tail.endswith(b"\n"):
            root.append(EVENTS, b"\n")
        for line in reversed(tail.splitlines()):
            try:
                return int(json.loads(line)["seq"])
            except (ValueError, KeyError, TypeError):
                continue
        return 0


def _gap(state: PMState, fact: Fact, last: int, seq: int) -> dict[str, Any]:
    return {
        "seq": seq,
        "at": int(fact.at),
        "event": "gap",
        "cause": f"journal lines {last + 1} to {seq - 1} are not recorded here, or meant nothing for the workflow",
        "statuses": {agent: status.value for agent, status in statuses(state).items()},
    }
