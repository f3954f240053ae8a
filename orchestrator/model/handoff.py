"""The two kinds of handoff: an order goes from the PM to an agent, a report comes back (H6)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.model.turn_end import TurnEnd  # at run time only the journal's codec needs it


class ReportStatus(StrEnum):
    """The `**Status:**` line of a report (H6)."""

    IN_PROGRESS = "IN_PROGRESS"  # a sign of progress; the run goes on
    COMPLETE = "COMPLETE"  # the order is carried out
    BLOCKED = "BLOCKED"  # it cannot be carried out; `## Blockers` says why
    NEEDS_REVIEW = "NEEDS_REVIEW"  # carried out, and a review is wanted before it counts


class Verdict(StrEnum):
    """The `**Verdict:**` line of a report of review, test or verifier (H6)."""

    APPROVED = "APPROVED"  # the work is good as it is
    REJECTED = "REJECTED"  # the work goes back, with this report as the feedback
    PROCEED = "PROCEED"  # of a proof of concept: what it tried holds
    ADAPT = "ADAPT"  # of a proof of concept: it holds, if the plan is changed
    ASK = "ASK"  # of a proof of concept: a person decides


@dataclass(frozen=True, slots=True)
class Subtask:
    """One line of a plan's `## Subtasks`: a milestone (H4).

    `files` are the files and folders that it will change, as far as the plan knows: paths and patterns such as
    `shop/*.py`, relative to the project.
    """

    id: str
    text: str
    agent: str = "dev"
    needs: tuple[str, ...] = ()
    done_when: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CriterionMark:
    """One line of a report's `## Success Criteria`: whether a criterion is met, and by what evidence (H10).

    In a report `evidence` is what its author wrote. In the state of a task it is what of that was looked up and
    exists, and `details` say of each piece what was found. `attested`: all of it is what its judge wrote itself.
    """

    text: str
    met: bool
    evidence: tuple[str, ...] = ()
    reason: str = ""
    details: tuple[str, ...] = ()
    attested: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What an agent handed in. Only the enum fields and the validated lists steer; prose is data (law 7).

    `subtasks` and `criteria` are None where the section is missing, and empty where it says `None`. `unchanged` is the
    reason that a report gives for handing in no change. `turn` is what the daemon made the report from, where agents
    hand in by their files.
    """

    status: ReportStatus
    verdict: Verdict | None = None
    run: str | None = None
    in_reply_to: str | None = None
    completed: str = ""
    artifacts: tuple[str, ...] = ()
    blockers: str = ""
    skill_gaps: str = ""
    subtasks: tuple[Subtask, ...] | None = None
    criteria: tuple[CriterionMark, ...] | None = None
    unchanged: str = ""
    others: tuple[tuple[str, str], ...] = ()
    turn: TurnEnd | None = None

    def section(self, title: str) -> str:
        """Return the text of a further section, which a gate of the step reads; empty if the report has none."""
        wanted = title.casefold()
        return next((text for name, text in self.others if name.casefold() == wanted), "")


@dataclass(frozen=True, slots=True)
class Order:
    """What the PM tells one run to do. `name` is the handoff's file name, `pm-YYYYMMDD-HHMMSS.md`."""

    name: str
    run: str
    step: str
    target: str
    at: float
    instructions: str
    context: str = ""
    skills: tuple[str, ...] = ()
    criteria: str = ""
    open: bool = True
