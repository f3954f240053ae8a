"""The one function that decides: a state and a fact go in, a decision comes out (law 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from orchestrator.model import facts as f
from orchestrator.model.actions import Notify
from orchestrator.model.question import QuestionKind
from orchestrator.pm.handlers import requests, spawning
from orchestrator.pm.handlers.adapting import adapt_asked
from orchestrator.pm.handlers.agent_events import event_landed
from orchestrator.pm.handlers.answers import answered
from orchestrator.pm.handlers.boxes import box_back, box_lost
from orchestrator.pm.handlers.deadlines import checked_in, clock_moved, see_what_is_due
from orchestrator.pm.handlers.folder import folder_back, folder_lost
from orchestrator.pm.handlers.handoff_edits import role_handoff_edited
from orchestrator.pm.handlers.pm_decisions import decision_landed
from orchestrator.pm.handlers.rebasing import rebase_asked, rebased
from orchestrator.pm.handlers.reports import report_landed
from orchestrator.pm.handlers.role_statuses import role_status_landed
from orchestrator.pm.handlers.run_lifecycle import launch_failed, run_gone, run_queued, run_started
from orchestrator.pm.handlers.sessions import session_asked
from orchestrator.pm.handlers.undoing import undo_asked, undone
from orchestrator.pm.handlers.workflow_edits import edits_refused, notes_landed
from orchestrator.pm.plan.acknowledgements import answer_given
from orchestrator.pm.plan.advance import advance
from orchestrator.pm.plan.asking import ABANDON, CONTINUE, ask
from orchestrator.pm.plan.consultations import note_news
from orchestrator.pm.policies.branch import branch_tended
from orchestrator.pm.policies.budget import see_budget, usage_seen
from orchestrator.pm.policies.completion import work_committed, work_inspected
from orchestrator.pm.policies.escalations import answer_escalations
from orchestrator.pm.policies.evidence import evidence_resolved
from orchestrator.pm.policies.inactivity import looked, nudged
from orchestrator.pm.policies.input_versions import note_versions
from orchestrator.pm.policies.merging import merge_next, work_merged
from orchestrator.pm.policies.notifications import notify
from orchestrator.pm.policies.operations import operations_settled
from orchestrator.pm.policies.orphan_processes import run_left
from orchestrator.pm.policies.planned_criteria import mark_as_planned
from orchestrator.pm.policies.stalls import activity_seen
from orchestrator.pm.policies.vanished_trees import tree_vanished
from orchestrator.pm.state.changes import HandoffSeen, ZoneSet
from orchestrator.pm.state.draft import Decision, Draft

if TYPE_CHECKING:
    from orchestrator.model.limits import Limits
    from orchestrator.pm.state.task_state import PMState


def decide(state: PMState, fact: f.Fact, limits: Limits) -> Decision:
    """Return what follows from a fact. Pure: the same arguments always give the same decision.

    Raises:
        IllegalMove: a rule tried a transition that no table allows. That is a bug of ours; the state is unchanged.

    """
    request = getattr(fact, "request", "")
    if request and request in state.requests:
        return Decision(state, reply="this request was handled before", refused=False)
    draft = Draft(state, fact.at, getattr(fact, "nonce", ""), limits)
    _RULES[type(fact)](draft, fact)
    note_news(draft, fact)
    see_budget(draft)
    merge_next(draft)
    answer_escalations(draft)
    note_versions(draft)
    mark_as_planned(draft)
    advance(draft)
    notify(draft, state, fact)
    return draft.decided()


def _intruded(draft: Draft, fact: f.Intruded) -> None:
    files = ((fact.name, fact.sha256), *fact.others)
    new = [(name, digest) for name, digest in files if draft.state.seen.get(name) != digest]
    if not new:
        return
    draft.change(*(HandoffSeen(name, digest) for name, digest in new))
    if new[0][0] == fact.name:
        draft.notice(f"{fact.name} was ignored: {fact.reason}")
        new = new[1:]
    if new:
        more = f" and {len(new) - 1} more" if new[1:] else ""
        draft.notice(f"these files in handoffs/ are no handoffs and were ignored: {new[0][0]}{more}")


def _zone_changed(draft: Draft, fact: f.ZoneChanged) -> None:
    if draft.state.id and fact.utc_offset != draft.state.utc_offset:
        draft.change(ZoneSet(fact.utc_offset))


def _journal_damaged(draft: Draft, fact: f.JournalDamaged) -> None:
    text = (
        f"The journal was damaged after line {fact.kept}; the rest is kept as {fact.where}. Go on from there?"
    )
    ask(draft, "", text, (CONTINUE, ABANDON), QuestionKind.DAMAGE)


# A table rather than a match: it has one entry per kind of fact, and nothing else.
_RULES: Final[dict[type, Callable[[Draft, Any], object]]] = {
    f.ReportLanded: report_landed,
    f.OperationsSettled: operations_settled,
    f.NotesLanded: notes_landed,
    f.EditsRefused: edits_refused,
    f.RoleStatusLanded: role_status_landed,
    f.RoleHandoffEdited: role_handoff_edited,
    f.DecisionLanded: decision_landed,
    f.RunStarted: run_started,
    f.RunQueued: run_queued,
    f.RunLeft: run_left,
    f.RunGone: run_gone,
    f.LaunchFailed: launch_failed,
    f.TreeVanished: tree_vanished,
    f.WorkCommitted: work_committed,
    f.WorkInspected: work_inspected,
    f.EvidenceResolved: evidence_resolved,
    f.BranchTended: branch_tended,
    f.WorkMerged: work_merged,
    f.CheckedIn: checked_in,
    f.Looked: looked,
    f.Nudged: nudged,
    f.EventLanded: event_landed,
    f.UsageSeen: usage_seen,
    f.ActivitySeen: activity_seen,
    f.AnswerGiven: answer_given,
    f.TimePassed: lambda draft, _: see_what_is_due(draft),
    f.ClockMoved: clock_moved,
    f.ZoneChanged: _zone_changed,
    f.BoxLost: box_lost,
    f.BoxBack: box_back,
    f.FolderLost: folder_lost,
    f.FolderBack: folder_back,
    f.TaskStarted: requests.task_started,
    f.StopAsked: requests.stop_asked,
    f.Answered: answered,
    f.SpawnAsked: spawning.spawn_asked,
    f.AdaptAsked: adapt_asked,
    f.RebaseAsked: rebase_asked,
    f.Rebased: rebased,
    f.SessionAsked: session_asked,
    f.UndoAsked: undo_asked,
    f.Undone: undone,
    f.BriefChanged: requests.brief_changed,
    f.Intruded: _intruded,
    f.Notified: lambda draft, fact: draft.close_actions(Notify, id=fact.action),
    f.JournalDamaged: _journal_damaged,
}
