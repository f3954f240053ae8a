"""The laws that a simulation can find broken, and what it says when one is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Law(StrEnum):
    """What must hold. A breakage of `test_it_finds` names the one by which it must be found."""

    JOURNAL_KEPT = "the journal keeps what was written to it"
    JOURNAL_FIRST = "the daemon knows and does what its journal says, no more and no less"
    NO_EMPTY_LINE = "a decision that changes nothing is not journaled"
    ACTION_DONE = "each action is carried out or given up"
    DEADLINE = "nothing waits past its deadline"
    PAUSE = "what failed pauses before it is tried again, longer each time"
    BOUND = "each retry has a bound"
    BUDGET = "no run goes on once the budget is used up"
    CONSISTENT = "runs, orders, steps and questions agree"
    ONE_WRITER = "a step, an instance and a workspace have one live run"
    ONE_LIFE = "no run is opened or started twice, or beside what is left of another"
    ONE_ORDER = "no two orders have one name, and no run has two orders"
    TYPED_ONCE = "nothing is typed twice"
    CAUTIONED_ONCE = "an agent is cautioned once"
    ACCEPTED_ONCE = "a handoff is accepted once"
    REPORT_READ = "no run is gone before its last report was read"
    BROUGHT = "every file of a box arrives"
    NOT_UNREACHABLE = "a run is not declared gone while its box is lost"
    ENDED_BY_DECISION = "a run is ended only after that was decided"
    AT_WORK = "a run that works is not ended as inactive"
    ANSWERED = "a run whose model answers is not ended as stalled"
    NOTHING_LEFT = "at the end no process lives"
    DELETED = "of a deleted task nothing comes back, and nothing is left on its boxes"
    GATE = "no step passes without the evidence for its gates"
    NEEDS = "an agent of a workflow starts only when all that it needs is verified"
    VERIFIED = "nothing is verified without its verifier"
    NOTES = "an agent removes no note, and settles none that others must"
    ESCALATED = "an escalated note has the answer that somebody gave, and nobody is asked without end"
    CLAIMED = "an agent of a workflow is ready only when its own run said so"
    TAKEN_IN = "what an agent of a workflow left on a box ahead of its end counts"
    CAPS = "no more agents of a workflow work at once than its plan allows"
    AUDITED = "the files of a workflow are what the contract says"
    HANDED_ON = "handoffs of roles go through their life, and the records say what the journal says"
    PHASES = "a phase of a skill begins in its turn, and ends by what its own agent left"
    SESSION_SHOWN = "the state file of a skill says what the journal says"
    MERGED = "the branch moves forward, and has what was merged"
    COMMIT = "a commit has the work of its step, and lacks nothing"
    WORK_KEPT = "nothing takes away an agent's work"
    PERMITTED = "no program may run what the rules deny"
    ASKED = "what stands still has a question"
    ASKED_ONCE = "a step and a box have one open question, asked and answered once"
    NOTIFIED = "the user hears of each question"
    NOTIFIED_ONCE = "a notification arrives once"
    REQUEST_ANSWERED = "each request gets a reply"
    LIMIT = "a usage limit costs two minutes at most"
    STATE_SHOWN = "state.json and pm_state.json say what the journal says"
    PROGRESS_SHOWN = "progress.md says what the journal and the disk say"
    REPORT_TRUE = "the report says what the journal says"
    ENDS = "each task ends once the faults stop"
    SAME_END = "a kill changes nothing about how a task ends"
    NO_SPINNING = "the loop does not spin"
    NO_UNEXPECTED_ERROR = "the daemon expects every error that occurs"
    NO_CRASH = "neither the daemon nor the simulation has an error of programming"


CRASHES: Final = (AssertionError, AttributeError, ImportError, NameError, NotImplementedError, TypeError)
"""Errors of programming. They prove that code is wrong, and nothing about the law that a breakage is to break."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken law, and what is wrong, in words."""

    law: Law
    text: str

    def __str__(self) -> str:
        return self.text

    def about(self, what: str) -> Finding:
        """Return the same, and what it is about."""
        return Finding(self.law, f"{what}: {self.text}")


def findings(law: Law, texts: Iterable[str]) -> list[Finding]:
    """Return a finding for each text."""
    return [Finding(law, text) for text in texts]


class Broken(AssertionError):
    """The simulation found that laws are broken."""

    def __init__(self, found: Sequence[Finding]) -> None:
        super().__init__(found)
        self.found = found

    @property
    def laws(self) -> frozenset[Law]:
        """The laws that are broken."""
        return frozenset(finding.law for finding in self.found)

    def __str__(self) -> str:
        return "; ".join(finding.text for finding in self.found)


def found_in(error: AssertionError) -> Sequence[Finding]:
    """Return what an error found. One that is not `Broken` is a crash of the code that raised it."""
    return error.found if isinstance(error, Broken) else [Finding(Law.NO_CRASH, repr(error))]
