"""Rules of files, values and decisions."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from tests.auditor.folder import VERIFIED, Folder
from tests.auditor.rules import rule

AGENT_STATUSES: Final = frozenset(
    {
        "pending",
        "working",
        "completion_drive_review",
        "ready_for_verification",
        "verified",
        "blocked",
        "failed",
        "session_complete",
    }
)
VERIFIER_STATUSES: Final = frozenset({"pending", "working", "blocked", "failed", "verified"})
WORKFLOW_STATUSES: Final = frozenset({"pending", "in_progress", "blocked", "session_complete", "failed"})
NOTE_STATUSES: Final = frozenset({"open", "resolved", "escalated"})
BOLDNESS: Final = {"pass": {"proceed", "adapt", "ask"}, "partial": {"adapt", "ask"}, "fail": {"ask"}}
_TASK_ID: Final = re.compile(r"[a-z0-9][a-z0-9_-]*_\d{9,}")
_SESSION: Final = re.compile(
    r"orchestration/agents/(?P<agent>[^/]+)/completion_drive/session_(?P<when>current|.+)\.json"
)


@rule(1)
def _json_parses(folder: Folder) -> Iterator[str]:
    """JSON parses; times are integers."""
    for path, data in folder.files.items():
        if not path.startswith("orchestration/") or not path.endswith(".json") or _is_kept(path):
            continue
        try:
            document = json.loads(data)
        except ValueError as error:
            yield f"{path} does not parse: {error}"
            continue
        yield from (f"{path}: {key} is {value!r}" for key, value in _times(document) if _is_no_time(value))


def _is_kept(path: str) -> bool:
    """Return whether a file is a copy of what an agent wrote: it is kept as it was."""
    return any(f"/records/{each}/" in path for each in ("unreadable", "replaced", "resolutions"))


_TIMES: Final = frozenset(
    {"session_start", "last_update", "timestamp", "resolution_timestamp", "archived_at", "at"}
)


def _times(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((key, each) for key, each in value.items() if key in _TIMES)
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _times(each)


def _is_no_time(value: Any) -> bool:
    return value is not None and (isinstance(value, bool) or not isinstance(value, int))


@rule(2)
def _values(folder: Folder) -> Iterator[str]:
    """Values are those of the contract."""
    status = folder.status
    if status.get("status") not in WORKFLOW_STATUSES:
        yield f"the workflow is {status.get('status')!r}"
    for name, entry in status.get("agents", {}).items():
        if entry.get("status") not in AGENT_STATUSES:
            yield f"{name} is {entry.get('status')!r}"
    for name, entry in status.get("verification", {}).items():
        if entry.get("status") not in VERIFIER_STATUSES:
            yield f"{name} is {entry.get('status')!r}"
    for path, (_, session) in folder.sessions.items():
        for note in session.get("notes", []):
            if note.get("status") not in NOTE_STATUSES:
                yield f"{path}: {note.get('note_id')} is {note.get('status')!r}"


@rule(3)
def _task_ids(folder: Folder) -> Iterator[str]:
    """task_ids are unique, and `SLUG_EPOCH`."""
    names = Counter(each["task_id"] for each in folder.agents.values())
    yield from (f"{name} is used {times} times" for name, times in names.items() if times > 1)
    yield from (f"{name} is no SLUG_EPOCH" for name in names if not _TASK_ID.fullmatch(name))


@rule(4)
def _belong(folder: Folder) -> Iterator[str]:
    """Sessions and results carry their agent's task_id; a stale session is put away."""
    for agent, plan in folder.agents.items():
        base = f"orchestration/agents/{agent}"
        for name in (
            "completion_drive/session_current.json",
            "verification_results.json",
            "poc_decision.json",
        ):
            path = f"{base}/{name}"
            said = folder.json(path).get("task_id") if path in folder.files else plan["task_id"]
            if said not in folder.task_ids(agent) and folder.stands(agent) in VERIFIED:
                yield f"{path} is of {said}"


@rule(26)
def _decisions(folder: Folder) -> Iterator[str]:
    """Decisions on proofs of concept are never bolder than the evidence."""
    for agent in folder.workers:
        said = folder.json(f"orchestration/agents/{agent}/poc_decision.json")
        if (
            said
            and folder.stands(agent) in VERIFIED
            and said.get("decision") not in BOLDNESS.get(said.get("evidence"), set())
        ):
            yield f"{agent}: {said.get('decision')} on evidence that says {said.get('evidence')}"
