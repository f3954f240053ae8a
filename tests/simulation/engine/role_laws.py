"""What must hold of handoffs from role to role: each goes its way once, and the records say what the journal says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.formats.coordination.handoff import read_handoff
from orchestrator.formats.coordination.status import read_role_status
from orchestrator.formats.coordination.status_edits import same
from orchestrator.model.coordination import CHAIN, LIFECYCLE
from orchestrator.model.errors import Refused
from orchestrator.model.facts import RoleHandoffEdited
from orchestrator.pm.plan.role_statuses import standings
from orchestrator.pm.state.handoff_changes import HandoffRecorded
from orchestrator.records.archive_files import DAMAGED
from tests.simulation.engine.archive_edits import ArchiveEdit
from tests.simulation.engine.law import Finding, Law

if TYPE_CHECKING:
    from orchestrator.model.facts import Fact
    from orchestrator.pm.state.draft import Decision
    from orchestrator.pm.state.task_state import PMState
    from tests.simulation.engine.role_tasks import RoleTask
    from tests.simulation.engine.world import World


@dataclass(slots=True)
class RoleLaws:
    """The handoffs of one task."""

    world: World
    task: RoleTask

    def enter(self, was: PMState, fact: Fact, decision: Decision) -> list[Finding]:
        """Enter a line of the journal, and return the laws that it breaks."""
        found, known = list[Finding](), dict(was.handoffs)
        wrong = [each.hears(fact) for each in self._edits() if not each.known]
        found += [Finding(Law.HANDED_ON, each) for each in wrong if each]
        for change in decision.changes:
            if not isinstance(change, HandoffRecorded):
                continue
            before = known.get(change.id)
            now = change.record.handoff.head.status
            known[change.id] = change.record
            old = before.handoff.head.status if before else None
            goes_on = isinstance(fact, RoleHandoffEdited) and now is old  # with further issues
            if old is not None and not goes_on and (now is None or now not in LIFECYCLE[old]):
                found.append(Finding(Law.HANDED_ON, f"{change.id} was {old}, and is {now}"))
        return found

    def shown(self, state: PMState) -> list[Finding]:
        """Return how the records differ from what the journal says, when all is over."""
        unheard = [
            f"{each.mark} of {each.handoff} was neither taken nor refused"
            for each in self._edits()
            if not each.known
        ]
        return [
            Finding(Law.HANDED_ON, each) for each in (*self._archive(state), *self._statuses(state), *unheard)
        ]

    def _edits(self) -> Iterator[ArchiveEdit]:
        for shared in self.world.shared_states:
            yield from (each for each in shared.archive_edits if each.folder == self.task.folder)

    def _archive(self, state: PMState) -> Iterator[str]:
        files, root = self.world.files, layout.role_handoffs(self.task.folder)
        days = [root / each.name for each in files.entries(root) if each.is_folder]
        there = {entry.name: day / entry.name for day in days for entry in files.entries(day)}
        for key, record in state.handoffs.items():
            path = there.pop(f"{key}.json", None)
            if path is None:
                yield f"the archive lacks {key}"
                continue
            try:
                same_handoff = read_handoff(files.read(path), path.name) == record.handoff
            except Refused as error:
                yield f"the archive does not read of {key}: {error}"
                continue
            if not same_handoff:
                yield f"the archive says something else of {key}"
        chain = there.pop(f"{CHAIN}{state.id}.json", None)
        if chain is not None:
            linked = {each["handoffId"] for each in json.loads(files.read(chain))["handoffs"]}
            if linked != set(state.handoffs):
                yield "the chain has other handoffs than the journal"
        elif state.handoffs:
            yield "the archive has no chain"
        yield from (
            f"the archive has {name}, which nobody handed on"
            for name in there
            if not name.startswith(DAMAGED)
        )

    def _statuses(self, state: PMState) -> Iterator[str]:
        files, folder = self.world.files, layout.role_statuses(self.task.folder)
        for standing in standings(state):
            path = folder / f"{standing.status.agent}.json"
            try:
                status = read_role_status(files.read(path), path.name)
            except Refused as error:
                yield f"the status of {standing.status.agent} does not read: {error}"
                continue
            if not same(status, standing.status):
                yield f"the status of {standing.status.agent} is {status}, and the journal says {standing.status}"
