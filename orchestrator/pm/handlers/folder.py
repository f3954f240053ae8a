"""The task's folder in its project, with handoffs, artifacts and pages: anybody may delete or move it.

::

    missing, or unusable ─▶ nothing new starts; one question about the whole task, which names it
         restored ─▶ the task goes on by itself
         continue ─▶ it is made anew, with the reports that were accepted
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.question import QuestionKind
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.pm.plan.asking import ABANDON, CONTINUE, ask, withdraw_question

if TYPE_CHECKING:
    from orchestrator.model.facts import FolderBack, FolderLost
    from orchestrator.pm.state.draft import Draft


def folder_lost(draft: Draft, fact: FolderLost) -> None:
    """Ask what to do about a task whose folder cannot be used."""
    if draft.state.state not in ACTIVE:
        return
    text = (
        f"{fact.path} {fact.why}. It holds the handoffs, the artifacts and the task.md of {draft.state.name}. Nothing "
        f"new starts without it. Restore it, and the task goes on by itself. Or answer {CONTINUE}: then it is made "
        f"anew, with the reports that were accepted (copies are in {fact.kept}), and the task goes on without the "
        "other files."
    )
    ask(draft, "", text, (CONTINUE, ABANDON), QuestionKind.FOLDER)


def folder_back(draft: Draft, fact: FolderBack) -> None:
    """Go on: with the folder back, the question about it is withdrawn."""
    if fact.mended:
        draft.notice(fact.mended)
    for question in draft.state.open_questions:
        if question.kind is QuestionKind.FOLDER:
            withdraw_question(draft, question)
