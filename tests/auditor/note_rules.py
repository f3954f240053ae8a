"""Rules of notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.auditor.folder import VERIFIED, Folder
from tests.auditor.rules import rule


@rule(5)
def _note_ids(folder: Folder) -> Iterator[str]:
    """note_ids are unique in a session."""
    for path, (_, session) in folder.sessions.items():
        names = Counter(each.get("note_id") for each in session.get("notes", []))
        yield from (
            f"{path}: {name} stands there {times} times" for name, times in names.items() if times > 1
        )


@rule(6)
def _resolved(folder: Folder) -> Iterator[str]:
    """Resolved notes are complete, in the order of time."""
    for path, (_, session) in folder.sessions.items():
        for note in session.get("notes", []):
            if note.get("status") != "resolved":
                continue
            said = [note.get(key) for key in ("resolution", "resolved_by", "resolution_timestamp")]
            if not all(said):
                yield f"{path}: {note['note_id']} is resolved without resolution, resolver or time"


@rule(7)
def _escalated(folder: Folder) -> Iterator[str]:
    """Escalated notes have a reason."""
    for path, (_, session) in folder.sessions.items():
        for note in session.get("notes", []):
            if note.get("status") == "escalated" and not note.get("escalation_reason"):
                yield f"{path}: {note['note_id']} is escalated without a reason"


@rule(8)
def _by_itself(folder: Folder) -> Iterator[str]:
    """`agent_self` resolved no note that has a kind, or was escalated."""
    for agent in folder.workers:
        if folder.stands(agent) not in VERIFIED:
            continue
        for note in folder.session(agent).get("notes", []):
            if note.get("resolved_by") == "agent_self" and (
                note.get("kind") or note.get("escalation_reason")
            ):
                yield f"{agent} resolved {note['note_id']} by itself"


@rule(9)
def _counts(folder: Folder) -> Iterator[str]:
    """Counts and gate equal the notes."""
    for agent, entry in folder.status.get("agents", {}).items():
        if folder.stands(agent) not in VERIFIED or agent not in folder.agents:
            continue
        notes = folder.session(agent).get("notes", [])
        left = sum(each.get("status") != "resolved" for each in notes)
        shown = (entry.get("completion_drive_notes_count", 0), entry.get("unresolved_notes", 0))
        if shown != (len(notes), left):
            yield f"{agent} has {len(notes)} notes, {left} unresolved, and is shown with {shown}"
    unresolved = [each.get("unresolved_notes", 0) for each in folder.status.get("agents", {}).values()]
    gate = "blocked" if any(unresolved) else "clear"
    if folder.status.get("overall_completion_drive_gate") not in {gate, None}:
        yield f"the gate is {folder.status['overall_completion_drive_gate']}, and should be {gate}"
