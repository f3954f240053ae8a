"""Which machines an action needs: work that waits for a box is separate from work on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.daemon.actions.finish import judged_elsewhere
from orchestrator.model.actions import Action, Commit, End, Inspect, Launch, Look, Nudge, ResolveEvidence
from orchestrator.pm.plan.tree_lives import lasting_places
from orchestrator.pm.plan.work_location import location_of

if TYPE_CHECKING:
    from orchestrator.model.task import Location
    from orchestrator.pm.state.task_state import PMState


def hosts_asked(state: PMState, action: Action) -> tuple[str, ...]:
    """Return the hosts that an action needs, HERE or boxes; none if it needs no host."""
    match action:
        case Launch():
            run = state.runs[action.run]
            return run.host, *_hosts(judged_elsewhere(state, state.steps[run.step]))
        case Look() | Nudge() | End():
            return (state.runs[action.run].host,)
        case Commit() | Inspect():
            return _hosts(location_of(state.brief.config, state.steps[action.step].agent))
        case ResolveEvidence():
            return _hosts(*lasting_places(state))
        case _:
            return ()


def _hosts(*places: Location | None) -> tuple[str, ...]:
    return tuple(place.host for place in places if place is not None and place.host)
