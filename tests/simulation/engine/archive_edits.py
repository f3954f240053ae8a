"""Edits of archived handoffs by agents of roles, legal ones and others, and what must become of each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from orchestrator import layout
from orchestrator.model.facts import EditsRefused, RoleHandoffEdited

if TYPE_CHECKING:
    from orchestrator.model.facts import Fact
    from tests.simulation.engine.agents import Agent

_OPEN: Final = frozenset({"pending", "accepted"})


@dataclass(slots=True)
class ArchiveEdit:
    """An edit in a task's folder. `mark` is a text that no other edit has; `legal`: its writer may make it."""

    folder: Path
    handoff: str
    mark: str
    legal: bool
    known: bool = False
    """Whether the journal says what became of it."""

    def hears(self, fact: Fact) -> str:
        """Note what a fact says of it. Return what is wrong with that; empty if nothing is."""
        match fact:
            case RoleHandoffEdited(handoff=self.handoff, issues=issues):
                if any(self.mark in each.description for each in issues):
                    self.known = True
                    return "" if self.legal else f"an edit of {self.handoff} by a stranger was taken"
            case EditsRefused(handoff=self.handoff):
                self.known = True
            case _:
                pass
        return ""


def edit_the_archive(agent: Agent, *, rejects: bool = False) -> bool:
    """Edit a handoff in the archive, as `jq … > tmp; mv` does. Return False if there is none to edit.

    Args:
        agent: Who edits.
        rejects: Hand back what it was handed. Otherwise anything, legal or not.

    """
    folder = Path(agent.environment["TASK_DIR"])
    found = [
        (path, whole)
        for path, whole in _handoffs(agent, folder)
        if whole["handoff"]["status"] in _OPEN and (not rejects or _is_for(agent, whole))
    ]
    if not found:
        return False
    path, whole = agent.random.choice(found)
    mark = f"edit {len(agent.shared.archive_edits)} of {agent.process.run}"
    change = (
        _hand_back if rejects else agent.random.choice((_add_an_issue, _complete, _change_a_field, _damage))
    )
    agent.dice.did(f"edits the archive: {change.__name__.strip('_').replace('_', ' ')}")
    agent.shared.write(path, change(whole, mark))
    if change is not _complete:  # it may say what is so already
        legal = change in {_hand_back, _add_an_issue} and _is_for(agent, whole)
        agent.shared.archive_edits.append(ArchiveEdit(folder, path.stem, mark, legal))
    return True


def _is_for(agent: Agent, whole: dict[str, Any]) -> bool:
    """Return whether a handoff may be the one that an agent was handed."""
    return bool(whole["handoff"]["to"] == agent.environment["DEFINITION"].upper())


def _handoffs(agent: Agent, folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    files, root = agent.shared.files, layout.role_handoffs(folder)
    days = [root / each.name for each in files.entries(root) if each.is_folder] if files.entry(root) else []
    for day in days:
        for each in files.entries(day):
            if each.name.startswith("handoff_"):
                try:
                    whole = json.loads(files.read(day / each.name))
                except ValueError:
                    continue  # damaged, and not put back yet
                yield day / each.name, whole


def _hand_back(whole: dict[str, Any], mark: str) -> bytes:
    whole["handoff"]["status"] = "rejected"
    return _add_an_issue(whole, mark)


def _add_an_issue(whole: dict[str, Any], mark: str) -> bytes:
    whole["issues"] = [*(whole.get("issues") or ()), {"severity": "low", "description": mark}]
    return json.dumps(whole).encode()


def _complete(whole: dict[str, Any], mark: str) -> bytes:
    del mark
    whole["handoff"]["status"] = "completed"
    return json.dumps(whole).encode()


def _change_a_field(whole: dict[str, Any], mark: str) -> bytes:
    whole.setdefault("context", {})["scope"] = mark
    return json.dumps(whole).encode()


def _damage(whole: dict[str, Any], mark: str) -> bytes:
    del whole
    return f"{{{mark}".encode()
