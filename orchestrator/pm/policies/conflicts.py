"""Conflicts: work that does not fit to what others had merged onto the task's branch meanwhile.

They are nobody's rejection, and are counted against a bound of their own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.pm.plan.work_location import location_of
from orchestrator.pm.policies.reopen import feed, first_line, reopen
from orchestrator.pm.policies.retries import block, with_replan
from orchestrator.pm.state.step_changes import StepTallied

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.pm.state.draft import Draft

NAMED: Final = 10
"""How many files and commits a message names."""


_IN_ITS_TREE: Final = (
    "Your working directory now has theirs, and your work on top of it, uncommitted; where both changed the same "
    "lines, conflict markers show both sides. Keep what both were to reach, remove the markers, and hand in again."
)
_ON_ITS_BOX: Final = (
    "Your repository has your work, and theirs under the ref that is named above as the task's branch. Merge that, "
    "keep what both were to reach where they conflict, commit, and hand in again."
)


def conflicted(draft: Draft, step: str, text: str) -> None:
    """Do work again that does not fit to what the branch has gained; beyond the bound, ask a person."""
    here = draft.step(step)
    conflicts = here.tally.conflicts + 1
    draft.change(StepTallied(step, replace(here.tally, conflicts=conflicts)))
    place = location_of(draft.state.brief.config, here.agent)
    how = _IN_ITS_TREE if place is None else _ON_ITS_BOX
    feed(
        draft,
        step,
        f"Others' work was merged while you did yours, and yours could not be merged as it is: {text}\n{how}",
    )
    why = f"does not fit to what was merged meanwhile: {first_line(text)}"
    reopen(draft, step, why, carries=True)
    if conflicts > draft.limits_of(step).max_conflicts:
        question = f"'{here.title}' could not be merged {conflicts} times; the last time: {text}"
        block(draft, step, question, with_replan(draft, step))


def at_odds(files: Sequence[str], others: Sequence[str]) -> str:
    """Say which files both sides changed, and name the commits of the other side."""
    theirs = "".join(f"\n  {each}" for each in others[:NAMED])
    return f"both changed {listed(files)}." + (f" Theirs:{theirs}" if theirs else "")


def listed(files: Sequence[str]) -> str:
    """Return the names of some files as a message shows them: the first ones, and how many more."""
    more = f" and {len(files) - NAMED} more" if len(files) > NAMED else ""
    return ", ".join(f"{name!a}" for name in files[:NAMED]) + more
