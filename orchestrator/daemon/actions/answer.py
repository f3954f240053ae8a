"""Answer an event: a file in the run's folder, in the form that its program's hooks expect. Repeatable (law 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.daemon.core.hook_replies import put_reply
from orchestrator.model.facts import AnswerGiven
from orchestrator.runtimes.registry import runtime_known

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.daemon.core.task_paths import Adapters
    from orchestrator.model.actions import Answer
    from orchestrator.model.agents import Agent
    from orchestrator.model.run import Run


def answer(adapters: Adapters, home: Path, run: Run, agent: Agent, action: Answer, at: float) -> AnswerGiven:
    """Write an answer; if the run is on a box, it is sent there from here. Raises OSError."""
    runtime = runtime_known(agent, adapters.settings.runtimes)
    put_reply(adapters.files, home, run.id, action.name, runtime.answer(action.reply), far=run.on_box)
    if run.on_box:
        adapters.boxes.hurry(run.host)
    return AnswerGiven(at, action.id)
