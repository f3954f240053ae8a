"""What agents of roles say in their status files while they work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.coordination import RoleStatusRecord
from orchestrator.pm.policies.reopen import first_line
from orchestrator.pm.state.handoff_changes import RoleStatusRecorded

if TYPE_CHECKING:
    from orchestrator.model.facts import RoleStatusLanded
    from orchestrator.pm.state.draft import Draft

_NAMED: Final = 5


def role_status_landed(draft: Draft, fact: RoleStatusLanded) -> None:
    """Take what an agent says of its work. It decides nothing; of what blocks it the user is told."""
    run = draft.state.runs.get(fact.run)
    if run is None or not run.live or run.agent != fact.status.agent:
        return
    known = draft.state.role_statuses.get(run.agent)
    before = known.status.blocked_by if known and known.order == run.order else ()
    draft.change(RoleStatusRecorded(run.agent, RoleStatusRecord(run.order, fact.status)))
    blocked = [first_line(each) for each in fact.status.blocked_by if each not in before]
    if blocked:
        draft.notice(f"{run.agent} says that it is blocked: {'; '.join(blocked[:_NAMED])}")
