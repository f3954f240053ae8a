"""The task's folder in its project: handoffs, artifacts and pages lie there, and anybody may take it away.

::

    gone, or not to be used ─▶ nothing new starts; one question about the whole task, which names it
         put back ─▶ the task goes on by itself
         continue ─▶ it is made anew, with the reports that were taken
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
    """Ask what is to become of a task whose folder cannot be used."""
    if draft.state.state not in ACTIVE:
        return
    text = (
        f"{fact.path} {fact.why}: the handoffs, artifacts and the task.md of {draft.state.name} are to be found there. "
        f"Nothing new starts before it is back. Put it back, and the task goes on by itself; or answer {CONTINUE}: "
        f"then it is made anew, with the reports that were taken (copies are in {fact.kept}), and the task goes on "
        "without the rest."
    )
    ask(draft, "", text, (CONTINUE, ABANDON), QuestionKind.FOLDER)


def folder_back(draft: Draft, fact: FolderBack) -> None:
    """Go on: what was asked about the folder is answered by it."""
    if fact.mended:
        draft.notice(fact.mended)
    for question in draft.state.open_questions:
        if question.kind is QuestionKind.FOLDER:
            withdraw_question(draft, question)
