"""Facts: what happened. Everything that reaches the PM is one of these.

A fact carries the time (`at`, seconds since the epoch) and, where something new may be named, a `nonce`
that ids are derived from: `decide` reads no clock and draws no random number (law 2).
"""

from __future__ import annotations

from typing import TypeAlias

from orchestrator.model.facts.hand_ins import (
    DecisionLanded,
    EditsRefused,
    Intruded,
    NotesLanded,
    OperationsSettled,
    ReportLanded,
    RoleHandoffEdited,
    RoleStatusLanded,
)
from orchestrator.model.facts.requests import (
    AdaptAsked,
    Answered,
    BriefChanged,
    RebaseAsked,
    SessionAsked,
    SpawnAsked,
    StopAsked,
    TaskStarted,
    UndoAsked,
)
from orchestrator.model.facts.runs import (
    ActivitySeen,
    AnswerGiven,
    CheckedIn,
    EventLanded,
    LaunchFailed,
    Looked,
    Nudged,
    RunGone,
    RunLeft,
    RunQueued,
    RunStarted,
    UsageSeen,
)
from orchestrator.model.facts.surroundings import (
    BoxBack,
    BoxLost,
    ClockMoved,
    FolderBack,
    FolderLost,
    JournalDamaged,
    Notified,
    TimePassed,
    ZoneChanged,
)
from orchestrator.model.facts.work import (
    BranchTended,
    EvidenceResolved,
    Rebased,
    TreeVanished,
    Undone,
    WorkCommitted,
    WorkInspected,
    WorkMerged,
)

__all__ = [
    "ActivitySeen",
    "AdaptAsked",
    "AnswerGiven",
    "Answered",
    "BoxBack",
    "BoxLost",
    "BranchTended",
    "BriefChanged",
    "CheckedIn",
    "ClockMoved",
    "DecisionLanded",
    "EditsRefused",
    "EventLanded",
    "EvidenceResolved",
    "Fact",
    "FolderBack",
    "FolderLost",
    "Intruded",
    "JournalDamaged",
    "LaunchFailed",
    "Looked",
    "NotesLanded",
    "Notified",
    "Nudged",
    "OperationsSettled",
    "RebaseAsked",
    "Rebased",
    "ReportLanded",
    "RoleHandoffEdited",
    "RoleStatusLanded",
    "RunGone",
    "RunLeft",
    "RunQueued",
    "RunStarted",
    "SessionAsked",
    "SpawnAsked",
    "StopAsked",
    "TaskStarted",
    "TimePassed",
    "TreeVanished",
    "UndoAsked",
    "Undone",
    "UsageSeen",
    "WorkCommitted",
    "WorkInspected",
    "WorkMerged",
    "ZoneChanged",
]

Fact: TypeAlias = (
    TaskStarted
    | ReportLanded
    | OperationsSettled
    | NotesLanded
    | RoleStatusLanded
    | RoleHandoffEdited
    | EditsRefused
    | DecisionLanded
    | RunStarted
    | RunQueued
    | RunLeft
    | RunGone
    | LaunchFailed
    | TreeVanished
    | WorkCommitted
    | WorkInspected
    | EvidenceResolved
    | BranchTended
    | WorkMerged
    | CheckedIn
    | Looked
    | Nudged
    | EventLanded
    | UsageSeen
    | ActivitySeen
    | AnswerGiven
    | TimePassed
    | ClockMoved
    | ZoneChanged
    | BoxLost
    | BoxBack
    | FolderLost
    | FolderBack
    | BriefChanged
    | StopAsked
    | Answered
    | SpawnAsked
    | AdaptAsked
    | RebaseAsked
    | SessionAsked
    | UndoAsked
    | Undone
    | Rebased
    | Intruded
    | Notified
    | JournalDamaged
)
