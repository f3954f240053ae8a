"""The task.md of a task that carries out a session of a composite skill (S4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.text import cut, one_line
from orchestrator.model.task import SKILLS, WorkspaceKind

if TYPE_CHECKING:
    from orchestrator.model.composite import SkillSession

TITLE: Final = 80

_TASK: Final = """\
# Task: {title}

## Agent Config
family: {family}
session: {session}
workspace: {workspace}

## Success Criteria
- {criterion}

## Goal
Carry out the composite skill {skill} for this request: {request}
"""


def skill_task(session: SkillSession, path: str, workspace: WorkspaceKind, criterion: str) -> str:
    """Return the text of a task.md.

    Args:
        session: The session. Its request becomes one line of the goal, and no other part of the text.
        path: Its state file, from the project's folder.
        workspace: Where its agents work.
        criterion: The success criterion of the protocol.

    """
    request = one_line(session.request).replace("<!--", "<! --")
    return _TASK.format(
        title=cut(f"{session.skill}: {request}", TITLE),
        family=SKILLS,
        session=path,
        workspace=workspace.value,
        criterion=criterion,
        skill=session.skill,
        request=request,
    )
