"""Edits of the status of an agent: which of them count, and what a status says after several writers (C4).

An agent edits its own file, by `scripts/status-update.sh` or by hand. What it says there is a claim about itself. Who
it is, and its role, are not its to say; nor is the file of another agent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from orchestrator.formats.coordination.fields import unnamed
from orchestrator.formats.coordination.status import SHAPE, read_role_status, render_role_status
from orchestrator.formats.text import cut
from orchestrator.formats.workflow.merge import Version, merge_status
from orchestrator.model.coordination import RoleStatus
from orchestrator.model.errors import BadFile

GROWING: Final = ("findings", "blockedBy")
"""The lists to which each edit adds an entry, unless it removes them all."""

_FIXED: Final = ("agentId", "role")
_MOMENT: Final = "lastUpdate"
_LONGEST: Final = 60


def same(one: RoleStatus, other: RoleStatus) -> bool:
    """Return whether two statuses say the same, whenever they were written."""
    return replace(one, updated="", others=()) == replace(other, updated="", others=())


def taken(written: Mapping[str, Any], known: RoleStatus) -> tuple[RoleStatus, tuple[str, ...]]:
    """Return what an agent's own edit makes of its status, and what of the edit is refused.

    Args:
        written: What the file says.
        known: What it said without the edit: each refused field says this again.

    """
    document, refused = _document(known), list[str]()
    for key in SHAPE:
        value = written.get(key)
        if key not in written or value == document.get(key) or (value is None and key == _MOMENT):
            continue
        if key in _FIXED:
            refused.append(_set(key, value, document.get(key)))
            continue
        try:
            read_role_status(json.dumps({**document, key: value}).encode(), f"{known.agent}.json")
        except BadFile as error:
            refused.append(f"{key} was set to {_said(value)}: {error.faults[0].reason}")
        else:
            document[key] = value
    status = read_role_status(json.dumps(document).encode(), f"{known.agent}.json")
    return replace(status, others=unnamed(written, SHAPE)), tuple(refused)


def foreign(written: Mapping[str, Any], shown: RoleStatus, known: RoleStatus) -> tuple[str, ...]:
    """Return what somebody wrote into the status of an agent that does not work: all of it is refused.

    Args:
        written: What the file says.
        shown: What it said when it was written last.
        known: What it is to say now.

    """
    before, now = _document(shown), _document(known)
    return tuple(
        _set(key, written[key], now.get(key))
        for key in SHAPE
        if key in written and key != _MOMENT and written[key] not in (before.get(key), now.get(key))
    )


def merged(base: RoleStatus, known: RoleStatus, said: RoleStatus) -> RoleStatus:
    """Return a status with what changed since `base`, on the PM's side and on the agent's: its own word counts."""
    sides = Version(_document(known)), Version(_document(said), at=1)
    document = merge_status(_document(base), *sides, GROWING).document
    return read_role_status(json.dumps(document).encode(), f"{known.agent}.json")


def _document(status: RoleStatus) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(render_role_status(status))
    return document


def _set(key: str, value: object, now: object) -> str:
    return f"{key} was set to {_said(value)}; it is {_said(now)}"


def _said(value: object) -> str:
    return cut(json.dumps(value, ensure_ascii=False), _LONGEST)
