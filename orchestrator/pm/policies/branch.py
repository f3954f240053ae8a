"""The task's branch is where the PM left it: nothing that was accepted is missing, and nothing else is on it.

::

    found elsewhere ─▶ put back, what else was on it on a ref, a notice ─┬─ ahead of the evidence ─▶ judged again
                                                                          ├─ ahead of a merge ─▶ that is made of it
                                                                          └─ at the end ─▶ the task ends
    cannot be put back ─▶ ahead of the evidence a question; at the end the task is not complete

Anybody who works in the repository can move the branch, agents too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.actions import TendBranch
from orchestrator.pm.policies.causes import SHORT, strayed
from orchestrator.pm.policies.evidence import look_up
from orchestrator.pm.policies.gates.kind import awaited
from orchestrator.pm.policies.judgements import judge_again
from orchestrator.pm.policies.retries import block
from orchestrator.pm.state.changes import BranchPlaced

if TYPE_CHECKING:
    from orchestrator.model.facts import BranchTended
    from orchestrator.pm.state.draft import Draft


def branch_tended(draft: Draft, fact: BranchTended) -> None:
    """Handle where the task's branch was found: what waited for that goes on."""
    asked = draft.state.outbox.get(fact.nonce)
    if not isinstance(asked, TendBranch):
        return
    draft.close_actions(TendBranch, id=fact.nonce)
    moved = not fact.reason and fact.tip != fact.wanted
    if moved:
        draft.notice(strayed(draft.state.branch, fact.tip, fact.wanted, fact.kept))
    if not fact.step:
        draft.change(BranchPlaced(fact.wanted, len(draft.state.runs), fact.reason))
        return
    if fact.wanted != draft.state.tip and not fact.reason:
        draft.change(BranchPlaced(fact.wanted))
    if not awaited(draft, fact.step, fact.attempt):
        return
    if fact.reason:
        text = f"the branch {draft.state.branch} is not at what was accepted, and cannot be put back: {fact.reason}"
        block(draft, fact.step, text)
    elif not moved:
        look_up(draft, fact.step, asked.marks, asked.references)
    elif not judge_again(draft, fact.step, f"{_judged(draft, fact)}. Judge what lies there now.", clean=True):
        block(
            draft,
            fact.step,
            f"{_judged(draft, fact)}, again and again. Find out who moves it, then answer retry",
        )


def _judged(draft: Draft, fact: BranchTended) -> str:
    return (
        f"While you judged, {draft.state.branch} was moved to {fact.tip[:SHORT] or 'nowhere'} by somebody else; the PM "
        f"put it back to {fact.wanted[:SHORT]}, which is what was accepted"
    )
