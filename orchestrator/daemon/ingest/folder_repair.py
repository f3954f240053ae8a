"""The task's folder in its project: repaired as far as possible, and reported where it cannot be."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.ingest.task_folder import make_again, make_run_folders, put_right, trouble
from orchestrator.model.facts import FolderBack, FolderLost
from orchestrator.model.question import QuestionKind
from orchestrator.pm.plan.asking import CONTINUE

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.pm.state.task_state import PMState

log = logging.getLogger(__name__)


def folder_seen(
    context: Context, home: Path, state: PMState, folder: Path, *, closely: bool = False
) -> FolderLost | FolderBack | None:
    """Repair the task's folder as far as possible, and return what there is to report of it.

    `closely` also tests whether it can be read.
    """
    files, reports = context.adapters.files, layout.task_reports(home)
    at, nonce = context.clock.now(), context.nonce()
    asked = any(each.kind is QuestionKind.FOLDER for each in state.open_questions)
    if why := trouble(files, folder, state.links, closely=closely or asked):
        return FolderLost(at, nonce, str(folder), why, str(reports))
    mended = put_right(files, folder, reports, state.seen, state.links)
    return FolderBack(at, nonce, mended) if mended or asked else None


def make_folder_again(
    context: Context, home: Path, state: PMState, folder: Path, question: str, text: str
) -> None:
    """Make the task's folder anew, if the answer to a question says so. Raises Refused."""
    asked = state.questions.get(question)
    if asked is None or not asked.open or asked.kind is not QuestionKind.FOLDER:
        return
    if text.strip().lower() == CONTINUE:
        files = context.adapters.files
        make_again(files, folder, layout.task_reports(home), state.seen, state.links)
        for run in state.live_runs:
            if run.agent in state.agents:
                make_run_folders(files, folder, state, run)
