"""Answer an event: a file in the run's folder, in the words of its program's hooks. Again is the same file (law 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.model.facts import AnswerGiven
from orchestrator.runtimes.registry import runtime_known

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.daemon.core.task_paths import Adapters
    from orchestrator.model.actions import Answer
    from orchestrator.model.agents import Agent
    from orchestrator.model.run import Run
    from orchestrator.ports.files import Files


def answer(world: Adapters, home: Path, run: Run, agent: Agent, action: Answer, at: float) -> AnswerGiven:
    """Lay an answer down; from here it is sent to where a run lives. Raises OSError."""
    runtime = runtime_known(agent, world.settings.runtimes)
    put(world.files, home, run.id, action.name, runtime.answer(action.reply), far=run.far)
    if run.far:
        world.boxes.hurry(run.host)
    return AnswerGiven(at, action.id)


def put(files: Files, home: Path, run: str, name: str, text: str, *, far: bool = False) -> None:
    """Write what an event's hook prints where its relay looks; it looks no longer when the run is gone.

    A run on a box (`far`) outlives a power cut here and goes on waiting, so its answer must outlive that as well.
    """
    folder = layout.run_answers(layout.run_home(home, run))
    files.make_folder(folder)
    files.write(folder / name, text.encode("utf-8", "replace"), durable=far)
