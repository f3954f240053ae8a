"""Edits of a handoff in place: what its receiver says by one, and which edits are refused (C3). Pure.

::

    jq '.handoff.status = "rejected"' FILE > FILE.tmp; mv FILE.tmp FILE

The receiver moves the status along the lifecycle, and adds issues to the end. Nothing else in a handoff changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.formats.coordination.completeness import follows
from orchestrator.model.coordination import LIFECYCLE, HandoffStatus

if TYPE_CHECKING:
    from orchestrator.model.coordination import Issue, RoleHandoff

OVER = frozenset(status for status, after in LIFECYCLE.items() if not after)
"""The statuses after which a handoff changes no more."""


@dataclass(frozen=True, slots=True)
class HandoffEdit:
    """What an edit says. `status` is None where that is not new; `issues` are those that were added.

    `refused`: why it is put back; then it says nothing.
    """

    status: HandoffStatus | None = None
    issues: tuple[Issue, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was edited."""
        return self == HandoffEdit()

    @property
    def lacks_reason(self) -> bool:
        """Whether it rejects and says nothing of why, at least not yet."""
        return self.status is HandoffStatus.REJECTED and not self.issues


def edit_of(said: RoleHandoff, known: RoleHandoff, shown: RoleHandoff | None) -> HandoffEdit:
    """Return what an edit makes of a handoff.

    Args:
        said: What the file says.
        known: What the PM knows.
        shown: What the file said when it was written last; None if that is not known. What the PM knows may have gone
            on since, and what was said before that still counts.

    """
    base = shown or _older(said, known)
    if said in (base, known):
        return HandoffEdit()
    if base.head.status in OVER:
        over = f"it is {base.head.status}, and changes no more: hand on anew, under another id"
        return HandoffEdit(refused=(over,))
    if reasons := follows(base, said):
        return HandoffEdit(refused=reasons)
    status = said.head.status if said.head.status is not base.head.status else None
    added = tuple(
        each for each in (said.issues or ())[len(base.issues or ()) :] if each not in (known.issues or ())
    )
    now = known.head.status
    if status is None or now is None or status is now or _is_before(status, now):
        status = None  # it went on meanwhile
    elif now in OVER:
        return HandoffEdit(refused=(f"it was {now} when it was set to {status}",))
    return HandoffEdit(status, added if now not in OVER else ())


def _older(said: RoleHandoff, known: RoleHandoff) -> RoleHandoff:
    """Return what a file may have said before an edit, if nobody remembers it: the same, or less of it.

    A daemon that was killed may not have written yet what it knows.
    """
    now, then = known.head.status, said.head.status
    status = then if now is not None and then is not None and _is_before(then, now) else now
    ours, theirs = known.issues or (), said.issues or ()
    same = next((at for at, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]), None)
    shared = min(len(ours), len(theirs)) if same is None else same
    issues = known.issues if shared == len(ours) else ours[:shared]
    if not issues and said.issues is None:
        issues = None
    return replace(known, head=replace(known.head, status=status), issues=issues)


def _is_before(one: HandoffStatus, other: HandoffStatus) -> bool:
    """Return whether a status may come before another one, at once or with one between."""
    return other in LIFECYCLE[one] or any(other in LIFECYCLE[between] for between in LIFECYCLE[one])
